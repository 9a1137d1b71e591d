"""The page of a session: its timeline, its checkpoints, and the difference of two of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from holdfast.daemon.dashboard.frame import (
    View,
    badge,
    diff,
    empty,
    gauge,
    many,
    page,
    phase_badge,
    pre,
    section,
    session_link,
    session_path,
    short,
    table,
)
from holdfast.daemon.dashboard.html import NOTHING, Html, el
from holdfast.daemon.dashboard.timeline_plot import drawn
from holdfast.engine.views.timeline import TimelineView

Row = Mapping[str, Any]
IMPORTED: Final = "Imported. Only the conversation is stored; recall finds it."


def session_page(
    view: View,
    row: Row,
    story: TimelineView,
    checkpoints: Sequence[Row],
    point: Row | None,
    changed: Row | None,
) -> Html:
    """The page of one session."""
    key = str(row["session_key"])
    return page(
        view,
        "",
        f"Session {short(key)}",
        _about(view, row),
        section("Timeline", _timeline(row, story, point), id="timeline", live=True),
        _detail(view, point),
        section("Checkpoints", _checkpoints(view, key, checkpoints), id="checkpoints"),
        _difference(changed),
    )


def _about(view: View, row: Row) -> Html:
    parent = row["parent"]
    continues = el("p", "Continues ", session_link(parent), f" ({row['lineage']})") if parent else NOTHING
    return el(
        "div",
        el("p", phase_badge(row), " ", badge(row["harness"]), " ", row["model"]),
        el("p", row["project"], class_="path"),
        continues,
        el("p", IMPORTED) if row["imported"] else NOTHING,
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


def _timeline(row: Row, story: TimelineView, point: Row | None) -> Html:
    if not (story.moments or story.work or story.counts):
        return empty(
            "Nothing is known of what happened here.", "Only what was said in it may be kept, for recall."
        )
    picture = drawn(
        story,
        row["capacity"],
        point["id"] if point else "",
        _link,
    )
    note = (
        el("p", f"Not drawn: {many(story.left_out, 'earlier event')}.", class_="note")
        if story.left_out
        else NOTHING
    )
    return el(
        "div",
        el("div", picture, class_="wide", tabindex="0", role="group", aria_label="Timeline, scrolls"),
        note,
    )


def _detail(view: View, point: Row | None) -> Html:
    if point is None:
        body = el("p", "Choose a point in the timeline to see what happened there.", class_="note")
        return section("Detail", body, id="detail")
    head = el("p", badge(point["kind"]), " ", view.ago(point["at"]), f" · {point['title']}")
    return section("Detail", head, pre(point["text"]) if point["text"] else NOTHING, id="detail")


def _checkpoints(view: View, key: str, rows: Sequence[Row]) -> Html:
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
