"""The pages of sessions: the start page with all of them, the page of one, and those of briefs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import Final
from urllib.parse import quote

from holdfast.core.work.lines import SECTION_TITLES
from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    badge,
    code,
    diff,
    empty,
    gauge,
    many,
    more,
    page,
    phase_badge,
    pre,
    section,
    session_link,
    session_path,
    short,
    table,
    with_code,
)
from holdfast.daemon.dashboard.html import NOTHING, Html, el
from holdfast.daemon.dashboard.plots import timeline
from holdfast.engine.views.timeline import TimelineView


def now_page(view: PageContext, live: Sequence[Row], recent: Row) -> Html:
    """Live sessions first, then all, the latest first."""
    return page(
        view,
        "/",
        "Now",
        section("At work", _live(view, live), id="live", live=True),
        section("All sessions", _recent(view, recent), id="recent", live=True),
    )


def _live(view: PageContext, rows: Sequence[Row]) -> Html:
    if not rows:
        hint = el("span", "Start one in a project, or connect a harness with ", code("holdfast setup"), ".")
        return empty("No session is at work.", hint)
    return el("ul", [_card(view, row) for row in rows], class_="cards")


def _card(view: PageContext, row: Row) -> Html:
    key = str(row["session_key"])
    last = row["last_checkpoint"]
    return el(
        "li",
        el("h3", session_link(key, _name(row)), _key(row), badge(str(row["harness"]))),
        el("p", row["project"], class_="path"),
        gauge(row),
        el(
            "dl",
            _term("Prompts", row["prompt_count"]),
            _term("Window", row["windows"]),
            _term("Last checkpoint", view.ago(last) if last else "none yet"),
            _term("Last event", view.ago(row["last_event_at"])),
        ),
        el(
            "details",
            el("summary", "What a compaction now would keep"),
            el(
                "div",
                el("a", "Show it", href=f"{session_path(key)}/kept"),
                data_load=f"{session_path(key)}/kept",
            ),
        ),
        class_="session",
    )


def _recent(view: PageContext, recent: Row) -> Html:
    rows = recent["items"]
    if not rows:
        return empty("No session was seen yet.", "What happens in a connected harness shows up here.")
    body = [
        el(
            "tr",
            el("td", session_link(row["session_key"], _name(row)), " ", _key(row)),
            el("td", row["project"], class_="path spare"),
            el("td", row["prompt_count"], class_="number"),
            el("td", f"{row['percent']} %" if row["tokens"] else "", class_="number"),
            el("td", view.ago(row["last_event_at"])),
            el("td", badge(row["harness"]), " ", phase_badge(row)),
        )
        for row in rows
    ]
    names = ("Session", "Project", "Prompts", "Full", "Last event", "Harness")
    return el(
        "div", table("Sessions", names, body, ("Prompts", "Full"), ("Project",)), more("/", recent["next"])
    )


def compaction_page(view: PageContext, key: str, text: str) -> Html:
    """What a session would be given back if it were compacted now."""
    content = (
        pre(text)
        if text
        else empty("Nothing yet.", "There is something to keep once the agent did something.")
    )
    return page(
        view,
        "",
        "What a compaction would keep",
        el("div", el("p", "Of session ", session_link(key)), content, data_fragment=True),
    )


def _term(name: str, value: object) -> Html:
    text = value if isinstance(value, str | int) else str(value)
    return el("div", el("dt", name), el("dd", text))


def _name(row: Row) -> str:
    """A session's title or, if nothing is known of its work, the directory that it works in."""
    return str(row["title"]) or PurePath(str(row["project"])).name or short(str(row["session_key"]))


def _key(row: Row) -> Html:
    return el("span", short(str(row["session_key"])), class_="path")


IMPORTED: Final = "Imported. Its events are not stored, so it has no timeline; recall finds what was said."


