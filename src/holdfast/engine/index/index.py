"""Index: makes the texts and checkpoints of sessions searchable.

A checkpoint is searchable from the moment it is taken. The conversation of a live session is indexed in the
background, from its stored events or its agent log, some time later, at the latest when a recall asks.
`engine.recording.importing` indexes old sessions, `core.memory.passages` defines a passage, and
`engine.memory.recall` searches.
"""

from __future__ import annotations

from hashlib import blake2s
from typing import Final

import msgspec

from holdfast import harnesses
from holdfast.core.agent_log.records import OWN
from holdfast.core.events.event import Event, map_text
from holdfast.core.events.world import Project
from holdfast.core.memory.passages import Passage, PassageKind, passages, relevant_events
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Session, Trigger
from holdfast.engine.engine import Engine
from holdfast.engine.index.vectors import catch_up
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Document

SETTLED_MS: Final = 30_000
"""How long a session's texts wait for more: a passage that grows is rewritten each time."""
LOOKED_AT: Final = 200
EVENTS_AT_ONCE: Final = 300
VECTORS_AT_ONCE: Final = 64
"""The most events of one step: a hook event that arrives meanwhile waits for some tens of milliseconds."""
BACKLOG: Final = 256


def index(engine: Engine) -> bool:
    """Index the new texts of one session; returns whether another step may be due at once."""
    waiting = engine.store.unindexed(engine.clock() - SETTLED_MS, LOOKED_AT)
    key = next((key for key in waiting if not _is_stopped(engine, key)), None)
    if key is not None:
        _index(engine, key)
    return key is not None


def _is_stopped(engine: Engine, key: str) -> bool:
    session = engine.store.session(key)
    return session is not None and engine.is_stopped(session.project)


def embed_backlog(engine: Engine) -> bool:
    """Embed some documents, if more wait than a recall would embed by itself.

    Returns whether another step may be due at once. Where few wait, the embedder is not loaded.
    """
    if len(engine.store.without_vector(BACKLOG + 1)) <= BACKLOG:
        return False
    embedder = engine.embedder()
    return embedder is not None and catch_up(engine, embedder, VECTORS_AT_ONCE) > 0


def findable(checkpoint: Checkpoint) -> Document:
    """A checkpoint as a document. Digests in someone's own words are kept longer than rule-based ones."""
    words = checkpoint.trigger in (Trigger.AGENT, Trigger.EXPLICIT) and bool(checkpoint.words)
    return Document(
        id=checkpoint.id,
        kind=PassageKind.DIGEST.value if words else "checkpoint",
        project_id=checkpoint.project_id,
        text=checkpoint.digest,
        session=checkpoint.session if words else "",
        at=checkpoint.created_at,
        source=_source(checkpoint.session),
    )


def document_of(passage: Passage, session: str, project: Project, place: int) -> Document:
    """A passage as a document. The same words in one project are one document, whichever session has them.

    This matters because a fork begins with a copy of its parent's conversation.
    """
    print_of = blake2s(f"{project.project_id}\0{passage.text}".encode("utf-8", "replace"), digest_size=16)
    return Document(
        id=print_of.hexdigest(),
        kind=passage.kind.value,
        project_id=project.project_id,
        text=passage.text,
        session=session,
        at=passage.at,
        place=place,
        source=_source(session),
    )


def _source(session: str) -> str:
    return f"session {session[:8]}"


class _Reached(msgspec.Struct, frozen=True, array_like=True):
    """Where to go on indexing a session: the record to begin with, and the place of its passage."""

    record: str = ""
    place: int = 0


def _index(engine: Engine, key: str) -> None:
    """Index a session from its last passage on, which may have grown and is rewritten."""
    store, source = engine.store, f"index/{key}"
    with store.writing():
        session = store.session(key)
        reached = _reached(store.cursor(source))
        since = _since(engine, session, reached.record) if session else _Since([], "", full=False)
        if session is not None:
            passages_read = _passages(engine, session, since.events)
            store.drop_records(key, reached.place)
            mark = engine.redactor(session.project).mark
            for place, passage in enumerate(passages_read, reached.place):
                store.add_document(document_of(passage, key, session.project, place), mark)
            reached = _after(reached, since, passages_read)
            store.put_cursor(source, msgspec.json.encode(reached).decode())
        if not since.full:
            store.mark_indexed(key)


@dataclass(frozen=True, slots=True)
class _Since:
    """The events of a session from a record on, the last record, and whether there may be more."""

    events: list[Event]
    last: str
    full: bool


def _since(engine: Engine, session: Session, record: str) -> _Since:
    """Read a session's events from the store, or derive them from its agent log if it has one."""
    if session.harness != OWN:
        events = engine.store.events_from(session.key, record, EVENTS_AT_ONCE)
        return _Since(events, events[-1].record if events else "", len(events) == EVENTS_AT_ONCE)
    # One record may give several events, each named after the record and its place in it.
    records = engine.store.log_from(session.key, record.partition("/")[0], EVENTS_AT_ONCE)
    reader = harnesses.log_reader()
    log_events = [event for each in records for event in reader.events_of(session.key, each)]
    return _Since(log_events, records[-1].id if records else "", len(records) == EVENTS_AT_ONCE)


def _passages(engine: Engine, session: Session, events: list[Event]) -> list[Passage]:
    """The passages, redacted by the present rules. Digests are left out: their checkpoints are searchable."""
    redact = engine.redactor(session.project).of_session(session.key)
    redacted_events = [map_text(event, redact) for event in relevant_events(events)]
    return [
        each for each in passages(redacted_events, session.project.root) if each.kind is PassageKind.RECORD
    ]


def _after(reached: _Reached, since: _Since, passages_read: list[Passage]) -> _Reached:
    """Where to begin the next time: at the last passage that opens a turn."""
    begins = [place for place, passage in enumerate(passages_read) if passage.begins]
    if begins and (begins[-1] or not since.full):
        return _Reached(passages_read[begins[-1]].begins, reached.place + begins[-1])
    # No passage in so many events: move on, or some of them would be read again for ever.
    return _Reached(since.last, reached.place + len(passages_read)) if since.full else reached


def _reached(cursor: str) -> _Reached:
    try:
        return msgspec.json.decode(cursor, type=_Reached)
    except ValueError:
        return _Reached()
