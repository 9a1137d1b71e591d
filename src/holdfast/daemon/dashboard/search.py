"""The pages of search: results with the sentence that matched, and one passage with its neighbours."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import quote, urlencode

from holdfast.core.memory.excerpts import spans
from holdfast.daemon.dashboard.frame import (
    SEARCH_PATH,
    PageContext,
    Row,
    badge,
    code,
    dotted,
    empty,
    many,
    name_of,
    page,
    phase_badge,
    project_name,
    session_link,
    tabs,
)
from holdfast.daemon.dashboard.home import filters
from holdfast.daemon.dashboard.html import NOTHING, Child, Html, el
from holdfast.engine.views.search import HITS_SHOWN, SearchKind

KINDS: Final = (
    ("", "Everything"),
    (SearchKind.SESSION, "Sessions"),
    (SearchKind.PROMPT, "Prompts"),
    (SearchKind.DECISION, "Decisions"),
    (SearchKind.FILE, "Files"),
    (SearchKind.COMMAND, "Commands"),
    (SearchKind.MEMORY, "Memories"),
)
NEAR_ONLY: Final = "Nothing says any of these words; this is nearest in meaning."
_LABELS: Final = {"statement": "agent", "outcome": "output", "other": "text", "file": "file"}


def search_page(
    view: PageContext,
    words: Sequence[str],
    results: Sequence[Row] | None,
    projects: Sequence[Row],
    harnesses: Sequence[str],
    chosen: Row,
) -> Html:
    """The results of a search; without words, what can be searched for."""
    return page(
        view,
        SEARCH_PATH,
        "Search",
        el(
            "form",
            # The field of the header is another form's: without a script, this one must know the words too.
            el("input", type="hidden", name="q", value=view.words),
            el("input", type="hidden", name="kind", value=chosen["kind"]),
            filters(view, projects, harnesses, chosen),
            el("noscript", el("button", "Search", type="submit")),
            method="get",
            action=SEARCH_PATH,
            class_="filters",
            id="filters",
        ),
        el("div", _kinds(view, chosen), _results(view, words, results, _query(view, chosen)), id="results"),
    )


def _query(view: PageContext, chosen: Row) -> dict[str, str]:
    """The words and the filters, as an address has them."""
    return {**{name: str(value) for name, value in chosen.items()}, "q": view.words}


def _kinds(view: PageContext, chosen: Row) -> Html:
    query = {**_query(view, chosen), "session": ""}
    links = [
        (search_path({**query, "kind": str(kind)}), name, chosen["kind"] == kind) for kind, name in KINDS
    ]
    return tabs("What to search for", links)


def search_path(query: Mapping[str, str]) -> str:
    """The address of a search; empty filters are left out."""
    used = {name: value for name, value in query.items() if value}
    return f"{SEARCH_PATH}?{urlencode(used)}" if used else SEARCH_PATH


def _results(
    view: PageContext, words: Sequence[str], results: Sequence[Row] | None, query: Mapping[str, str]
) -> Html:
    if results is None:
        hint = el(
            "span",
            "Prompts, decisions, files, commands, memories. Press ",
            el("kbd", "/"),
            " on any page. In a terminal: ",
            code("holdfast recall WORDS"),
        )
        return empty("Type some words.", hint)
    if not results:
        return empty("Nothing fits.", "Fewer or other words may find it, or a wider filter.")
    order = ", the best first" if len(results) > 1 else ""
    summary = f"{many(len(results), 'result')}{order}" if are_worded(results) else NEAR_ONLY
    note = el("p", summary, class_="note", role="status")
    listed = [result(view, words, row, query) for row in results]
    return el("div", note, el("ol", listed, class_="results"))


def are_worded(results: Sequence[Row]) -> bool:
    """Whether any of the results has one of the words."""
    return any(hit["matches"] for row in results for hit in row["hits"])


def result(view: PageContext, words: Sequence[str], row: Row, query: Mapping[str, str]) -> Html:
    """One result: what it is, and the sentences that matched; the query is the address of its search."""
    session = row["session"]
    hits = [_hit(view, words, hit) for hit in row["hits"]]
    first, others = hits[:HITS_SHOWN], hits[HITS_SHOWN:]
    return el(
        "li",
        _head(view, words, row, session),
        el("ul", first, class_="hits"),
        el("ul", others, class_="hits", data_fragment=True) if others else NOTHING,
        _rest(row, query) if row["more"] else NOTHING,
    )


def _rest(row: Row, query: Mapping[str, str]) -> Html:
    """The other places where a session says it, fetched when they are unfolded."""
    more = many(row["more"], "more place")
    if row["kind"] != "session" or query.get("session"):
        return el("p", f"and {more}", class_="note")
    href = search_path({**query, "session": str(row["session"]["session_key"])})
    place = el("ul", el("li", el("a", "Show them", href=href)), class_="hits", data_load=href)
    return el("details", el("summary", more), place)


def _head(view: PageContext, words: Sequence[str], row: Row, session: Row | None) -> Html:
    if row["kind"] == "session" and session:
        return el(
            "h2",
            el("a", marked(name_of(session), words), href=session_link_of(session)),
            dotted(
                project_name(view, str(session["project"])),
                session["harness"],
                phase_badge(session) if session["phase"] != "ended" else "",
                view.ago(row["at"]),
            ),
        )
    name = "Memory" if row["kind"] == "memory" and not row["person"] else row["source"]
    facts = dotted(
        session_link(session["session_key"], name_of(session)) if session else "", view.ago(row["at"])
    )
    return el("h2", el("a", name, href=passage_path(str(row["id"]), view.words)), facts)


def session_link_of(session: Row) -> str:
    """The address of a session's page, from its row."""
    return f"/sessions/{quote(str(session['session_key']), safe='')}"


