"""Erase files: removes forgotten wordings from the home's files beside the store.

These are the stored versions of ledgers and continuity, the candidates for promotion and their log, and hook
events in the spool. Every other file of the home has no text of a session, or is the user's own.
"""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from holdfast.core.memory.wordings import FORGOTTEN, Wordings
from holdfast.files import atomic
from holdfast.files.together import locked

_Json: TypeAlias = dict[str, Any] | list[Any] | str | int | float | bool | None

OWN_SETTINGS: Final = "config.toml"
_LENGTH: Final = re.compile(rb"^length: \d+$", re.MULTILINE)
_PARTS: Final = ("continuity/journal", "dream")
"""The folder of a project whose lock covers its files, besides those of its ledgers."""


def erase_files(home: Path, wordings: Wordings) -> int:
    """Remove these wordings from the files; returns how many files had one."""
    if not wordings:
        return 0
    erased = sum(_erased_payload(payload, wordings) for payload in sorted((home / "spool").glob("*.letter")))
    for project in sorted((home / "projects").glob("*")):
        with contextlib.ExitStack() as alone:
            for journal in _journals(project):
                alone.enter_context(locked(journal))
            erased += sum(_erased_file(path, wordings) for path in _texts(project))
    return erased


def _journals(project: Path) -> list[Path]:
    journals = [project / part for part in _PARTS if (project / part).is_dir()]
    return journals + [folder for folder in sorted(project.glob("ledger/*/journal")) if folder.is_dir()]


def _texts(project: Path) -> Iterator[Path]:
    for path in sorted(project.rglob("*")):
        if path.is_file() and not path.is_symlink() and path.name not in (OWN_SETTINGS, "lock"):
            yield path


def _erased_file(path: Path, wordings: Wordings) -> bool:
    """Remove the wordings from a file; returns whether it had one."""
    before = (atomic.read(path) or b"").decode("utf-8", "replace")
    if path.suffix == ".json":
        after = _erased_json(before, wordings, lambda value: json.dumps(value, ensure_ascii=False, indent=1))
    elif ".jsonl" in path.name:
        lines = before.split("\n")
        after = "\n".join(_erased_json(line, wordings, _one_line) for line in lines)
    else:
        after = wordings.removed(before)
    if after == before:
        return False
    atomic.write(path, after.encode(errors="replace"))
    return True


def _erased_payload(path: Path, wordings: Wordings) -> bool:
    """Remove the wordings from a waiting hook event, whose header holds its length."""
    if path.is_symlink() or not path.is_file():
        return False  # reading a FIFO would block for ever
    try:
        raw = path.read_bytes()
    except FileNotFoundError:  # the daemon has processed it
        return False
    head, gap, body = raw.partition(b"\n\n")
    before = body.decode("utf-8", "replace")
    after = _erased_json(before, wordings, _one_line).encode()
    if after == before.encode():
        return False
    atomic.write(path, _LENGTH.sub(b"length: %d" % len(after), head) + gap + after)
    return True


def _erased_json(text: str, wordings: Wordings, dumped: Callable[[_Json], str]) -> str:
    """JSON without the wordings; unchanged to the byte if it had none. Invalid JSON counts as one text."""
    try:
        value: _Json = json.loads(text)
    except ValueError:
        return wordings.removed(text)
    after = _erased_value(value, wordings)
    return text if after == value else dumped(after)


def _erased_value(value: _Json, wordings: Wordings) -> _Json:
    match value:
        case str():
            return wordings.removed(value)
        case list():
            rows = [_erased_value(each, wordings) for each in value]
            return [each for each, before in zip(rows, value, strict=True) if not _is_gone(each, before)]
        case dict():
            candidate = "became" in value and wordings.is_one(str(value.get("text")))
            after = {name: _erased_value(each, wordings) for name, each in value.items()}
            return {**after, "text": FORGOTTEN} if candidate else after
        case _:
            return value


def _is_gone(after: _Json, before: _Json) -> bool:
    """Whether nothing is left of a list's item, which is a text or a row about a text."""
    if after == before:
        return False
    text = after.get("text") if isinstance(after, dict) else after
    return isinstance(text, str) and text.strip(" .!") == FORGOTTEN


def _one_line(value: _Json) -> str:
    return json.dumps(value, ensure_ascii=False)
