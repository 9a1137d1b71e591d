"""Have a model rewrite rule-based interim checkpoints.

The checkpoint itself stays as it was taken; the model's text becomes another one beside it. Each is tried
once, the newest first, after the turn in which it was taken: during a turn, calls still lack their results. A
model is slow, so this never runs where the user waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from holdfast.core.agent_log.context import NO_OUTPUT, AgentTurn, Result, Text, ToolCall, Turn, UserTurn
from holdfast.core.agent_log.records import OWN
from holdfast.core.agent_log.summary import Failed, Material, Written
from holdfast.core.events.event import MAIN, AssistantText, Event, Prompt, Replied, ToolCalled, ToolReturned
from holdfast.core.session.checkpoint import Checkpoint, record_id
from holdfast.core.session.session import Phase, Session, Trigger
from holdfast.engine.engine import Engine
from holdfast.engine.index import checkpoint_document
from holdfast.engine.models.summarize import Means, is_configured, summarize
from holdfast.lazy_dataclass import dataclass

LOOKED_AT: Final = 20
EVENTS: Final = 600
QUIET_MS: Final = 120_000
NOT_RECORDED: Final = "No result of this call is recorded."
NEWS_MS: Final = 900_000
"""Checkpoints of sessions that were idle for longer are not rewritten."""
UNTIL: Final = "written_until"
"""The fact in which the store notes which checkpoints a model was asked for."""


def due(engine: Engine) -> Checkpoint | None:
    """The newest checkpoint that a model is to rewrite now, if there is one."""
    progress = _progress(engine)
    pending = list(_pending(engine, progress))
    ready = next((one for one in pending if _is_between_turns(engine, one.session)), None)
    waiting = tuple(one.id for one in pending)
    if ready is None and waiting != progress.waiting:
        with engine.store.writing():
            _put_progress(engine, replace(progress, waiting=waiting))
    return ready


def write(engine: Engine, checkpoint: Checkpoint, means: Means) -> Written | Failed:
    """Ask a model, and store its text as another checkpoint; returns the reason if there is none."""
    with engine.store.writing():
        _note_asked(engine, checkpoint, checkpoint.created_at)
    session = engine.store.session(checkpoint.session)
    if session is None:
        return Failed("the session is gone")
    answer = summarize(engine, session.project, _material(engine, session), means)
    if isinstance(answer, Written):
        _keep(engine, checkpoint, session, answer)
    return answer


@dataclass(frozen=True, slots=True)
class _Progress:
    """Up to which time checkpoints were handled, and which earlier ones wait for their turn to end."""

    until: int = 0
    waiting: tuple[str, ...] = ()


def _progress(engine: Engine) -> _Progress:
    noted = engine.store.fact(UNTIL)
    try:
        return msgspec.json.decode(noted, type=_Progress) if noted else _Progress()
    except msgspec.ValidationError:
        return _Progress(int(noted))  # as earlier versions wrote it


def _put_progress(engine: Engine, progress: _Progress) -> None:
    engine.store.put_fact(UNTIL, msgspec.json.encode(progress).decode())


def _pending(engine: Engine, progress: _Progress) -> Iterator[Checkpoint]:
    """The checkpoints that no model was asked about yet, the newest first."""
    news_since = engine.clock() - NEWS_MS
    for checkpoint in engine.store.checkpoints(LOOKED_AT):
        # For an agent log, the program that holds the session does this.
        if checkpoint.trigger is not Trigger.THRESHOLD or checkpoint.harness == OWN:
            continue
        waits = checkpoint.id in progress.waiting
        if not waits and checkpoint.created_at <= max(progress.until, news_since):
            continue
        session = engine.store.session(checkpoint.session)
        if session is None or engine.is_stopped(session.project):
            continue
        if not is_configured(engine.config(session.project)):
            continue
        if max(checkpoint.created_at, session.last_event_at) > news_since:
            yield checkpoint


def _is_between_turns(engine: Engine, key: str) -> bool:
    """Whether the agent's turn is over; if no end was recorded, whether it has been idle for long."""
    session = engine.store.session(key)
    if session is None or session.phase is not Phase.LIVE or not session.turn_open:
        return True
    return not session.trail.open_calls and engine.clock() - session.last_event_at >= QUIET_MS


def _note_asked(engine: Engine, checkpoint: Checkpoint, until: int) -> None:
    """Never ask about this checkpoint or older ones of its session again; others still wait."""
    progress = _progress(engine)
    waiting = tuple(
        one.id
        for one in _pending(engine, progress)
        if one.created_at <= until
        and (one.session != checkpoint.session or one.created_at > checkpoint.created_at)
    )
    _put_progress(engine, _Progress(max(progress.until, until), waiting))


def _material(engine: Engine, session: Session) -> Material:
    turns = tuple(conversation_turns(engine.store.events(session.key, EVENTS)))
    return Material("", turns, session.trail, session.model)


def conversation_turns(events: Sequence[Event]) -> Iterator[Turn]:
    """The conversation in these events, each call with its result; subagents are left out."""
    returned = {event.call: event for event in events if isinstance(event, ToolReturned)}
    for event in events:
        match event:
            case Prompt(agent=agent, text=text) | Replied(agent=agent, text=text) if agent == MAIN:
                yield UserTurn((Text(text),))
            case AssistantText(agent=agent, text=text) if agent == MAIN:
                yield AgentTurn((Text(text),))
            case ToolCalled(agent=agent) if agent == MAIN:
                yield _called(event, returned.get(event.call))
            case _:
                pass


def _called(called: ToolCalled, returned: ToolReturned | None) -> AgentTurn:
    arguments = msgspec.json.encode({"on": called.subject, "with": called.detail}).decode()
    text = (returned.text or NO_OUTPUT) if returned else NOT_RECORDED
    result = Result(called.call, (Text(text),), ok=returned is not None and returned.ok)
    return AgentTurn((ToolCall(called.call, called.tool, arguments),), (result,))


def _keep(engine: Engine, checkpoint: Checkpoint, session: Session, answer: Written) -> None:
    redactor = engine.redactor(session.project)
    redact = redactor.of_session(session.key)
    outline = replace(
        checkpoint.outline,
        summary=answer.text,
        topics=answer.topics,
        open_questions=answer.open_questions,
        key_decisions=answer.key_decisions,
    ).mapped(redact)
    at = engine.clock()
    own = record_id(at, engine.new_id())
    written = replace(checkpoint, id=own, digest=outline.summary, outline=outline, created_at=at)
    with engine.store.writing():
        # The model's own checkpoint needs no rewriting.
        _note_asked(engine, checkpoint, at)
        engine.store.add_checkpoint(written, redactor.mark)
        engine.store.add_document(checkpoint_document(written), redactor.mark)
