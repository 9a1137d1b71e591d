"""The pages of briefs: the list, and one as the agent got it, with the source of each sentence."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.core.session.reason_words import reason_words
from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    badge,
    code,
    copyable,
    dotted,
    empty,
    many,
    more,
    page,
    pre,
    section,
    session_link,
    table,
    with_code,
)
from holdfast.daemon.dashboard.html import NOTHING, Child, Html, el


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
    return page(
        view,
        "/briefs",
        "Briefs",
        el("div", brief_table(view, rows), more("/briefs", listed["next"]), id="given", data_live=True),
    )


def brief_table(view: PageContext, rows: Sequence[Row]) -> Html:
    """Briefs as rows: what each is about, why it was given, and when."""
    body = [
        el(
            "tr",
            el(
                "td",
                el("a", with_code(row["goal"] or row["title"] or "Brief"), href=f"/briefs/{row['id']}"),
                el("div", dotted(reason_words(row["reason"]), _sizes(row)), class_="sub"),
                class_="main",
            ),
            el("td", reason_words(row["reason"]), class_="spare still"),
            el("td", session_link(row["session_key"], row["title"] or None), class_="spare title"),
            el("td", _sizes(row), class_="number spare"),
            el("td", view.ago(row["created_at"]), class_="number"),
        )
        for row in rows
    ]
    names = ("Goal", "Why", "Given to", "Items", "Age")
    return table("Briefs", names, body, ("Items", "Age"), names[1:4])


def _sizes(row: Row) -> str:
    return f"{row['said']} of {row['known']}"


def brief_page(view: PageContext, row: Row, lines: Sequence[Row], summary: str) -> Html:
    """One brief: the text as the agent got it, then its receipt."""
    rendered = [item for item in row["items"] if item["rendered"]]
    omitted = [item for item in row["items"] if not item["rendered"]]
    return page(
        view,
        "/briefs",
        row["goal"] or row["title"] or "Brief",
        _about(view, row),
        section(
            "As the agent got it", el("ol", [_line(view, line) for line in lines], class_="lines"), id="text"
        ),
        _folded(
            f"{many(len(rendered), 'item')} said, in the order of choice", _items(view, rendered), "said"
        ),
        _folded(f"{many(len(omitted), 'item')} left out", _items(view, omitted), "left"),
        _folded("The harness's own summary of the same window", pre(summary), "summary")
        if summary
        else el("p", "The harness wrote no summary for this window.", class_="note"),
    )


def _about(view: PageContext, row: Row) -> Html:
    source = row["predecessor"]
    own = source == row["session_key"]
    return el(
        "p",
        dotted(
            el("span", "Given ", reason_words(row["reason"])),
            view.clock(row["created_at"]),
            el("span", "to ", session_link(row["session_key"], row["title"] or None)),
            el("span", "about ", session_link(source, row["source_title"] or None))
            if source and not own
            else "",
            f"{row['size']:,} of {row['budget']:,} characters",
            copyable(str(row["id"])),
        ),
        class_="note about",
    )


def _line(view: PageContext, line: Row) -> Html:
    text = str(line["text"])
    kind = "heading" if text.startswith("#") else "frame" if text.startswith("<") else None
    return el("li", el("span", text or "\n", class_="said"), _origin(view, line), class_=kind)


def _origin(view: PageContext, line: Row) -> Html:
    """Where the sentence comes from."""
    if not line["origin"]:
        return NOTHING
    when: Child = (" ", view.clock(line["at"])) if line["at"] else None
    if not line["href"]:
        return el("span", line["origin"], when, class_="origin")
    return el("a", line["origin"], when, href=line["href"], class_="origin")


def _folded(title: str, body: Html, id: str) -> Html:
    return el("details", el("summary", title), body, class_="fold", id=id)


def _items(view: PageContext, items: Sequence[Row]) -> Html:
    if not items:
        return el("p", "None.", class_="note")
    body = [
        el(
            "tr",
            el("td", item["section"]),
            el("td", item["text"], class_="text main"),
            el("td", view.clock(item["at"]), class_="number"),
            el("td", f"{item['score']:.2f}", class_="number"),
            el("td", badge(item["omitted"]) if item["omitted"] else "", class_="note"),
        )
        for item in items
    ]
    return table("Items", ("Section", "What", "Said", "Score", "Why not"), body, ("Said", "Score"))