def _hit(view: PageContext, words: Sequence[str], hit: Row) -> Html:
    kind = str(hit["kind"])
    label = badge(_LABELS.get(kind, kind), f"kind {kind}")
    text = el(
        "a", marked(str(hit["text"]), words), href=passage_path(str(hit["id"]), view.words), class_="plain"
    )
    return el("li", label, el("span", text, class_="text"))


def marked(text: str, words: Sequence[str]) -> Html:
    """A text with the words that match marked, and the parts between backticks as code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        parts = [text]  # A backtick without another one is a character.
    return el(
        "span",
        [el("code" if at % 2 else "span", _marked(part, words)) for at, part in enumerate(parts) if part],
    )


def _marked(text: str, words: Sequence[str]) -> list[Child]:
    return [el("mark", part.text) if part.is_match else part.text for part in spans(text, words)]


def passage_path(id: str, query: str) -> str:
    """The address of the page of one text."""
    words = f"?{urlencode({'q': query})}" if query else ""
    return f"/passages/{quote(id, safe='')}{words}"


def passage_page(view: PageContext, words: Sequence[str], passages: Sequence[Row], id: str) -> Html:
    """A text that a search found, with those beside it in its session."""
    current = next(row for row in passages if row["id"] == id)
    session = current["session"]
    origin = session_link(session["session_key"], name_of(session)) if session else current["source"]
    facts = dotted(
        origin,
        project_name(view, str(session["project"])) if session else "",
        session["harness"] if session else "",
        view.clock(current["at"]),
    )
    texts = [
        el(
            "pre",
            _marked(str(row["text"]), words),
            class_="current" if row["id"] == id else "beside",
            tabindex="0",
            id="passage" if row["id"] == id else None,
        )
        for row in passages
    ]
    back = el("p", el("a", "Back to the results", href=search_path({"q": view.words})), class_="note")
    return page(
        view,
        SEARCH_PATH,
        _TITLES.get(str(current["kind"]), "From a session"),
        el("p", facts, class_="note"),
        el("div", texts, class_="passages"),
        back if view.words else NOTHING,
    )


_TITLES: Final = {"memory": "Memory", "file": "From a memory file", "checkpoint": "Checkpoint"}
