"""Tuning on the command line: fits the table of weights by which statements are selected, and judges it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from holdfast.cli.commands.evaluation.mechanisms import with_progress
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.engine.evaluation.handover import probes_to_fit
from holdfast.engine.evaluation.training_data import (
    JudgedCut,
    TrainingData,
    case_of,
    judged_cuts,
    outline,
    rows_of_case,
    rows_of_judged,
    rows_of_transcript,
    transcripts_of,
    usable,
)
from holdfast.engine.evaluation.tuning import (
    BUDGETS,
    FEATURES,
    LEARNING_CURVE,
    SEEDS,
    SOURCES,
    TABLES,
    Judgement,
    Judgements,
    Trial,
    judge,
    new_table,
    trials,
)
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass

_TITLES: Final[Mapping[str, str]] = {
    TABLES: "table",
    LEARNING_CURVE: "fitted to",
    FEATURES: "features",
    SOURCES: "labels",
}


@dataclass(frozen=True, slots=True)
class _TuningReport:
    """Everything that one run found out."""

    training: TrainingData
    left_out: int
    """How many transcripts are kept for validation."""
    results: Sequence[tuple[Trial, Judgements]]
    table: Mapping[str, float]

    @property
    def counts(self) -> dict[str, int]:
        origins = [case.origin for case in self.training.cases]
        return {
            "cuts": len(origins),
            "sessions": len({origin.session for origin in origins}),
            "projects": len({origin.project for origin in origins}),
            "left_out": self.left_out,
        }

    @property
    def labels(self) -> dict[str, dict[str, int]]:
        """For each source how many statements were needed, and how many were not."""
        numbers = Counter((row.source, row.row.is_positive) for row in self.training.rows)
        return {
            source: {"needed": numbers[source, True], "not_needed": numbers[source, False]}
            for source in sorted({source for source, _ in numbers})
        }


def tune(
    data: Path, probes: Path, is_selected: Callable[[str], bool], judged: Path | None, *, as_json: bool
) -> None:
    """Fit a table to the data, and print it with how good its briefs are; the shipped one stays as it is."""
    training, left_out = _training_data(data, probes, is_selected, judged_cuts(judged) if judged else [])
    compared = trials(training)
    fittings = list(dict.fromkeys(trial.fitting for trial in compared))
    judgements = {fitting: judge(training, fitting) for fitting in with_progress(fittings, "fitting")}
    results = [(trial, judgements[trial.fitting]) for trial in compared]
    report = _TuningReport(training, left_out, results, new_table(training))
    if as_json:
        give_json(_as_json(report))
    else:
        _print(report)


def _training_data(
    data: Path, folder: Path, is_selected: Callable[[str], bool], judged: Sequence[JudgedCut]
) -> tuple[TrainingData, int]:
    probes, validation = probes_to_fit(folder, is_selected)
    files = with_progress(transcripts_of(data, probes), "reading")
    available = usable([outline(file, data) for file in files], validation)
    cases = [case for probe in with_progress(probes, "cutting") if (case := case_of(probe, data, available))]
    rows = [row for case in cases for row in rows_of_case(case)]
    if len({case.origin.session for case in cases}) < 2 or not any(row.row.is_positive for row in rows):
        raise HoldfastError(
            "there is nothing to fit: it takes probes of two sessions that are not for validation, "
            "with statements that answer some of their questions",
            "write more probes, or name others with --only",
        )
    names = with_progress(list(available.transcripts), "labelling")
    rows += [row for name in names for row in rows_of_transcript(name, available)]
    rows += [row for cut in judged for row in rows_of_judged(cut, available)]
    return TrainingData(tuple(cases), tuple(rows)), available.left_out


def _as_json(report: _TuningReport) -> dict[str, Any]:
    parts = {
        part: {trial.name: _numbers(judgements) for trial, judgements in report.results if trial.part == part}
        for part in _TITLES
    }
    return {**report.counts, "statements": report.labels, **parts, "weights": report.table}


def _numbers(judgements: Judgements) -> dict[str, Any]:
    return {str(budget): asdict(judgement) for budget, judgement in judgements.items()}


def _print(report: _TuningReport) -> None:
    for part, title in _TITLES.items():
        rows = [(trial.name, judgements) for trial, judgements in report.results if trial.part == part]
        if rows:
            give_table(_columns(title), (_row(name, judgements) for name, judgements in rows))
            give("")
    give("\n".join(python_table(report.table)))
    counts = report.counts
    labels = ", ".join(f"{sum(of.values())} by {source}" for source, of in report.labels.items())
    say(
        f"cuts: {counts['cuts']} in {counts['sessions']} sessions of {counts['projects']} projects; "
        f"± is the standard error over cuts; transcripts kept for validation, not used: {counts['left_out']}"
    )
    say(f"labelled statements: {labels}; a point of the learning curve is the mean of {SEEDS} draws")
    say("if the shipped table was fitted to these probes, compare it with the one that is judged there too")
    say("nothing was changed: to adopt the table, paste it into `core/work/weights.py`")


def python_table(table: Mapping[str, float]) -> Iterable[str]:
    """The lines of a table as Python, to paste."""
    yield "WEIGHTS: Final[Mapping[str, float]] = {"
    yield from (f'    "{name}": {value},' for name, value in table.items())
    yield "}"


def _columns(title: str) -> list[str]:
    return [title, *(column for budget in BUDGETS for column in (f"handover at {budget:,}", "misled"))]


def _row(name: str, judgements: Judgements) -> list[str]:
    return [name, *(cell for budget in BUDGETS for cell in _cells(judgements[budget]))]


def _cells(judgement: Judgement) -> tuple[str, str]:
    error = "" if judgement.error is None else f" ± {judgement.error:.3f}"
    return f"{_number(judgement.handover)}{error}", _number(judgement.misled)


def _number(share: float | None) -> str:
    return "–" if share is None else f"{share:.3f}"
