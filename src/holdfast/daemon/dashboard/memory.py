"""The page of memories: search, edit, pin and forget them; and those that may be junk."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    badge,
    code,
    dotted,
    empty,
    many,
    more,
    page,
    project_name,
    section,
)
from holdfast.daemon.dashboard.html import NOTHING, Html, el, verbatim
from holdfast.daemon.dashboard.search import NEAR_ONLY, are_worded, marked, result, search_path


def memory_page(view: PageContext, words: Sequence[str], matches: Row, doubts: Row | None) -> Html:
    """The memories that match the query, or all, the newest first."""
    query = view.words
    return page(
        view,
        "/memory",
        "Memory",
        _search(query),
        el("div", _results(view, words, matches), id="results", data_live=not query or None),
        _new(),
        section("Junk", _junk(doubts), id="junk"),
    )


def _search(query: str) -> Html:
    field = el(
        "input",
        type="search",
        name="q",
        id="q",
        value=query,
        autocomplete="off",
        data_search="results",
        data_live="",
        placeholder="Search memories",
        aria_label="Search memories",
    )
    return el("form", field, method="get", action="/memory", role="search", aria_label="Memories")


def _results(view: PageContext, words: Sequence[str], matches: Row) -> Html:
    rows = matches["items"]
    if not rows and view.words:
        return el(
            "div",
            empty("No memory fits.", "Fewer or other words may find it."),
            _others(view, words, matches),
        )
    if not rows:
        hint = el(
            "span",
            "Write one below, type ",
            code("holdfast remember TEXT"),
            ", or tell your agent to remember.",
        )
        return empty("Nothing is remembered yet.", hint)
    listed = [_memory(view, words, row) for row in rows]
    narrower = f"The best {len(rows)} are shown; more words find others."
    note = el("p", narrower, class_="note more") if matches.get("left_out") else None
    return el(
        "div",
        el("ul", listed, class_="memories"),
        note,
        more("/memory", matches["next"], q=view.words),
        _others(view, words, matches),
    )


def _others(view: PageContext, words: Sequence[str], matches: Row) -> Html:
    """What else `recall` finds: in sessions and in memory files."""
    others = matches.get("others") or ()
    if not others:
        return NOTHING
    return el(
        "div",
        el("h2", "Also in sessions and files"),
        NOTHING if are_worded(others) else el("p", NEAR_ONLY, class_="note"),
        el("ol", [result(view, words, row, {"q": view.words}) for row in others], class_="results"),
        el("p", el("a", "All results", href=search_path({"q": view.words})), class_="more"),
    )


def _memory(view: PageContext, words: Sequence[str], row: Row) -> Html:
    """A memory as a row, with what can be done with it."""
    id = str(row["id"])
    tags = [badge(f"#{tag}", "tag") for tag in row["tags"]] + [badge(one, "label") for one in row["labels"]]
    facts = dotted(
        row["kind"] if row["kind"] != "fact" else "",
        project_name(view, str(row["project"])) if row["project"] else "every project",
        view.ago(row["created_at"]),
        f"recalled {many(row['times_recalled'], 'time')}" if row["times_recalled"] else "never recalled",
        *tags,
    )
    return el(
        "li",
        el("p", marked(str(row["text"]), words), class_="text"),
        el("p", facts, class_="note"),
        el(
            "div",
            el(
                "button",
                "Unpin" if row["pinned"] else "Pin",
                type="button",
                data_pin=id,
                aria_pressed="true" if row["pinned"] else "false",
            ),
            el("button", "Forget", type="button", data_forget=id, class_="danger"),
            # In a template, from which the script takes it: a browser lays out every form before it paints.
            el("details", el("summary", "Edit"), el("template", _edit(row))),
            class_="actions",
        ),
        class_="memory pinned" if row["pinned"] else "memory",
        id=f"memory-{id}",
    )


def _edit(row: Row) -> Html:
    id = str(row["id"])
    return el(
        "form",
        el("label", "Text", for_=f"text-{id}"),
        el("textarea", verbatim(row["text"]), id=f"text-{id}", name="text", rows=3, required=True),
        el("label", "Tags, separated by commas", for_=f"tags-{id}"),
        el("input", id=f"tags-{id}", name="tags", value=", ".join(row["tags"])),
        el("button", "Save", type="submit"),
        data_edit=id,
    )


def _new() -> Html:
    form = el(
        "form",
        el("label", "What is to be remembered, in every project", for_="new"),
        el("textarea", id="new", name="text", rows=2, required=True),
        el("button", "Remember", type="submit"),
        data_remember=True,
    )
    return section("Remember something", form, id="remember")


def _junk(doubts: Row | None) -> Html:
    if doubts is None:
        explanation = "Duplicates, echoes, memories whose files are gone, and those that nobody finds."
        way = "/memory?audit=1"
        look = el("div", el("a", "Show them", href=f"{way}#junk"), data_load=way)
        return el("div", el("p", explanation), el("details", el("summary", "Look for them"), look))
    if not doubts["items"]:
        nothing = empty("Nothing is doubtful.", "Every memory is its own, and was found or is new.")
        return el("div", nothing, data_fragment=True)
    rows = [
        el(
            "li",
            el("p", row["text"], class_="text"),
            el("p", badge(row["problem"], "label"), " ", row["detail"], class_="note"),
            el(
                "div",
                el("button", "Forget", type="button", data_forget=row["id"], class_="danger"),
                class_="actions",
            ),
            class_="memory",
        )
        for row in doubts["items"]
    ]
    note = f"{len(rows):,} of {doubts['all']:,}; more come up as these are dealt with."
    rest = el("p", note, class_="note") if doubts["all"] > len(rows) else None
    return el("div", el("ul", rows, class_="memories"), rest, data_fragment=True)
