"""Events: what happened in a session, in Holdfast's own types.

Hook events and transcripts are translated into these values; nothing else enters the core. An event is
identified by session, record id and revision, whatever its source, so that a replay changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, Final, TypeAlias, TypeVar

from holdfast.lazy_dataclass import dataclass

MAIN = "main"
"""The agent that the user talks to; any other agent name is a subagent's id."""


class Origin(StrEnum):
    """Who wrote the text of an event."""

    HUMAN = "human"
    ASSISTANT = "assistant"
    TOOL = "tool"
    HARNESS = "harness"
    HOLDFAST = "holdfast"
    """Text that Holdfast injected: never evidence, never a prompt."""

    @classmethod
    def _missing_(cls, value: object) -> Origin | None:
        """The origin that a daemon of version 0.1.0 stores by another name."""
        return cls.HOLDFAST if value == "ours" else None


class Source(StrEnum):
    """Why a session started."""

    STARTUP = "startup"
    RESUME = "resume"
    FORK = "fork"
    CLEAR = "clear"
    COMPACT = "compact"


@dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """The fields of every event: session, agent, time, and the record that identifies it."""

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
    """`turn` is the harness's id of the prompt's turn; several prompts may share one."""

    text: str
    turn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantText(Happened):
    text: str


class Action(StrEnum):
    """What a tool does to its subject; the same values for every harness."""

    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    DELETE = "delete"
    RUN = "run"
    SEARCH = "search"
    DELEGATE = "delegate"
    ASK = "ask"
    """Asks the user a question or presents a plan; only such a call can have an answer."""
    OTHER = "other"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCalled(Happened):
    """The agent called a tool; `subject` is what it works on (a path, a command), `detail` the rest."""

    call: str
    tool: str
    action: Action
    subject: str = ""
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolReturned(Happened):
    """`size` is the length of the full result, of which `text` may be a part; 0 if `text` is all of it."""

    call: str
    ok: bool
    exit_status: int | None = None
    text: str = ""
    size: int = 0
    handle: str = ""
    """Identifies a background call where the harness names only its handle, not the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftRunning(Happened):
    """A call continues in the background; the harness and the agent refer to it by this handle."""

    call: str
    handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Replied(Happened):
    """The user's reply to a call: the answer to its `question` or, without one, why it was refused."""

    call: str
    text: str
    question: str = ""


@dataclass(frozen=True, slots=True)
class Todo:
    """`id` is the harness's own, if it reports entries one by one."""

    text: str
    status: str
    id: str = ""
    inherited: str = ""
    """The key of the session that it was inherited from; empty if it is the session's own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TodosChanged(Happened):
    todos: tuple[Todo, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TodoChanged(Happened):
    """A change of one entry, identified by its id; empty fields stay as they were."""

    todo: Todo


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage(Happened):
    """Tokens of one model request as the harness recorded them; `window` is 0 if it did not say."""

    input: int
    output: int
    cache_read: int = 0
    cache_written: int = 0
    window: int = 0
    model: str = ""

    @property
    def sent(self) -> int:
        """All input tokens, including those read from the cache or written to it."""
        return self.input + self.cache_read + self.cache_written


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChanged(Happened):
    """Another model is in use, or the harness reports its window; `window` is 0 if it does not."""

    model: str
    window: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionImminent(Happened):
    trigger: str
    instructions: str = ""
    session_context: str = ""


class CompactionSign(StrEnum):
    """How a compaction became known; one compaction gives several signs."""

    START = "start"
    HOOK = "hook"
    BOUNDARY = "boundary"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(Happened):
    """`trigger` is `auto` if the harness compacted on its own, and empty if unknown."""

    sign: CompactionSign
    summary: str = ""
    tokens_before: int = 0
    tokens_after: int = 0
    trigger: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Titled(Happened):
    """The harness names the session; an empty text of the user's takes the name back."""

    text: str
    by_user: bool = False


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
    """The transcript shows that Holdfast's text reached the model: a brief, or memories for a prompt."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Happened):
    """The agent stopped and waits for the user."""


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
    | Titled
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
    Titled,
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
# The text fields of each event type, computed once because every event needs them.
_TEXTS: Final[Mapping[type[Happened], tuple[str, ...]]] = {
    kind: tuple(field.name for field in fields(kind) if field.name in _FREE_TEXT) for kind in KINDS
}
_E = TypeVar("_E", bound=Happened)


def texts_of(event: Event) -> tuple[str, ...]:
    """Every free text of an event."""
    texts: list[str] = []

    def collect(text: str) -> str:
        texts.append(text)
        return text

    map_text(event, collect)
    return tuple(texts)


def map_text(event: _E, change: Callable[[str], str]) -> _E:
    """The same event with `change` applied to every free text; ids, names and numbers stay."""
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
