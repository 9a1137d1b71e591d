"""Compute the work state: the statements that hold at this moment, from a session's evidence.

The notes of the trail are sentences that somebody said, without those that are over. Here they are joined by
what the session itself shows: to-dos, commands with their outcome, edited files, the branch. `worth` says how
much each is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, Generic, TypeVar, cast

from holdfast.core.events.event import Action
from holdfast.core.events.world import GitState, Project
from holdfast.core.evidence import substance
from holdfast.core.evidence.commands import shell
from holdfast.core.evidence.commands.exit_meaning import REFUSED, has_failed
from holdfast.core.evidence.commands.purpose import is_check
from holdfast.core.evidence.fact_lines import counts, git_lines
from holdfast.core.evidence.kinds import KINDS, KindTable, NoteKind, Section
from holdfast.core.evidence.notes import NOTE_KEPT, last_edit
from holdfast.core.evidence.prose import cues, reader
from holdfast.core.evidence.prose.lists import ItemState
from holdfast.core.evidence.trail import (
    COMPLETED,
    IN_PROGRESS,
    CommandRun,
    Note,
    NoteSource,
    Trail,
    Utterance,
    open_todos,
)
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.work.digest import with_digest
from holdfast.core.work.settled import settled
from holdfast.core.work.state import Statement, StatementSource, WorkState
from holdfast.core.work.title import title_of_trail
from holdfast.core.work.weights import WEIGHTS
from holdfast.core.work.wording import is_reported_done, wording_of
from holdfast.core.work.worth import Weights, setting_of, with_worth
from holdfast.lazy_dataclass import dataclass, replace

_T = TypeVar("_T")

REASON_CHARS: Final = 160
COMMAND_CHARS: Final = 160
LEFT_RUNNING: Final = "Left running"
REFUSED_CHARS: Final = 80


def work_state(
    trail: Trail,
    git: GitState | None = None,
    project: Project | None = None,
    written: Sequence[Utterance] = (),
    *,
    weights: Weights = WEIGHTS,
    kinds: KindTable = KINDS,
) -> WorkState:
    """What someone who takes over must know of a session; `written` are digests of it, newest first."""
    state = _of_evidence(_Identity(trail), git, project, _Identity(weights), _Identity(kinds))
    # The newest digest speaks for everything up to its time, older ones included.
    return settled(with_digest(state, written[0]) if written else state)


@dataclass(frozen=True, slots=True)
class _Identity(Generic[_T]):
    """A value that is equal to itself alone, so that comparing it does not compare all that it holds."""

    value: _T

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Identity) and cast("_Identity[object]", other).value is self.value

    def __hash__(self) -> int:
        return id(self.value)


@lru_cache(4)  # the checkpoint before a compaction and the briefs before and after it need the same one
def _of_evidence(
    trail: _Identity[Trail],
    git: GitState | None,
    project: Project | None,
    weights: _Identity[Weights],
    kinds: _Identity[KindTable],
) -> WorkState:
    """The work state before what somebody wrote down is put in the place of what it says."""
    holding = standing(trail.value, git, project, kinds.value)
    statements = with_worth(holding, setting_of(trail.value), weights.value)
    return WorkState(title_of_trail(trail.value), tuple(statements))


def standing(
    trail: Trail, git: GitState | None = None, project: Project | None = None, kinds: KindTable = KINDS
) -> list[Statement]:
    """Every statement that holds, without its worth, in the order of the sections, oldest first."""
    root = project.root if project and project.root != "/" else ""
    statements = [
        *_notes(trail, kinds),
        *_todos(trail),
        *_items(trail),
        *_checks(trail),
        *_refused(trail),
        *_edits(trail),
        *_reads(trail),
        *_running(trail),
        *_where(git, root),
    ]
    statements += _goal(trail, statements)
    if root:
        statements = [_from_root(statement, root) for statement in statements]
    statements.sort(key=lambda statement: (_ORDER[statement.section], statement.at, statement.place))
    return statements


def _goal(trail: Trail, statements: Sequence[Statement]) -> list[Statement]:
    """The current request as a goal, where its sentences tell it only as rules, or are none."""
    goal = trail.goal
    if goal is None or reader.is_generic(goal.text):
        return []
    own = [one for one in statements if one.source == goal.record and one.kind]
    if any(one.section is Section.GOAL for one in own):
        return []
    whole = Statement(
        Section.GOAL,
        shortened(one_line(reader.request_in(goal.text)), NOTE_KEPT),
        goal.at,
        goal.record,
        NoteKind.REQUEST,
        by_user=True,
        origin=StatementSource.PROMPT,
        turn=trail.turns,
    )
    first = min(own, key=lambda one: one.place, default=whole)
    return [replace(first, section=Section.GOAL, kind=NoteKind.REQUEST)]


def _from_root(statement: Statement, root: str) -> Statement:
    """The statement with its paths relative to the project, as one would type them there."""
    if statement.origin is StatementSource.GIT or f"{root}/" not in statement.text:
        return statement
    # In another directory a relative path names another file.
    if _ENTERS.search(statement.text):
        return statement
    return replace(statement, text=statement.text.replace(f"{root}/", ""))


_ENTERS: Final = compiled(r"`cd |&& cd ")
_ORDER: Final = {section: place for place, section in enumerate(Section)}


def _notes(trail: Trail, kinds: KindTable) -> Iterator[Statement]:
    edited_at = last_edit(trail)
    checks = [run for run in trail.commands if run.ok is not None and _is_told(run)]
    passes_now = any(run.ok and run.step >= edited_at for run in checks)
    listed = {item.record: {one_line(item.text) for item in trail.items} for item in trail.items}
    completed = [wording_of(todo.text) for todo in trail.todos if todo.status == COMPLETED]
    for note in trail.notes:
        if any(one_line(note.text) in text for text in listed.get(note.record, ())):
            continue  # it is told as an item, with its state
        is_lead_in = note.text.endswith((":", "："))
        if is_lead_in and not note.is_last:
            continue  # what it announces is told by itself
        text = substance.announcement(one_line(note.text)) if is_lead_in else one_line(note.text)
        if not text:
            continue
        if checks and note.step < edited_at and _reports_check(note):
            continue  # the outcome is told with the command, and whether it is of before the last edit
        if passes_now and not note.by_user and reader.is_check(note.text):
            continue
        is_before_list = kinds[note.kind].section is Section.NOW and note.step < trail.planned_step
        if is_before_list and is_reported_done(wording_of(text), completed):
            continue  # the agent has ticked it off since
        yield Statement(
            kinds[note.kind].section,
            text,
            note.at,
            note.record,
            note.kind,
            by_user=note.by_user or note.source in _BY_USER,
            origin=_ORIGINS[note.source],
            step=note.step,
            turn=note.turn,
            place=note.place,
            heading=note.heading,
            is_last=note.is_last,
        )


_BY_USER: Final = frozenset({NoteSource.PROMPT, NoteSource.PLAN, NoteSource.REPLY})
_ORIGINS: Final = {source: StatementSource(source.value) for source in NoteSource}


def _reports_check(note: Note) -> bool:
    """Whether the agent only says that checks pass."""
    return note.source in (NoteSource.MESSAGE, NoteSource.CLOSING, NoteSource.SUBAGENT) and (
        cues.states_status(note.text) or (len(note.text) < _REPORT_CHARS and cues.states_pass(note.text))
    )


_REPORT_CHARS: Final = 120


def _todos(trail: Trail) -> Iterator[Statement]:
    """The agent's own list: what is finished, what is going on, what is left."""
    left = open_todos(trail)
    for place, todo in enumerate(trail.todos):
        if todo.status != COMPLETED and todo not in left:
            continue
        section = {COMPLETED: Section.DONE, IN_PROGRESS: Section.NOW}.get(todo.status, Section.NEXT)
        yield Statement(
            section,
            one_line(todo.text),
            trail.planned_at,
            origin=StatementSource.TODO,
            step=trail.planned_step,
            turn=trail.turns,
            place=place,
        )


