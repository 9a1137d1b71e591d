"""Imported work: the work state of an imported session, derived from its transcript when it is needed.

An import stores the conversation. The rest is derived here: of the newest session of each project at once,
of the others when someone asks for them or the daemon is idle. None of the events is stored, so a session
that is resumed is still read from its start. Files are read a piece at a time, and everything is stored in
one transaction in the end, unless the session went live meanwhile.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Final

from holdfast import harnesses
from holdfast.core.events.event import Event
from holdfast.core.evidence.file_edits import EditUpdate, edit_updates
from holdfast.core.session.session import (
    IMPORTED,
    Phase,
    Policy,
    Session,
    TakeCheckpoint,
    Trigger,
    advance,
    begin,
    is_imported,
    revise,
)
from holdfast.engine.engine import Engine
from holdfast.engine.recording.record import Arrival, perform, redacted_arrival
from holdfast.engine.recording.transcripts import ReadableTranscript, transcript_access
from holdfast.errors import HarnessUnknown
from holdfast.harnesses.base import Extent, KeptInRows, Reader, file_extent
from holdfast.lazy_dataclass import dataclass

STEP_BYTES: Final = 1 << 17
"""Bytes of one step: a hook event that arrives meanwhile waits for some tens of milliseconds."""
GONE: Final = "gone"
"""The extent of a transcript that could not be read when its turn came."""


@dataclass(frozen=True, slots=True)
class ImportedSession:
    """A session with its work state, as far as that can be known, and a sentence if something is amiss."""

    session: Session
    note: str = ""


def with_work(engine: Engine, session: Session) -> ImportedSession:
    """The session; an imported one with its work state, which is derived now if it is not stored yet."""
    if not is_imported(session):
        return ImportedSession(session)
    known, now = engine.store.imported_work(session.key), _extent_now(session)
    if now is None:
        return ImportedSession(session, _note_when_gone(session))
    if known == _written(now):
        return ImportedSession(session)
    if known and known != GONE and now.size < _size_of(known):
        note = "Its transcript was rewritten since it was imported; this is what was kept then."
        return ImportedSession(session, note)
    if engine.is_stopped(session.project):
        return ImportedSession(session)
    deque(derivation(engine, session), maxlen=0)
    return ImportedSession(engine.store.session(session.key) or session)


def next_derivation(engine: Engine) -> Generator[None] | None:
    """The steps that derive the work of the latest imported session that waits for it; None if none waits."""
    for key in engine.store.waiting_imports(1):
        session = engine.store.session(key)
        if session is None or not is_imported(session):
            return _without_session(engine, key)
        return None if engine.is_stopped(session.project) else derivation(engine, session)
    return None


def _without_session(engine: Engine, key: str) -> Generator[None]:
    """Stop waiting for a session that is gone, or no import any more."""
    with engine.store.writing():
        engine.store.drop_imported_work(key)
    yield


def derivation(engine: Engine, session: Session) -> Generator[None]:
    """Derive the work of an imported session step by step, and store it with the last step."""
    extent, reader = _extent_now(session), _reader(session)
    if extent is None or reader is None:
        with engine.store.writing():
            if engine.store.imported_work(session.key) is not None:
                engine.store.put_imported_work(session.key, session.last_event_at, GONE)
        return
    fold = _Fold(engine, session)
    path = Path(session.transcript)
    for source in (path, *reader.subagent_transcripts(path)):
        cursor, done = "", False
        while not done:
            batch = reader.read_transcript(source, session.key, cursor, STEP_BYTES)
            done = batch.done or batch.cursor == cursor
            cursor = batch.cursor
            fold.add(batch.events)
            yield
    _store(engine, session, fold, _written(extent))


class _Fold:
    """A session as its events are read again, and what they say about file edits."""

    def __init__(self, engine: Engine, session: Session) -> None:
        self._policy: Policy = engine.policy(session.project)
        self._redactor = engine.redactor(session.project)
        self._since = engine.store.forgotten_at(session.key)
        self._revisions = dict[str, int]()
        self.session = begin(session.key, session.harness, session.project, session.started_at)
        self.updates = list[EditUpdate]()

    def add(self, events: Iterable[Event]) -> None:
        session = self.session
        new = tuple(event for event in events if not self._since or event.at > self._since)
        arrival = Arrival(session.key, session.harness, session.project, events=new)
        for event in redacted_arrival(arrival, self._redactor).events:
            self._add(event)

    def _add(self, event: Event) -> None:
        """Fold one event in; a record that comes again counts only if it is a later revision."""
        known, before = self._revisions.get(event.record), self.session
        if known is not None and known >= event.revision:
            return
        self._revisions[event.record] = event.revision
        if known is None:
            self.session, _ = advance(before, event, self._policy)
        else:
            self.session = revise(before, event)
        project = before.project
        self.updates += edit_updates(
            before.trail, self.session.trail, event, project.project_id, project.root
        )


def _store(engine: Engine, session: Session, fold: _Fold, extent: str) -> None:
    """Store the work, a checkpoint and the file edits, unless the session is no import any more."""
    with engine.store.writing():
        stored = engine.store.session(session.key)
        if stored is None or not is_imported(stored):
            return
        mark = engine.redactor(session.project).mark
        derived = _ended(stored, fold.session)
        engine.store.trim_checkpoints(session.key, 0)
        if not derived.trail.is_empty():
            derived, _ = perform(engine, derived, TakeCheckpoint(Trigger.SESSION_END), derived.last_event_at)
        engine.store.put_session(derived, mark)
        engine.store.update_file_edits(session.key, fold.updates, mark)
        engine.store.put_imported_work(session.key, derived.last_event_at, extent)


def _ended(stored: Session, folded: Session) -> Session:
    """The session as it was read, over at the time of its last record, and still an import."""
    at = max(stored.last_event_at, folded.last_event_at)
    return replace(
        folded,
        phase=Phase.ENDED,
        end_reason=IMPORTED,
        started_at=min(stored.started_at, folded.started_at),
        last_event_at=at,
        changed_at=at,
        ended_at=at,
        transcript=stored.transcript,
        model=folded.model or stored.model,
        title=folded.title or stored.title,
        due=None,
        unsaved=False,
        turn_open=False,
        waiting=(),
        unanswered=None,
    )


def _note_when_gone(session: Session) -> str:
    if session.trail.is_empty():
        return "Its transcript is gone, so only the conversation is known; `holdfast recall` searches it."
    return "Its transcript is gone since it was imported; this is what was kept then."


def _reader(session: Session) -> Reader | None:
    try:
        return harnesses.reader(session.harness)
    except HarnessUnknown:
        return None


def _extent_now(session: Session) -> Extent | None:
    """How large the transcript is, and when it changed; None if it cannot be read."""
    path, reader = Path(session.transcript), _reader(session)
    if not session.transcript or reader is None:
        return None
    if not isinstance(transcript_access(session.transcript, (path.parent,)), ReadableTranscript):
        return None
    return reader.extent(path) if isinstance(reader, KeptInRows) else file_extent(path)


def _written(extent: Extent) -> str:
    return f"{extent.size}@{extent.changed_at}"


def _size_of(written: str) -> int:
    size = written.partition("@")[0]
    return int(size) if size.isdecimal() else 0
