"""Append: adds records to an agent log, with all that follows from them.

The record, the session's state after it and a checkpoint that falls due share one transaction. Events are
derived from the record and not stored a second time: the log is the truth. A log is read from its end, as far
back as the model's window reaches.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from holdfast import harnesses
from holdfast.core.agent_log.context import window_of, without_past
from holdfast.core.agent_log.record_bodies import Compaction, body
from holdfast.core.agent_log.records import (
    CHECKPOINT,
    COMPACTION,
    OWN,
    SESSION,
    Log,
    Record,
    map_parts,
    new_record,
    path_to,
)
from holdfast.core.events.event import Event, Usage
from holdfast.core.events.world import Project
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Process, Session, Trigger, advance, begin
from holdfast.engine.engine import Engine
from holdfast.engine.recording.record import perform
from holdfast.engine.redaction.redactor import Redactor
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

PAGE: Final = 256
"""How many records are read at first; doubled each time that they are not enough."""


@dataclass(frozen=True, slots=True)
class Owner:
    """The owner of a log: its session's key, project and process."""

    key: str
    project: Project
    process: Process | None = None
    window: int = 0
    """How many tokens the model's window holds; 0 to derive it from the model's name."""


@dataclass(frozen=True, slots=True)
class Appended:
    """The session after an append, and the records of the call as the program gave them."""

    session: Session
    records: tuple[Record, ...]
    """As the program gave them, so also those that the log had already; and a checkpoint if one fell due."""


def append(engine: Engine, owner: Owner, records: Sequence[Record]) -> Appended:
    """Append records to a log; when this returns, they are safe on the disk.

    Records that the log has already change nothing.
    """
    redactor = engine.redactor(owner.project)
    with engine.store.writing():
        session = _placed(engine.store.session(owner.key) or _begun(engine, owner, records), owner)
        policy = engine.policy(owner.project)
        checkpoints: list[Checkpoint] = []
        for record in _cleaned(owner, records, redactor):
            if not engine.store.add_to_log(owner.key, (record,), redactor.mark):
                continue
            for event in _events(owner, record):
                session, effects = advance(session, event, policy)
                for effect in effects:
                    session, checkpoint = perform(engine, session, effect, event.at)
                    checkpoints.append(checkpoint)
        added = tuple(records)
        if any(checkpoint.trigger is Trigger.THRESHOLD for checkpoint in checkpoints):
            # After the whole batch: between two of its records it would not be on the path to the second.
            last = records[-1]
            added = (*records, checkpoint_record(checkpoints[-1], last.id, last.at))
            engine.store.add_to_log(owner.key, added[-1:], redactor.mark)
        engine.store.put_session(session, redactor.mark)
    return Appended(session, added)


def take_over(engine: Engine, owner: Owner, log: Log) -> Session:
    """Begin an empty log with another program's log; all of it or nothing.

    The session's state is derived as if all had happened here; no effects are carried out.
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
    """The session as it is now; a new one if it has no log."""
    return engine.store.session(owner.key) or _begun(engine, owner, ())


def path_of(store: Store, key: str) -> tuple[Record, ...]:
    """The path to the last record of a log, from the start of its window."""
    return _reached(store, key, store.log(key, "", PAGE), "")


def path_at(store: Store, key: str, leaf: str) -> tuple[Record, ...]:
    """The path to any record of a log, from the start of its window; empty if there is no such record."""
    return _reached(store, key, store.log(key, "", PAGE), leaf)


def path_before(store: Store, key: str, record: Record) -> tuple[Record, ...]:
    """The path to a record's parent, as `path_of` would have returned it then."""
    return _reached(store, key, store.log(key, record.id, PAGE), record.parent)


def _reached(store: Store, key: str, records: list[Record], leaf: str) -> tuple[Record, ...]:
    """The path to a leaf, with as many earlier records as its window needs."""
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
    """The session with the process of its present owner."""
    return replace(session, process=owner.process or session.process)


def _cleaned(owner: Owner, records: Iterable[Record], redactor: Redactor) -> Iterator[Record]:
    """The records without secrets, also where one spans two texts."""
    redact = redactor.parts_of_session(owner.key)
    return (replace(record, line=map_parts(record.line, redact)) for record in records)


def _events(owner: Owner, record: Record) -> Iterable[Event]:
    """The events of a record; a checkpoint has none, because it was derived from the others."""
    if record.type in (CHECKPOINT, SESSION) or _retells(record):
        return
    for event in harnesses.log_reader().events_of(owner.key, record):
        yield replace(event, window=owner.window) if isinstance(event, Usage) else event


def _retells(record: Record) -> bool:
    """Whether a record only rewrites an earlier one."""
    fields = body(record) if record.type == COMPACTION else None
    return isinstance(fields, Compaction) and bool(fields.note.retells)


def checkpoint_record(checkpoint: Checkpoint, parent: str, at: int) -> Record:
    """A checkpoint as a record of a log, for Holdfast and for other readers of the log."""
    outline = checkpoint.outline
    details = {
        "summary": checkpoint.digest,
        "tokensAtCheckpoint": outline.tokens,
        "messageCountAtCheckpoint": outline.messages,
        "topics": outline.topics,
        "openQuestions": outline.open_questions,
        "keyDecisions": outline.key_decisions,
    }
    return new_record(CHECKPOINT, checkpoint.id, parent, at, {"checkpoint": details})