def _items(trail: Trail) -> Iterator[Statement]:
    """The list that the user asked to work through, each item where it stands.

    Where the agent has made a list of its own since, that tells more.
    """
    if trail.items and trail.todos and trail.planned_at >= trail.items[0].at:
        return
    for place, item in enumerate(trail.items):
        label = "" if item.label.startswith("•") else f"{item.label}. "
        yield Statement(
            _ITEM_SECTIONS[item.state],
            f"{label}{item.text}",
            item.at,
            item.record,
            origin=StatementSource.ITEM,
            step=trail.steps,
            turn=trail.turns,
            place=place,
        )


_ITEM_SECTIONS: Final = {
    ItemState.OPEN: Section.NEXT,
    ItemState.STARTED: Section.NOW,
    ItemState.DONE: Section.DONE,
}


def _checks(trail: Trail) -> Iterator[Statement]:
    """The last outcome of each check and of what failed, and whether files were edited since."""
    edited_at = last_edit(trail)
    runs = [
        run for run in trail.commands if run.ok is not None and _is_told(run) and not _is_past(run, trail)
    ]
    for run in runs:
        section = Section.FAILURES if has_failed(run) else Section.DONE
        stale = " (not run since the last edit)" if run.step < edited_at else ""
        yield Statement(
            section,
            f"{_outcome(run)}{stale}",
            run.at,
            origin=StatementSource.CHECK,
            step=run.step,
            turn=trail.turns,
        )


