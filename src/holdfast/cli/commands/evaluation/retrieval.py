"""Evaluation of recall on the command line: how often each way to search finds what a question asks for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import quantiles
from typing import Any, Final

import click

from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.cli.views.evaluation import cell, flat, with_progress
from holdfast.engine.evaluation.retrieval import (
    FINDERS,
    MEASURES,
    OURS,
    Collection,
    QuestionResult,
    collections_in,
    library_of,
    means,
    results_for,
)
from holdfast.errors import TranscriptUnreadable
from holdfast.lazy_dataclass import dataclass
from holdfast.models import embedder

TITLES: Final[Mapping[str, str]] = {
    OURS: "Holdfast",
    "holdfast_alone": "Holdfast, each memory alone",
    "keywords": "keywords alone (BM25)",
    "meaning": "vectors alone",
    "grep": "grep, most words first",
    "empty": "empty store (control)",
}
SHOWN: Final = {
    "r5": "R@5",
    "r10": "R@10",
    "hit1": "hit@1",
    "mrr": "MRR",
    "answer5": "answer@5",
    "answer10": "answer@10",
}


@dataclass(frozen=True, slots=True)
class _Report:
    """Everything that was measured on one set."""

    collections: Sequence[Collection]
    rows: Sequence[QuestionResult]

    def of(self, finder: str) -> list[QuestionResult]:
        return [row for row in self.rows if row.finder == finder]


@command("holdfast eval retrieval --data DIR", "holdfast eval retrieval --data DIR --limit 20 --json")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="LoCoMo (`locomo10*.json`) and DevMemBench (`devmembench/`), anywhere below it.",
)
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Ask at most so many questions of a collection."
)
@json_option("Print one JSON document with a number for every measure.")
def retrieval(*, data: Path, limit: int | None, as_json: bool) -> None:
    """Measure whether recall finds what a question asks for.

    Every turn of a conversation becomes one memory in a store of its own; what is found for a question is
    compared with the turns, or sessions, that are known to hold the answer.
    """
    data_sets = collections_in(data)
    if not data_sets:
        raise TranscriptUnreadable(
            f"there is no known set below `{data}`",
            "LoCoMo is any `locomo10*.json`, DevMemBench a folder `devmembench`",
        )
    reports = {name: _run(name, collections, limit) for name, collections in data_sets.items()}
    if as_json:
        give_json({name: _as_json(report) for name, report in reports.items()})
        return
    for name, report in reports.items():
        _print(name, report)


def _run(name: str, collections: Sequence[Collection], limit: int | None) -> _Report:
    loaded, rows = embedder(), list[QuestionResult]()
    collections = [replace(collection, questions=collection.questions[:limit]) for collection in collections]
    for collection in collections:
        with library_of(collection, loaded) as library:
            for question in with_progress(collection.questions, f"asking {name} {collection.name}"):
                rows += results_for(collection.name, question, library)
    return _Report(collections, rows)


def _as_json(report: _Report) -> dict[str, Any]:
    holdfast_rows = report.of(OURS)
    return {
        "conversations": len(report.collections),
        "memories": sum(len(collection.turns) for collection in report.collections),
        "questions": len(holdfast_rows),
        "finders": {name: _numbers(report.of(name)) for name in FINDERS},
        "by_category": {
            name: _numbers(rows) for name, rows in _grouped(holdfast_rows, lambda row: row.category)
        },
        "by_conversation": {
            name: _numbers(rows) for name, rows in _grouped(holdfast_rows, lambda row: row.collection)
        },
    }


def _numbers(rows: Sequence[QuestionResult]) -> dict[str, float | None]:
    p50, p95 = _latency(rows)
    return {**flat(means(rows)), "latency_p50_ms": round(p50, 3), "latency_p95_ms": round(p95, 3)}


def _grouped(
    rows: Iterable[QuestionResult], by: Callable[[QuestionResult], str]
) -> Iterator[tuple[str, list[QuestionResult]]]:
    groups: dict[str, list[QuestionResult]] = {}
    for row in rows:
        groups.setdefault(by(row), []).append(row)
    yield from sorted(groups.items())


def _latency(rows: Sequence[QuestionResult]) -> tuple[float, float]:
    """The median and the 95th percentile of a query, in milliseconds."""
    times = [row.milliseconds for row in rows]
    if len(times) < 2:
        return (times[0], times[0]) if times else (0.0, 0.0)
    cuts = quantiles(times, n=20, method="inclusive")
    return cuts[9], cuts[18]


def _print(name: str, report: _Report) -> None:
    measures = [measure for measure in MEASURES if means(report.of(OURS))[measure].n]
    give_table(
        (name, *(SHOWN[measure] for measure in measures), "p50 ms", "p95 ms"),
        (_row(finder, report.of(finder), measures) for finder in FINDERS),
    )
    give("")
    turns = sum(len(collection.turns) for collection in report.collections)
    say(f"{name}: {len(report.of(OURS))} questions about {turns} memories; each mean ± its standard error")


def _row(finder: str, rows: Sequence[QuestionResult], measures: Iterable[str]) -> tuple[str, ...]:
    of = means(rows)
    return (
        TITLES[finder],
        *(cell(of[measure]) for measure in measures),
        *(f"{ms:.1f}" for ms in _latency(rows)),
    )
