"""Evaluation of the estimates on the command line: how far they are from what harnesses counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from holdfast import models
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give_json, give_table, say
from holdfast.cli.views.evaluation import with_progress
from holdfast.core.session.pressure import factor_of
from holdfast.engine.evaluation.estimates import Errors, Estimate, errors, estimates
from holdfast.engine.evaluation.survival import read, transcripts
from holdfast.errors import TranscriptUnreadable
from holdfast.models.known import KNOWN_MODELS

ALL = "all"


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
    yield ALL, ALL, errors(all_estimates)


def _unmeasured(all_estimates: Sequence[Estimate]) -> list[str]:
    """The families of models that Holdfast knows and of which nothing was found."""
    return sorted({known.name for known in KNOWN_MODELS} - {estimate.family for estimate in all_estimates})


def _cells(harness: str, family: str, of: Errors) -> tuple[str, ...]:
    measured = "–" if of.factor is None else f"{of.factor:.2f}"
    used = "" if family == ALL else f"{factor_of(family, KNOWN_MODELS):.2f}"
    shares = (f"{of.median:+.1%}", f"{of.mean:.1%}", f"{of.p90:.1%}")
    return harness, family, str(of.requests), f"{of.within:.1%}", *shares, measured, used
