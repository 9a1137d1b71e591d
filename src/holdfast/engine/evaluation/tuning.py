"""Tuning: fits the weights of `core.work.worth` to labelled statements, and judges them on others.

A table is judged by the briefs that it gives at probes of sessions, or projects, that it was not fitted to.
The same data give the same numbers. Nothing is written: a person decides whether to adopt the table.
"""

from __future__ import annotations

import random
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Final

from holdfast.core.evaluation.feature_groups import FEATURE_GROUPS
from holdfast.core.evaluation.handover import DIGITS, CutScore, HandoverScore
from holdfast.core.evaluation.labels import LabelSource
from holdfast.core.evaluation.regression import BIAS, Row, fit
from holdfast.core.work.weights import WEIGHTS
from holdfast.core.work.worth import Weights
from holdfast.engine.evaluation.training_data import (
    LABELLED_BY,
    ProbeCase,
    TrainingData,
    TrainingOrigin,
    TrainingRow,
)
from holdfast.lazy_dataclass import dataclass

BUDGETS: Final = (2_000, 6_000)
CURVE: Final = (3, 6, 12)
"""To how many sessions the tables of the learning curve are fitted."""
SEEDS: Final = 3
"""How often the sessions of each point of the curve are drawn."""
SMALLEST: Final = 0.03
"""Smaller weights are left out of a table."""
ALL_SOURCES: Final = frozenset(LabelSource)


class HeldOut(StrEnum):
    """What a table is not fitted to when it is judged there."""

    NOTHING = "nothing"
    SESSION = "session"
    PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Fitting:
    """What a table is fitted to, and what it is judged by."""

    held_out: HeldOut = HeldOut.SESSION
    sources: frozenset[LabelSource] = ALL_SOURCES
    without: str = ""
    """The group of features that is left out."""
    sessions: int = 0
    """To how many sessions with probes it is fitted, drawn at random; 0 for all sessions."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """The mean scores of a table's briefs within one budget; None where there was nothing to measure."""

    handover: float | None
    error: float | None
    """The standard error over cuts."""
    misled: float | None


Judgements = Mapping[int, Judgement]
"""By budget."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One line of the report: the part of it, a name, and how its table comes about."""

    part: str
    name: str
    fitting: Fitting | None
    """None for the table that ships."""


TABLES, LEARNING_CURVE, FEATURES, SOURCES = "tables", "learning_curve", "features", "labels"


def trials(training: TrainingData) -> list[Trial]:
    """Everything that a report compares."""
    sessions = {case.origin.session for case in training.cases}
    projects = {case.origin.project for case in training.cases}
    present = frozenset(row.source for row in training.rows)
    return [
        Trial(TABLES, "shipped", None),
        Trial(TABLES, "fitted, judged where it was fitted", Fitting(HeldOut.NOTHING)),
        Trial(TABLES, "fitted, each session held out", Fitting(HeldOut.SESSION)),
        *(
            [Trial(TABLES, "fitted, each project held out", Fitting(HeldOut.PROJECT))]
            if len(projects) > 1
            else []
        ),
        *(
            Trial(LEARNING_CURVE, f"{size} sessions", Fitting(sessions=size))
            for size in CURVE
            if size < len(sessions) - 1
        ),
        Trial(LEARNING_CURVE, "all sessions", Fitting()),
        Trial(FEATURES, "all", Fitting()),
        *(Trial(FEATURES, f"without {group}", Fitting(without=group)) for group in FEATURE_GROUPS),
        *_source_trials(present),
    ]


def _source_trials(present: frozenset[LabelSource]) -> Iterator[Trial]:
    """Without each source of labels, and with the probes alone, as far as there are others."""
    if len(present) < 2:
        return
    yield Trial(SOURCES, "all", Fitting())
    for source in sorted(present):
        yield Trial(SOURCES, f"without {source}", Fitting(sources=present - {source}))
    if len(present) > 2:
        yield Trial(SOURCES, f"{LabelSource.PROBES} alone", Fitting(sources=frozenset({LabelSource.PROBES})))


def judge(training: TrainingData, fitting: Fitting | None) -> Judgements:
    """How good the briefs are that the tables of a fitting give, or without one the shipped table."""
    if fitting is None:
        return _judged([(case, WEIGHTS) for case in training.cases])
    if not fitting.sessions:
        return _judged(tables_by_case(training, fitting))
    draws = [_judged(tables_by_case(training, fitting, seed)) for seed in range(SEEDS)]
    return {budget: _mean([draw[budget] for draw in draws]) for budget in BUDGETS}


