"""Figures: how much is kept, how much waits, and what was spent, as numbers at one moment."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from holdfast.core.events.durations import DAY_MS
from holdfast.engine.engine import Desk
from holdfast.engine.liveness.home import spooled
from holdfast.engine.models.meter import Day, days_until
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Captured, Counts, Taken

DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class Figures:
    """What a person or a monitor looks at."""

    counts: Counts
    captured: tuple[Captured, ...]
    taken: tuple[Taken, ...]
    """Checkpoints of the last days that are still kept."""
    store_bytes: int
    letters_waiting: int
    skipped: dict[str, int]
    spent: tuple[Day, ...]
    """What models took on the last days."""


def figures(desk: Desk, home: Path) -> Figures:
    """The figures of now."""
    now = desk.clock()
    return Figures(
        desk.store.counts(),
        tuple(desk.store.captured()),
        tuple(desk.store.taken_since(now - DAYS * DAY_MS)),
        sum(path.stat().st_size for path in home.glob("store.db*") if path.is_file()),
        spooled(home),
        desk.store.skipped(),
        tuple(days_until(desk.store, now, DAYS)),
    )
