"""Set-aside stores: how a damaged store is named after it was moved away, and how long it is kept.

The name records when it was set aside. The file's own time does not: a store that was not written for a week
is a week old before it is set aside. The store itself moves and reads such files.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from holdfast.lazy_dataclass import dataclass

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
