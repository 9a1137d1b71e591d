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


def files_page(
    view: PageContext, projects: Sequence[Row], chosen: str, files: Sequence[Row], left_out: int
) -> Html:
    """The files of a project that sessions changed and that match the words, the last changed first."""
    choose = (choice(view, projects, chosen, FILES_PATH), _field(view, chosen)) if projects else NOTHING
    body = el("div", _listed(view, chosen, files, left_out), id="files", data_live=True)
    return page(view, FILES_PATH, "Files", choose, body)


def _field(view: PageContext, project: str) -> Html:
    """Finds files as one types a part of their paths."""
    field = el(
        "input",
        type="search",
        name="q",
        value=view.words,
        autocomplete="off",
        spellcheck="false",
        data_search="files",
        placeholder="Part of a path",
        aria_label="Find a file",
    )
    hidden = el("input", type="hidden", name="project", value=project)
    return el("form", hidden, field, method="get", action=FILES_PATH, role="search", aria_label="Files")


def _listed(view: PageContext, project: str, files: Sequence[Row], left_out: int) -> Html:
    if files:
        more = f"{left_out:,} more; type a part of the path to find them." if left_out else ""
        return el(
            "div", _file_table(view, project, files), el("p", more, class_="note more") if more else NOTHING
        )
    if view.words:
        return empty("No file fits.", "Only files that a session changed are listed.")
    hint = el("span", "Files that agents change show up here, also from ", code("holdfast import"), ".")
    return empty("No session is known to have changed a file here.", hint)


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
        _line_field(project, str(answer["path"]), int(answer["line"] or 0)),
        el("pre", answer["text"]) if answer["text"] else NOTHING,
        el("p", with_code(answer["note"]), class_="note") if answer["note"] else NOTHING,
        el("ol", [_session(view, row) for row in sessions], class_="results") if sessions else NOTHING,
        el("p", hint, class_="note more"),
    )


def _line_field(project: str, path: str, line: int) -> Html:
    """Asks the same of one line."""
    number = el(
        "input", type="number", name="line", min=1, value=line or None, aria_label="Line", placeholder="Line"
    )
    hidden = [
        el("input", type="hidden", name=name, value=value)
        for name, value in (("project", project), ("path", path))
    ]
    return el(
        "form",
        el("div", hidden, number, el("button", "Why this line", type="submit"), class_="line"),
        method="get",
        action=FILES_PATH,
        class_="narrow",
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
    times = f", {turn['edits']} times" if turn["edits"] > 1 else ""
    facts = dotted(
        el("a", view.clock(turn["at"]), href=f"{session_path(key, point=str(turn['record']))}#detail"),
        f"{turn['action']}{moved}{times}",
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
