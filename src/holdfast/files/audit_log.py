"""A log of one JSON object a line: appended to, never rewritten, and of a bounded size.

What a line means is told elsewhere. A line that cannot be read is left out, for the next one may be sound.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from holdfast import system
from holdfast.errors import HoldfastError
from holdfast.files import atomic

LARGEST: Final = 1 << 20
"""A log of that size is put aside; one earlier log is kept."""
TAIL: Final = 1 << 18


def append(path: Path, line: Mapping[str, Any]) -> None:
    """One more line, on the disk before this returns."""
    try:
        atomic.make_folder(path.parent)
        if path.exists() and path.stat().st_size > LARGEST:
            system.replace(path, _earlier(path))
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            # One write: a line of another process cannot come in between.
            file.write(json.dumps(line, ensure_ascii=False).encode() + b"\n")
            file.flush()
            os.fsync(descriptor)
    except OSError as error:
        raise HoldfastError(f"cannot write `{path}`: {error.strerror or error}") from error


def tail(path: Path) -> Iterator[Mapping[str, Any]]:
    """The last lines, oldest first, also those that were put aside; none of a log that cannot be read."""
    for part in (_earlier(path), path):
        yield from _lines(part)


def _earlier(path: Path) -> Path:
    return path.with_name(f"{path.name}.1")


def _lines(path: Path) -> Iterator[Mapping[str, Any]]:
    try:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - TAIL))
            raw = file.read()
    except OSError:
        return
    for line in raw.splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue
        if isinstance(entry, dict):
            yield entry
