"""The pages of continuity: both layers and the ledger, with editor and history; review of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from holdfast.core.text.strings import one_line
from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    badge,
    code,
    diff,
    dotted,
    empty,
    page,
    pre,
    project_name,
    section,
    select,
    session_link,
    with_code,
)
from holdfast.daemon.dashboard.html import NOTHING, Html, el, verbatim
from holdfast.daemon.dashboard.markdown import rendered
from holdfast.engine.documents.written_by_hand import NOT_WHOLE
from holdfast.lazy_dataclass import dataclass

TITLES: Final = {"project": "Shared by all worktrees", "project-local": "This worktree"}
EXPLAINED: Final = {
    "project": "What holds for the whole project. Every session that starts in the project is given it.",
    "project-local": "What holds in this checkout alone.",
}
LAYER_EMPTY: Final = "Nothing is saved yet. `holdfast continuity save` writes it from the latest session."
LEDGER_ON: Final = (
    "A state file in the worktree that you and your agents may edit. It is on: it is saved before a "
    "compaction and on `/clear`, and it leads the next brief."
)
LEDGER_ALLOWED: Final = (
    "A state file in the worktree that you and your agents may edit. It is on in this project's "
    "`.agents.yml`: `holdfast ledger save` saves it, and it leads the next brief. With `session.ledger = "
    "true` in your settings it is also saved before a compaction and on `/clear`."
)
LEDGER_OFF: Final = (
    "A state file in the worktree that you and your agents may edit. It is off. With `session.ledger = true` "
    "in the settings it is saved before a compaction and on `/clear`, and leads the next brief."
)
LEDGER_EMPTY: Final = "There is none here yet. `holdfast ledger save` writes one now."
LEDGER_EMPTY_OFF: Final = "There is none here. You can write one, or turn it on."


@dataclass(frozen=True, slots=True)
class EditableText:
    """A text that a person may edit: its file, the route that saves it, and its past versions."""

    title: str
    path: str
    text: str
    print: str
    put: str
    past: Sequence[Row]
    notes: Sequence[str] = ()
    explained: str = ""
    """What the text is for."""
    when_empty: str = "Nothing is written yet."


def continuity_page(
    view: PageContext, projects: Sequence[Row], chosen: str, texts: Sequence[EditableText]
) -> Html:
    """The working state of a project."""
    if not projects:
        hint = el("span", "It is saved from a session of a project: ", code("holdfast continuity save"), ".")
        return page(view, "/continuity", "Continuity", empty("No project is known yet.", hint))
    return page(
        view,
        "/continuity",
        "Continuity",
        choice(view, projects, chosen, "/continuity"),
        el("div", [_editor(view, number, text) for number, text in enumerate(texts)], class_="columns"),
    )


def choice(view: PageContext, projects: Sequence[Row], chosen: str, action: str) -> Html:
    """The form that chooses a project."""
    options = [(str(row["project_id"]), view.path(str(row["path"]))) for row in projects]
    return el(
        "form",
        el("div", select("project", "Project", options, chosen), class_="line"),
        el("noscript", el("button", "Show", type="submit")),
        method="get",
        action=action,
        class_="filters",
    )


def _editor(view: PageContext, number: int, text: EditableText) -> Html:
    """A text as it reads, with its editor and its past versions folded below it."""
    field, preview_id = f"text-{number}", f"preview-{number}"
    form = el(
        "form",
        el(
            "textarea",
            verbatim(text.text),
            id=field,
            name="text",
            rows=18,
            spellcheck="false",
            aria_label=text.title,
            data_preview=preview_id,
            readonly=text.print == NOT_WHOLE,
        ),
        el(
            "div", el("button", "Save", type="submit"), el("output", for_=field, class_="note"), class_="line"
        ),
        el("details", el("summary", "Preview"), el("div", id=preview_id, class_="preview")),
        data_put=text.put,
        data_print=text.print,
    )
    return el(
        "section",
        el("h2", text.title),
        el("p", with_code(text.explained), class_="note") if text.explained else NOTHING,
        el("p", view.path(text.path), class_="path"),
        [el("p", badge("note", "label"), " ", note, class_="note") for note in text.notes],
        rendered(text.text) if text.text.strip() else el("p", with_code(text.when_empty), class_="empty"),
        el("details", el("summary", "Edit" if text.text.strip() else "Write it"), form),
        _past(view, text),
        class_="part",
        aria_label=text.title,
    )


def _past(view: PageContext, text: EditableText) -> Html:
    if not text.past:
        return NOTHING
    versions = [el("details", el("summary", view.ago(row["at"])), pre(row["text"])) for row in text.past]
    return el("details", el("summary", f"History ({len(text.past)})"), versions, class_="history")


HANDOFFS_PATH: Final = "/handoffs"


def handoff_path(project: str, name: str) -> str:
    """The address of a handoff's page."""
    return f"{HANDOFFS_PATH}?{urlencode({'project': project, 'name': name})}"


