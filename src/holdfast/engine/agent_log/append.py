"""Append: the way in which a record gets into a log of ours, with all that follows from it.

The record, the session's state after it and a checkpoint that falls due share one transaction. What the
record tells is derived from it and not kept a second time: the log is the truth. A log is read from its end,
as far back as a model has to be told.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from holdfast import harnesses
from holdfast.core.agent_log.context import window_of, without_past
from holdfast.core.agent_log.record_bodies import Compaction, body
from holdfast.core.agent_log.record_texts import map_parts
from holdfast.core.agent_log.records import CHECKPOINT, COMPACTION, OWN, SESSION, Log, Record, made, path_to
from holdfast.core.events.event import Event, Usage
from holdfast.core.events.world import Project
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Policy, Process, Session, Trigger, advance, begin
from holdfast.engine.engine import Engine
from holdfast.engine.recording.record import perform
from holdfast.engine.redaction.redactor import Redactor
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

PAGE: Final = 256
"""How many records are read at first; twice as many each time that they are not enough."""


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose log it is: its session's key, the project and the process that it works in."""

    key: str
    project: Project
    process: Process | None = None
    window: int = 0
    """How many tokens the model's window holds; 0 where only the model's name can tell."""


@dataclass(frozen=True, slots=True)
class Appended:
    """What an append came to: the session after it, and what stands at the end of its log now."""

    session: Session
    records: tuple[Record, ...]
    """Those that were given, as they were given, and a checkpoint where one fell due."""


def append(engine: Engine, owner: Owner, records: Sequence[Record]) -> Appended:
    """Keep records at the end of a log; when it returns, no killed process can take them away.

    Those that the log holds already change nothing.
    """
    redactor = engine.redactor(owner.project)
    with engine.store.writing():
        session = _placed(engine.store.session(owner.key) or _begun(engine, owner, records), owner)
        policy = engine.policy(owner.project)
        rolled = False
        for record in _cleaned(owner, records, redactor):
            if not engine.store.add_to_log(owner.key, (record,), redactor.mark):
                continue
            for event in _events(owner, record):
                session, triggers = _advanced(engine, session, event, policy)
                rolled = rolled or Trigger.THRESHOLD in triggers
        added = tuple(records)
        if rolled:
            # Behind all that came at once: between two of them it would be beside the way to the second.
            added = (*records, _rolling(engine, owner.key, records[-1]))
            engine.store.add_to_log(owner.key, added[-1:], redactor.mark)
        engine.store.put_session(session, redactor.mark)
    return Appended(session, added)


def take_over(engine: Engine, owner: Owner, log: Log) -> Session:
    """Make another program's log the beginning of a log of ours that has none yet; all of it or nothing.

    The session's state follows from it as if all had happened here; nothing is done about it any more.
    """
    redactor = engine.redactor(owner.project)
    policy = engine.policy(owner.project)
    with engine.store.writing_durably():
        session = _placed(_begun(engine, owner, log.records), owner)
        records = tuple(_cleaned(owner, log.records, redactor))
        engine.store.add_to_log(owner.key, records, redactor.mark)
        for record in path_to(records):
            for event in _events(owner, record):
                session, _ = advance(session, event, policy)
        engine.store.put_session(session, redactor.mark)
    return session


def state_of(engine: Engine, owner: Owner) -> Session:
    """The session as it is now; one that nothing is known of yet if it has no log."""
    return engine.store.session(owner.key) or _begun(engine, owner, ())


def path_of(store: Store, key: str) -> tuple[Record, ...]:
    """The way to the last record of a log, from the window that it stands in on."""
    return _reached(store, key, store.log(key, "", PAGE), "")


def path_at(store: Store, key: str, leaf: str) -> tuple[Record, ...]:
    """The way to any record of a log, from its window on; empty if there is no such record."""
    return _reached(store, key, store.log(key, "", PAGE), leaf)


def path_before(store: Store, key: str, record: Record) -> tuple[Record, ...]:
    """The way to what a record of a log follows, as `path_of` would have given it then."""
    return _reached(store, key, store.log(key, record.id, PAGE), record.parent)


def _reached(store: Store, key: str, records: list[Record], leaf: str) -> tuple[Record, ...]:
    """The way to a leaf, with as many earlier records as its window needs."""
    while records:
        path = path_to(records, leaf)
        if path and window_of(path).whole:
            return without_past(path)
        earlier = store.log(key, records[0].id, len(records))
        if not earlier:
            return path
        records = earlier + records
    return ()


def _begun(engine: Engine, owner: Owner, records: Iterable[Record]) -> Session:
    at = min((record.at for record in records if record.at), default=engine.clock())
    return begin(owner.key, OWN, owner.project, at)


def _placed(session: Session, owner: Owner) -> Session:
    """The session in the hands of whoever writes its log now."""
    return replace(session, process=owner.process or session.process)


def _cleaned(owner: Owner, records: Iterable[Record], redactor: Redactor) -> Iterator[Record]:
    """The records without a secret in any of their texts, or over the border of two."""
    redact = redactor.parts_of_session(owner.key)
    return (replace(record, line=map_parts(record.line, redact)) for record in records)


def _events(owner: Owner, record: Record) -> Iterable[Event]:
    """What a record tells; a checkpoint among them was derived from the others."""
    if record.type in (CHECKPOINT, SESSION) or _retells(record):
        return
    for event in harnesses.log_reader().events_of(owner.key, record):
        yield replace(event, window=owner.window) if isinstance(event, Usage) else event


def _retells(record: Record) -> bool:
    """Whether a record only says better what an earlier one said."""
    said = body(record) if record.type == COMPACTION else None
    return isinstance(said, Compaction) and bool(said.owed.retells)


def _advanced(engine: Engine, session: Session, event: Event, policy: Policy) -> tuple[Session, set[Trigger]]:
    session, effects = advance(session, event, policy)
    for effect in effects:
        session = perform(engine, session, effect, event.at)
    return session, {effect.trigger for effect in effects}


def _rolling(engine: Engine, key: str, behind: Record) -> Record:
    """The checkpoint that was just taken, as a record of the log."""
    (taken,) = engine.store.checkpoints_of_session(key, 1)
    return checkpoint_record(taken, behind.id, behind.at)


def checkpoint_record(taken: Checkpoint, parent: str, at: int) -> Record:
    """A checkpoint as it stands in a log, for us and for whoever reads the log besides."""
    outline = taken.outline
    told = {
        "summary": taken.digest,
        "tokensAtCheckpoint": outline.tokens,
        "messageCountAtCheckpoint": outline.messages,
        "topics": outline.topics,
        "openQuestions": outline.open_questions,
        "keyDecisions": outline.key_decisions,
    }
    return made(CHECKPOINT, taken.id, parent, at, {"checkpoint": told})
