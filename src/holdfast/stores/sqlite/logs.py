"""Logs in SQLite: rows of `messages` as they were given, in the order in which they came."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.core.agent_log.records import Record
from holdfast.core.session.session import Session
from holdfast.stores.base import NOBODY
from holdfast.stores.codec import decode_session
from holdfast.stores.sqlite.database import Bindings, Database, Row
from holdfast.stores.sqlite.events import message_id


class Logs:
    """The rows of the table `messages` that are records and not events."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_to_log(self, session: str, records: Sequence[Record], redactor: str = NOBODY) -> int:
        added = sum(self._database.write(_ADD, _columns(session, record, redactor)) for record in records)
        if added:
            self._database.write(_TO_INDEX, {"session": session, "since": records[0].at})
        return added

    def log(self, session: str, before: str, limit: int) -> list[Record]:
        bindings: Bindings = {"session": session, "before": before, "limit": limit}
        rows = self._database.rows(_LOG_BEFORE if before else _LOG, bindings)
        return _records(session, reversed(rows))

    def log_from(self, session: str, record: str, limit: int) -> list[Record]:
        rows = self._database.rows(_LOG_FROM, {"session": session, "record": record, "limit": limit})
        return _records(session, rows)

    def logged_sessions(self, limit: int) -> list[Session]:
        return [decode_session(metadata) for (metadata,) in self._database.rows(_LOGGED, {"limit": limit})]


def _records(session: str, rows: Iterable[Row]) -> list[Record]:
    ahead = len(message_id(session, ""))
    return [
        Record(id, parent[ahead:] if parent else "", kind, at, line) for id, parent, kind, at, line in rows
    ]


def _columns(session: str, record: Record, redactor: str) -> Bindings:
    return {
        "id": message_id(session, record.id),
        "session": session,
        "parent": message_id(session, record.parent) if record.parent else None,
        "type": record.type,
        "timestamp": record.at,
        "data": record.line,
        "record": record.id,
        "redactor": redactor,
    }


# No agent: what events of a session tell is found again by its agent's name, and a record is no event.
_ADD = """
insert into messages (
    id, session_key, parent_id, type, timestamp, data, record_id, revision, agent, origin, redactor
) values (
    :id, :session, :parent, :type, :timestamp, :data, :record, 0, '', 'record', :redactor
)
on conflict do nothing
"""

_TO_INDEX = """
insert into unindexed (session_key, since)
values (:session, :since)
on conflict (session_key) do nothing
"""

_LOG_FROM = """
select record_id, parent_id, type, timestamp, data
  from messages
 where session_key = :session
   and origin = 'record'
   and rowid >= coalesce((
       select rowid
         from messages
        where session_key = :session
          and record_id = :record
       ), 0)
 order by rowid
 limit :limit
"""

_LOG = """
select record_id, parent_id, type, timestamp, data
  from messages
 where session_key = :session
   and origin = 'record'
 order by rowid desc
 limit :limit
"""

_LOG_BEFORE = """
select record_id, parent_id, type, timestamp, data
  from messages
 where session_key = :session
   and origin = 'record'
   and rowid < (select rowid from messages where session_key = :session and record_id = :before)
 order by rowid desc
 limit :limit
"""

_LOGGED = """
select metadata
  from sessions
 where exists (select 1 from messages where session_key = sessions.key and origin = 'record')
 order by updated_at desc, rowid desc
 limit :limit
"""
