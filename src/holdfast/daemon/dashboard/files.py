"""The pages of files: those that sessions changed, and why one of them was changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final
from urllib.parse import urlencode

from holdfast.daemon.dashboard.continuity import choice
from holdfast.daemon.dashboard.frame import (
    PageContext,
    Row,
    badge,
    code,
    dotted,
    empty,
    many,
    page,
    session_link,
    session_path,
    table,
    with_code,
)
from holdfast.daemon.dashboard.html import NOTHING, Html, el

FILES_PATH: Final = "/files"
_REASONS: Final = {"why": "why", "decision": "decision", "said": "said then"}


def files_page(view: PageContext, projects: Sequence[Row], chosen: str, files: Sequence[Row]) -> Html:
    """The files of a project that sessions changed, the last changed first."""
    if not files:
        hint = el("span", "Files that agents change show up here, also from ", code("holdfast import"), ".")
        body = empty("No session is known to have changed a file here.", hint)
    else:
        body = _file_table(view, chosen, files)
    choose = choice(view, projects, chosen, FILES_PATH) if projects else NOTHING
    return page(view, FILES_PATH, "Files", choose, el("div", body, id="files", data_live=True))


def _file_table(view: PageContext, project: str, files: Sequence[Row]) -> Html:
    body = [
        el(
            "tr",
            el("td", el("a", row["path"], href=file_path(project, str(row["path"]))), class_="main path"),
            el("td", row["sessions"], class_="number"),
            el("td", view.ago(row["at"]), class_="number"),
        )
        for row in files
    ]
    return table("Files", ("File", "Sessions", "Last change"), body, ("Sessions", "Last change"))


def file_path(project: str, path: str) -> str:
    """The address of a file's history."""
    return f"{FILES_PATH}?{urlencode({'project': project, 'path': path})}"


def file_page(view: PageContext, project: str, answer: Row) -> Html:
    """The sessions that changed a file, the newest first, what each was asked, and why."""
    line = f":{answer['line']}" if answer["line"] else ""
    back = el("a", "All files of the project", href=f"{FILES_PATH}?{urlencode({'project': project})}")
    hint = el("span", "In a terminal: ", code("holdfast why FILE"), ". ", back)
    sessions = answer["sessions"]
    return page(
        view,
        FILES_PATH,
        f"{answer['path']}{line}",
        el("pre", answer["text"]) if answer["text"] else NOTHING,
        el("p", with_code(answer["note"]), class_="note") if answer["note"] else NOTHING,
        el("ol", [_session(view, row) for row in sessions], class_="results") if sessions else NOTHING,
        el("p", hint, class_="note more"),
    )


def _session(view: PageContext, row: Row) -> Html:
    key = str(row["session_key"])
    facts = dotted(
        row["harness"], "imported" if row["imported"] else "", many(row["edits"], "edit"), view.ago(row["at"])
    )
    turns = [_turn(view, key, turn) for turn in row["turns"]]
    return el("li", el("h2", session_link(key, row["title"] or None), facts), el("ul", turns, class_="turns"))


def _turn(view: PageContext, key: str, turn: Row) -> Html:
    """What was asked, what became of the file, and the sentence nearest to the change."""
    moved = f" to {turn['renamed_to']}" if turn["renamed_to"] else ""
    facts = dotted(
        el("a", view.clock(turn["at"]), href=f"{session_path(key, point=str(turn['record']))}#detail"),
        f"{turn['action']}{moved}",
        many(turn["edits"], "edit") if turn["edits"] > 1 else "",
        "by a subagent" if turn["by_subagent"] else "",
        "wrote this line" if turn["wrote_line"] else "",
    )
    kind = str(turn["reason_kind"] or "")
    reason = (
        el("p", badge(_REASONS.get(kind, kind), kind), " ", with_code(turn["reason"]))
        if turn["reason"]
        else NOTHING
    )
    return el(
        "li",
        el("p", with_code(turn["asked"] or "(no request is known)")),
        reason,
        el("p", facts, class_="note"),
    )
