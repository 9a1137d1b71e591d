"""Evaluation of handovers on the command line: what briefs hold of what an agent must know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from holdfast.cli.commands.evaluation.mechanisms import with_progress
from holdfast.cli.commands.evaluation.tuning import tune
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.core.evaluation.handover import CutScore, HandoverScore
from holdfast.engine.evaluation.handover import (
    VALIDATION,
    Probe,
    WriteBrief,
    briefs_from,
    probes_beside_summary,
    probes_in,
    score_probe,
    texts_in,
)
from holdfast.engine.evaluation.survival import BUDGET
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass

LARGEST_BUDGET = 100_000
_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


@dataclass(frozen=True, slots=True)
class _NameRange:
    """The probe of a name, or all from one name to another."""

    name: str

    @property
    def ends(self) -> tuple[str, str]:
        first, _, last = self.name.partition("-")
        return first.strip(), last.strip() or first.strip()

    def has(self, name: str) -> bool:
        first, last = self.ends
        return name == self.name or first <= name <= last


class _NameRanges(click.ParamType[tuple[_NameRange, ...]]):
    """Names of probes and ranges of them, separated by commas."""

    name = "names"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[_NameRange, ...]:
        ranges = tuple(_NameRange(part.strip()) for part in str(value).split(","))
        if any(not first or first > last for first, last in (each.ends for each in ranges)):
            self.fail(f"`{value}` names no probes; write it like 01-10,17-30", param, ctx)
        return ranges


@command(
    "holdfast eval handover --data DIR --probes DIR",
    "holdfast eval handover --data DIR --probes DIR --budget 6000 --json",
    "holdfast eval handover --data DIR --probes DIR --only 01-10,17-30 --missing",
    "holdfast eval handover --texts DIR --probes DIR",
    "holdfast eval handover --data DIR --probes DIR --tune",
    "holdfast eval handover --data DIR --probes DIR --tune --judged FILE",
)
@click.option("--data", type=_FOLDER, metavar="DIR", help="Where the probes' transcripts are.")
@click.option("--probes", required=True, type=_FOLDER, metavar="DIR", help="A folder for each probe.")
@click.option(
    "--budget",
    type=click.IntRange(min=1, max=LARGEST_BUDGET),
    default=BUDGET,
    show_default=True,
    metavar="N",
    help="At most so many characters for a brief.",
)
@click.option("--only", type=_NameRanges(), metavar="NAMES", help="Only these probes, such as 01-10,17-30.")
@click.option(
    "--beside-summary", is_flag=True, help="Count only what the harness's own summary of a probe lacks."
)
@click.option("--texts", type=_FOLDER, metavar="DIR", help="Score the texts NAME.txt here, not briefs.")
@click.option("--missing", "shows_missing", is_flag=True, help="List what is not held, and what misleads.")
@click.option("--tune", "tunes", is_flag=True, help="Fit the weights of statements to the probes instead.")
@click.option(
    "--judged",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    metavar="FILE",
    help="With --tune: statements that readers judged, as JSON lines.",
)
@json_option("Print one JSON document with a number for every measure.")
def handover(
    *,
    probes: Path,
    budget: int,
    shows_missing: bool,
    tunes: bool,
    as_json: bool,
    **chosen: Any,  # noqa: ANN401
) -> None:
    """Measure whether an agent that has only the brief can continue.

    A probe is a cut in a session, with questions whose answers one must know to go on. The brief is made from
    what stands before the cut. A question counts by the share of its nuggets, pieces of content, that the
    brief holds; `misled` is the share of outdated statements that it tells as true.

    --tune fits the table that says which statements a brief needs, judges it on sessions and projects that it
    was not fitted to, and prints it. It changes nothing.
    """
    choice = _Choice(**chosen)
    if tunes:
        data = choice.data_to_fit(shows_missing=shows_missing)
        tune(data, probes, choice.is_selected, choice.judged, as_json=as_json)
        return
    if choice.judged:
        raise click.UsageError("--judged goes with --tune.")
    write_brief = choice.write_brief
    selected = choice.probes_in(probes)
    if shows_missing:
        _refuse_to_show(selected)
    result = HandoverScore(
        tuple(score_probe(probe, write_brief, budget) for probe in with_progress(selected, "measuring"))
    )
    if as_json:
        give_json(_as_json(result) | (_missing_as_json(result) if shows_missing else {}))
        return
    _print(result, budget)
    if shows_missing:
        _print_missing(result)


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which probes to measure by, and what."""

    data: Path | None
    only: tuple[_NameRange, ...] | None
    beside_summary: bool
    texts: Path | None
    judged: Path | None

    def probes_in(self, folder: Path) -> list[Probe]:
        read = probes_beside_summary if self.beside_summary else probes_in
        return read(folder, self.is_selected)

    def is_selected(self, name: str) -> bool:
        return self.only is None or any(each.has(name) for each in self.only)

    def data_to_fit(self, *, shows_missing: bool) -> Path:
        """The data for --tune, which no option may accompany that it would ignore."""
        source = click.get_current_context().get_parameter_source("budget")
        if self.texts or self.beside_summary or shows_missing or source is not ParameterSource.DEFAULT:
            raise click.UsageError("--tune goes with --data, --probes, --only, --judged and --json alone.")
        if self.data is None:
            raise click.UsageError("--tune needs --data DIR.")
        return self.data

    @property
    def write_brief(self) -> WriteBrief:
        if self.texts is not None:
            return texts_in(self.texts)
        if self.data is None:
            raise click.UsageError("Say --data DIR, or --texts DIR.")
        return briefs_from(self.data)


