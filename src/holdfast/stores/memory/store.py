"""The memory store: how each thing is kept; finding, redactors and forgetting stand in the files beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import TypeVar

from holdfast.core.brief import Receipt
from holdfast.core.checkpoint import Checkpoint
from holdfast.core.events import MAIN, Event, Usage
from holdfast.core.session import Phase, Process, Session
from holdfast.errors import StoreError
from holdfast.stores.base import NOBODY, RECORDS, Lineage, Novelty
from holdfast.stores.codec import clean, hashed
from holdfast.stores.memory.forgetting import Forgetting
from holdfast.stores.memory.logs import Logs
from holdfast.stores.memory.pages import Pages
from holdfast.stores.memory.records import Records
from holdfast.stores.memory.redactions import Redactions
from holdfast.stores.memory.sites import Sites
from holdfast.stores.memory.tables import drop

T = TypeVar("T")


class MemoryStore(Pages, Records, Logs, Redactions, Forgetting, Sites):
    """A store that lives as long as this object."""

    def writing(self) -> AbstractContextManager[None]:
        return self._transaction()

    def writing_durably(self) -> AbstractContextManager[None]:
        return self._transaction()

    # Sessions

    def session(self, key: str) -> Session | None:
        return self._tables.sessions.get(clean(key))

    def put_session(self, session: Session, redactor: str = "") -> None:
        session, tables = clean(session), self._writable()
        known = session.key in tables.sessions
        carried = tables.redactor("sessions", session.key) if known else redactor or NOBODY
        tables.redactors["sessions", session.key] = carried if redactor in ("", carried) else NOBODY
        tables.sessions[session.key] = session

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

    def add_event(self, event: Event, redactor: str = NOBODY) -> Novelty:
        event = clean(event)
        events = self._writable().events
        known = events.get((event.session, event.record))
        if known is not None and known.revision >= event.revision:
            return Novelty.KNOWN
        events[event.session, event.record] = event
        self._tables.redactors["events", (event.session, event.record)] = redactor
        if known is None and event.agent == MAIN and not isinstance(event, Usage):
            self._tables.unindexed.setdefault(event.session, event.at)
        return Novelty.NEW if known is None else Novelty.REVISED

    def events(self, session: str, limit: int) -> list[Event]:
        own = [event for event in self._tables.events.values() if event.session == clean(session)]
        own.sort(key=lambda event: event.at)
        return own[max(0, len(own) - limit) :]

    def events_backwards(self, session: str, limit: int) -> Iterator[Event]:
        return reversed(self.events(session, limit))

    def sessions_sharing_records(self, session: str) -> list[str]:
        session = clean(session)
        own = {record for key, record in self._tables.events if key == session}
        shared = Counter(key for key, record in self._tables.events if key != session and record in own)
        return sorted(shared, key=lambda key: (-shared[key], key))

    def cursor(self, source: str) -> str:
        _, cursor = self._tables.forgotten.get(hashed(source), (0, ""))
        return self._tables.cursors.get(clean(source), cursor)

    def put_cursor(self, source: str, cursor: str) -> None:
        self._writable().cursors[clean(source)] = clean(cursor)

    # Checkpoints

    def add_checkpoint(self, checkpoint: Checkpoint, redactor: str = NOBODY) -> None:
        _add_once(self._writable().checkpoints, checkpoint.id, checkpoint)
        self._tables.redactors["checkpoints", clean(checkpoint.id)] = redactor

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
        logged = {line.session for line in tables.lines.values()}
        over = [
            session
            for session in tables.sessions.values()
            if session.phase is not Phase.LIVE
            and session.last_event_at < before
            # A log that lives here and nowhere else goes only if someone says so.
            and session.key not in logged
        ]
        keys = {session.key for session in over}
        for session in over:
            del tables.sessions[session.key]
            tables.lineage.pop(session.key, None)
            tables.cursors.pop(session.transcript, None)
            tables.cursors.pop(f"index/{session.key}", None)
            tables.unindexed.pop(session.key, None)
            tables.scores.pop(session.key, None)
        tables.events = {name: event for name, event in tables.events.items() if event.session not in keys}
        tables.receipts = {id: each for id, each in tables.receipts.items() if each.session not in keys}
        tables.recalls = {told: at for told, at in tables.recalls.items() if told[0] not in keys}
        drop(tables.documents, lambda each: each.session in keys and each.kind not in RECORDS)
        return len(over)

    # Lineage and receipts

    def add_lineage(self, lineage: Lineage) -> None:
        lineage = clean(lineage)
        self._writable().lineage.setdefault(lineage.child, lineage)

    def lineage(self, child: str) -> Lineage | None:
        return self._tables.lineage.get(clean(child))

    def continued_by(self, parent: str) -> list[Lineage]:
        found = (each for each in self._tables.lineage.values() if each.parent == clean(parent))
        return sorted(found, key=lambda each: (each.at, each.child))

    def add_receipt(self, receipt: Receipt, redactor: str = NOBODY) -> None:
        _add_once(self._writable().receipts, receipt.id, receipt)
        self._tables.redactors["receipts", clean(receipt.id)] = redactor

    def receipts(self, session: str, limit: int) -> list[Receipt]:
        receipts = _latest_first(self._tables.receipts.values(), lambda receipt: receipt.created_at)
        return [receipt for receipt in receipts if not session or receipt.session == clean(session)][:limit]

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

    def _latest_sessions(self) -> list[Session]:
        return _latest_first(self._tables.sessions.values(), lambda session: session.last_event_at)

    def _newest_checkpoints(self) -> list[Checkpoint]:
        return _latest_first(self._tables.checkpoints.values(), lambda checkpoint: checkpoint.created_at)

    def _drop_checkpoints(self, old: list[Checkpoint]) -> int:
        tables = self._writable()
        for checkpoint in old:
            del tables.checkpoints[checkpoint.id]
            document = tables.documents.get(checkpoint.id)
            if document is not None and document.kind == "checkpoint":
                del tables.documents[checkpoint.id]
        return len(old)


def _latest_first(values: Iterable[T], time: Callable[[T], int]) -> list[T]:
    """Of two with the same time the one that came later is first."""
    return sorted(values, key=time)[::-1]


def _add_once(table: dict[str, T], id: str, value: T) -> None:
    if clean(id) in table:
        raise StoreError(f"the store holds `{id}` already")
    table[clean(id)] = clean(value)
