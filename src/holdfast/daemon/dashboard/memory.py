"""The page of memories: search, edit, pin and forget them; and those that may be junk."""

from __future__ import annotations

from holdfast.daemon.dashboard.frame import PageContext, Row, badge, code, empty, many, more, page, section
from holdfast.daemon.dashboard.html import Html, el, verbatim


def memory_page(view: PageContext, query: str, matches: Row, doubts: Row | None) -> Html:
    """The memories that match the query, or all, the newest first."""
    return page(
        view,
        "/memory",
        "Memory",
        _search(query),
        el("div", _results(view, query, matches), id="results", data_live=not query or None),
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
        placeholder="The port of the test server",
    )
    return el(
        "form",
        el("label", "Search in what was remembered", for_="q"),
        el("div", field, el("button", "Search", type="submit"), class_="line"),
        method="get",
        action="/memory",
        role="search",
    )


def _results(view: PageContext, query: str, matches: Row) -> Html:
    rows = matches["items"]
    if not rows and query:
        return empty("Nothing fits.", "Fewer or other words may find it.")
    if not rows:
        hint = el(
            "span",
            "Write one below, type ",
            code("holdfast remember TEXT"),
            ", or tell your agent to remember.",
        )
        return empty("Nothing is remembered yet.", hint)
    cards = [_card(view, row) for row in rows]
    narrower = f"The best {len(rows)} are shown; more words find others."
    note = el("p", narrower, class_="note more") if matches.get("left_out") else None
    return el("div", el("ul", cards, class_="memories"), note, more("/memory", matches["next"], q=query))


def _card(view: PageContext, row: Row) -> Html:
    id = str(row["id"])
    marks = [badge(row["kind"]), badge(row["scope"]), *(badge(f"#{tag}", "tag") for tag in row["tags"])]
    marks += [badge(label, "label") for label in row["labels"]]
    return el(
        "li",
        el("p", row["text"], class_="text"),
        el("p", [joined_mark(mark) for mark in marks], class_="marks"),
        el(
            "p",
            view.ago(row["created_at"]),
            f" · recalled {many(row['times_recalled'], 'time')} · strength {row['strength']:.2f}",
            class_="note",
        ),
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


def joined_mark(mark: Html) -> Html:
    """A badge with a space after it."""
    return el("span", mark, " ")


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
