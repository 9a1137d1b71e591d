"""The reference store: plain dictionaries that say what every store must do.

For tests and for work that leaves nothing behind. It keeps nothing when the process ends, and it is not fast.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, fields
from operator import mul
from typing import TypeVar

from holdfast.core.brief import Receipt
from holdfast.core.checkpoint import Checkpoint
from holdfast.core.events import Event
from holdfast.core.session import Phase, Process, Session
from holdfast.errors import StoreError
from holdfast.stores.base import Document, Hit, Lineage, Novelty
from holdfast.stores.codec import clean, unit

T = TypeVar("T")


@dataclass(slots=True)
class _Tables:
    """Everything the store holds. A dictionary keeps its order, so equal times stay as they came."""

    sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    events: dict[tuple[str, str], Event] = field(default_factory=dict[tuple[str, str], Event])
    cursors: dict[str, str] = field(default_factory=dict[str, str])
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict[str, Checkpoint])
    lineage: dict[str, Lineage] = field(default_factory=dict[str, Lineage])
    receipts: dict[str, Receipt] = field(default_factory=dict[str, Receipt])
    documents: dict[str, Document] = field(default_factory=dict[str, Document])
    skipped: dict[str, int] = field(default_factory=dict[str, int])

    def copied(self) -> _Tables:
        return _Tables(*(dict(getattr(self, table.name)) for table in fields(self)))


class MemoryStore:
    """A store that lives as long as this object."""

    def __init__(self) -> None:
        self._tables = _Tables()
        self._is_writing = False

    def writing(self) -> AbstractContextManager[None]:
        return self._transaction()

    def writing_durably(self) -> AbstractContextManager[None]:
        return self._transaction()

    # Sessions

    def session(self, key: str) -> Session | None:
        return self._tables.sessions.get(clean(key))

    def put_session(self, session: Session) -> None:
        session = clean(session)
        self._writable().sessions[session.key] = session

    def sessions(self, limit: int) -> list[Session]:
        return self._latest_sessions()[:limit]

    def sessions_of_project(self, project_id: str, since: int, limit: int) -> list[Session]:
        return [
            session
            for session in self._latest_sessions()
            if session.project.project_id == clean(project_id) and session.last_event_at >= since
        ][:limit]

    def sessions_of_process(self, process: Process, limit: int) -> list[Session]:
        return [session for session in self._latest_sessions() if session.process == process][:limit]

    def live_sessions(self) -> list[Session]:
        return [session for session in self._latest_sessions() if session.phase is Phase.LIVE]

    # Events and cursors

    def add_event(self, event: Event) -> Novelty:
        event = clean(event)
        events = self._writable().events
        known = events.get((event.session, event.record))
        if known is not None and known.revision >= event.revision:
            return Novelty.KNOWN
        events[event.session, event.record] = event
        return Novelty.NEW if known is None else Novelty.REVISED

    def events(self, session: str, limit: int) -> list[Event]:
        own = [event for event in self._tables.events.values() if event.session == clean(session)]
        own.sort(key=lambda event: event.at)
        return own[max(0, len(own) - limit) :]

    def sessions_sharing_records(self, session: str) -> list[str]:
        session = clean(session)
        own = {record for key, record in self._tables.events if key == session}
        shared = Counter(key for key, record in self._tables.events if key != session and record in own)
        return sorted(shared, key=lambda key: (-shared[key], key))

    def cursor(self, source: str) -> str:
        return self._tables.cursors.get(clean(source), "")

    def put_cursor(self, source: str, cursor: str) -> None:
        self._writable().cursors[clean(source)] = clean(cursor)

    # Checkpoints

    def add_checkpoint(self, checkpoint: Checkpoint) -> None:
        _add_once(self._writable().checkpoints, checkpoint.id, checkpoint)

    def checkpoints_of_session(self, session: str, limit: int) -> list[Checkpoint]:
        return [each for each in self._newest_checkpoints() if each.session == clean(session)][:limit]

    def checkpoints_of_project(self, project_id: str, limit: int) -> list[Checkpoint]:
        return [each for each in self._newest_checkpoints() if each.project_id == clean(project_id)][:limit]

    def checkpoints(self, limit: int) -> list[Checkpoint]:
        return self._newest_checkpoints()[:limit]

    def trim_checkpoints(self, session: str, keep: int) -> int:
        own = self.checkpoints_of_session(session, len(self._tables.checkpoints))
        return self._drop_checkpoints(own[keep:])

    def prune_checkpoints(self, before: int, newest_before: int) -> int:
        seen: set[str] = set()
        old: list[Checkpoint] = []
        for checkpoint in self._newest_checkpoints():
            if checkpoint.created_at < (before if checkpoint.session in seen else newest_before):
                old.append(checkpoint)
            seen.add(checkpoint.session)
        return self._drop_checkpoints(old)

    def prune_sessions(self, before: int) -> int:
        tables = self._writable()
        over = [
            session
            for session in tables.sessions.values()
            if session.phase is not Phase.LIVE and session.last_event_at < before
        ]
        keys = {session.key for session in over}
        for session in over:
            del tables.sessions[session.key]
            tables.lineage.pop(session.key, None)
            tables.cursors.pop(session.transcript, None)
        tables.events = {name: event for name, event in tables.events.items() if event.session not in keys}
        tables.receipts = {id: each for id, each in tables.receipts.items() if each.session not in keys}
        tables.documents = {id: each for id, each in tables.documents.items() if each.session not in keys}
        return len(over)

    # Lineage and receipts

    def add_lineage(self, lineage: Lineage) -> None:
        lineage = clean(lineage)
        self._writable().lineage.setdefault(lineage.child, lineage)

    def lineage(self, child: str) -> Lineage | None:
        return self._tables.lineage.get(clean(child))

    def add_receipt(self, receipt: Receipt) -> None:
        _add_once(self._writable().receipts, receipt.id, receipt)

    def receipts(self, session: str, limit: int) -> list[Receipt]:
        receipts = _latest_first(self._tables.receipts.values(), lambda receipt: receipt.created_at)
        return [receipt for receipt in receipts if not session or receipt.session == clean(session)][:limit]

    # Finding again

    def add_document(self, document: Document) -> None:
        document = clean(document)
        self._writable().documents[document.id] = document

    def drop_document(self, id: str) -> None:
        self._writable().documents.pop(clean(id), None)

    def search(self, words: Sequence[str], project_id: str, limit: int) -> list[Hit]:
        phrases = [phrase for word in words if (phrase := _phrase(word)).strip()]
        hits = [
            Hit(document.id, document.kind, float(score), document.text)
            for document in self._documents_of(project_id)
            if (score := sum(phrase in _phrase(document.text) for phrase in phrases))
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def nearest(self, vector: Sequence[float], project_id: str, limit: int) -> list[Hit]:
        wanted = unit(vector)
        hits = [
            Hit(document.id, document.kind, sum(map(mul, wanted, own)), document.text)
            for document in self._documents_of(project_id)
            if len(own := unit(document.vector)) == len(wanted) > 0
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    # Health

    def count_skipped(self, reason: str, times: int) -> None:
        skipped = self._writable().skipped
        skipped[clean(reason)] = skipped.get(clean(reason), 0) + times

    def skipped(self) -> dict[str, int]:
        return dict(self._tables.skipped)

    def check(self) -> str:
        return ""

    def close(self) -> None:
        pass

    # The tables

    @contextmanager
    def _transaction(self) -> Generator[None]:
        if self._is_writing:
            raise RuntimeError("a transaction is open already")
        kept = self._tables.copied()
        self._is_writing = True
        try:
            yield
            self._refuse_events_without_session()
            kept = self._tables
        finally:
            self._tables = kept
            self._is_writing = False

    def _refuse_events_without_session(self) -> None:
        for key, record in self._tables.events:
            if key not in self._tables.sessions:
                raise StoreError(
                    f"the event `{record}` belongs to the session `{key}`, which the store does not hold"
                )

    def _writable(self) -> _Tables:
        if not self._is_writing:
            raise RuntimeError("a write stands outside `writing`")
        return self._tables

    def _latest_sessions(self) -> list[Session]:
        return _latest_first(self._tables.sessions.values(), lambda session: session.last_event_at)

    def _newest_checkpoints(self) -> list[Checkpoint]:
        return _latest_first(self._tables.checkpoints.values(), lambda checkpoint: checkpoint.created_at)

    def _drop_checkpoints(self, old: list[Checkpoint]) -> int:
        for checkpoint in old:
            del self._writable().checkpoints[checkpoint.id]
        return len(old)

    def _documents_of(self, project_id: str) -> list[Document]:
        return [each for each in self._tables.documents.values() if each.project_id == clean(project_id)]


def _latest_first(values: Iterable[T], time: Callable[[T], int]) -> list[T]:
    """Of two with the same time the one that came later is first."""
    return sorted(values, key=time)[::-1]


def _add_once(table: dict[str, T], id: str, value: T) -> None:
    if clean(id) in table:
        raise StoreError(f"the store holds `{id}` already")
    table[clean(id)] = clean(value)


def _phrase(text: str) -> str:
    """The text's words in lower case between single spaces, so that `in` finds one phrase in another."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


_WORD = re.compile(r"[^\W_]+")
