"""Store files: what stands beside a store, and damaged stores that were set aside.

A note beside the store says how much was in it, to recognise a store that lost everything.

An empty database is valid, and so is one that was truncated to nothing: only from outside can one see that
something is missing. The note has counts and a time, and none of the content.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from holdfast.core.text.strings import many
from holdfast.lazy_dataclass import dataclass

SUFFIX = ".held.json"
_ONE_OF: Final = {"sessions": "session", "checkpoints": "checkpoint", "memories": "memory"}


@dataclass(frozen=True, slots=True)
class RowCounts:
    """How many rows each table had, and when."""

    rows: Mapping[str, int]
    at: int

    def __str__(self) -> str:
        counts = ", ".join(
            many(count, _ONE_OF.get(name, name), name) for name, count in self.rows.items() if count
        )
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


KEPT_DAYS: Final = 90
"""How long a damaged store is kept for the user, counted from the moment it was set aside."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """One damaged store that was set aside."""

    path: Path
    at: datetime | None
    """When it was set aside; None where its name does not say."""

    @property
    def until(self) -> datetime | None:
        """Until when it is kept; None if it stays until the user removes it."""
        return self.at + timedelta(days=KEPT_DAYS) if self.at else None

    @property
    def recovery_mark(self) -> Path:
        """The file which says that everything readable in it was recovered."""
        return Path(f"{self.path}.recovered")

    @property
    def advice(self) -> str:
        """What the user can do about it."""
        return REMOVE if self.recovery_mark.exists() else RECOVER

    def __str__(self) -> str:
        """A sentence about it for the user."""
        when = f" on {self.at:%Y-%m-%d}" if self.at else ""
        retention = f"kept until {self.until:%Y-%m-%d}" if self.until else "kept until you remove it"
        return f"a damaged store was set aside{when} as `{self.path}`, {retention}"


RECOVER: Final = "`holdfast recover-store` brings back what can be read in it"
REMOVE: Final = "what can be read in it was brought back, and `holdfast recover-store --remove` removes it"


def set_aside_stores(path: Path) -> list[SetAside]:
    """The damaged stores that once stood at that path, the oldest first."""
    files = (file for file in path.parent.glob(f"{path.stem}.corrupt-*{path.suffix}") if file.is_file())
    return [SetAside(file, time_of(file.name)) for file in sorted(files)]


def files_set_aside(path: Path) -> list[Path]:
    """The same with the files beside them: database logs, and what a recovery left."""
    return sorted(file for file in path.parent.glob(f"{path.stem}.corrupt-*") if file.is_file())


def files_of(store: SetAside) -> list[Path]:
    """One set-aside store and the files beside it."""
    return [file for file in files_set_aside(store.path.with_name("store.db")) if _is_of(file, store.path)]


def stamp(at: int) -> str:
    """A time in milliseconds since 1970 as `20260102T030405Z`, which sorts as part of a file name."""
    return f"{datetime.fromtimestamp(at // 1000, UTC):{_FORMAT}}"


def time_of(name: str) -> datetime | None:
    """The time in a file's name; None if there is none."""
    stamp_match = _STAMP.search(name)
    try:
        return datetime.strptime(stamp_match[0], _FORMAT).replace(tzinfo=UTC) if stamp_match else None
    except ValueError:
        return None


def _is_of(file: Path, store: Path) -> bool:
    return file == store or file.name.startswith((f"{store.name}-", f"{store.name}."))


_FORMAT: Final = "%Y%m%dT%H%M%SZ"
_STAMP: Final = re.compile(r"\d{8}T\d{6}Z")
