"""The page of health: the doctor's findings, capture and storage metrics, and evaluation results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, timedelta
from typing import Final

from holdfast.core.evaluation.scores import MEASURES
from holdfast.core.evaluation.survival import Mean
from holdfast.core.session.score import Start
from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    badge,
    code,
    empty,
    many,
    page,
    section,
    table,
    with_code,
)
from holdfast.daemon.dashboard.html import Html, el
from holdfast.daemon.dashboard.plots import Bar, days, days_axis, rows
from holdfast.engine.views.measurements import DAYS, Metrics
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import DailyCheckpoints
from holdfast.stores.codec import to_iso

BUILDERS: Final = {
    "holdfast": "Holdfast's brief",
    "summary": "the harness's own summary",
    "tail": "the last characters",
    "lead": "the first messages",
    "random": "random sentences",
}


@dataclass(frozen=True, slots=True)
class Findings:
    """What the checks found, as `holdfast doctor` lists it."""

    verdict: str
    """What the findings mean together, in one line."""
    problems: Sequence[Row]
    passed: Sequence[Row]
    absent: Sequence[Row]
    deep: bool
    """Whether these are all checks of `holdfast doctor`, not only the quick ones."""


@dataclass(frozen=True, slots=True)
class State:
    """All that the page shows."""

    findings: Findings
    metrics: Metrics
    survival: Row | None
    means: Mapping[Start, Mapping[str, Mean]]


def health_page(view: PageContext, state: State) -> Html:
    """How things stand."""
    has_scores = any(mean.n for by_measure in state.means.values() for mean in by_measure.values())
    return page(
        view,
        "/health",
        "Health",
        section("Checks", _findings(view, state.findings), id="findings"),
        section("Capture", _capture(view, state.metrics), id="capture", live=True),
        section("Store", _store(state.metrics), id="store"),
        section("Models", _models(state.metrics), id="models"),
        section("What a brief keeps", _survival(state.survival), id="survival") if state.survival else None,
        section("With a brief and without", _means(state.means), id="means") if has_scores else None,
    )


def _findings(view: PageContext, findings: Findings) -> Html:
    problems = findings.problems
    thorough = el(
        "p",
        el("a", "Check thoroughly", href="/health?deep=1", class_="button"),
        " reads the whole store and sends a trial hook event, as ",
        code("holdfast doctor"),
        " does.",
        class_="note",
    )
    return el(
        "div",
        el("p", findings.verdict, class_=f"verdict {'wrong' if problems else 'fine'}", role="status"),
        el("ul", [_finding(view, row, badge("problem", "wrong")) for row in problems], class_="findings")
        if problems
        else None,
        el(
            "details",
            el("summary", many(len(findings.passed), "check"), " passed"),
            el(
                "ul", [_finding(view, row, badge("ok", "fine")) for row in findings.passed], class_="findings"
            ),
            open=not problems,
        ),
        _absent(view, findings.absent) if findings.absent else None,
        _DEEPER if findings.deep else thorough,
    )


_DEEPER: Final = el(
    "p",
    code("holdfast doctor"),
    " also starts the tools of each harness, and looks for other daemons.",
    class_="note",
)


def _absent(view: PageContext, rows: Sequence[Row]) -> Html:
    """Harnesses that are not installed or not connected: neither a problem nor passed."""
    summary = el("summary", f"{len(rows)} not in use")
    return el(
        "details",
        summary,
        el("ul", [_finding(view, row, badge("absent")) for row in rows], class_="findings"),
    )


def _finding(view: PageContext, row: Row, result: Html) -> Html:
    return el(
        "li",
        result,
        el("strong", row["check"]),
        el(
            "div",
            el("p", with_code(view.with_home(str(row["detail"])))),
            el("p", "Fix: ", with_code(view.with_home(str(row["fix"]))), class_="fix")
            if row["fix"]
            else None,
        ),
    )


def _capture(view: PageContext, metrics: Metrics) -> Html:
    if not metrics.captured:
        hint = el("span", code("holdfast setup"), " connects the harnesses on this machine.")
        return empty("Nothing was captured yet.", hint)
    body = [
        el(
            "tr",
            el("td", capture.harness),
            el("td", capture.sessions, class_="number"),
            el("td", capture.live, class_="number"),
            el("td", view.ago(to_iso(capture.last_event_at)), class_="number"),
        )
        for capture in metrics.captured
    ]
    number = metrics.hook_events_waiting
    waiting = el("p", f"Waiting to be read: {many(number, 'hook event')}.", class_="note") if number else None
    names = ("Harness", "Sessions", "At work", "Last event")
    return el("div", table("Harnesses", names, body, names[1:]), waiting, _skipped(metrics))


def _skipped(metrics: Metrics) -> Html | None:
    if not metrics.skipped:
        return None
    reasons = [el("li", f"{reason}: {times:,}") for reason, times in metrics.skipped.items()]
    number = sum(metrics.skipped.values())
    return el(
        "details",
        el("summary", f"{many(number, 'thing')} could not be read"),
        el("ul", reasons),
    )


def _store(metrics: Metrics) -> Html:
    counts = metrics.counts
    rows = (
        ("Size", f"{metrics.store_bytes / 1e6:,.1f} MB"),
        ("Sessions", f"{counts.sessions:,}"),
        ("Events", f"{counts.events:,}"),
        ("Checkpoints", f"{counts.checkpoints:,}"),
        ("Briefs", f"{counts.receipts:,}"),
        ("Memories", f"{counts.memories:,}"),
        ("Texts to find", f"{counts.documents:,}"),
    )
    listed = el("dl", [el("div", el("dt", name), el("dd", value)) for name, value in rows], class_="figures")
    if not metrics.taken:
        return listed
    bars = list(_by_day(metrics.taken))
    title = f"Checkpoints that are kept, by day, {bars[0].label} to {bars[-1].label}"
    return el(
        "div", listed, el("h3", "Checkpoints that are kept, by day"), days(bars, title), days_axis(bars)
    )


def _by_day(daily: Sequence[DailyCheckpoints]) -> Iterator[Bar]:
    """A bar for each of the last days, also for those without a checkpoint."""
    of_day = {day_row.day: day_row.checkpoints for day_row in daily}
    last = date.fromisoformat(daily[-1].day)
    for number in reversed(range(DAYS)):
        day = (last - timedelta(days=number)).isoformat()
        count = of_day.get(day, 0)
        yield Bar(day, count, many(count, "checkpoint"))


def _models(metrics: Metrics) -> Html:
    if not metrics.spent:
        hint = el(
            "span",
            "Everything is made by rule, and costs nothing. ",
            code("checkpoint.model"),
            " would change that.",
        )
        return empty("No model was asked in the last 30 days.", hint)
    body = [
        el(
            "tr",
            el("td", day.date),
            el("td", name),
            el("td", usage.asked, class_="number"),
            el("td", usage.failed, class_="number"),
            el("td", f"{usage.tokens:,}", class_="number"),
            el("td", f"{usage.cents:.2f}", class_="number"),
        )
        for day in metrics.spent
        for name, usage in day.models.items()
    ]
    names = ("Day", "Model", "Asked", "Failed", "Tokens", "Cents")
    return table("Models", names, body, names[2:])


def _survival(stored_result: Row) -> Html:
    report = stored_result["report"]
    bars = [
        Bar(BUILDERS[name], share, f"{share:.0%}", "ours" if name == "holdfast" else "")
        for name in BUILDERS
        if (share := survival_of(report, name)) is not None
    ]
    read = f"in {report.get('sessions', 0)} sessions of yours"
    note = el("p", f"Of what agents named by themselves after a compaction, {read}.", class_="note")
    return el("div", note, rows(bars, "Share that was kept"))


def survival_of(report: Row, builder: str) -> float | None:
    """A builder's survival share at compactions, from a report of `holdfast eval survival --json`."""
    by_kind = report.get("builders", {}).get(builder, {})
    for kind in ("real", "virtual"):
        value = by_kind.get(kind, {}).get("survival")
        if isinstance(value, int | float):
            return float(value)
    return None


def _means(means: Mapping[Start, Mapping[str, Mean]]) -> Html:
    return el("div", [_compared(name, {start: means[start][name] for start in Start}) for name in MEASURES])


def _compared(name: str, means: Mapping[Start, Mean]) -> Html:
    """One measure, with a brief and without; counts are drawn against the greater of the two."""
    most = max(1.0, *(mean.value or 0.0 for mean in means.values()))
    bars = [
        Bar(
            start.value,
            (mean.value or 0.0) / most,
            _mean_text(mean),
            "ours" if start is Start.RECOVERED else "",
        )
        for start, mean in means.items()
    ]
    return el("div", el("h3", name.replace("_", " ").capitalize()), rows(bars, name))


def _mean_text(mean: Mean) -> str:
    return f"{mean.value:.2f} (n = {mean.n})" if mean.n and mean.value is not None else "–"
