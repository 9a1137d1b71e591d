"""Events: what happened in a session, in our own words.

A harness's hooks and transcripts are translated into these values and nothing else enters the core. An event
is known by session, record id and revision, whoever reports it, so that a replay changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar

from holdfast.lazy_dataclass import dataclass

MAIN = "main"
"""The agent a person talks to; any other agent name is a subagent's id."""


class Origin(StrEnum):
    """Whose words an event carries."""

    HUMAN = "human"
    ASSISTANT = "assistant"
    TOOL = "tool"
    HARNESS = "harness"
    OURS = "ours"
    """Text that we injected: never evidence, never a prompt."""


class Source(StrEnum):
    """Why a session started."""

    STARTUP = "startup"
    RESUME = "resume"
    FORK = "fork"
    CLEAR = "clear"
    COMPACT = "compact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """What every event has: whose session and agent, when, and under which record it is known."""

    session: str
    record: str
    at: int
    origin: Origin
    agent: str = MAIN
    parent: str = ""
    revision: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStarted(Happened):
    source: Source
    model: str = ""
    previous: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt(Happened):
    """`turn` is the harness's own id of the turn the prompt belongs to; several prompts may share one."""

    text: str
    turn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantText(Happened):
    text: str


class Action(StrEnum):
    """What a tool does to its subject, the same for every harness."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    RUN = "run"
    SEARCH = "search"
    DELEGATE = "delegate"
    ASK = "ask"
    """Puts a question, or a plan, to the person; of no other call is anything an answer."""
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(Happened):
    """The agent asked for a tool; `subject` is what it works on (a path, a command), `detail` the rest."""

    call: str
    tool: str
    action: Action
    subject: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturned(Happened):
    """`size` is how many characters came back, of which `text` may keep only a part; 0 where it is all."""

    call: str
    ok: bool
    exit_status: int | None = None
    text: str = ""
    size: int = 0
    handle: str = ""
    """In place of the call: of one that was left running, where only its handle is told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftRunning(Happened):
    """A call goes on in the background; the harness, and so the agent, knows it by this handle."""

    call: str
    handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied(Happened):
    """A person's words to a call: to the `question` that it asked or, without one, why it was refused."""

    call: str
    text: str
    question: str = ""


@dataclass(frozen=True, slots=True)
class Todo:
    """`id` is the harness's own, where it tells of each entry by itself."""

    text: str
    status: str
    id: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TodosChanged(Happened):
    todos: tuple[Todo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoChanged(Happened):
    """One entry of the list, known by its id; what is left empty stays as it was."""

    todo: Todo


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Happened):
    """Tokens of one model request as the harness recorded them; `window` is 0 where it did not say."""

    input: int
    output: int
    cache_read: int = 0
    cache_written: int = 0
    window: int = 0
    model: str = ""

    @property
    def sent(self) -> int:
        """How much was sent: what was read from the cache or written to it was sent too."""
        return self.input + self.cache_read + self.cache_written


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChanged(Happened):
    """Another model is at work, or the harness says how much one holds; `window` is 0 where it does not."""

    model: str
    window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionImminent(Happened):
    trigger: str
    instructions: str = ""
    session_context: str = ""


class Sign(StrEnum):
    """By which of its signs a compaction became known; one compaction gives several."""

    START = "start"
    HOOK = "hook"
    BOUNDARY = "boundary"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(Happened):
    """`trigger` is `auto` where the harness did it by itself, and empty where that is not said."""

    sign: Sign
    summary: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    trigger: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStarted(Happened):
    subagent: str
    task: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SubagentStopped(Happened):
    subagent: str
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered(Happened):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestGiven(Happened):
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefSeen(Happened):
    """The transcript shows text of ours that reached the model: a brief, or memories that fit a prompt."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Happened):
    """The agent stopped and waits for a person."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionEnded(Happened):
    reason: str


Event: TypeAlias = (
    SessionStarted
    | Prompt
    | AssistantText
    | ToolCalled
    | ToolReturned
    | LeftRunning
    | Replied
    | TodosChanged
    | TodoChanged
    | Usage
    | ModelChanged
    | CompactionImminent
    | Compacted
    | SubagentStarted
    | SubagentStopped
    | Remembered
    | DigestGiven
    | BriefSeen
    | TurnEnded
    | SessionEnded
)

KINDS: tuple[type[Event], ...] = (
    SessionStarted,
    Prompt,
    AssistantText,
    ToolCalled,
    ToolReturned,
    LeftRunning,
    Replied,
    TodosChanged,
    TodoChanged,
    Usage,
    ModelChanged,
    CompactionImminent,
    Compacted,
    SubagentStarted,
    SubagentStopped,
    Remembered,
    DigestGiven,
    BriefSeen,
    TurnEnded,
    SessionEnded,
)


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something that could not be read: counted and shown, never raised."""

    reason: str
    where: str = ""


_FREE_TEXT = frozenset(
    "text subject detail question instructions session_context summary task reason".split()
)
# Which texts a kind of event has; asked for every event, so that it is found out once.
_TEXTS: Final[Mapping[type[Happened], tuple[str, ...]]] = {
    kind: tuple(field.name for field in fields(kind) if field.name in _FREE_TEXT) for kind in KINDS
}
_E = TypeVar("_E", bound=Happened)


def map_text(event: _E, change: Callable[[str], str]) -> _E:
    """The same event with every free text changed; ids, names and numbers stay."""
    changed: dict[str, Any] = {}
    for name in _TEXTS[type(event)]:
        text = getattr(event, name)
        new = change(text)
        if new is not text and new != text:
            changed[name] = new
    if isinstance(event, TodosChanged):
        todos = tuple(replace(todo, text=change(todo.text)) for todo in event.todos)
        if todos != event.todos:
            changed["todos"] = todos
    if isinstance(event, TodoChanged) and (new := change(event.todo.text)) != event.todo.text:
        changed["todo"] = replace(event.todo, text=new)
    return replace(event, **changed) if changed else event
