"""Evaluation: what Holdfast keeps for an agent, measured on transcripts; in tables, words, a picture."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

import click

from holdfast.cli import access
from holdfast.cli.commands.evaluation.handover import handover
from holdfast.cli.commands.evaluation.mechanisms import (
    cell,
    flat,
    pressure,
    redaction,
    retrieval,
    with_progress,
)
from holdfast.cli.options import command, group, json_option
from holdfast.cli.printing import give, give_json, give_table, say
from holdfast.core.evaluation.survival import CutKind, Mean, mean, rarity
from holdfast.engine.evaluation.survival import (
    BESIDE_SUMMARY,
    BUDGET,
    BUILDERS,
    HOLDFAST,
    Checked,
    CutResult,
    Recording,
    Transcript,
    history,
    means,
    scores_of,
    session_in,
    transcripts,
)
from holdfast.engine.views.measurements import Evaluation, store_evaluation
from holdfast.errors import TranscriptUnreadable
from holdfast.lazy_dataclass import dataclass

TITLES: Final[Mapping[str, str]] = {
    HOLDFAST: "Holdfast's brief",
    "bare_list": "bare list of facts",
    "tail": f"last {BUDGET:,} characters",
    "lead": "first user messages",
    "random": "random sentences",
    "summary": "the harness's summary, whole",
    "summary_first": f"its first {BUDGET:,} characters",
    "summary_last": f"its last {BUDGET:,} characters",
    BESIDE_SUMMARY: "Holdfast's brief, at the same cuts",
    "empty": "nothing (control)",
}
SHOWN = ("survival", "survival_old", "precision", "constraints", "form")
CHECKS: Final[Mapping[str, str]] = {
    "last_state": "last state: failing command, edited file, open to-dos that are there",
    "last_state_all": "last state: cuts at which all of them are there",
    "stale_facts": "stale facts: deleted or renamed files not offered as present",
    "drift": "drift: first constraint there after the 2nd and 3rd compaction",
    "crash": "crash: a file broken off anywhere gives the brief of its whole records",
    "idempotence": "idempotence: prefixes and pieces give the state of one pass",
}


@dataclass(frozen=True, slots=True)
class _Report:
    """Everything that one run measured."""

    sessions: int
    rows: tuple[CutResult, ...]
    checks: tuple[Checked, ...]
    recurring: int
    """How often an identifier must have been named to count."""

    def at(self, builder: str, kind: CutKind, harness: str = "") -> dict[str, Mean]:
        """The means of one builder at one kind of cut, of one harness or of all."""
        return means(
            row
            for row in self.rows
            if row.builder == builder and row.kind is kind and harness in ("", row.harness)
        )

    def check(self, name: str, harness: str = "") -> Mean:
        """The mean of one check, of one harness or of all."""
        return mean(
            check.value for check in self.checks if check.name == name and harness in ("", check.harness)
        )

    @property
    def harnesses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(row.harness for row in self.rows))


@group("holdfast eval survival --history", "holdfast eval handover --data DIR --probes DIR", name="eval")
def evaluate() -> None:
    """Measure what briefs hold of what agents need.

    Mechanical and repeatable: no model judges, and the same transcripts give the same numbers.
    """


@command(
    "holdfast eval survival --history",
    "holdfast eval survival --data DIR --json",
    "holdfast eval survival --data DIR --plot survival.svg",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    metavar="DIR",
    help="Transcripts, in folders named after their harness.",
)
@click.option("--history", "own", is_flag=True, help="Use your own transcripts, the newest first.")
@click.option("--limit", type=click.IntRange(min=1), metavar="N", help="Read at most so many transcripts.")
@click.option(
    "--recurring",
    type=click.IntRange(min=1),
    default=1,
    metavar="N",
    help="Count an identifier only if it was named so often before the cut.",
)
@click.option("--plot", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Draw an SVG.")
@json_option("Print one JSON document with a number for every measure.")
def survival(
    *,
    data: Path | None,
    own: bool,
    limit: int | None,
    recurring: int,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Measure whether a brief holds what the agent needs next.

    Sessions are cut where the harness compacted them, and where it did not; each brief is made from what
    stands before the cut, and scored by what the agent named by itself after it.
    """
    recordings = _recordings(_transcripts(data, own=own)[:limit])
    report = _run(recordings, recurring)
    if own:
        with access.writable_engine() as engine:
            store_evaluation(engine.store, Evaluation("survival", engine.clock(), _as_json(report)))
    if plot is not None:
        plot.write_text(picture(report), encoding="utf-8")
        say(f"the picture is in `{plot}`")
    if as_json:
        give_json(_as_json(report))
        return
    _print(report)
    if own:
        give("")
        give(in_words(report))


