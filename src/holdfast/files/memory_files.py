"""Memory files: `MEMORY.md` and `memory/*.md` of a worktree, as a person or an agent keeps them.

They are read where they are, and only ever added to at the end, when somebody asks for that. No link is
followed; what is too large or no text is passed over. Making them findable is `engine.index`'s
work.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from pathlib import Path, PurePosixPath
from typing import Final

from holdfast.core.events.durations import DAY_MS
from holdfast.errors import PathRefused
from holdfast.files import worktree
from holdfast.lazy_dataclass import dataclass

LEAD: Final = "MEMORY.md"
FOLDER: Final = "memory"
MOST: Final = 400
"""So many files are looked at, those with the last names: days sort by their names."""


@dataclass(frozen=True, slots=True)
class MemoryFileState:
    """A file by what tells whether it was changed."""

    path: str
    """Below the top of the worktree."""
    modified_ns: int
    size: int


def states(root: Path) -> list[MemoryFileState]:
    """The memory files of a worktree, each as it is now."""
    try:
        topics = worktree.listed(root, FOLDER)
    except PathRefused:
        topics = ()
    paths = (LEAD, *(f"{FOLDER}/{name}" for name in topics[-MOST:]))
    states = (_state(root, path) for path in paths)
    return [state for state in states if state is not None]


def read(root: Path, path: str) -> str:
    """What stands in a memory file; empty if it is gone or no text of a size that we read."""
    try:
        content = worktree.read(root, path) or b""
    except PathRefused:
        return ""
    return "" if b"\0" in content else content.decode("utf-8", errors="replace").lstrip("\ufeff")


def written_at(state: MemoryFileState) -> int:
    """When what a file says was written last, in milliseconds; within the day that it may be named after."""
    day_name = _DAY.fullmatch(PurePosixPath(state.path).stem)
    try:
        day = date.fromisoformat(day_name[0]) if day_name else None
    except ValueError:
        day = None
    modified = state.modified_ns // 1_000_000
    if day is None:
        return modified
    midnight = round(datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp() * 1000)
    return max(midnight, min(modified, midnight + DAY_MS - 1))


def add(root: Path, day: date, text: str) -> str:
    """Add a paragraph to the end of the file of a day, made if there is none; its path in the worktree."""
    path = f"{FOLDER}/{day.isoformat()}.md"
    before = worktree.read(root, path) or f"# {day.isoformat()}\n".encode()
    worktree.write(root, path, before.rstrip(b"\n") + b"\n\n" + text.strip().encode() + b"\n")
    return path


def _state(root: Path, path: str) -> MemoryFileState | None:
    try:
        status = (root / path).lstat()
    except (OSError, ValueError):
        return None
    return MemoryFileState(path, status.st_mtime_ns, status.st_size)


_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