def session_page(
    view: PageContext,
    row: Row,
    timeline_view: TimelineView,
    checkpoints: Sequence[Row],
    point: Row | None,
    changed: Row | None,
) -> Html:
    """The page of one session."""
    key = str(row["session_key"])
    return page(
        view,
        "",
        row["title"] or f"Session {short(key)}",
        _about_session(view, row),
        section("Work state", _work_state(view, row), id="work", live=True),
        section("Timeline", _timeline(row, timeline_view, point), id="timeline", live=True),
        _detail(view, point),
        section("Checkpoints", _checkpoints(view, key, checkpoints), id="checkpoints"),
        _difference(changed),
    )


def _about_session(view: PageContext, row: Row) -> Html:
    parent = row["parent"]
    continues = el("p", "Continues ", session_link(parent), f" ({row['lineage']})") if parent else NOTHING
    return el(
        "div",
        el("p", phase_badge(row), " ", badge(row["harness"]), " ", _key(row), " ", row["model"]),
        el("p", row["project"], class_="path"),
        continues,
        el("p", IMPORTED, " ", row["note"]) if row["imported"] else NOTHING,
        gauge(row),
        el(
            "p",
            f"{many(row['prompt_count'], 'prompt')} · {many(row['windows'], 'window')} · began ",
            view.ago(row["started_at"]),
            ", last event ",
            view.ago(row["last_event_at"]),
        ),
        class_="about",
    )


def _work_state(view: PageContext, row: Row) -> Html:
    """The statements by section; an empty section is left out."""
    sections = [(title, row["work"][section]) for section, title in SECTION_TITLES.items()]
    if not any(statements for _, statements in sections):
        return empty("Nothing is known of its work.", "The agent's goal, steps and results show up here.")
    return el("dl", [_statements(view, *each) for each in sections if each[1]], class_="work")


def _statements(view: PageContext, title: str, statements: Sequence[Row]) -> Html:
    lines = [
        el(
            "li",
            with_code(statement["text"]),
            el("small", " · ", view.ago(statement["at"])) if statement["at"] else NOTHING,
        )
        for statement in statements
    ]
    return el("div", el("dt", title), el("dd", el("ul", lines)))


def _timeline(row: Row, timeline_view: TimelineView, point: Row | None) -> Html:
    if not (timeline_view.moments or timeline_view.work or timeline_view.counts):
        return empty(
            "Nothing is known of what happened here.", "Only what was said in it may be kept, for recall."
        )
    picture = timeline(
        timeline_view,
        row["capacity"],
        point["id"] if point else "",
        _link,
    )
    note = (
        el("p", f"Not drawn: {many(timeline_view.left_out, 'earlier event')}.", class_="note")
        if timeline_view.left_out
        else NOTHING
    )
    return el(
        "div",
        el("div", picture, class_="wide", tabindex="0", role="group", aria_label="Timeline, scrolls"),
        note,
    )


def _detail(view: PageContext, point: Row | None) -> Html:
    if point is None:
        body = el("p", "Choose a point in the timeline to see what happened there.", class_="note")
        return section("Detail", body, id="detail")
    head = el("p", badge(point["kind"]), " ", view.ago(point["at"]), f" · {point['title']}")
    return section("Detail", head, pre(point["text"]) if point["text"] else NOTHING, id="detail")


def _checkpoints(view: PageContext, key: str, rows: Sequence[Row]) -> Html:
    if not rows:
        return empty(
            "No checkpoint yet.", "One is taken every 10 prompts or 15 minutes, and before a compaction."
        )
    body = [
        el(
            "tr",
            el("td", _choice("older", row, is_chosen=number == min(1, len(rows) - 1))),
            el("td", _choice("newer", row, is_chosen=number == 0)),
            el(
                "td",
                el("a", view.ago(row["created_at"]), href=_link(row["id"])),
            ),
            el("td", badge(row["trigger"])),
            el("td", row["prompt_count"], class_="number"),
            el("td", row["about"], class_="text"),
        )
        for number, row in enumerate(rows)
    ]
    names = ("From", "To", "Taken", "Why", "Prompts", "About")
    return el(
        "form",
        table("Checkpoints", names, body, ("Prompts",)),
        el("p", el("button", "Compare", type="submit")),
        method="get",
        action=f"{session_path(key)}#difference",
    )


