"""Held: a note beside the store of how much was in it, to recognise a store that lost everything.

An empty database is valid, and so is one that was truncated to nothing: only from outside can one see that
something is missing. The note has counts and a time, and none of the content.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdfast.lazy_dataclass import dataclass

SUFFIX = ".held.json"


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows each table had, and when."""

    rows: Mapping[str, int]
    at: int

    def __str__(self) -> str:
        counts = ", ".join(f"{count:,} {name}" for name, count in self.rows.items() if count)
        return f"{counts} on {datetime.fromtimestamp(self.at // 1000, UTC):%Y-%m-%d}"


def held(path: Path) -> RowCounts | None:
    """What the note beside the store says; None if there is none, or nothing was in the store."""
    try:
        note: Any = json.loads(note_of(path).read_text(encoding="ascii"))
        counts = RowCounts({str(name): int(count) for name, count in note["rows"].items()}, int(note["at"]))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None
    return counts if any(counts.rows.values()) else None


def note_held(path: Path, rows: Mapping[str, int], at: int) -> None:
    """Note how much is in the store, if that has changed."""
    last_note = held(path)
    if (last_note is None and not any(rows.values())) or (last_note is not None and last_note.rows == rows):
        return
    draft = Path(f"{note_of(path)}.{os.getpid()}")
    draft.touch(0o600)
    draft.write_text(json.dumps({"rows": dict(rows), "at": at}), encoding="ascii")
    draft.replace(note_of(path))


def drop_note(path: Path) -> None:
    """Delete the note: the rows it counts may be about to be removed on purpose."""
    note_of(path).unlink(missing_ok=True)


def emptied(path: Path) -> str:
    """How a store that held something was lost: file missing or empty; an empty text if it was not."""
    try:
        size = path.stat().st_size
    except OSError:
        counts = held(path)
        return f"it is gone; it held {counts}" if counts else ""
    if size:
        return ""
    if counts := held(path):
        return f"it is empty; it held {counts}"
    with contextlib.suppress(OSError):
        if Path(f"{path}-wal").stat().st_size:
            return "it is empty, and its log is not"
    return ""


def note_of(path: Path) -> Path:
    return Path(f"{path}{SUFFIX}")