evaluate.add_command(handover)
evaluate.add_command(survival)
evaluate.add_command(retrieval)
evaluate.add_command(redaction)
evaluate.add_command(pressure)


def _transcripts(data: Path | None, *, own: bool) -> list[Transcript]:
    if (data is None) is not own:
        raise click.UsageError("Say either --data DIR or --history.")
    matches = transcripts(data) if data is not None else history(Path.home(), os.environ)
    if not matches:
        where = f"below `{data}`" if data else "in your home"
        raise TranscriptUnreadable(
            f"there is no transcript of a known harness {where}",
            "the folders below DIR are named after harnesses"
            if data
            else "name a directory of them with --data",
        )
    return matches


def _recordings(files: Sequence[Transcript]) -> list[Recording]:
    recordings = [recording for each in with_progress(files, "reading") if (recording := session_in(each))]
    if not recordings:
        raise TranscriptUnreadable("no transcript that was found tells anything")
    return recordings


def _run(recordings: Sequence[Recording], recurring: int) -> _Report:
    rare = rarity(recording.mentions for recording in recordings)
    results = [scores_of(recording, rare, recurring) for recording in with_progress(recordings, "measuring")]
    rows, checks = (tuple(itertools.chain.from_iterable(part)) for part in zip(*results, strict=True))
    return _Report(len(recordings), rows, checks, recurring)


def _as_json(report: _Report) -> dict[str, Any]:
    return {
        "budget": BUDGET,
        "sessions": report.sessions,
        "recurring": report.recurring,
        "cuts": {kind.value: report.at(HOLDFAST, kind)["survival"].n for kind in CutKind},
        **_numbers(report, ""),
        "harnesses": {name: _numbers(report, name) for name in report.harnesses},
    }


def _numbers(report: _Report, harness: str) -> dict[str, Any]:
    return {
        "builders": {
            builder: {kind.value: flat(report.at(builder, kind, harness)) for kind in CutKind}
            for builder in BUILDERS
        },
        "checks": flat({name: report.check(name, harness) for name in CHECKS}),
    }


def _print(report: _Report) -> None:
    names = ("", *report.harnesses) if len(report.harnesses) > 1 else ("",)
    give_table(("brief", "harness", "cuts", "n", *SHOWN), _rows(report, names))
    give("")
    checks = ((words, report.check(name)) for name, words in CHECKS.items())
    give_table(("check of Holdfast's brief", "share", "n"), ((w, cell(m), str(m.n)) for w, m in checks))
    if report.recurring > 1:
        say(f"an identifier counts only if it was named {report.recurring} times or more before the cut")
    say(f"sessions: {report.sessions}; each mean ± its standard error, over the cuts that have any (n)")


