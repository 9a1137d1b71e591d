"""Timeline: the events, checkpoints and briefs of a session in one sequence, by page or as a whole.

Points are made from stored values. Drawing is not done here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from holdfast.core.brief.compose import Receipt
from holdfast.core.events.event import (
    MAIN,
    Action,
    AssistantText,
    BriefSeen,
    Compacted,
    CompactionImminent,
    DigestGiven,
    Event,
    LeftRunning,
    ModelChanged,
    Origin,
    Prompt,
    Remembered,
    Replied,
    SessionEnded,
    SessionStarted,
    SubagentStarted,
    SubagentStopped,
    Titled,
    Todo,
    TodoChanged,
    TodosChanged,
    ToolCalled,
    ToolReturned,
    Usage,
)
from holdfast.core.evidence.commands.outcomes import failure_reason
from holdfast.core.evidence.file_edits import project_path
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Session
from holdfast.core.text.strings import one_line, shortened
from holdfast.engine.engine import Engine
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import PageMark

TITLE_CHARS: Final = 140
EVENTS_AT_ONCE: Final = 1_000
EVENTS_MOST: Final = 5_000
OPENED_MOST: Final = 120
"""How many entries of a kind can be opened from the picture; there is no room for more."""
FAILURES_MOST: Final = 24
PROMPTS_LISTED: Final = 30
PROMPT_CHARS: Final = 200
LABEL_CHARS: Final = 140


@dataclass(frozen=True, slots=True)
class Point:
    """One entry of the timeline; `id` names the record, the checkpoint or the receipt."""

    at: int
    id: str
    kind: str
    title: str
    text: str = ""
    agent: str = MAIN
    ok: bool | None = None
    """Whether a tool call succeeded; None for anything else."""
    tokens: int = 0
    """How many tokens the window held, if counted."""


def timeline_page(engine: Engine, session: str, behind: PageMark, limit: int) -> list[Point]:
    """The points after a mark, the newest first."""
    store = engine.store
    points = [
        *map(of_event, store.page_of_events(session, behind, limit)),
        *map(of_checkpoint, store.page_of_session_checkpoints(session, behind, limit)),
        *map(of_receipt, store.page_of_receipts(session, behind, limit)),
    ]
    return sorted(points, key=lambda point: (point.at, point.id), reverse=True)[:limit]


def token_counts(engine: Engine, session: str, behind: PageMark, limit: int) -> list[Point]:
    """The points after a mark at which the window was counted, the newest first."""
    points: list[Point] = []
    while len(points) < limit and (events := engine.store.page_of_events(session, behind, EVENTS_AT_ONCE)):
        points += [of_event(one) for one in events if isinstance(one, Usage) and one.agent == MAIN]
        behind = PageMark(events[-1].at, events[-1].record)
    return points[:limit]


def event_named(engine: Engine, session: str, source: str) -> Event | None:
    """The event of that record, or of the one that it is a part of."""
    for record in dict.fromkeys((source, source.partition("/")[0])):
        events = engine.store.events_from(session, record, 1)
        if events and events[0].record == record:
            return events[0]
    return None


def of_checkpoint(checkpoint: Checkpoint) -> Point:
    """The point at which a checkpoint was taken."""
    title = f"checkpoint ({checkpoint.trigger})"
    return Point(checkpoint.created_at, checkpoint.id, "checkpoint", title, checkpoint.digest)


def of_receipt(receipt: Receipt) -> Point:
    """The point at which a brief was given."""
    title = f"brief ({receipt.reason}), {len(receipt.text)} of {receipt.budget} characters"
    return Point(receipt.created_at, receipt.id, "brief", title, receipt.text)


def of_event(event: Event) -> Point:
    """The point of an event."""
    kind, title, text = _shown_as(event)
    return Point(
        event.at,
        event.record,
        kind,
        shortened(one_line(title), TITLE_CHARS),
        text,
        event.agent,
        event.ok if isinstance(event, ToolReturned) else None,
        event.sent + event.output if isinstance(event, Usage) else 0,
    )


def _shown_as(event: Event) -> tuple[str, str, str]:
    """An event's kind, title and text."""
    match event:
        case Prompt(text=text):
            return "prompt", text, text
        case Replied(text=text, question=question):
            return "prompt", text, f"{question}\n{text}" if question else text
        case AssistantText(text=text):
            return "statement", text, text
        case ToolCalled():
            return "tool", f"{event.action}: {event.subject or event.tool}", event.detail
        case ToolReturned(text=text):
            return "result", text or ("done" if event.ok else "failed"), text
        case LeftRunning(handle=handle):
            return "result", f"left running ({handle})", ""
        case TodosChanged(todos=todos):
            return _listed(f"{len(todos)} to-dos", todos)
        case TodoChanged(todo=todo):
            return _listed(f"to-do {todo.id}: {todo.text or todo.status}", (todo,))
        case Usage():
            return "usage", f"{event.sent + event.output:,} tokens", ""
        case _:
            return _point_of(event)


def _listed(title: str, todos: Sequence[Todo]) -> tuple[str, str, str]:
    return "todos", title, "\n".join(f"[{todo.status}] {todo.text}" for todo in todos)


def _point_of(event: Event) -> tuple[str, str, str]:
    match event:
        case Remembered(text=text):
            return "remembered", text, text
        case DigestGiven(text=text):
            return "digest", text, text
        case BriefSeen(text=text):
            return "seen", "the brief arrived", text
        case _:
            return _about_the_session(event)


