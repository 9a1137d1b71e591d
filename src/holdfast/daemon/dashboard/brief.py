"""The pages of briefs: each item that was given or left out, beside the harness's own summary."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.daemon.dashboard.frame import (
    View,
    badge,
    code,
    empty,
    more,
    page,
    pre,
    section,
    session_link,
    short,
    table,
)
from holdfast.daemon.dashboard.html import Html, el

Row = Mapping[str, Any]


def briefs_page(view: View, listed: Row) -> Html:
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


def brief_page(view: View, row: Row, summary: str) -> Html:
    """One brief with its receipt."""
    rendered = [item for item in row["items"] if item["rendered"]]
    omitted = [item for item in row["items"] if not item["rendered"]]
    return page(
        view,
        "/briefs",
        f"Brief ({row['reason']})",
        _about(view, row),
        section(f"Said: {len(rendered)} items", _items(view, rendered, "score"), _ORDER, id="said"),
        section(f"Left out: {len(omitted)} items", _items(view, omitted, "omitted"), id="left"),
        _side_by_side(row["text"], summary),
    )


_ORDER = el("p", "In the order in which they were chosen, until the budget was spent.", class_="note")


def _about(view: View, row: Row) -> Html:
    source = row["predecessor"]
    return el(
        "div",
        el("p", "Given ", view.ago(row["created_at"]), " to ", session_link(row["session_key"])),
        el("p", "made from ", session_link(source)) if source else None,
        el("p", f"{row['size']:,} of {row['budget']:,} characters"),
        class_="about",
    )


def _items(view: View, items: Sequence[Row], last: str) -> Html:
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
