"""Stats: what Holdfast kept, gave back and cost in the last days, with a chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

import click

from holdfast.cli.access import current_engine
from holdfast.cli.options import command, json_option
from holdfast.cli.printing import give, give_folded, give_json, working
from holdfast.core.session.reason_words import reason_words
from holdfast.core.text.strings import many
from holdfast.engine.evaluation.usage import statistics
from holdfast.engine.views.stats import DAYS

_LABEL_WIDTH: Final = 12
_CHART_DAYS: Final = 14
_CHART_WIDTH: Final = 40


@command("holdfast stats", "holdfast stats --days 7", "holdfast stats --json")
@click.option(
    "--days",
    default=DAYS,
    show_default=True,
    type=click.IntRange(1, 366),
    metavar="N",
    help="Of so many days, today included.",
)
@json_option(
    "Print one JSON document: {days, since, sessions, compactions, crashes, briefs, use, memories, cost, "
    "by_day}; what is not known is null."
)
def stats(*, days: int, as_json: bool) -> None:
    """Show what was kept, given back and used, and what it cost.

    Sessions, compactions and crashes that a brief followed, the briefs, and which share of the names and
    files in them the agent then used by itself, within its next 60 steps. Memories; the time that hook events
    waited for the daemon; the tokens of briefs (estimated: four characters each) and of models, if any is
    set. Only what is still stored is counted: pruned sessions and their briefs are not.
    """
    with current_engine() as engine, working("counting"):
        row: dict[str, Any] = dict(statistics(engine, days))
    if as_json:
        give_json(row)
        return
    give(f"last {many(days, 'day')}, as far as it is still stored")
    give("")
    lines = {
        "Sessions": _sessions(row["sessions"]),
        "Compactions": _compactions(row["compactions"]),
        "Crashes": _survived(row["crashes"], "continued with a brief"),
        "Briefs": _briefs(row["briefs"]),
        "Used": _use(row["use"]),
        "Memories": _memories(row["memories"]),
        "Time": _time(row["cost"]),
        "Tokens": _tokens(row["cost"]),
    }
    for label, text in lines.items():
        give_folded(f"{label:{_LABEL_WIDTH}}", "bold", text)
    if not any(day["sessions"] or day["briefs"] for day in row["by_day"]):
        return
    give("")
    for line in _chart(row["by_day"][-_CHART_DAYS:]):
        give(line)


def _sessions(row: Mapping[str, Any]) -> str:
    imported = f", {row['imported']:,} of them imported" if row["imported"] else ""
    harnesses = ", ".join(f"{name} {count:,}" for name, count in row["by_harness"].items())
    parts = f"{row['count']:,} kept{imported}" + (f" ({harnesses})" if harnesses else "")
    return parts if row["stored"] == row["count"] else f"{parts}; {row['stored']:,} stored in all"


def _compactions(row: Mapping[str, Any]) -> str:
    live = _survived(row, "followed by a brief")
    return f"{live}; {row['imported']:,} in imported sessions" if row["imported"] else live


def _survived(row: Mapping[str, Any], how: str) -> str:
    return f"{row['survived']:,} of {row['seen']:,} {how}" if row["seen"] else "none seen"


def _briefs(row: Mapping[str, Any]) -> str:
    reasons = "; ".join(f"{count:,} {reason_words(reason)}" for reason, count in row["by_reason"].items())
    return f"{row['count']:,} given ({reasons})" if row["count"] else "none given"


def _use(row: Mapping[str, Any]) -> str:
    unknown = f"{many(row['briefs_unknown'], 'brief')} with too little work since then to tell"
    if row["share"] is None:
        return f"unknown: {unknown}" if row["briefs_unknown"] else "unknown: no brief was given"
    names, briefs = many(row["names"], "name or file", "names and files"), many(row["briefs_known"], "brief")
    share = f"{row['share']:.0%} of {names} in {briefs}"
    return f"{share}; {unknown}" if row["briefs_unknown"] else share


def _memories(row: Mapping[str, Any]) -> str:
    return f"{row['count']:,} kept, {row['added']:,} new; recalled {many(row['recalled'], 'time')} in all"


def _time(row: Mapping[str, Any]) -> str:
    if not row["hook_events"]:
        return "unknown: no hook event was timed yet"
    half, most = _within(row["hook_ms_p50"]), _within(row["hook_ms_p95"])
    answered = f"{many(row['hook_events'], 'hook event')} answered, half within {half}, 95 % within {most}"
    return f"{answered}; {row['hook_ms_total'] / 1000:,.1f} s in all"


def _within(milliseconds: int | None) -> str:
    return "more than 1 s" if milliseconds is None else f"{milliseconds:,} ms"


def _tokens(row: Mapping[str, Any]) -> str:
    briefs = f"about {row['brief_tokens']:,} in briefs"
    if not row["model_questions"]:
        return f"{briefs}; no model was asked"
    cents = f", {row['model_cents']:,.2f} cents" if row["model_cents"] else ""
    return (
        f"{briefs}; {row['model_tokens']:,} of models for {many(row['model_questions'], 'question')}{cents}"
    )


def _chart(rows: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Bars of the sessions of each day, with the number of briefs."""
    most = max((row["sessions"] for row in rows), default=0)
    yield f"{'day':10}  sessions, and the briefs that were given"
    for row in rows:
        width = -(-row["sessions"] * _CHART_WIDTH // most) if most else 0
        briefs = f", {many(row['briefs'], 'brief')}" if row["briefs"] else ""
        label = f" {row['sessions']:,}{briefs}" if row["sessions"] or briefs else "·"
        yield f"{row['date']}  {'█' * width}{label}"
