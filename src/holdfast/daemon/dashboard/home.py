"""The home page: live sessions, figures of the week, news; and the list of all sessions."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    badge,
    code,
    dotted,
    empty,
    gauge,
    many,
    more,
    name_of,
    page,
    phase_badge,
    project_name,
    section,
    select,
    session_link,
    session_path,
    table,
    with_code,
)
from holdfast.daemon.dashboard.html import NOTHING, Child, Html, el
from holdfast.daemon.dashboard.plots import Bar, sparkline
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Activity

WEEK: Final = 7


@dataclass(frozen=True, slots=True)
class HomeFacts:
    """All that the home page shows, redacted."""

    live: Sequence[Row]
    recent: Sequence[Row]
    feed: Sequence[Row]
    problems: Sequence[Row]
    activity: Sequence[Activity]
    """Of each of the last seven days."""


def home_page(view: PageContext, facts: HomeFacts) -> Html:
    """Problems, this week's figures, live sessions, the latest news, and the latest sessions."""
    today = view.local(view.now)
    if not (facts.live or facts.recent or facts.feed):
        return page(view, "/", "Home", _problems(view, facts.problems), _welcome())
    return page(
        view,
        "/",
        f"{today:%A}, {today.day} {today:%B}",
        _problems(view, facts.problems),
        el("div", _figures(view, facts.activity), id="figures", data_live=True),
        el(
            "div",
            el(
                "div",
                section("Live", _live(view, facts.live), id="live", live=True),
                _latest(view, facts),
            ),
            section("What happened", _feed(view, facts.feed), id="feed", live=True),
            class_="split",
        ),
    )


def _latest(view: PageContext, facts: HomeFacts) -> Html:
    """The latest sessions beside the live ones; nothing where all are live."""
    every = el("p", el("a", "All sessions", href="/sessions"), class_="more")
    if facts.live and not facts.recent:
        return el("div", every, id="recent", data_live=True)
    return section("Latest sessions", session_table(view, facts.recent), every, id="recent", live=True)


def _welcome() -> Html:
    steps = (
        (code("holdfast setup"), " connects the coding agents on this machine."),
        (code("holdfast import"), " brings in the sessions that they had before."),
        ("Work as always. Sessions, checkpoints and briefs show up here by themselves.",),
    )
    return el(
        "div",
        el("p", el("strong", "Nothing is kept yet.")),
        el("ol", [el("li", step) for step in steps]),
        class_="empty steps",
        id="live",
        data_live=True,
    )


def _problems(view: PageContext, problems: Sequence[Row]) -> Html:
    if not problems:
        return el("div", id="problems", data_live=True)
    listed = [
        el(
            "li",
            el("strong", row["check"]),
            ": ",
            with_code(view.with_home(str(row["detail"]))),
            _fix(view, row),
        )
        for row in problems
    ]
    return el(
        "div",
        el("p", el("a", many(len(problems), "problem"), href="/health"), class_="count"),
        el("ul", listed),
        id="problems",
        class_="problems",
        role="region",
        aria_label="Problems",
        data_live=True,
    )


def _fix(view: PageContext, row: Row) -> Child:
    return (" – ", with_code(view.with_home(str(row["fix"])))) if row["fix"] else None


# ---------------------------------------------------------------- figures


_FIGURES: Final = (
    ("Compactions survived", "compactions"),
    ("Sessions continued", "starts"),
    ("Checkpoints", "checkpoints"),
    ("Sessions at work", "sessions"),
    ("Memories", "memories"),
)


def days_of_week(view: PageContext) -> list[int]:
    """The local midnights with which the last seven days begin, and that with which today ends."""
    today = view.local(view.now).replace(hour=0, minute=0, second=0, microsecond=0)
    return [round((today + timedelta(days=day)).timestamp() * 1000) for day in range(1 - WEEK, 2)]


def _figures(view: PageContext, activity: Sequence[Activity]) -> Html:
    names = [f"{view.local(at):%a}" for at in days_of_week(view)]
    return el(
        "dl", [_figure(name, names, _counts(activity, field)) for name, field in _FIGURES], class_="tiles"
    )


def _counts(activity: Sequence[Activity], field: str) -> list[int]:
    return [int(getattr(day, field)) for day in activity]


def _figure(name: str, days: Sequence[str], counts: Sequence[int]) -> Html:
    bars = [Bar(day, count, f"{count:,}") for day, count in zip(days, counts, strict=False)]
    return el(
        "div",
        el("dt", name),
        el("dd", el("strong", f"{counts[-1]:,}"), el("span", f"{sum(counts):,} this week", class_="note")),
        el("dd", sparkline(bars, f"{name} by day"), class_="spark"),
    )


# ---------------------------------------------------------------- sessions


def _live(view: PageContext, rows: Sequence[Row]) -> Html:
    if not rows:
        hint = el("span", "Start one in a project, or connect a harness with ", code("holdfast setup"), ".")
        return empty("No session is at work.", hint)
    return el("ul", [_card(view, row) for row in rows], class_="cards")