def _refuse_to_show(probes: Sequence[Probe]) -> None:
    """Raise an error if any of these is for validation: nobody may fit a rule to what it lacks."""
    names = [probe.name for probe in probes if probe.is_for_validation]
    if names:
        raise HoldfastError(
            f"--missing shows no probe that `{VALIDATION}` keeps for validation ({', '.join(names)}): "
            "of these there are only numbers",
            "name the others with --only",
        )


def _as_json(result: HandoverScore) -> dict[str, Any]:
    return {
        "handover": result.total,
        "se": result.error,
        "kinds": result.kinds,
        "misled": result.misled,
        "cuts": {cut.name: cut.share for cut in result.cuts},
        "over_budget": [cut.name for cut in result.cuts if cut.is_over_budget],
    }


def _missing_as_json(result: HandoverScore) -> dict[str, Any]:
    columns = ("cut", "question", "kind", "text")
    return {
        "missing": [dict(zip(columns, row, strict=True)) for row in _missing(result)],
        "misleading": [{"cut": name, "text": text} for name, text in _misleading(result)],
    }


def _print(result: HandoverScore, budget: int) -> None:
    error = "" if result.error is None else f" ± {_number(result.error)}"
    traps = sum(cut.traps for cut in result.cuts)
    kinds = [question.kind for question in result.questions]
    give_table(
        ("measure", "share", "of"),
        [
            ("handover", f"{_number(result.total)}{error}", f"{len(kinds)} questions"),
            ("misled", _number(result.misled), f"{traps} traps"),
        ],
    )
    give("")
    give_table(
        ("kind", "handover", "questions"),
        ((kind, _number(share), str(kinds.count(kind))) for kind, share in result.kinds.items()),
    )
    give("")
    give_table(("cut", "handover", "questions", "misled"), map(_cut_row, result.cuts))
    say(f"cuts: {len(result.cuts)}; {budget:,} characters each; ± is the standard error over cuts")
    if over := [cut.name for cut in result.cuts if cut.is_over_budget]:
        say(f"over the budget, the rest did not count: {', '.join(over)}")


def _cut_row(cut: CutScore) -> tuple[str, ...]:
    misled = f"{len(cut.traps_stated)} of {cut.traps}" if cut.traps else "–"
    return cut.name, _number(cut.share), str(len(cut.questions)), misled


def _print_missing(result: HandoverScore) -> None:
    give("")
    give_table(("cut", "question", "kind", "not held"), _missing(result))
    give("")
    give_table(("cut", "misleads"), _misleading(result))


def _missing(result: HandoverScore) -> Iterator[tuple[str, str, str, str]]:
    for cut in result.cuts:
        for question in cut.questions:
            for text in question.missing:
                yield cut.name, question.id, question.kind, text


def _misleading(result: HandoverScore) -> Iterator[tuple[str, str]]:
    return ((cut.name, text) for cut in result.cuts for text in cut.traps_stated)


def _number(share: float | None) -> str:
    return "–" if share is None else f"{share:.3f}"
