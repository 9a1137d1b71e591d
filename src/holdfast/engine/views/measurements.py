"""Measurements: how much is stored and waits, what models cost, and the last result of each evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from holdfast.core.events.durations import DAY_MS
from holdfast.engine.engine import Engine
from holdfast.engine.liveness import spooled_hook_events
from holdfast.engine.models import DayOfUse, days_until
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Captured, DailyCheckpoints, Store, StoreCounts

DAYS: Final = 30
NAMES: Final = ("survival",)


@dataclass(frozen=True, slots=True)
class Metrics:
    """Numbers for a person or a monitor."""

    counts: StoreCounts
    captured: tuple[Captured, ...]
    taken: tuple[DailyCheckpoints, ...]
    """Stored checkpoints of the last days."""
    store_bytes: int
    hook_events_waiting: int
    skipped: dict[str, int]
    spent: tuple[DayOfUse, ...]
    """The use of models on the last days."""


def measure(engine: Engine, home: Path) -> Metrics:
    """The metrics at this moment."""
    now = engine.clock()
    return Metrics(
        engine.store.counts(),
        tuple(engine.store.captured()),
        tuple(engine.store.taken_since(now - DAYS * DAY_MS)),
        engine.store.size,
        spooled_hook_events(home),
        engine.store.skipped(),
        tuple(days_until(engine.store, now, DAYS)),
    )


_FACT: Final = "evaluations/{}"


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What was measured, when, and the result."""

    name: str
    at: int
    report: Mapping[str, Any]


def store_evaluation(store: Store, evaluation: Evaluation) -> None:
    """Store a result in place of the previous one."""
    fact = msgspec.json.encode({"at": evaluation.at, "report": evaluation.report}).decode()
    with store.writing():
        store.put_fact(_FACT.format(evaluation.name), fact)


def stored_evaluations(store: Store) -> list[Evaluation]:
    """The stored results."""
    noted = ((name, store.fact(_FACT.format(name))) for name in NAMES)
    results = [(name, msgspec.json.decode(fact)) for name, fact in noted if fact]
    return [Evaluation(name, int(result["at"]), result["report"]) for name, result in results]
