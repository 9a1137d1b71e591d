"""Scoring: how well sessions continued earlier work, computed on request and stored.

`core.evaluation.scores` defines the scores. They need every event, so no hook waits for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from holdfast.core.brief.brief_input import Reason
from holdfast.core.brief.compose import Receipt
from holdfast.core.evaluation.facts import Fact
from holdfast.core.evaluation.scores import AgentRecall, Beginning, count_facts, named_in, recalls
from holdfast.core.evaluation.survival import compactions, is_by_agent, is_conversation
from holdfast.core.events.event import Event
from holdfast.core.session.score import SessionScore, Start
from holdfast.core.session.session import Session, is_imported
from holdfast.engine.engine import Engine
from holdfast.stores.base import EVERYWHERE

EVENTS_MOST: Final = 20_000
EARLIER_EVENTS: Final = 400
"""How much of an earlier session a new one could have known."""
EARLIER_SESSIONS: Final = 20
AGENT_EVENTS_LEAST: Final = 5
"""Sessions with fewer events are not scored."""
RECEIPTS_MOST: Final = 200
_SCORED_REASONS: Final = frozenset({Reason.COMPACT, Reason.LATE, Reason.STARTUP, Reason.CLEAR})
"""Reasons of briefs that an agent continues from."""


def scores_of(engine: Engine, sessions: Iterable[Session]) -> Iterator[SessionScore]:
    """The scores of these sessions, as far as they can be scored; computed if they are not stored."""
    stored_scores = {score.session: score for score in engine.store.scores(EVENTS_MOST)}
    for session in sessions:
        score = stored_scores.get(session.key)
        if score is None or score.scored_at <= session.last_event_at:
            score = _worked_out(engine, session)
        if score is not None:
            yield score


def _worked_out(engine: Engine, session: Session) -> SessionScore | None:
    if is_imported(session):
        return None
    events = engine.store.events_from(session.key, "", EVENTS_MOST)
    if sum(is_by_agent(event) for event in events if is_conversation(event)) < AGENT_EVENTS_LEAST:
        return None
    score = _score(engine, session, events)
    with engine.store.writing():
        if engine.store.session(session.key) is not None:
            engine.store.put_score(score)
    return score


def _score(engine: Engine, session: Session, events: Sequence[Event]) -> SessionScore:
    beginnings = list(_beginnings(engine, session, events))
    counts, (recalled, used) = (
        count_facts(events, beginnings),
        recalls(events, _recalled_texts(engine, session)),
    )
    return SessionScore(
        session=session.key,
        harness=session.harness,
        project_id=session.project.project_id,
        scored_at=engine.clock(),
        start=Start.RECOVERED if any(one.items for one in beginnings) else Start.COLD,
        agent_events=counts.agent_events,
        brief_items=counts.brief_items,
        brief_items_used=counts.brief_items_used,
        needed=counts.needed,
        rediscovered=counts.rediscovered,
        novel_context_count=counts.novel,
        memories_recalled=recalled,
        memories_used=used,
    )


def _recalled_texts(engine: Engine, session: Session) -> list[AgentRecall]:
    """The texts that the agent recalled, as far as they are still stored."""
    recalled: list[AgentRecall] = []
    for id, at in engine.store.recalls(session.key):
        documents = engine.store.documents_beginning(id, EVERYWHERE, 1)
        recalled += [AgentRecall(at, document.text) for document in documents]
    return recalled


def _beginnings(engine: Engine, session: Session, events: Sequence[Event]) -> Iterator[Beginning]:
    """Where the session began, and where it continued after each compaction."""
    receipts = [
        one for one in engine.store.receipts(session.key, RECEIPTS_MOST) if one.reason in _SCORED_REASONS
    ]
    first = [one for one in receipts if one.predecessor != session.key]
    before = first[-1].predecessor if first else _earlier(engine, session)
    yield Beginning(0, _known(engine, before), _items(first[-1:]))
    for window, (at, resumed, _) in enumerate(compactions(events), 1):
        own = [one for one in receipts if one.predecessor == session.key and one.window == window]
        yield Beginning(resumed, named_in(events[:at]), _items(own[:1]))


def _earlier(engine: Engine, session: Session) -> str:
    """The session of the same project that one without a brief could have continued; or empty."""
    others = engine.store.sessions_of_project(session.project.project_id, 0, EARLIER_SESSIONS)
    before = (other.key for other in others if other.last_event_at < session.started_at)
    return next(before, "")


def _known(engine: Engine, session: str) -> frozenset[Fact]:
    return named_in(engine.store.events(session, EARLIER_EVENTS)) if session else frozenset()


def _items(receipts: Sequence[Receipt]) -> tuple[str, ...]:
    return tuple(item.text for receipt in receipts for item in receipt.items if item.rendered)