def _rows(report: _Report, names: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for harness in names:
        # The other builders' values for each harness are in the JSON only, to keep the table short.
        for builder in (HOLDFAST,) if harness else BUILDERS:
            for kind in CutKind:
                of = report.at(builder, kind, harness)
                if of["survival"].n:
                    cells = (cell(of[name], of["survival"].n) for name in SHOWN)
                    yield TITLES[builder], harness or "all", kind.value, str(of["survival"].n), *cells


def in_words(report: _Report) -> str:
    """What Holdfast would have saved, for a person."""
    brief, summary = report.at(HOLDFAST, CutKind.REAL), report.at("summary", CutKind.REAL)
    opening = f"{report.sessions} of your sessions {'was' if report.sessions == 1 else 'were'} read."
    if not brief["survival"].n:
        return (
            f"{opening} None was compacted in a place where enough followed to measure. {_if_cut(report)}"
        ).rstrip()
    needed, again = brief["needed"].value or 0, brief["rediscovered"].value or 0
    share = f"Holdfast's brief of {BUDGET:,} characters would have had {_percent(brief['survival'])}"
    if summary["survival"].n:
        same = report.at(BESIDE_SUMMARY, CutKind.REAL)["survival"]
        share += f" (where the harness's own summary had {_percent(summary['survival'])}: {_percent(same)})"
    return (
        f"{opening} {_times(brief['survival'].n)} the context was compacted and the work went on. The agent "
        f"then used {needed:.0f} things by itself that only the lost context had shown it: {share}. Another "
        f"{again:.0f} things had to be found again with tools or told again by you. {_if_cut(report)}"
    ).rstrip()


def _if_cut(report: _Report) -> str:
    virtual = report.at(HOLDFAST, CutKind.VIRTUAL)["survival"]
    if not virtual.n:
        return ""
    return (
        f"At {virtual.n} places where the context could have been lost and was not, the brief would have had "
        f"{_percent(virtual)} of what the agent used next."
    )


def _times(count: int) -> str:
    return "Once" if count == 1 else f"{count} times"


def _percent(of: Mean) -> str:
    return f"{100 * (of.value or 0):.0f} %"


BAR, GAP, LEFT, WIDE = 16, 14, 240, 420
COLOURS: Final[Mapping[CutKind, str]] = {CutKind.REAL: "#1b6e75", CutKind.VIRTUAL: "#8fc1b5"}


def picture(report: _Report) -> str:
    """Every builder's survival at real and virtual cuts, as bars in an SVG."""
    parts: list[str] = []
    top = 52
    for builder in BUILDERS:
        bars = [(kind, of) for kind in CutKind if (of := report.at(builder, kind)["survival"]).n]
        if not bars:
            continue
        middle = top + len(bars) * BAR / 2 + 4
        parts.append(f'<text x="{LEFT - 10}" y="{middle}" text-anchor="end">{escape(TITLES[builder])}</text>')
        for kind, of in bars:
            parts += _bar(kind, of, top)
            top += BAR
        top += GAP
    size = f'width="{LEFT + WIDE + 90}" height="{top}"'
    of_names = f"; names that recur {report.recurring} times" if report.recurring > 1 else ""
    title = f"Share of what the agent needed next, in {BUDGET:,} characters{of_names}"
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="12">',
            '<rect width="100%" height="100%" fill="#ffffff"/>',
            f'<text x="10" y="20" font-weight="bold">{title}</text>',
            *_legend(),
            *parts,
            "</svg>\n",
        ]
    )


def _bar(kind: CutKind, of: Mean, top: float) -> Iterator[str]:
    length = WIDE * (of.value or 0)
    yield f'<rect x="{LEFT}" y="{top}" width="{length:.1f}" height="{BAR - 2}" fill="{COLOURS[kind]}"/>'
    if of.error is not None:
        reach, middle = WIDE * of.error, top + BAR / 2 - 1
        yield (
            f'<line x1="{LEFT + length - reach:.1f}" x2="{LEFT + length + reach:.1f}" '
            f'y1="{middle}" y2="{middle}" stroke="#333333"/>'
        )
    yield f'<text x="{LEFT + WIDE + 40}" y="{top + BAR - 5}">{of.value or 0:.2f}</text>'


def _legend() -> Iterator[str]:
    for place, (kind, colour) in enumerate(COLOURS.items()):
        x = LEFT + place * 110
        yield f'<rect x="{x}" y="30" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 18}" y="40">{kind.value} cuts</text>'
