"""The page of statistics: what was kept, given back and used in the last days, and what that cost.

The figures are those of `holdfast stats`. What is not known is called so, never shown as zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from typing import Final

from holdfast.core.session.reason_words import reason_words
from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    code,
    empty,
    many,
    page,
    section,
    table,
    tabs,
)
from holdfast.daemon.dashboard.html import NOTHING, Child, Html, el
from holdfast.daemon.dashboard.plots import Bar, days_axis
from holdfast.daemon.dashboard.plots import days as day_bars

STATS_PATH: Final = "/stats"
PERIODS: Final = ((7, "7 days"), (30, "30 days"), (90, "90 days"), (365, "A year"))
DAYS_MOST: Final = 366
UNKNOWN: Final = "unknown"


def stats_page(view: PageContext, row: Row, briefs: Sequence[Row]) -> Html:
    """What was kept, given back and used; `briefs` are the latest of which the use is known."""
    periods = [(f"{STATS_PATH}?days={days}", name, days == row["days"]) for days, name in PERIODS]
    if not (row["sessions"]["count"] or row["briefs"]["count"] or row["memories"]["count"]):
        hint = el(
            "span",
            "Work in a connected harness, or bring old sessions in with ",
            code("holdfast import"),
            ".",
        )
        return page(
            view, STATS_PATH, "Stats", tabs("Period", periods), empty("Nothing to count in these days.", hint)
        )
    return page(
        view,
        STATS_PATH,
        "Stats",
        tabs("Period", periods),
        el("dl", [_tile(*each) for each in _tiles(row)], class_="tiles"),
        section("Day by day (UTC)", _by_day(row["by_day"]), id="days"),
        section("What agents used of their briefs", _use(view, row["use"], briefs), id="use"),
        section("What it cost", _cost(row["cost"]), id="cost"),
        el(
            "p",
            "Only what is still stored is counted. In a terminal: ",
            code("holdfast stats"),
            class_="note",
        ),
    )


def _tiles(row: Row) -> list[tuple[str, str, str]]:
    """Name, figure and a short remark of each."""
    sessions, briefs, memories, use = row["sessions"], row["briefs"], row["memories"], row["use"]
    imported = f"{sessions['imported']:,} of them imported" if sessions["imported"] else ""
    reasons = " · ".join(f"{count:,} {reason_words(reason)}" for reason, count in briefs["by_reason"].items())
    share = "–" if use["share"] is None else f"{use['share']:.0%}"
    of_what = "too little happened after them" if use["share"] is None else "of their names and files"
    return [
        ("Sessions kept", f"{sessions['count']:,}", imported),
        ("Compactions survived", *_compactions(row["compactions"])),
        ("Crashes survived", *_survived(row["crashes"], "continued by another session")),
        ("Briefs given", f"{briefs['count']:,}", reasons),
        ("Used of briefs", share, of_what),
        (
            "Memories",
            f"{memories['count']:,}",
            f"{memories['added']:,} new, recalled {many(memories['recalled'], 'time')}",
        ),
    ]


def _compactions(row: Row) -> tuple[str, str]:
    figure, remark = _survived(row, "followed by a brief")
    return figure, f"{remark}; {row['imported']:,} in imported sessions" if row["imported"] else remark


def _survived(row: Row, how: str) -> tuple[str, str]:
    return (f"{row['survived']:,} of {row['seen']:,}", how) if row["seen"] else ("–", "none happened")


def _tile(name: str, figure: str, remark: str) -> Html:
    return el("div", el("dt", name), el("dd", el("strong", figure)), el("dd", remark, class_="note"))


def _by_day(rows: Sequence[Row]) -> Html:
    return el(
        "div",
        [
            el(
                "div",
                el("h3", name, " ", el("span", f"{sum(int(row[field]) for row in rows):,}", class_="note")),
                _bars(name, field, rows),
            )
            for name, field in (("Sessions", "sessions"), ("Briefs", "briefs"))
        ],
        class_="beside",
    )


def _bars(name: str, field: str, rows: Sequence[Row]) -> Html:
    bars = [Bar(_day(row["date"]), int(row[field]), f"{row[field]:,}") for row in rows]
    most = max(rows, key=lambda row: int(row[field]))
    title = f"{name} by day, at most {most[field]:,} on {_day(most['date'])}"
    return el("div", day_bars(bars, title), days_axis(bars))


def _day(text: str) -> str:
    day = date.fromisoformat(text)
    return f"{day.day} {day:%b}"


def _use(view: PageContext, use: Row, briefs: Sequence[Row]) -> Html:
    explained = el(
        "p",
        "A brief names files, commands and other things. Counted is which of them the agent then used by "
        "itself, within its next 60 steps.",
        class_="note",
    )
    unknown = many(use["briefs_unknown"], "brief")
    after = f"After {unknown} too little happened to tell." if use["briefs_unknown"] else ""
    if not briefs:
        return el("div", explained, empty("Not known yet.", after or "No brief was given in these days."))
    rest = el("p", after, class_="note more") if after else NOTHING
    return el("div", explained, _use_table(view, briefs), rest)


def _use_table(view: PageContext, briefs: Sequence[Row]) -> Html:
    body = [
        el(
            "tr",
            el("td", el("a", row["title"] or "Brief", href=f"/briefs/{row['id']}"), class_="main"),
            el("td", f"{row['used']:,} of {row['names']:,}", class_="number"),
            el("td", _share(row), class_="number spare"),
            el("td", view.ago(row["created_at"]), class_="number"),
        )
        for row in briefs
    ]
    names = ("Brief to", "Used", "Share", "Given")
    return table("Use of briefs", names, body, names[1:], ("Share",))


def _share(row: Row) -> str:
    return f"{int(row['used']) / int(row['names']):.0%}" if row["names"] else ""


def _cost(cost: Row) -> Html:
    facts: list[tuple[str, Child]] = [
        ("Waiting for hooks", _time(cost)),
        ("Tokens of briefs", f"about {cost['brief_tokens']:,}"),
        ("Models", _models(cost)),
    ]
    return el(
        "dl", [el("div", el("dt", name), el("dd", text)) for name, text in facts], class_="facts wide-terms"
    )


def _time(cost: Row) -> str:
    if not cost["hook_events"]:
        return f"{UNKNOWN}: no hook event was timed yet"
    half, most = _within(cost["hook_ms_p50"]), _within(cost["hook_ms_p95"])
    events = many(cost["hook_events"], "hook event")
    total = f"{cost['hook_ms_total'] / 1000:,.1f} s in all"
    return f"half of {events} answered within {half}, 95% within {most}; {total}"


def _within(milliseconds: int | None) -> str:
    return "more than 1 s" if milliseconds is None else f"{milliseconds:,} ms"


def _models(cost: Row) -> str:
    if not cost["model_questions"]:
        return "none was asked"
    cents = f", {cost['model_cents']:,.2f} cents" if cost["model_cents"] else ""
    return f"{many(cost['model_questions'], 'question')}, {cost['model_tokens']:,} tokens{cents}"
