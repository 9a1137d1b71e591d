"""File history: which sessions changed a file, what was asked of each, and the reason nearest to the change.

Taken from the stored edits, so it also knows sessions that are pruned and imported ones. A sentence is shown
as the reason only if it says why; a line is ascribed to a session only if one of its edits wrote that text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Final

from holdfast.core.events.world import Project
from holdfast.core.evidence.file_edits import (
    NAMES_FILE,
    SAYS_WHY,
    FileEdit,
    line_mark,
    nearest_decision,
    project_path,
    wrote_line,
)
from holdfast.core.evidence.trail import Trail
from holdfast.core.session.session import is_imported, title_of
from holdfast.core.text.strings import one_line
from holdfast.engine.engine import Engine
from holdfast.engine.ids import short_id
from holdfast.engine.recording.imported_work import with_work
from holdfast.engine.views.serialisation import Row
from holdfast.errors import PathRefused
from holdfast.files import worktree
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import START, RowKind
from holdfast.stores.codec import to_iso

EDITS_READ: Final = 2_000
"""The most edits of one file that are looked at."""
SESSIONS_SHOWN: Final = 20
MOVES_FOLLOWED: Final = 8
SESSIONS_DERIVED: Final = 5
BYTES_DERIVED: Final = 8_000_000
"""How much of imported transcripts is read at once for an answer; the daemon reads the rest when idle."""
FILES_SEARCHED: Final = 20_000
NAMES_SUGGESTED: Final = 5


@dataclass(frozen=True, slots=True)
class FileAnswer:
    """The history of a file: a note for the reader, and a row for each session, the newest first."""

    path: str
    line: int
    text: str
    """The line that was asked about, as it stands now."""
    note: str
    sessions: list[Row]


def file_history(engine: Engine, project: Project, path: str, line: int = 0) -> list[Row]:
    """The sessions that changed a file, the newest first; with a line, those that wrote it come first."""
    return file_answer(engine, project, path, line).sessions


def file_answer(engine: Engine, project: Project, path: str, line: int = 0) -> FileAnswer:
    """The same with the line's text, and a sentence about what cannot be told."""
    name = path_in_project(project, path)
    edits = _edits(engine, project.project_id, name)
    if _derive(engine, edits):
        edits = _edits(engine, project.project_id, name)
    text, note = _line_now(project, name, line) if line else ("", "")
    mark = line_mark(text)
    if line and not note:
        note = _line_note(edits, line, mark)
    sessions = list(_by_session(edits))
    if mark:
        sessions.sort(key=lambda each: _wrote(each[1], mark) is not True)
    if not sessions:
        note = _nothing_known(engine, project, name)
    elif not note and (more := len(sessions) - SESSIONS_SHOWN) > 0:
        note = f"{more} older sessions changed it, too."
    rows = [_session_row(engine, key, each, mark) for key, each in sessions[:SESSIONS_SHOWN]]
    return FileAnswer(name, line, text, note, rows)


def path_in_project(project: Project, path: str) -> str:
    """The path as edits are stored: relative to the worktree if it is inside."""
    plain = os.path.normpath(path)
    if not Path(path).is_absolute() or "\0" in path:
        return plain
    for root in (project.root, project.normalized):
        if (inside := project_path(plain, root)) != plain:
            return inside
    return project_path(os.path.realpath(plain), os.path.realpath(project.root))


def edited_files(engine: Engine, project: Project, limit: int) -> list[Row]:
    """The files of a project that sessions changed, the last changed first."""
    files = engine.store.edited_files(project.project_id, limit)
    return [{"path": each.path, "at": to_iso(each.at), "sessions": each.sessions} for each in files]


def _edits(engine: Engine, project_id: str, path: str) -> list[FileEdit]:
    """The edits of a file under its present and earlier names, the newest first."""
    edits = dict[tuple[str, str, str], FileEdit]()
    names = [(path, 1 << 62)]
    for name, until in names:
        direct = engine.store.file_edits(project_id, [name], EDITS_READ)
        moves = engine.store.renames_to(project_id, [name, *_folders(name)])
        for edit in (*direct, *moves):
            if edit.at <= until:
                edits[edit.session, edit.record, edit.path] = edit
        for move in moves:
            earlier = move.path + name[len(move.renamed_to) :]
            if move.at <= until and len(names) <= MOVES_FOLLOWED and earlier not in dict(names):
                names.append((earlier, move.at))
    return sorted(edits.values(), key=lambda edit: (edit.at, edit.record), reverse=True)


def _folders(path: str) -> list[str]:
    """The folders above a path, which may have been moved with everything in them."""
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(len(parts) - 1, 0, -1)]


def _derive(engine: Engine, edits: Sequence[FileEdit]) -> bool:
    """Derive the work of the newest imported sessions among these, within limits; whether any was."""
    room, derived = BYTES_DERIVED, False
    for key in list(dict.fromkeys(edit.session for edit in edits))[:SESSIONS_DERIVED]:
        if engine.store.imported_work(key) != "":
            continue
        session = engine.store.session(key)
        if session is None or (room := room - _size(session.transcript)) < 0:
            continue
        with_work(engine, session)
        derived = True
    return derived


