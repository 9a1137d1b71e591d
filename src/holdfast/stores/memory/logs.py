"""Logs in memory: records as they were given, in the order in which they came."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.core.records import Record
from holdfast.core.session import Session
from holdfast.stores.base import NOBODY
from holdfast.stores.codec import clean
from holdfast.stores.memory.tables import Keeper, Line


class Logs(Keeper):
    """The lines of all logs."""

    def add_to_log(self, session: str, records: Sequence[Record], redactor: str = NOBODY) -> int:
        tables, added = self._writable(), 0
        for record in map(clean, records):
            name = (clean(session), record.id)
            if name not in tables.lines and name not in tables.events:
                tables.lines[name] = Line(clean(session), record)
                tables.redactors["lines", name] = redactor
                tables.unindexed.setdefault(clean(session), record.at)
                added += 1
        return added

    def log(self, session: str, before: str, limit: int) -> list[Record]:
        own = [line.record for line in self._tables.lines.values() if line.session == clean(session)]
        places = [place for place, record in enumerate(own) if record.id == clean(before)]
        end = places[0] if places else 0 if before else len(own)
        return own[max(0, end - limit) : end]

    def log_from(self, session: str, record: str, limit: int) -> list[Record]:
        own = [line.record for line in self._tables.lines.values() if line.session == clean(session)]
        places = (place for place, each in enumerate(own) if each.id == clean(record))
        start = next(places, 0)
        return own[start : start + limit]

    def logged_sessions(self, limit: int) -> list[Session]:
        keys = {line.session for line in self._tables.lines.values()}
        found = [session for session in self._tables.sessions.values() if session.key in keys]
        return sorted(found, key=lambda session: session.last_event_at)[::-1][:limit]
