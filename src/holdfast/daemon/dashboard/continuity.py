"""The page of continuity: both layers and the ledger side by side, with editor, preview and history."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from holdfast.daemon.dashboard.frame import View, badge, code, empty, page, pre
from holdfast.daemon.dashboard.html import NOTHING, Html, el, verbatim
from holdfast.engine.documents.written_by_hand import NOT_WHOLE
from holdfast.lazy_dataclass import dataclass

Row = Mapping[str, Any]
TITLES: Final = {"project": "Shared by all worktrees", "project-local": "This worktree"}


@dataclass(frozen=True, slots=True)
class Written:
    """A text that a person may edit: its file, the route that saves it, and its past versions."""

    title: str
    path: str
    text: str
    print: str
    put: str
    past: Sequence[Row]
    notes: Sequence[str] = ()


def continuity_page(view: View, projects: Sequence[Row], chosen: str, texts: Sequence[Written]) -> Html:
    """The working state of a project."""
    if not projects:
        hint = el("span", "It is saved from a session of a project: ", code("holdfast session save"), ".")
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


def _editor(view: View, number: int, text: Written) -> Html:
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


def _past(view: View, text: Written) -> Html:
    if not text.past:
        return NOTHING
    versions = [el("details", el("summary", view.ago(row["at"])), pre(row["text"])) for row in text.past]
    return el("details", el("summary", f"History ({len(text.past)})"), versions, class_="history")