def tables_by_case(
    training: TrainingData, fitting: Fitting, seed: int = 0
) -> list[tuple[ProbeCase, Weights]]:
    """Each probe with the table by which it is judged; the seed decides which sessions are drawn."""
    rows = _chosen(training.rows, fitting)
    # Every other fit starts here, because it ends near: that saves half of the time.
    start = fit(row.row for row in rows)
    if fitting.sessions:
        return list(_drawn(training.cases, rows, fitting.sessions, seed, start))
    return list(_held_out(training.cases, rows, fitting.held_out, start))


def new_table(training: TrainingData) -> dict[str, float]:
    """The table that is fitted to all rows."""
    return as_table(fit(row.row for row in training.rows))


def as_table(weights: Weights) -> dict[str, float]:
    """Weights as they ship: rounded, the bias first, without the smallest and the labels' sources."""
    rounded = {name: round(value, 2) for name, value in sorted(weights.items())}
    return {BIAS: rounded.pop(BIAS, 0.0)} | {
        name: value
        for name, value in rounded.items()
        if abs(weights[name]) >= SMALLEST and not name.startswith(LABELLED_BY)
    }


def _chosen(rows: Sequence[TrainingRow], fitting: Fitting) -> list[TrainingRow]:
    """The rows of the sources, without the features that are left out."""
    chosen = [row for row in rows if row.source in fitting.sources]
    if not fitting.without:
        return chosen
    is_left_out = FEATURE_GROUPS[fitting.without]
    return [TrainingRow(_without(one.row, is_left_out), one.source, one.origin) for one in chosen]


def _held_out(
    cases: Sequence[ProbeCase], rows: Sequence[TrainingRow], held_out: HeldOut, start: Weights
) -> Iterator[tuple[ProbeCase, Weights]]:
    """Each case with a table that was fitted to nothing of its session or project."""
    if held_out is HeldOut.NOTHING:
        table = as_table(start)
        yield from ((case, table) for case in cases)
        return
    for name in sorted({_group(case.origin, held_out) for case in cases}):
        others = [row.row for row in rows if _group(row.origin, held_out) != name]
        table = as_table(fit(others, start))
        yield from ((case, table) for case in cases if _group(case.origin, held_out) == name)


def _drawn(
    cases: Sequence[ProbeCase], rows: Sequence[TrainingRow], size: int, seed: int, start: Weights
) -> Iterator[tuple[ProbeCase, Weights]]:
    """Each case with a table that was fitted to some other sessions with probes, drawn at random."""
    sessions = sorted({case.origin.session for case in cases})
    for name in sessions:
        # Seeded by the session, so that every run draws the same.
        draw = random.Random(f"{seed}:{name}")  # noqa: S311 - no secret depends on it
        others = set(draw.sample([other for other in sessions if other != name], size))
        table = as_table(fit((row.row for row in rows if row.origin.session in others), start))
        yield from ((case, table) for case in cases if case.origin.session == name)


def _judged(tables: Sequence[tuple[ProbeCase, Weights]]) -> dict[int, Judgement]:
    return {budget: _judgement([case.score(table, budget) for case, table in tables]) for budget in BUDGETS}


def _judgement(scores: Sequence[CutScore]) -> Judgement:
    result = HandoverScore(tuple(scores))
    return Judgement(result.total, result.error, result.misled)


def _mean(runs: Sequence[Judgement]) -> Judgement:
    """The mean over several draws."""
    return Judgement(
        _mean_of(run.handover for run in runs),
        _mean_of(run.error for run in runs),
        _mean_of(run.misled for run in runs),
    )


def _mean_of(values: Iterable[float | None]) -> float | None:
    present = [value for value in values if value is not None]
    return round(statistics.fmean(present), DIGITS) if present else None


def _group(origin: TrainingOrigin, held_out: HeldOut) -> str:
    return origin.project if held_out is HeldOut.PROJECT else origin.session


def _without(row: Row, is_left_out: Callable[[str], bool]) -> Row:
    features = {name: value for name, value in row.features.items() if not is_left_out(name)}
    return Row(features, row.is_positive, row.weight)
