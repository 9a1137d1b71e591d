"""Notes from commands: commits, branches, pull requests, tasks, and failures that are over.

What git and a tracker on the command line report is the session's own ledger. It also ends what was said
before: a commit that was taken back is not done, and a closed task is no longer to be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from holdfast.core.events.event import Action, ToolReturned
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.purpose import is_check
from holdfast.core.evidence.commands.tracker_record import task_text
from holdfast.core.evidence.commands.work_change import (
    BranchChanged,
    CommitMade,
    PullRequest,
    RefPushed,
    StashChange,
    Stashed,
    TaskChanged,
    TaskListed,
    TaskStatus,
    TrackerChange,
    UndoKind,
    Undone,
    WorkChange,
)
from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.notes import BY_AGENT, NOTE_KEPT, Notes, is_resolved, last_edit, with_notes
from holdfast.core.evidence.prose import cues, reader
from holdfast.core.evidence.trail import CommandRun, FileTouch, Note, NoteSource, OpenCall, Trail
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line, shortened

POINTS_KEPT: Final = 6
"""How many points of a commit message are stored."""
COMMAND_CHARS: Final = 100
REASON_CHARS: Final = 160
TASK_READ: Final = 6_000
TASK_UNITS: Final = 40
SHORTEST: Final = 12
_ALL: Final = "."
_NO_OTHER: Final = ("", "HEAD", "@")
"""Where edits are taken back to if not to another commit; `git reset --hard` prints its subject."""
PUSHED: Final = "Pushed "
STASH: Final = "stash"
"""The heading of a note that all edits were stashed."""


def after_command(
    trail: Trail, call: OpenCall, event: ToolReturned, ended: CommandRun, changes: Sequence[WorkChange]
) -> Notes:
    """The notes after a command that made these changes: with what it did, without what that ends."""
    blank = Note(NoteKind.CONFIRMED, "", event.at, event.record, trail.steps, turn=trail.turns)
    notes = trail.notes
    for change in changes:
        notes = _without_ended(notes, change)
        notes = with_notes(notes, _notes_of(change, blank))
    if event.ok and (shown := _SHOWS_TASK.search(call.command)):
        notes = with_notes(_without_task(notes, shown[1]), _task_notes(shown[1], event, blank))
    committed = any(isinstance(change, CommitMade) for change in changes)
    if committed or (ended.ok and is_check(call.command)):
        edited_at = last_edit(trail)
        passed = shell.display_form(one_line(ended.command), COMMAND_CHARS) if ended.ok else ""
        notes = tuple(note for note in notes if not (is_resolved(note, edited_at) or _fails_in(note, passed)))
    return notes


def _fails_in(note: Note, command: str) -> bool:
    """Whether the agent said that something fails in this very command, which has passed now."""
    is_failure = note.kind is NoteKind.FAILED and note.source in BY_AGENT
    return bool(command) and is_failure and f"`{command}`" in note.text and not cues.states_lesson(note.text)


def _notes_of(change: WorkChange, blank: Note) -> Iterator[Note]:
    """What a change says about the work."""
    match change:
        case CommitMade():
            branch = f" on {change.branch}" if change.branch else ""
            text = f"Committed {change.commit}{branch}: {change.subject}".replace("Committed :", "Committed:")
            commit = replace(blank, source=NoteSource.COMMIT, heading=change.commit)
            yield replace(commit, text=shortened(text, NOTE_KEPT))
            for place, point in enumerate(change.points[:POINTS_KEPT], 1):
                yield replace(commit, text=shortened(point, NOTE_KEPT), place=place)
        case RefPushed(ref=ref, remote=remote):
            to = f" to {remote}" if remote else ""
            yield replace(blank, source=NoteSource.COMMIT, text=f"{PUSHED}{ref}{to}", heading=ref)
        case PullRequest():
            text = " ".join(
                part
                for part in (f"Pull request #{change.number} {change.change}", change.title, change.url)
                if part
            )
            yield replace(blank, source=NoteSource.TRACKER, text=text, heading=f"#{change.number}")
        case TaskChanged():
            yield _task_note(change, blank)
        case Stashed(change=StashChange.SAVED, paths=paths):
            what = f"The edits to {', '.join(paths)}" if paths else "The edits"
            text = f"{what} are stashed, not committed: `git stash pop` brings them back."
            heading = "" if paths else STASH
            yield replace(blank, kind=NoteKind.DOING, source=NoteSource.COMMAND, text=text, heading=heading)
        case TaskListed(task=task, title=title, is_ready=True):
            text = f"{task}: {title} (ready)"
            yield replace(blank, kind=NoteKind.NEXT, source=NoteSource.TRACKER, text=text, heading=task)
        case _:
            return


def _task_note(change: TaskChanged, blank: Note) -> Note:
    """A task whose state changed; what was begun is going on, anything else is done."""
    details = (change.title, f"({change.reason})" if change.reason else "", change.url)
    words = " ".join(detail for detail in details if detail)
    text = f"{change.task} {change.change}{f': {words}' if words else ''}"
    kind = NoteKind.DOING if change.change is TrackerChange.STARTED else NoteKind.CONFIRMED
    return replace(
        blank, kind=kind, source=NoteSource.TRACKER, text=shortened(text, NOTE_KEPT), heading=change.task
    )


def _task_notes(task: str, event: ToolReturned, blank: Note) -> Iterator[Note]:
    """What a task says that the agent looked up: it is the request, with its rules."""
    for unit in reader.units(task_text(event.text[:TASK_READ]))[:TASK_UNITS]:
        text = shortened(unit.text, NOTE_KEPT)
        if len(text) >= SHORTEST:
            is_rule = "constraint" in unit.heading or bool(reader.constraints(text))
            kind = NoteKind.CONSTRAINT if is_rule else NoteKind.REQUEST
            heading = f"{task} {unit.heading}"
            yield replace(
                blank, kind=kind, source=NoteSource.TRACKER, text=text, place=unit.place, heading=heading
            )


def _without_ended(notes: Notes, change: WorkChange) -> Notes:
    """The notes without what a change takes back, finishes or replaces."""
    match change:
        case CommitMade(amends=True):
            last = next((note.heading for note in reversed(notes) if _is_commit(note)), None)
            return tuple(note for note in notes if not (_is_commit(note) and note.heading == last))
        case Undone(kind=UndoKind.RESET | UndoKind.UNCOMMIT, commit=commit):
            return _reset(notes, commit)
        case Undone(kind=UndoKind.REVERT, subject=subject, commit=commit):
            return tuple(
                note
                for note in notes
                if not (
                    _is_commit(note)
                    and ((subject and subject in note.text) or (commit and note.heading == commit))
                )
            )
        case Stashed(change=StashChange.APPLIED | StashChange.DROPPED):
            last_stash = next((note for note in reversed(notes) if _is_stash(note)), None)
            return tuple(note for note in notes if note is not last_stash)
        case BranchChanged():
            return tuple(note for note in notes if not _ON_BRANCH.search(note.text))
        case TaskChanged(task=task, change=TrackerChange.CLOSED | TrackerChange.MERGED):
            return _without_task(notes, task)
        case PullRequest(number=number):
            return _without_task(notes, f"#{number}")
        case TaskListed(task=task, status=status):
            is_open = status in (TaskStatus.OPEN, TaskStatus.STARTED, TaskStatus.BLOCKED)
            return notes if is_open else _without_task(notes, task)
        case _:
            return notes


def _is_stash(note: Note) -> bool:
    return note.kind is NoteKind.DOING and note.source is NoteSource.COMMAND


def _is_commit(note: Note) -> bool:
    return note.source is NoteSource.COMMIT


def _is_push(note: Note) -> bool:
    return note.text.startswith(PUSHED)


def _reset(notes: Notes, commit: str) -> Notes:
    """The notes without the commits that a branch no longer has: those after this one, or all of them."""
    steps = _BACK.fullmatch(commit)
    made = list(dict.fromkeys(note.heading for note in notes if _is_commit(note)))
    if steps:
        count = int(steps[1]) if steps[1] else 1
        gone = set(made[-count:])
    else:
        place = next((n for n, known in enumerate(made) if known and commit.startswith(known)), -1)
        gone = set(made[place + 1 :])
    return tuple(note for note in notes if not _speaks_of(note, gone))


def _speaks_of(note: Note, commits: set[str]) -> bool:
    """Whether a note is of one of these commits, or names it."""
    if _is_commit(note):
        return note.heading in commits
    return any(commit and commit in note.text for commit in commits)


def _without_task(notes: Notes, task: str) -> Notes:
    """The notes without what was to be done for a task."""
    return tuple(
        note
        for note in notes
        if not (
            note.source is NoteSource.TRACKER
            and (note.heading == task or note.heading.startswith(f"{task} "))
        )
    )


def without_undone(
    files: tuple[FileTouch, ...], changes: Sequence[WorkChange], notes: Notes
) -> tuple[FileTouch, ...]:
    """The files after git took edits back: one whose uncommitted edits are gone was only looked at."""
    if any(isinstance(change, CommitMade) for change in changes):
        return files  # what was edited before is committed now
    for change in changes:
        gone = _without_ended(notes, change)
        committed = max((note.step for note in gone if _is_commit(note) and not _is_push(note)), default=-1)
        match change:
            case Undone(kind=UndoKind.RESET):
                files = _unedited(files, committed)
            case Undone(UndoKind.FILES, paths, commit, reset_to) if reset_to or commit in _NO_OTHER:
                files = _unedited(files, committed, paths)
            case Stashed(change=StashChange.DROPPED):
                stashed = max((note.step for note in notes if note.heading == STASH), default=-1)
                files = tuple(
                    one if touch.step <= stashed else touch
                    for one, touch in zip(_unedited(files, committed), files, strict=True)
                )
            case _:
                pass
        notes = gone
    return files


def _unedited(
    files: tuple[FileTouch, ...], committed: int, paths: Sequence[str] = (_ALL,)
) -> tuple[FileTouch, ...]:
    """The files without the edits since the last commit; git leaves new files where no path is named."""
    return tuple(
        replace(touch, action=Action.READ)
        if touch.step > committed and any(_is_undone(touch, path) for path in paths)
        else touch
        for touch in files
    )


def _is_undone(touch: FileTouch, path: str) -> bool:
    if touch.path == path or touch.path.endswith(f"/{path}"):
        return touch.action in (Action.EDIT, Action.WRITE)
    inside = path == _ALL or f"/{path.rstrip('/')}/" in f"/{touch.path}"
    return inside and touch.action is Action.EDIT


def resolved_note(failed: CommandRun, run: CommandRun, record: str, turn: int) -> Note | None:
    """A failure that another command ended, with its reason and what worked instead."""
    command = shell.display_form(one_line(failed.command), COMMAND_CHARS)
    other = shell.display_form(one_line(run.command), COMMAND_CHARS)
    if not failed.reason or "…" in command or "…" in other:
        return None
    text = f"`{command}` failed: {shortened(one_line(failed.reason), REASON_CHARS)}; `{other}` worked"
    return Note(NoteKind.FAILED, text, run.at, record, run.step, source=NoteSource.COMMAND, turn=turn)


_SHOWS_TASK: Final = compiled(r"\b(?:bd show|gh issue view)\s+([\w.#-]+)")
_BACK: Final = re.compile(r"HEAD(?:~(\d*)|\^)")
_ON_BRANCH: Final = compiled(
    r"\b(?:on|switched to|created) (?:the |a new |new |your )?(?:branch\b|`[^`]+` branch)|"
    r"\b(?:checkout|tree|repo|we|we're) (?:is |are )?on `[^`]+`",
    re.IGNORECASE,
)
