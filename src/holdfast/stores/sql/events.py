"""Events and logs in SQL: the rows of `messages`, and how far each source was read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from holdfast.core.agent_log.records import Record
from holdfast.core.events.event import Event
from holdfast.core.session.session import Session
from holdfast.stores.base import UNREDACTED, Novelty
from holdfast.stores.codec import decode_event, decode_session, encode_event, hashed, kind_of
from holdfast.stores.sql.database import Bindings, Row, SqlDatabase


class Events:
    """The tables `messages` and `cursors`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def add_event(self, event: Event, redactor: str = UNREDACTED) -> Novelty:
        names = {"record": event.record, "former": _former_record(event.record)}
        stored_revision = self._database.row(_REVISION, {"session": event.session, **names})
        if stored_revision is None:
            self._database.write(_ADD_EVENT, _columns(event, redactor))
            return Novelty.NEW
        if stored_revision[0] >= event.revision:
            return Novelty.KNOWN
        self._database.write(_REVISE_EVENT, _columns(event, redactor))
        return Novelty.REVISED

    def events(self, session: str, limit: int) -> list[Event]:
        return list(self.events_backwards(session, limit))[::-1]

    def events_backwards(self, session: str, limit: int) -> Iterator[Event]:
        first = min(limit, _LIKELY_ENOUGH)
        yield from self._backwards(session, 0, first)
        if first < limit:
            yield from self._backwards(session, first, limit - first)

    def _backwards(self, session: str, offset: int, limit: int) -> Iterator[Event]:
        bindings: Bindings = {"session": session, "offset": offset, "limit": limit}
        decoded = (decode_event(kind, data) for kind, data in self._database.rows(_EVENTS, bindings))
        return (event for event in decoded if event is not None)

    def sessions_sharing_records(self, session: str) -> list[str]:
        return [key for (key,) in self._database.rows(_SHARING, {"session": session})]

    def cursor(self, source: str) -> str:
        row = self._database.row(_CURSOR, {"source": source, "name": hashed(source)})
        return str(row[0]) if row else ""

    def put_cursor(self, source: str, cursor: str) -> None:
        self._database.write(_PUT_CURSOR, {"source": source, "cursor": cursor})


def _former_record(record: str) -> str:
    """The id under which a daemon of version 0.1.0 stores a hook event.

    Such a daemon may go on for a while after a newer command has renamed the ids that it had stored.
    """
    return f"letter:{record.removeprefix('hook:')}" if record.startswith("hook:") else record


def _columns(event: Event, redactor: str) -> Bindings:
    return {
        "id": message_id(event.session, event.record),
        "session": event.session,
        "parent": message_id(event.session, event.parent) if event.parent else None,
        "type": kind_of(event),
        "timestamp": event.at,
        "data": encode_event(event),
        "record": event.record,
        "revision": event.revision,
        "agent": event.agent,
        "origin": event.origin.value,
        "redactor": redactor,
    }


def message_id(session: str, record: str) -> str:
    """`session#record`, with any `#` in the session's key escaped: no two records share an id."""
    return f"{session.replace('%', '%25').replace('#', '%23')}#{record}"


_REVISION = """
select revision
  from messages
 where session_key = :session
   and record_id in (:record, :former)
"""

_ADD_EVENT = """
insert into messages (
    id, session_key, parent_id, type, timestamp, data, record_id, revision, agent, origin, redactor
) values (
    :id, :session, :parent, :type, :timestamp, :data, :record, :revision, :agent, :origin, :redactor
)
"""

_REVISE_EVENT = """
update messages
   set parent_id = :parent,
       type      = :type,
       timestamp = :timestamp,
       data      = :data,
       revision  = :revision,
       agent     = :agent,
       origin    = :origin,
       redactor  = :redactor
 where session_key = :session
   and record_id = :record
"""

_LIKELY_ENOUGH = 20
"""Whoever reads backwards looks for something recent; so many events are read first."""

_EVENTS = """
select type, data
  from messages
 where session_key = :session
 order by timestamp desc, rowid desc
 limit :limit offset :offset
"""

_SHARING = """
select other.session_key
  from messages as own
  join messages as other
    on other.record_id = own.record_id
   and other.session_key <> own.session_key
 where own.session_key = :session
 group by other.session_key
 order by count(*) desc, other.session_key
"""

# What was read since is known by the source's own name, and counts first.
_CURSOR = """
select cursor
  from cursors
 where source = :source
 union all
select cursor
  from forgotten
 where name = :name
"""

_PUT_CURSOR = """
insert into cursors (source, cursor)
values (:source, :cursor)
on conflict (source) do update
   set cursor = excluded.cursor
"""


class Logs:
    """The rows of the table `messages` that are records and not events."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def add_to_log(self, session: str, records: Sequence[Record], redactor: str = UNREDACTED) -> int:
        added = sum(self._database.write(_ADD, _log_columns(session, record, redactor)) for record in records)
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


def _log_columns(session: str, record: Record, redactor: str) -> Bindings:
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
