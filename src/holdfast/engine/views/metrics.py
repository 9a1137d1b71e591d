"""Metrics: how much is stored, how much waits, and what models cost, at one moment."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from holdfast.core.events.durations import DAY_MS
from holdfast.engine.engine import Engine
from holdfast.engine.liveness.home import spooled
from holdfast.engine.models.meter import Day, days_until
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Captured, Counts, DailyCheckpoints

DAYS: Final = 30


@dataclass(frozen=True, slots=True)
class Metrics:
    """Numbers for a person or a monitor."""

    counts: Counts
    captured: tuple[Captured, ...]
    taken: tuple[DailyCheckpoints, ...]
    """Stored checkpoints of the last days."""
    store_bytes: int
    letters_waiting: int
    skipped: dict[str, int]
    spent: tuple[Day, ...]
    """The use of models on the last days."""


def measure(engine: Engine, home: Path) -> Metrics:
    """The metrics at this moment."""
    now = engine.clock()
    return Metrics(
        engine.store.counts(),
        tuple(engine.store.captured()),
        tuple(engine.store.taken_since(now - DAYS * DAY_MS)),
        sum(path.stat().st_size for path in home.glob("store.db*") if path.is_file()),
        spooled(home),
        engine.store.skipped(),
        tuple(days_until(engine.store, now, DAYS)),
    )
