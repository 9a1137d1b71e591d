"""Write better: have a model write once more what a checkpoint on the way says by rule.

The checkpoint itself stays as it was taken; what the model writes is one more beside it. Each is tried once,
the newest first, and only while it is news. It takes as long as a model does: never where somebody waits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

import msgspec

from holdfast.core.checkpoint import Checkpoint, record_id
from holdfast.core.context import NO_OUTPUT, NO_RESULT, Answered, Asked, Call, Result, Text, Turn
from holdfast.core.events import MAIN, AssistantText, Event, Prompt, Replied, ToolCalled, ToolReturned
from holdfast.core.records import OWN
from holdfast.core.session import Session, Trigger
from holdfast.core.summary import Failed, Material, Written
from holdfast.engine.desk import Desk
from holdfast.engine.index import findable
from holdfast.engine.summarize import Means, is_configured, summarize

LOOKED_AT: Final = 20
EVENTS: Final = 600
NEWS_MS: Final = 900_000
"""How old a checkpoint may be to be worth a model's while."""
UNTIL: Final = "written_until"
"""Under this name the store notes of which time the last checkpoint was that a model was asked for."""


def due(desk: Desk) -> Checkpoint | None:
    """The newest checkpoint that a model is to write better, if there is one."""
    until = max(int(desk.store.fact(UNTIL) or 0), desk.clock() - NEWS_MS)
    for checkpoint in desk.store.checkpoints(LOOKED_AT):
        if checkpoint.created_at <= until:
            return None
        # A session whose log is ours has whoever holds it do this.
        if checkpoint.trigger is Trigger.THRESHOLD and checkpoint.harness != OWN:
            session = desk.store.session(checkpoint.session)
            if session is not None and is_configured(desk.config(session.project)):
                return checkpoint
    return None


def write(desk: Desk, checkpoint: Checkpoint, means: Means) -> Written | Failed:
    """Ask a model, and keep what it writes as one more checkpoint; why not, if it does not."""
    with desk.store.writing():
        desk.store.put_fact(UNTIL, str(checkpoint.created_at))
    session = desk.store.session(checkpoint.session)
    if session is None:
        return Failed("the session is gone")
    answer = summarize(desk, session.project, _material(desk, session), means)
    if isinstance(answer, Written):
        _keep(desk, checkpoint, session, answer)
    return answer


def _material(desk: Desk, session: Session) -> Material:
    turns = tuple(turns_told(desk.store.events(session.key, EVENTS)))
    return Material("", turns, session.trail, session.model)


def turns_told(events: Sequence[Event]) -> Iterator[Turn]:
    """What events tell of a conversation, every call with its result; subagents talk among themselves."""
    returned = {event.call: event for event in events if isinstance(event, ToolReturned)}
    for event in events:
        match event:
            case Prompt(agent=agent, text=text) | Replied(agent=agent, text=text) if agent == MAIN:
                yield Asked((Text(text),))
            case AssistantText(agent=agent, text=text) if agent == MAIN:
                yield Answered((Text(text),))
            case ToolCalled(agent=agent) if agent == MAIN:
                yield _called(event, returned.get(event.call))
            case _:
                pass


def _called(called: ToolCalled, returned: ToolReturned | None) -> Answered:
    given = msgspec.json.encode({"on": called.subject, "with": called.detail}).decode()
    text = (returned.text or NO_OUTPUT) if returned else NO_RESULT
    result = Result(called.call, (Text(text),), ok=returned is not None and returned.ok)
    return Answered((Call(called.call, called.tool, given),), (result,))


def _keep(desk: Desk, checkpoint: Checkpoint, session: Session, answer: Written) -> None:
    redactor = desk.redactor(session.project)
    redact = redactor.of_session(session.key)
    outline = replace(
        checkpoint.outline,
        summary=answer.text,
        topics=answer.topics,
        open_questions=answer.open_questions,
        key_decisions=answer.key_decisions,
    ).mapped(redact)
    at = desk.clock()
    own = record_id(at, desk.new_id())
    written = replace(checkpoint, id=own, digest=outline.summary, outline=outline, created_at=at)
    with desk.store.writing():
        # Ours is not one that a model has to write better.
        desk.store.put_fact(UNTIL, str(at))
        desk.store.add_checkpoint(written, redactor.mark)
        desk.store.add_document(findable(written), redactor.mark)