def _size(transcript: str) -> int:
    try:
        return Path(transcript).stat().st_size
    except (OSError, ValueError):
        return 0


def _by_session(edits: Iterable[FileEdit]) -> Iterator[tuple[str, list[FileEdit]]]:
    grouped = dict[str, list[FileEdit]]()
    for edit in edits:
        grouped.setdefault(edit.session, []).append(edit)
    yield from grouped.items()


def _session_row(engine: Engine, key: str, edits: Sequence[FileEdit], mark: bytes) -> Row:
    session = engine.store.session(key)
    trail = session.trail if session else Trail()
    turns = [_turn_row(trail, list(some), mark) for _, some in groupby(edits, key=lambda edit: edit.asked_at)]
    if mark:
        turns.sort(key=lambda turn: turn["wrote_line"] is not True)
    return {
        "session_key": key,
        "short_id": short_id(engine.store, RowKind.SESSION, key),
        "title": (title_of(session) if session else "") or str(turns[0]["asked"]),
        "harness": session.harness if session else "",
        "imported": session is not None and is_imported(session),
        "at": to_iso(edits[0].at),
        "edits": len(edits),
        "wrote_line": _wrote(edits, mark),
        "turns": turns,
    }


def _turn_row(trail: Trail, edits: Sequence[FileEdit], mark: bytes) -> Row:
    """What was asked, what became of the file then, and why."""
    candidates = [edit for edit in edits if wrote_line(edit, mark)] or edits
    best = max(candidates, key=lambda edit: edit.strength)
    reason, kind = _reason(trail, best)
    moved = next((edit for edit in edits if edit.renamed_to), None)
    return {
        "asked": best.asked,
        "at": to_iso(edits[0].at),
        "edits": len(edits),
        "action": "move" if moved else best.action.value,
        "path": edits[0].path,
        "renamed_to": moved.renamed_to if moved else None,
        "by_subagent": all(edit.agent != "main" for edit in edits),
        "reason": reason or None,
        "reason_kind": kind or None,
        "wrote_line": _wrote(edits, mark),
        "record": best.record,
    }


def _reason(trail: Trail, edit: FileEdit) -> tuple[str, str]:
    """The sentence nearest to an edit that says why, and what kind of sentence it is."""
    if edit.strength >= SAYS_WHY:
        return edit.reason, "why"
    decision = nearest_decision(trail, edit) if edit.strength < NAMES_FILE else ""
    if decision:
        return one_line(decision), "decision"
    return edit.reason, "said" if edit.reason else ""


# ---------------------------------------------------------------- lines


def _wrote(edits: Iterable[FileEdit], mark: bytes) -> bool | None:
    """Whether one of these edits wrote the line; None if that cannot be told."""
    if not mark:
        return None
    listed = list(edits)
    if any(wrote_line(edit, mark) for edit in listed):
        return True
    return False if all(edit.marks for edit in listed) else None


def _line_now(project: Project, name: str, line: int) -> tuple[str, str]:
    """The line as it stands in the worktree, or why it cannot be looked up."""
    try:
        content = None if "\0" in name else worktree.look_into(Path(project.root), name)
    except PathRefused:
        content = None
    if content is None:
        return "", f"`{name}` cannot be read here, so this is the history of the whole file."
    lines = content.decode("utf-8", "replace").splitlines()
    if line > len(lines):
        return "", f"`{name}` has {len(lines)} lines, so this is the history of the whole file."
    text = lines[line - 1].strip()
    if not line_mark(text):
        note = f"Line {line} is too short to be recognised, so this is the history of the whole file."
        return text, note
    alike = sum(each.strip() == text for each in lines)
    return text, f"The text of line {line} stands in {alike} lines of the file." if alike > 1 else ""


def _line_note(edits: Iterable[FileEdit], line: int, mark: bytes) -> str:
    listed = list(edits)
    if not listed or any(wrote_line(edit, mark) for edit in listed):
        return ""
    unknown = sum(not edit.marks for edit in listed)
    doubt = f"; of {unknown} edits the text is not known" if unknown else ""
    return f"No recorded edit wrote line {line} as it stands now{doubt}. This is the whole file's history."


def _nothing_known(engine: Engine, project: Project, name: str) -> str:
    """A sentence for a file that no session is known to have changed, with names that are like it."""
    if not engine.store.page_of_sessions(project.project_id, START, 1):
        return f"No session was seen in `{project.root}`; `holdfast import` brings in earlier ones."
    if (Path(project.root) / name).is_dir():
        return f"`{name}` is a directory; name a file in it."
    last = name.rsplit("/", 1)[-1]
    known = engine.store.edited_files(project.project_id, FILES_SEARCHED)
    like = [each.path for each in known if each.path.rsplit("/", 1)[-1] == last][:NAMES_SUGGESTED]
    if like:
        names = ", ".join(f"`{each}`" for each in like)
        return f"No session is known to have changed `{name}`; of that name there is {names}."
    return f"No session is known to have changed `{name}`."
