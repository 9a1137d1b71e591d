"""The start page: live sessions with how full their windows are, then all sessions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any

from holdfast.daemon.dashboard.frame import (
    View,
    badge,
    code,
    empty,
    gauge,
    more,
    page,
    phase_badge,
    pre,
    section,
    session_link,
    session_path,
    short,
    table,
)
from holdfast.daemon.dashboard.html import Html, el

Row = Mapping[str, Any]


def now_page(view: View, live: Sequence[Row], recent: Row) -> Html:
    """Live sessions first, then all, the latest first."""
    return page(
        view,
        "/",
        "Now",
        section("At work", _live(view, live), id="live", live=True),
        section("All sessions", _recent(view, recent), id="recent", live=True),
    )


def _live(view: View, rows: Sequence[Row]) -> Html:
    if not rows:
        hint = el("span", "Start one in a project, or connect a harness with ", code("holdfast setup"), ".")
        return empty("No session is at work.", hint)
    return el("ul", [_card(view, row) for row in rows], class_="cards")


def _card(view: View, row: Row) -> Html:
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


def _recent(view: View, recent: Row) -> Html:
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


def kept_page(view: View, key: str, text: str) -> Html:
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
    """A session's short name: the directory that it works in."""
    return PurePath(str(row["project"])).name or short(str(row["session_key"]))


def _key(row: Row) -> Html:
    return el("span", short(str(row["session_key"])), class_="path")
