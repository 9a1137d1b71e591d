"""The trail: a session's evidence, small enough to store after every event.

Values and their limits, and the list of to-dos. `follow` makes a trail from events; `brief` decides what of
it an agent is told.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Final, TypeVar

from holdfast.core.events.event import Action, Todo
from holdfast.core.evidence.commands.outcomes import TestSummary
from holdfast.core.evidence.commands.purpose import Purpose
from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.patches import FileChange
from holdfast.core.evidence.prose.lists import ItemState
from holdfast.lazy_dataclass import dataclass

PROMPTS_KEPT: Final = 12
STATEMENTS_KEPT: Final = 6
FILES_KEPT: Final = 80
COMMANDS_KEPT: Final = 30
MENTIONS_KEPT: Final = 480
CALLS_KEPT: Final = 64
TEXT_KEPT: Final = 1_200
WHOLE_KEPT: Final = 6_000
ITEMS_KEPT: Final = 20
COMMAND_KEPT: Final = 600
TODOS_KEPT: Final = 60
RUNNING_KEPT: Final = 8
TASK_KEPT: Final = 120


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text of the user or the agent, and when it was written."""

    text: str
    at: int
    record: str = ""
    turn: str = ""
    author: str = ""
    """The model that wrote it about the session; empty if the user or the agent wrote it."""
    inherited: str = ""
    """The key of the session that it was inherited from; empty if it is the session's own."""


class NoteSource(StrEnum):
    """Where a note comes from. The values are stored: never rename one."""

    PROMPT = "prompt"
    PLAN = "plan"
    """A long prompt, or a plan that the user approved."""
    REPLY = "reply"
    """The user's answer to a question, or the reason for refusing a tool call."""
    MESSAGE = "message"
    """What the agent says while it works."""
    CLOSING = "closing"
    """The last message of a turn, which the user has answered."""
    SUMMARY = "summary"
    """The harness's own summary at a compaction."""
    SUBAGENT = "subagent"
    """What a subagent reported to the agent that started it."""
    COMMIT = "commit"
    COMMAND = "command"
    """A command that failed, and what ended the failure."""
    TRACKER = "tracker"
    """A task, issue or pull request that a command changed."""


@dataclass(frozen=True, slots=True)
class Note:
    """A sentence worth storing."""

    kind: NoteKind
    text: str
    at: int
    record: str
    step: int = 0
    by_user: bool = False
    """Whether it is the user's reply: an answer, or a reason for refusing a tool call."""
    source: NoteSource = NoteSource.MESSAGE
    turn: int = 0
    """How many prompts the user had written."""
    place: int = 0
    """Its place in the message."""
    heading: str = ""
    """The heading or lead-in above it, in lower case."""
    is_last: bool = False
    """Whether it ends its message."""
    inherited: str = ""
    """The key of the session that it was inherited from; empty if it is the session's own."""


@dataclass(frozen=True, slots=True)
class FileTouch:
    """A file, the strongest action on it and how often, and when it was last touched."""

    path: str
    action: Action
    times: int
    at: int
    step: int = 0
    renamed_to: str = ""


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command and its latest outcome; `ok` is None while it runs."""

    command: str
    at: int
    ok: bool | None = None
    exit_status: int | None = None
    reason: str = ""
    tests: TestSummary | None = None
    times: int = 1
    step: int = 0
    aim: Purpose = Purpose.DO
    inherited: str = ""
    """The key of the session that it was inherited from; empty if it is the session's own."""


class Thing(StrEnum):
    """What a mention is of."""

    FILE = "file"
    FOLDER = "folder"
    PROGRAM = "program"
    NAME = "name"
    REFERENCE = "reference"
    OPTION = "option"


@dataclass(frozen=True, slots=True)
class Mention:
    """A thing that the work is about, how much it is used, and the step at which it was last named."""

    name: str
    thing: Thing = Thing.NAME
    use: float = 1.0
    """How often it was named, as of that step; the value decays as `mentions` defines."""
    step: int = 0
    shown: str = ""
    """How it was last spelled, if that is more than the name."""
    file: str = ""
    """For a name: the file that was changed when it was last named."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A tool call that has not returned, and what it does if it succeeds."""

    call: str
    agent: str
    action: Action
    command: str = ""
    changes: tuple[FileChange, ...] = ()
    task: str = ""
    """The task given to a subagent."""
    aim: Purpose = Purpose.DO
    """For a command: its purpose, taken from the full text, of which only a part is stored."""
    whole: str = ""
    """The text of a command that git or a tracker reports about, or the plan that the user is asked about."""


@dataclass(frozen=True, slots=True)
class Running:
    """A command or subagent that was left running in the background.

    A subagent stays listed when it is `over`: its report can be requested again by its handle.
    """

    call: str
    handle: str
    at: int
    command: str = ""
    task: str = ""
    over: bool = False


