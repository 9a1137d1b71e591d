"""The pages of continuity: both layers and the ledger, with editor and history; review of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from holdfast.daemon.dashboard.frame import PageContext, Row, badge, code, diff, empty, page, pre
from holdfast.daemon.dashboard.html import NOTHING, Html, el, verbatim
from holdfast.engine.documents.written_by_hand import NOT_WHOLE
from holdfast.lazy_dataclass import dataclass

TITLES: Final = {"project": "Shared by all worktrees", "project-local": "This worktree"}


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
        choice(projects, chosen, "/continuity"),
        el("div", [_editor(view, number, text) for number, text in enumerate(texts)], class_="columns"),
    )


def choice(projects: Sequence[Row], chosen: str, action: str) -> Html:
    """The form that chooses a project."""
    options = [
        el("option", row["path"], value=row["project_id"], selected=row["project_id"] == chosen)
        for row in projects
    ]
    return el(
        "form",
        el("label", "Project", for_="project"),
        el(
            "div",
            el("select", options, id="project", name="project", data_submit=True),
            el("button", "Show", type="submit"),
            class_="line",
        ),
        method="get",
        action=action,
    )


def _editor(view: PageContext, number: int, text: EditableText) -> Html:
    field, preview_id = f"text-{number}", f"preview-{number}"
    form = el(
        "form",
        el("label", text.title, for_=field, class_="heading"),
        el("p", text.path, class_="path"),
        [el("p", badge("note", "label"), " ", note, class_="note") for note in text.notes],
        el(
            "textarea",
            verbatim(text.text),
            id=field,
            name="text",
            rows=18,
            spellcheck="false",
            data_preview=preview_id,
            readonly=text.print == NOT_WHOLE,
        ),
        el(
            "div", el("button", "Save", type="submit"), el("output", for_=field, class_="note"), class_="line"
        ),
        data_put=text.put,
        data_print=text.print,
    )
    preview = el("details", el("summary", "Preview"), el("div", id=preview_id, class_="preview"))
    return el("section", form, preview, _past(view, text), class_="card", aria_label=text.title)


def _past(view: PageContext, text: EditableText) -> Html:
    if not text.past:
        return NOTHING
    versions = [el("details", el("summary", view.ago(row["at"])), pre(row["text"])) for row in text.past]
    return el("details", el("summary", f"History ({len(text.past)})"), versions, class_="history")


STEPS: Final = {
    "blocked": (("adopt", "Adopt", "o"),),
    "pending": (("approve", "Approve", "a"), ("reject", "Reject", "r")),
    "approved": (("promote", "Promote", "p"), ("reject", "Reject", "r")),
    "rejected": (("approve", "Approve after all", "a"),),
    "manual-apply-pending": (("verify-apply", "I have applied it", "v"),),
}
_OPEN: Final = ("pending", "approved", "blocked", "manual-apply-pending")


def review_page(view: PageContext, projects: Sequence[Row], chosen: str, candidates: Sequence[Row]) -> Html:
    """The candidates of a project, those that wait for a decision first."""
    if not projects:
        hint = el("span", "Candidates come from the continuity: ", code("holdfast continuity save"), ".")
        return page(view, "/review", "Review", empty("No project is known yet.", hint))
    ordered = sorted(
        candidates, key=lambda row: _OPEN.index(row["standing"]) if row["standing"] in _OPEN else len(_OPEN)
    )
    build = el("button", "Put up candidates", type="button", data_post=f"/api/projects/{chosen}/dreams")
    return page(
        view,
        "/review",
        "Review",
        choice(projects, chosen, "/review"),
        el("p", build, " ", _keys()),
        el("div", _list(chosen, ordered), id="candidates", data_live=True),
    )


def _keys() -> Html:
    keys = [
        (el("kbd", key), f" {name}  ")
        for key, name in (("j", "next"), ("k", "before"), ("a", "approve"), ("r", "reject"), ("p", "promote"))
    ]
    return el("span", keys, class_="note keys")


def _list(project: str, rows: Sequence[Row]) -> Html:
    if not rows:
        return empty("Nothing waits for a decision.", "Candidates are put up from what the continuity says.")
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
    preview = diff(patch["patch"]) if patch else diff(f"+ {row['text']}")
    where = f"would be added to {patch['file']}, by you" if patch else "would become a memory"
    where = "became a memory" if row["became"] else where
    return el(
        "li",
        el("p", row["text"], class_="text"),
        el("p", badge(row["standing"], row["standing"]), " ", badge(row["lane"]), " ", where, class_="note"),
        preview,
        el("div", buttons, class_="actions"),
        class_="candidate",
        id=f"candidate-{row['id']}",
        tabindex="-1",
    )