def handoff_page(view: PageContext, row: Row) -> Html:
    """A handoff as it reads, and how to pick it up."""
    taken = ("picked up ", view.ago(row["taken_at"])) if row["taken_at"] else ("waits to be picked up",)
    facts = dotted(
        el("span", *taken),
        el("span", "written ", view.ago(row["created"])),
        el("span", "from ", row["sender"] or session_link(row["session_key"], row["title"] or None)),
        project_name(view, str(row["project"])),
    )
    way = el("p", "The next session picks it up with ", code(f"holdfast handoff pickup {row['name']}"))
    return page(
        view,
        HANDOFFS_PATH,
        row["purpose"],
        el("p", facts, class_="note"),
        NOTHING if row["taken_at"] else way,
        section("What it says", rendered(_without_facts(str(row["text"]))), id="handoff"),
        el("p", view.path(str(row["path"])), class_="path") if row["path"] else NOTHING,
    )


def _without_facts(text: str) -> str:
    """A handoff from its first section on: what stands above it is on the page already."""
    _, mark, sections = text.partition("\n## ")
    return f"## {sections}" if mark else text


STEPS: Final = {
    "blocked": (("adopt", "Adopt", "o"),),
    "pending": (("approve", "Approve", "a"), ("reject", "Reject", "r")),
    "approved": (("promote", "Promote", "p"), ("reject", "Reject", "r")),
    "rejected": (("approve", "Approve after all", "a"),),
    "manual-apply-pending": (("verify-apply", "I have applied it", "v"),),
}
REVIEW_EXPLAINED: Final = (
    "Rules, decisions and needs in the continuity that may be worth keeping for good: as a memory, or as a "
    "line in your instruction file. Nothing is kept without you: approve one, then promote it."
)
_OPEN: Final = ("pending", "approved", "blocked", "manual-apply-pending")


def review_page(view: PageContext, projects: Sequence[Row], chosen: str, candidates: Sequence[Row]) -> Html:
    """The candidates of a project, those that wait for a decision first."""
    if not projects:
        hint = el("span", "Candidates come from the continuity: ", code("holdfast continuity save"), ".")
        return page(view, "/review", "Review", empty("No project is known yet.", hint))
    ordered = each_once(
        sorted(
            candidates,
            key=lambda row: _OPEN.index(row["standing"]) if row["standing"] in _OPEN else len(_OPEN),
        )
    )
    build = el(
        "button",
        "Look for candidates",
        type="button",
        data_post=f"/api/projects/{chosen}/dreams",
        data_nothing="The continuity says nothing that is not remembered yet.",
    )
    return page(
        view,
        "/review",
        "Review",
        choice(view, projects, chosen, "/review"),
        el("p", REVIEW_EXPLAINED, class_="note"),
        el("p", build, " ", _keys() if ordered else NOTHING),
        el("div", _list(chosen, ordered), id="candidates", data_live=True),
    )


def each_once(candidates: Sequence[Row]) -> list[Row]:
    """One candidate for each text: both layers of the continuity may say the same."""
    by_text: dict[str, Row] = {}
    for row in candidates:
        by_text.setdefault(one_line(str(row["text"])).casefold(), row)
    return list(by_text.values())


def _keys() -> Html:
    keys = [
        (el("kbd", key), f" {name}  ")
        for key, name in (("j", "next"), ("k", "before"), ("a", "approve"), ("r", "reject"), ("p", "promote"))
    ]
    return el("span", keys, class_="note keys")


def _list(project: str, rows: Sequence[Row]) -> Html:
    if not rows:
        hint = el(
            "span", "Look for candidates in what the ", el("a", "continuity", href="/continuity"), " says."
        )
        return empty("Nothing waits for a decision.", hint)
    return el("ul", [_card(project, row) for row in rows], class_="candidates")


def _card(project: str, row: Row) -> Html:
    steps = STEPS.get(row["standing"], ())
    buttons = [
        el(
            "button",
            name,
            type="button",
            data_post=f"/api/projects/{project}/dreams/{row['id']}/{step}",
            data_key=key,
        )
        for step, name, key in steps
    ]
    patch = row["proposal"]
    change = el("details", el("summary", "The change"), diff(patch["patch"])) if patch else NOTHING
    where = f"would be added to {patch['file']}, by you" if patch else "would become a memory"
    where = "became a memory" if row["became"] else where
    return el(
        "li",
        el("p", with_code(row["text"]), class_="text"),
        el("p", badge(row["standing"], row["standing"]), " ", where, class_="note"),
        change,
        el("div", buttons, class_="actions"),
        class_="candidate",
        id=f"candidate-{row['id']}",
        tabindex="-1",
    )