@dataclass(frozen=True, slots=True)
class RequestedItem:
    """An item of the list that the user asked to work through, or a step of the plan that was approved."""

    label: str
    text: str
    state: ItemState
    at: int
    record: str


@dataclass(frozen=True)  # without slots, to be renewed
class Trail:
    """A session's evidence; every tuple has the oldest first."""

    first_prompt: Utterance | None = None
    goal: Utterance | None = None
    prompts: tuple[Utterance, ...] = ()
    statements: tuple[Utterance, ...] = ()
    notes: tuple[Note, ...] = ()
    files: tuple[FileTouch, ...] = ()
    commands: tuple[CommandRun, ...] = ()
    mentions: tuple[Mention, ...] = ()
    """The last named come last."""
    todos: tuple[Todo, ...] = ()
    planned_at: int = 0
    """When the to-dos last changed."""
    planned_step: int = 0
    """The step at which they last changed."""
    open_calls: tuple[OpenCall, ...] = ()
    subagent_files: tuple[FileTouch, ...] = ()
    running: tuple[Running, ...] = ()
    items: tuple[RequestedItem, ...] = ()
    """The list that the user asked to work through."""
    turns: int = 0
    """The number of the user's prompts so far."""
    steps: int = 0
    """The number of tool calls and statements so far: the clock that says how recent something is."""
    inherits: tuple[str, ...] = ()
    """The keys of the sessions whose work it goes on with, the nearest last."""

    def is_empty(self) -> bool:
        """Whether nothing worth storing has happened in the session itself."""
        has_own = (
            any(not prompt.inherited for prompt in self.prompts)
            or any(not run.inherited for run in self.commands)
            or any(not todo.inherited for todo in self.todos)
        )
        return not (has_own or self.statements or self.files)

    def noted(self, kind: NoteKind) -> tuple[Note, ...]:
        """The notes of one kind, oldest first."""
        return tuple(note for note in self.notes if note.kind is kind)


# ---------------------------------------------------------------- to-dos

COMPLETED: Final = "completed"
IN_PROGRESS: Final = "in_progress"
PENDING: Final = "pending"
_DELETED: Final = "deleted"


STEPS_LEFT: Final = 240
"""After this many steps without a change, a list older than the current goal is not being worked on."""
STEPS_FORGOTTEN: Final = 480
"""After this many steps without a change, a list is abandoned, whatever the goal."""


def open_todos(trail: Trail) -> tuple[Todo, ...]:
    """The open entries of a list that the agent still uses; old sessions do not say when it changed."""
    unchanged_for = trail.steps - trail.planned_step if trail.planned_at else 0
    has_newer_goal = trail.goal is not None and trail.goal.at > trail.planned_at
    if unchanged_for > (STEPS_LEFT if has_newer_goal else STEPS_FORGOTTEN):
        return ()
    return tuple(todo for todo in trail.todos if todo.status != COMPLETED)


def with_todo(todos: tuple[Todo, ...], entry: Todo) -> tuple[Todo, ...]:
    """The list with one entry added, changed or removed; an unknown entry without text is ignored."""
    # The ids of inherited entries are another list's; one that is written down again is the session's own.
    todos = tuple(todo for todo in todos if not todo.inherited or todo.text != entry.text)
    before = next((todo for todo in todos if todo.id == entry.id and not todo.inherited), None)
    if entry.status == _DELETED:
        return tuple(todo for todo in todos if todo is not before)
    if before is None:
        added = replace(entry, status=entry.status or PENDING)
        return _capped_todos((*todos, added)) if entry.text else todos
    after = replace(before, text=entry.text or before.text, status=entry.status or before.status)
    return tuple(after if todo is before else todo for todo in todos)


def _capped_todos(todos: tuple[Todo, ...]) -> tuple[Todo, ...]:
    """At most `TODOS_KEPT` entries; the oldest completed one is dropped first."""
    if len(todos) <= TODOS_KEPT:
        return todos
    victim = next((todo for todo in todos if todo.status == COMPLETED), todos[0])
    return tuple(todo for todo in todos if todo is not victim)


# ---------------------------------------------------------------- a fast `replace`

_T = TypeVar("_T")

if TYPE_CHECKING:
    # For type checkers it is `replace`, so that they check the names and types of the fields.
    fast_replace = replace
else:

    def fast_replace(value: _T, /, **changes: object) -> _T:
        """A copy of a dataclass value without slots, with these fields changed.

        `dataclasses.replace` sets each field separately. For a session with thirty fields, that takes longer
        than most other work for an event. A value without slots is copied in one step.
        """
        new = object.__new__(type(value))
        new.__dict__.update(value.__dict__, **changes)
        return new
