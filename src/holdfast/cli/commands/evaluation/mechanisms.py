"""Evaluation of single mechanisms on the command line: token estimates, redaction, recall; and scores."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from statistics import quantiles
from typing import Any, Final, TypeAlias, TypeVar

import click

from holdfast import models
from holdfast.cli.commands.sessions import NO_TITLE
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, give_table, say, working
from holdfast.core.evaluation.scores import MEASURES as SCORE_MEASURES
from holdfast.core.evaluation.scores import compare_by_start
from holdfast.core.evaluation.survival import Mean
from holdfast.core.session.pressure import factor_of
from holdfast.core.session.score import SessionScore, Start
from holdfast.engine.evaluation.estimates import Errors, Estimate, errors, estimates
from holdfast.engine.evaluation.redaction import (
    ALL,
    Changed,
    Family,
    RedactionResult,
    Share,
    clean_texts,
    labelled_secrets,
    made_clean,
    measure_redaction,
)
from holdfast.engine.evaluation.retrieval import (
    FINDERS,
    HOLDFAST,
    MEASURES,
    Collection,
    QuestionResult,
    collections_in,
    library_of,
    means,
    results_for,
)
from holdfast.engine.evaluation.survival import read, transcripts
from holdfast.errors import TranscriptUnreadable
from holdfast.lazy_dataclass import dataclass
from holdfast.models import embedder
from holdfast.models.known import KNOWN_MODELS

EVERY = "all"


@command("holdfast eval pressure --data DIR", "holdfast eval pressure --data DIR --json")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Transcripts, in folders named after their harness.",
)
@json_option("Print one JSON document with a number for every measure.")
def pressure(*, data: Path, as_json: bool) -> None:
    """Measure how well the size of a request is foretold.

    The last count and what came in since, counted with o200k times the factor of the model's family, against
    what the harness counted for the request itself; by harness and family. Families that Holdfast knows and
    that no transcript has counts of are named as unmeasured: how well theirs are foretold, nobody knows.
    """
    count = models.counter()
    all_estimates = [
        estimate
        for each in with_progress(transcripts(data), "counting")
        for estimate in estimates(each.harness.name, read(each.harness, each.path)[0], KNOWN_MODELS, count)
    ]
    if not all_estimates:
        raise TranscriptUnreadable("no transcript that was found holds counts of two requests in a row")
    rows = list(_rows(all_estimates))
    unmeasured = _unmeasured(all_estimates)
    if as_json:
        documents = [{"harness": harness, "family": family, **asdict(of)} for harness, family, of in rows]
        give_json([*documents, *({"harness": "", "family": family, "requests": 0} for family in unmeasured)])
        return
    give_table(
        ("harness", "family", "requests", "within 10 %", "median", "mean", "90th", "factor", "used"),
        [_cells(*row) for row in rows],
    )
    say("errors as shares of what was counted; the factor is what the model made of one token of o200k")
    if unmeasured:
        used = ", ".join(f"{family} ({factor_of(family, KNOWN_MODELS):.2f})" for family in unmeasured)
        say(f"unmeasured, since no transcript here holds counts of theirs; the factors used: {used}")


def _rows(all_estimates: Sequence[Estimate]) -> Iterator[tuple[str, str, Errors]]:
    for harness, family in sorted({(estimate.harness, estimate.family) for estimate in all_estimates}):
        own = [
            estimate for estimate in all_estimates if (estimate.harness, estimate.family) == (harness, family)
        ]
        yield harness, family, errors(own)
    yield EVERY, EVERY, errors(all_estimates)


def _unmeasured(all_estimates: Sequence[Estimate]) -> list[str]:
    """The families of models that Holdfast knows and of which nothing was found."""
    return sorted({known.name for known in KNOWN_MODELS} - {estimate.family for estimate in all_estimates})


def _cells(harness: str, family: str, of: Errors) -> tuple[str, ...]:
    measure_redaction = "–" if of.factor is None else f"{of.factor:.2f}"
    used = "" if family == EVERY else f"{factor_of(family, KNOWN_MODELS):.2f}"
    shares = (f"{of.median:+.1%}", f"{of.mean:.1%}", f"{of.p90:.1%}")
    return harness, family, str(of.requests), f"{of.within:.1%}", *shares, measure_redaction, used


SOURCE_TITLES: Final[Mapping[str, str]] = {
    ALL: "all",
    Family.PROVIDER_KEYS: "keys of providers",
    Family.PRIVATE_KEYS: "private keys",
    Family.URLS: "passwords and tokens in URLs",
    Family.KEY_VALUES: "values behind names, in code, settings and commands",
    Family.PASSWORD_HASHES: "hashed passwords",
}


@command("holdfast eval redaction --data DIR", "holdfast eval redaction --data DIR --json")
@click.option(
    "--data",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Labelled secrets in a folder `secrets`, transcripts in folders named after their harness.",
)
@json_option("Print one JSON document with a number for every measure.")
def redaction(*, data: Path, as_json: bool) -> None:
    """Measure whether a secret gets through, and whether clean text is left alone.

    A labelled secret counts as gone if its value stands nowhere in what is left; once more with the prefixes
    and names of services changed, so that no rule knows them. Transcripts are taken to
    hold no secret; paths, commit ids, UUIDs, lock files and prose are made for the occasion.
    """
    with working("reading"):
        labels, transcripts = labelled_secrets(data), list(clean_texts(data))
    if not labels and not transcripts:
        raise TranscriptUnreadable(
            f"there are no labelled secrets and no transcripts below `{data}`",
            "labels stand in a folder `secrets`, transcripts in folders named after their harness",
        )
    with working("measuring"):
        report = measure_redaction(labels, transcripts, made_clean(), time.process_time)
    if as_json:
        give_json(_redaction_as_json(report))
        return
    _print_redaction(report)


def _redaction_as_json(report: RedactionResult) -> dict[str, Any]:
    return {
        "recall": _shares(report.recall),
        "recall_in_json": _shares(report.recall_in_json),
        "recall_of_unknown_services": _shares(report.recall_of_unknown),
        "halves": [_shares(half) for half in report.halves],
        "false_redactions_per_million": _rounded(report.clean, "redactions_per_million"),
        "changed_characters_per_million": _rounded(report.clean, "changed_per_million"),
        "characters": {name: changed.characters for name, changed in report.clean.items()},
        "megabytes_per_second": _round(report.megabytes_per_second),
    }


def _shares(shares: Mapping[str, Share]) -> dict[str, float | None]:
    """Each share under its family, with how many it is of beside it."""
    numbers: dict[str, float | None] = {}
    for name, share in shares.items():
        numbers[name] = _round(share.value, 4)
        numbers[f"{name}_n"] = share.n
    return numbers


def _rounded(clean: Mapping[str, Changed], measure: str) -> dict[str, float | None]:
    return {name: _round(getattr(changed, measure)) for name, changed in clean.items()}


def _round(number: float | None, digits: int = 2) -> float | None:
    return None if number is None else round(number, digits)


def _print_redaction(report: RedactionResult) -> None:
    titles = ("secrets", "n", "gone", "gone from JSON", "of unknown services", "one half", "the other")
    give_table(titles, _recall_rows(report))
    give("")
    per_million = ("false redactions per million", "characters changed per million")
    give_table(("clean text", "characters", *per_million), _clean_rows(report.clean))
    say(f"{_cell(report.megabytes_per_second, 1)} MB/s of processor time")


def _recall_rows(report: RedactionResult) -> Iterator[tuple[str, ...]]:
    for name, title in SOURCE_TITLES.items():
        shares = [of[name] for of in _recalls(report)]
        yield title, str(shares[0].n), *(_cell(share.value, 3) for share in shares)


def _recalls(report: RedactionResult) -> tuple[Mapping[str, Share], ...]:
    return report.recall, report.recall_in_json, report.recall_of_unknown, *report.halves


def _clean_rows(clean: Mapping[str, Changed]) -> Iterator[tuple[str, ...]]:
    for name, changed in clean.items():
        numbers = (_cell(changed.redactions_per_million, 1), _cell(changed.changed_per_million, 1))
        yield name.replace("_", " "), f"{changed.characters:,}", *numbers


def _cell(number: float | None, digits: int) -> str:
    return "–" if number is None else f"{number:.{digits}f}"


TITLES: Final[Mapping[str, str]] = {
    HOLDFAST: "Holdfast",
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
        give_json({name: _retrieval_as_json(report) for name, report in reports.items()})
        return
    for name, report in reports.items():
        _print_retrieval(name, report)


def _run(name: str, collections: Sequence[Collection], limit: int | None) -> _Report:
    loaded, rows = embedder(), list[QuestionResult]()
    collections = [replace(collection, questions=collection.questions[:limit]) for collection in collections]
    for collection in collections:
        with library_of(collection, loaded) as library:
            for question in with_progress(collection.questions, f"asking {name} {collection.name}"):
                rows += results_for(collection.name, question, library)
    return _Report(collections, rows)


def _retrieval_as_json(report: _Report) -> dict[str, Any]:
    holdfast_rows = report.of(HOLDFAST)
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


def _print_retrieval(name: str, report: _Report) -> None:
    measures = [measure for measure in MEASURES if means(report.of(HOLDFAST))[measure].n]
    give_table(
        (name, *(SHOWN[measure] for measure in measures), "p50 ms", "p95 ms"),
        (_row(finder, report.of(finder), measures) for finder in FINDERS),
    )
    give("")
    turns = sum(len(collection.turns) for collection in report.collections)
    say(
        f"{name}: {len(report.of(HOLDFAST))} questions about {turns} memories; each mean ± its standard error"
    )


def _row(finder: str, rows: Sequence[QuestionResult], measures: Iterable[str]) -> tuple[str, ...]:
    of = means(rows)
    return (
        TITLES[finder],
        *(cell(of[measure]) for measure in measures),
        *(f"{ms:.1f}" for ms in _latency(rows)),
    )


@dataclass(frozen=True, slots=True)
class SessionName:
    """How a person recognises a session, and names it."""

    short_id: str
    title: str


SessionNames: TypeAlias = Mapping[str, SessionName]
"""The names of sessions by their keys."""


def give_scores(scores: Sequence[SessionScore], names: SessionNames) -> None:
    """The scores as a table, and below the means of those that were given a brief and those that were not."""
    if not scores:
        say("no session can be scored yet: it takes one whose agent was seen at work, not merely imported")
        return
    give_table(
        ("title", "session", "start", "brief items used", "rediscovered", "novel", "recalled and used"),
        [
            (
                names[score.session].title or NO_TITLE,
                names[score.session].short_id,
                score.start,
                _of(score.brief_items_used, score.brief_items),
                _of(score.rediscovered, score.needed + score.rediscovered),
                str(score.novel_context_count),
                _of(score.memories_used, score.memories_recalled),
            )
            for score in scores
        ],
        numbers=("brief items used", "rediscovered", "novel", "recalled and used"),
    )
    means = compare_by_start(scores)
    give_table(
        ("mean", *(name.replace("_", " ") for name in SCORE_MEASURES)),
        [(start, *map(cell, means[start].values())) for start in Start],
    )


def give_scores_as_json(scores: Sequence[SessionScore], names: SessionNames) -> None:
    """The same as one document."""
    means = compare_by_start(scores)
    give_json(
        {
            "sessions": [{**asdict(names[score.session]), **asdict(score)} for score in scores],
            "means": {start.value: flat(means[start]) for start in Start},
        }
    )


def _of(part: int, whole: int) -> str:
    return f"{part} of {whole}" if whole else "–"


_T = TypeVar("_T")


def with_progress(things: Sequence[_T], doing: str) -> Iterable[_T]:
    """The same things, with a progress bar on a terminal."""
    if not sys.stderr.isatty():
        return things
    from rich.console import Console
    from rich.progress import track

    return track(things, f"{doing} …", console=Console(stderr=True), transient=True)


def flat(measures: Mapping[str, Mean]) -> dict[str, float | None]:
    """Each mean under its name, its standard error and count beside it."""
    numbers: dict[str, float | None] = {}
    for name, of in measures.items():
        numbers[name] = None if of.value is None else round(of.value, 4)
        numbers[f"{name}_se"] = None if of.error is None else round(of.error, 4)
        numbers[f"{name}_n"] = of.n
    return numbers


def cell(of: Mean, usual: int | None = None) -> str:
    """A mean for a table, with how many it is over where that is fewer than usual."""
    if of.value is None:
        return "–"
    error = "" if of.error is None else f" ± {of.error:.2f}"
    fewer = f" ({of.n})" if usual is not None and of.n != usual else ""
    return f"{of.value:.2f}{error}{fewer}"