def _card(view: PageContext, row: Row) -> Html:
    key = str(row["session_key"])
    last = row["last_checkpoint"]
    facts = dotted(
        project_name(view, str(row["project"])),
        row["harness"],
        many(row["prompt_count"], "prompt"),
        el("span", "checkpoint ", view.ago(last)) if last else "no checkpoint yet",
    )
    preview = f"{session_path(key)}/kept"
    return el(
        "li",
        el("h3", session_link(key, name_of(row)), view.ago(row["last_event_at"])),
        el("p", facts, class_="note"),
        el("p", with_code(row["last_statement"]), class_="said") if row["last_statement"] else NOTHING,
        gauge(row),
        el(
            "details",
            el("summary", "What a compaction now would keep"),
            el("div", el("a", "Show it", href=preview), data_load=preview),
        ),
        class_="session",
    )


def session_table(view: PageContext, rows: Sequence[Row]) -> Html:
    """Sessions as rows, title first."""
    if not rows:
        hint = el(
            "span",
            code("holdfast setup"),
            " connects the harnesses on this machine, ",
            code("holdfast import"),
            " brings in the sessions that they had before.",
        )
        return empty("No session was seen yet.", hint)
    body = [
        el(
            "tr",
            el(
                "td",
                session_link(row["session_key"], name_of(row)),
                el(
                    "div",
                    dotted(project_name(view, str(row["project"])), row["harness"], _phase(row), _where(row)),
                    class_="sub",
                ),
                class_="main",
            ),
            el("td", project_name(view, str(row["project"])), class_="spare still"),
            el("td", dotted(row["harness"], _phase(row), _where(row)), class_="spare note still"),
            el("td", f"{row['prompt_count']:,}", class_="number spare"),
            el("td", f"{row['percent']}% full" if row["tokens"] else "", class_="number spare"),
            el("td", view.ago(row["last_event_at"]), class_="number"),
        )
        for row in rows
    ]
    names = ("Session", "Project", "Harness", "Prompts", "Window", "Last event")
    return table("Sessions", names, body, ("Prompts", "Window", "Last event"), names[1:5])


def _where(row: Row) -> str:
    """Whose session it is, and of which machine, if of another one."""
    return f"{row['person']} on {row['machine']}" if row["machine"] else ""


def _phase(row: Row) -> Html | str:
    """The phase, unless the session just ended as it should."""
    return phase_badge(row) if row["imported"] or row["phase"] != "ended" else ""


def sessions_page(
    view: PageContext, listed: Row, projects: Sequence[Row], harnesses: Sequence[str], chosen: Row
) -> Html:
    """All sessions, the latest first, by project, harness and time."""
    query = {name: str(chosen[name]) for name in ("project", "harness", "since", "person", "machine")}
    return page(
        view,
        "/sessions",
        "Sessions",
        el(
            "form",
            filters(view, projects, harnesses, chosen),
            el("noscript", el("button", "Show", type="submit")),
            method="get",
            action="/sessions",
            class_="filters",
        ),
        el(
            "div",
            session_table(view, listed["items"])
            if listed["items"] or not any(query.values())
            else empty("No session fits.", el("a", "Show all sessions", href="/sessions")),
            more("/sessions", listed["next"], **query),
            id="recent",
            data_live=True,
        ),
    )


SINCE: Final = (
    ("", "Any time"),
    ("1", "Last 24 hours"),
    ("7", "Last 7 days"),
    ("30", "Last 30 days"),
    ("365", "Last year"),
)
"""How far back a list goes: days, and their name."""


def filters(view: PageContext, projects: Sequence[Row], harnesses: Sequence[str], chosen: Row) -> Html:
    """The fields that choose a project, a harness and a time."""
    paths = [
        ("", "All projects"),
        *((str(row["project_id"]), view.path(str(row["path"]))) for row in projects),
    ]
    names = [("", "All harnesses"), *((name, name) for name in harnesses)]
    return el(
        "div",
        select("project", "Project", paths, str(chosen["project"])),
        select("harness", "Harness", names, str(chosen["harness"])),
        select("since", "Time", SINCE, str(chosen["since"])),
        class_="line",
    )


# ---------------------------------------------------------------- feed


_WORDS: Final = {
    "compaction": ("Survived a compaction", "fine"),
    "brief": ("Continued", "fine"),
    "handoff": ("Handoff waits", "label"),
    "crash": ("Crashed; its work is kept", "wrong"),
    "memory": ("Remembered", "tag"),
}


def _feed(view: PageContext, rows: Sequence[Row]) -> Html:
    if not rows:
        return empty("Nothing happened yet.", "Compactions, briefs and handoffs show up here.")
    return el("ol", [_news(view, row) for row in rows], class_="feed")


def _news(view: PageContext, row: Row) -> Html:
    words, kind = _WORDS[row["kind"]]
    title = el("a", with_code(row["title"]), href=row["href"])
    return el(
        "li",
        el("span", view.clock(row["at"]), class_="when"),
        el(
            "div",
            el("p", badge(_counted(words, row), kind), " ", row["detail"], class_="note"),
            el("p", title),
        ),
    )


def _counted(words: str, row: Row) -> str:
    times = row.get("times", 1)
    return f"{words}, {times} times" if times > 1 else words