def _about_the_session(event: Event) -> tuple[str, str, str]:
    match event:
        case SessionStarted(source=source):
            return "start", f"session started ({source})", ""
        case SessionEnded(reason=reason):
            return "end", f"session ended ({reason})", ""
        case CompactionImminent():
            return "announced", "a compaction is about to come", event.instructions
        case Compacted(summary=summary):
            return "compaction", "the context was compacted", summary
        case ModelChanged(model=model):
            return "model", f"model {model}", ""
        case Titled(text=text):
            return "title", f"title: {text}" if text else "the title was removed", text
        case SubagentStarted(task=task):
            return "subagent", "a subagent started", task
        case SubagentStopped(text=text):
            return "subagent", "a subagent stopped", text
        case _:  # A `TurnEnded`: all others are handled above.
            return "turn", "the agent stopped", ""


@dataclass(frozen=True, slots=True)
class Moment:
    """An entry that can be opened."""

    at: int
    id: str
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class WorkDone:
    """A tool call, and whether it succeeded; None if unknown."""

    at: int
    ok: bool | None


@dataclass(frozen=True, slots=True)
class TokenCount:
    """How many tokens the window held."""

    at: int
    tokens: int


@dataclass(frozen=True, slots=True)
class FailedCall:
    """A tool call that failed: its record, the command or file, and the line that says why."""

    at: int
    id: str
    subject: str
    error: str


@dataclass(frozen=True, slots=True)
class TimelineView:
    """The whole timeline, oldest first."""

    moments: tuple[Moment, ...]
    work: tuple[WorkDone, ...]
    counts: tuple[TokenCount, ...]
    left_out: int
    """How many earlier events it leaves out."""
    failures: tuple[FailedCall, ...] = ()
    prompts: tuple[Moment, ...] = ()
    """What the user wrote, at more length than in the picture."""


def timeline_view(engine: Engine, session: Session) -> TimelineView:
    """The timeline view of a session, or of its last part."""
    key = session.key
    events = engine.store.events(key, EVENTS_MOST + 1)
    shown_events = events[-EVENTS_MOST:]
    points = [
        *_opened([of_event(one) for one in shown_events if _is_prompt(one)]),
        *_opened(_compactions(shown_events)),
        *_opened([of_checkpoint(one) for one in engine.store.checkpoints_of_session(key, OPENED_MOST)]),
        *_opened([of_receipt(one) for one in engine.store.receipts(key, OPENED_MOST)]),
    ]
    return TimelineView(
        tuple(sorted(points, key=lambda point: (point.at, point.id))),
        tuple(_work(shown_events)),
        tuple(
            TokenCount(one.at, one.sent + one.output)
            for one in shown_events
            if isinstance(one, Usage) and one.agent == MAIN
        ),
        max(0, len(events) - EVENTS_MOST),
        tuple(_failures(shown_events, session.project.root)),
        tuple(_prompts(shown_events)),
    )


def _is_prompt(event: Event) -> bool:
    return isinstance(event, Prompt | Replied) and event.origin is Origin.HUMAN and event.agent == MAIN


def _compactions(events: list[Event]) -> list[Point]:
    """One point for each compaction, whose several signs come within seconds of each other."""
    points: list[Point] = []
    for event in events:
        if isinstance(event, Compacted) and (not points or event.at - points[-1].at > _SAME_MS):
            points.append(of_event(event))
    return points


def _work(events: list[Event]) -> list[WorkDone]:
    outcomes = {one.call: one.ok for one in events if isinstance(one, ToolReturned)}
    return [WorkDone(one.at, outcomes.get(one.call)) for one in events if isinstance(one, ToolCalled)]


def _failures(events: list[Event], root: str) -> list[FailedCall]:
    """The latest calls of tools that failed, each with its error."""
    calls = {one.call: one for one in events if isinstance(one, ToolCalled)}
    failed = [one for one in events if isinstance(one, ToolReturned) and not one.ok and one.call in calls]
    return [_failure(calls[one.call], one, root) for one in failed[-FAILURES_MOST:]]


def _failure(call: ToolCalled, returned: ToolReturned, root: str) -> FailedCall:
    """A failed call: a command's error is somewhere in its output, any other tool's in the first line."""
    subject, error = call.subject or call.tool, failure_reason(returned.text)
    if call.action is not Action.RUN:
        subject = f"{call.action} {project_path(call.subject, root)}" if call.subject else call.tool
        error = returned.text.strip().partition("\n")[0]
    return FailedCall(
        returned.at,
        returned.record,
        shortened(one_line(subject), PROMPT_CHARS),
        shortened(one_line(error) or "failed", PROMPT_CHARS),
    )


def _prompts(events: list[Event]) -> list[Moment]:
    latest = [of_event(one) for one in events if _is_prompt(one)][-PROMPTS_LISTED:]
    return [Moment(one.at, one.id, one.kind, shortened(one_line(one.text), PROMPT_CHARS)) for one in latest]


def _opened(points: list[Point]) -> list[Moment]:
    latest = sorted(points, key=lambda point: (point.at, point.id))[-OPENED_MOST:]
    return [Moment(one.at, one.id, one.kind, shortened(one.title, LABEL_CHARS)) for one in latest]


_SAME_MS: Final = 120_000