def _is_told(run: CommandRun) -> bool:
    """Whether the outcome of a command counts; one that was refused or stopped has none."""
    return has_failed(run) or (run.ok is True and (run.tests is not None or is_check(run.command)))


def _refused(trail: Trail) -> Iterator[Statement]:
    """What the user did not allow, unless a note tells what they said to it."""
    notes = [note.text for note in trail.notes if note.by_user]
    for run in trail.commands:
        command = shell.display_form(one_line(run.command), REFUSED_CHARS)
        if run.reason == REFUSED and not any(f"refusing `{command[:20]}" in text for text in notes):
            yield Statement(
                Section.RULES,
                f"Refused by the user: `{command}`",
                run.at,
                by_user=True,
                origin=StatementSource.REPLY,
                step=run.step,
                turn=trail.turns,
            )


def _is_past(run: CommandRun, trail: Trail) -> bool:
    """Whether a failure was a passing one: no check, and the same program has worked since, or much else."""
    if not has_failed(run) or run.tests is not None or is_check(run.command):
        return False
    program = shell.program(run.command)
    worked = (
        other.step > run.step and other.ok and shell.program(other.command) == program
        for other in trail.commands
    )
    return trail.steps - run.step > _STEPS_RECENT or any(worked)


_STEPS_RECENT: Final = 40


def _outcome(run: CommandRun) -> str:
    command = typed_command(run.command)
    if not has_failed(run):
        return f"{command} passed{counts(run)}"
    reason = f": {shortened(one_line(run.reason), REASON_CHARS)}" if run.reason else ""
    return f"{command} failed{counts(run)}{reason}"


def typed_command(command: str) -> str:
    """A command as one would type it; of one that is too long to show, only which program it runs."""
    shown = shell.display_form(one_line(command), COMMAND_CHARS)
    if "…" not in shown:
        return f"`{shown}`"
    program = shell.program(command)
    return f"A long `{program}` command" if program else "A long command"


def _edits(trail: Trail) -> Iterator[Statement]:
    """The files that the agent and its subagents changed last, and what was deleted and renamed."""
    own = {touch.path for touch in trail.files if touch.action is not Action.READ}
    for touch in (*(each for each in trail.subagent_files if each.path not in own), *trail.files):
        if touch.renamed_to:
            section, text = Section.DONE, f"Renamed {touch.path} to {touch.renamed_to}"
        elif touch.action is Action.DELETE:
            section, text = Section.DONE, f"Deleted {touch.path}"
        elif touch.action in (Action.EDIT, Action.WRITE):
            section, text = Section.WHERE, touch.path
        else:
            continue
        yield Statement(
            section,
            text,
            touch.at,
            touch.path,
            origin=StatementSource.EDIT,
            step=touch.step,
            turn=trail.turns,
        )


def _reads(trail: Trail) -> Iterator[Statement]:
    """The files that were read last, which the next step is about to use."""
    lately = [
        touch
        for touch in trail.files
        if touch.action is Action.READ and trail.steps - touch.step <= STEPS_SINCE_READ
    ]
    for touch in lately[-READS_TOLD:]:
        yield Statement(
            Section.WHERE,
            touch.path,
            touch.at,
            touch.path,
            origin=StatementSource.READ,
            step=touch.step,
            turn=trail.turns,
        )


STEPS_SINCE_READ: Final = 30
READS_TOLD: Final = 8


def _running(trail: Trail) -> Iterator[Statement]:
    """What was left in the background; a subagent that reported can be asked again by its handle."""
    for running in trail.running:
        what = f"`{running.command}`" if running.command else f"“{running.task}”"
        opening = "Subagent done, can be asked again" if running.over else LEFT_RUNNING
        yield Statement(
            Section.WHERE if running.over else Section.NOW,
            f"{opening}: {what} ({running.handle})",
            0,
            running.call,
            origin=StatementSource.RUNNING,
            step=trail.steps,
            turn=trail.turns,
        )


def _where(git: GitState | None, root: str) -> Iterator[Statement]:
    """The place of the work; without a time, because it is as it is now."""
    lines = (*([f"Directory: {root}"] if root else []), *git_lines(git))
    yield from (Statement(Section.WHERE, line, 0, GIT_SOURCE, origin=StatementSource.GIT) for line in lines)


GIT_SOURCE: Final = "git"
"""The source of statements about directory, branch and commit."""