def _link(point: str) -> str:
    """A link to a point from its session's own page; relative, because there are hundreds."""
    return f"?point={quote(point, safe='')}#detail"


def _choice(name: str, row: Row, *, is_chosen: bool) -> Html:
    label = f"{'From' if name == 'older' else 'To'} {row['created_at']}"
    return el("input", type="radio", name=name, value=row["id"], aria_label=label, checked=is_chosen)


def _difference(changed: Row | None) -> Html:
    if changed is None:
        return NOTHING
    body = diff(changed["diff"]) if changed["diff"] else el("p", "They say the same.", class_="note")
    return section("Difference", body, id="difference")


def briefs_page(view: PageContext, listed: Row) -> Html:
    """The briefs that were given, the newest first."""
    rows = listed["items"]
    if not rows:
        hint = el(
            "span",
            "One is given after a compaction, or when a session starts where another left off. ",
            code("holdfast brief"),
            " shows the next one.",
        )
        return page(view, "/briefs", "Briefs", empty("No brief was given yet.", hint))
    names = ("Given", "Why", "To", "From", "Size", "Items")
    body = [
        el(
            "tr",
            el("td", el("a", view.ago(row["created_at"]), href=f"/briefs/{row['id']}")),
            el("td", badge(row["reason"])),
            el("td", session_link(row["session_key"])),
            el("td", session_link(row["predecessor"]) if row["predecessor"] else ""),
            el("td", f"{row['size']:,} of {row['budget']:,}", class_="number"),
            el(
                "td",
                f"{row['said']} of {row['known']}",
                class_="number",
            ),
        )
        for row in rows
    ]
    listed_rows = table("Briefs", names, body, ("Size", "Items"))
    return page(
        view,
        "/briefs",
        "Briefs",
        section("Given", listed_rows, more("/briefs", listed["next"]), id="given", live=True),
    )


def brief_page(view: PageContext, row: Row, summary: str) -> Html:
    """One brief with its receipt."""
    rendered = [item for item in row["items"] if item["rendered"]]
    omitted = [item for item in row["items"] if not item["rendered"]]
    return page(
        view,
        "/briefs",
        f"Brief ({row['reason']})",
        _about_brief(view, row),
        section(f"Said: {len(rendered)} items", _items(view, rendered, "score"), _ORDER, id="said"),
        section(f"Left out: {len(omitted)} items", _items(view, omitted, "omitted"), id="left"),
        _side_by_side(row["text"], summary),
    )


_ORDER = el("p", "In the order in which they were chosen, until the budget was spent.", class_="note")


def _about_brief(view: PageContext, row: Row) -> Html:
    source = row["predecessor"]
    return el(
        "div",
        el("p", "Given ", view.ago(row["created_at"]), " to ", session_link(row["session_key"])),
        el("p", "made from ", session_link(source)) if source else None,
        el("p", f"{row['size']:,} of {row['budget']:,} characters"),
        class_="about",
    )


def _items(view: PageContext, items: Sequence[Row], last: str) -> Html:
    if not items:
        return el("p", "None.", class_="note")
    names = ("Section", "What", "Age", "Source", "Score" if last == "score" else "Why not")
    body = [
        el(
            "tr",
            el("td", item["section"]),
            el("td", item["text"], class_="text"),
            el("td", view.ago(item["at"])),
            el("td", short(item["source"]), class_="path"),
            el(
                "td",
                f"{item['score']:.2f}" if last == "score" else f"{item['omitted']} ({item['score']:.2f})",
            ),
        )
        for item in items
    ]
    return table("Items", names, body)


def _side_by_side(text: str, summary: str) -> Html:
    own = pre(summary) if summary else el("p", "The harness told none for this window.", class_="note")
    return el(
        "div",
        section("As it was given", pre(text)),
        section("The harness's own summary", own),
        class_="beside",
    )
