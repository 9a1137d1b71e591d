"""Pages in SQL: everything stored, read from a mark on, and counted."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from holdfast.core.brief.compose import Receipt
from holdfast.core.events.event import Event
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Memory
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.score import SessionScore
from holdfast.core.session.session import Phase, Session
from holdfast.stores.base import (
    Activity,
    Captured,
    DailyCheckpoints,
    PageMark,
    RowHead,
    RowKind,
    StoreCounts,
    Within,
)
from holdfast.stores.codec import decode_event, decode_session, to_iso
from holdfast.stores.sql import checkpoints, indexing, memories
from holdfast.stores.sql.database import CHECKPOINT_AT, Bindings, SqlDatabase
from holdfast.stores.sql.documents import where


class Pages:
    """All tables that can be listed."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def checkpoint(self, id: str) -> Checkpoint | None:
        row = self._database.row(f"{checkpoints.READ} where id = :id", {"id": id})
        return checkpoints.checkpoint_of(row) if row else None

    def receipt(self, id: str) -> Receipt | None:
        row = self._database.row(f"{checkpoints.READ_RECEIPT} where id = :id", {"id": id})
        return checkpoints.receipt_of(row) if row else None

    def page_of_checkpoints(self, behind: PageMark, limit: int) -> list[Checkpoint]:
        return self._checkpoints(_CHECKPOINTS, _behind_iso(behind, limit))

    def page_of_project_checkpoints(self, project_id: str, behind: PageMark, limit: int) -> list[Checkpoint]:
        return self._checkpoints(_OF_PROJECT, {**_behind_iso(behind, limit), "project_id": project_id})

    def page_of_session_checkpoints(self, session: str, behind: PageMark, limit: int) -> list[Checkpoint]:
        return self._checkpoints(_OF_SESSION, {**_behind_iso(behind, limit), "session": session})

    def page_of_sessions(
        self, project_id: str, behind: PageMark, limit: int, harness: str = "", since: int = 0
    ) -> list[Session]:
        sql = _SESSIONS_OF_PROJECT if project_id else _SESSIONS
        filters: Bindings = {"project_id": project_id, "harness": harness, "since": since}
        rows = self._database.rows(sql, {**_behind(behind, limit), **filters})
        return [decode_session(metadata) for (metadata,) in rows]

    def page_of_events(self, session: str, behind: PageMark, limit: int) -> list[Event]:
        rows = self._database.rows(_EVENTS, {**_behind(behind, limit), "session": session})
        events = (decode_event(kind, data) for kind, data in rows)
        return [event for event in events if event is not None]

    def page_of_receipts(self, session: str, behind: PageMark, limit: int) -> list[Receipt]:
        sql = _RECEIPTS_OF_SESSION if session else _RECEIPTS
        rows = self._database.rows(sql, {**_behind(behind, limit), "session": session})
        return [checkpoints.receipt_of(row) for row in rows]

    def page_of_memories(self, within: Within, behind: PageMark, limit: int) -> list[Memory]:
        rows = self._database.rows(_MEMORIES, {**where(within), **_behind(behind, limit)})
        return [memories.memory_of(row) for row in rows]

    def page_of_scores(self, behind: PageMark, limit: int) -> list[SessionScore]:
        return [indexing.score_of(row) for row in self._database.rows(_SCORES, _behind(behind, limit))]

    def projects(self) -> list[Project]:
        return [decode_session(metadata).project for (metadata,) in self._database.rows(_PROJECTS)]

    def project_at(self, path: str) -> str:
        row = self._database.row(_PROJECT_AT, {"path": path})
        return str(row[0]) if row else ""

    def heads(self, limit: int) -> list[RowHead]:
        return [RowHead(*row) for row in self._database.rows(_HEADS, {"limit": limit})]

    def ids_beginning(self, kind: RowKind, prefix: str, limit: int) -> list[str]:
        bounds: Bindings = {"first": prefix, "last": f"{prefix}\U0010ffff", "limit": limit}
        return [id for (id,) in self._database.rows(_IDS_BEGINNING[kind], bounds)]

    def ids_around(self, kind: RowKind, id: str) -> tuple[str, str]:
        before, after = (self._database.row(sql[kind], {"id": id}) for sql in (_ID_BEFORE, _ID_AFTER))
        return str(before[0]) if before else "", str(after[0]) if after else ""

    def counts(self) -> StoreCounts:
        row = self._database.row(_COUNTS, {"live": Phase.LIVE.value})
        return StoreCounts(*row) if row else StoreCounts(0, 0, 0, 0, 0, 0, 0)

    def captured(self) -> list[Captured]:
        return [Captured(*row) for row in self._database.rows(_CAPTURED, {"live": Phase.LIVE.value})]

    def activity(self, bounds: Sequence[int]) -> list[Activity]:
        return [
            Activity(*row)
            for first, after in pairwise(bounds)
            for row in self._database.rows(_ACTIVITY, _between(first, after))
        ]

    def receipts_made_from(self, session: str, limit: int) -> list[Receipt]:
        rows = self._database.rows(_RECEIPTS_MADE_FROM, {"session": session, "limit": limit})
        return [checkpoints.receipt_of(row) for row in rows]

    def taken_since(self, at: int) -> list[DailyCheckpoints]:
        return [DailyCheckpoints(*row) for row in self._database.rows(_TAKEN, {"since": to_iso(at)})]

    def _checkpoints(self, sql: str, bindings: Bindings) -> list[Checkpoint]:
        return [checkpoints.checkpoint_of(row) for row in self._database.rows(sql, bindings)]


def _behind(mark: PageMark, limit: int) -> Bindings:
    return {"at": mark.at, "mark": mark.id, "limit": limit}


def _behind_iso(mark: PageMark, limit: int) -> Bindings:
    """The same for a table whose times are texts."""
    return {**_behind(mark, limit), "at": to_iso(mark.at)}


def _between(first: int, after: int) -> Bindings:
    return {"first": first, "after": after, "first_iso": to_iso(first), "after_iso": to_iso(after)}


def _page(read: str, chosen: str, at: str, id: str) -> str:
    """The statement that reads the chosen rows behind a mark; an index on the time serves it."""
    return f"""
{read}
 where {chosen}
   and {at} <= :at
   and ({at} < :at or {id} < :mark)
 order by {at} desc, {id} desc
 limit :limit
"""


_CHECKPOINTS: Final = _page(checkpoints.READ, "true", "created_at", "id")
_OF_PROJECT: Final = _page(checkpoints.READ, "project_id = :project_id", "created_at", "id")
_OF_SESSION: Final = _page(checkpoints.READ, "session_key = :session", "created_at", "id")

_READ_SESSION = "select metadata from sessions"
_FILTERED = "updated_at >= :since and (:harness = '' or harness = :harness)"
_SESSIONS: Final = _page(_READ_SESSION, _FILTERED, "updated_at", "key")
_SESSIONS_OF_PROJECT: Final = _page(
    _READ_SESSION, f"project_id = :project_id and {_FILTERED}", "updated_at", "key"
)

_READ_EVENT = "select type, data from messages"
# A record of a log of ours is no event.
_EVENTS: Final = _page(_READ_EVENT, "session_key = :session and origin <> 'record'", "timestamp", "record_id")

_RECEIPTS: Final = _page(checkpoints.READ_RECEIPT, "true", "created_at", "id")
_RECEIPTS_OF_SESSION: Final = _page(checkpoints.READ_RECEIPT, "session_key = :session", "created_at", "id")

_RECEIPTS_MADE_FROM: Final = f"""
{checkpoints.READ_RECEIPT}
 where predecessor = :session
   and session_key <> :session
 order by created_at desc, id desc
 limit :limit
"""

_MEMORIES: Final = _page(memories.READ, memories.WITHIN, "created_at", "id")

_SCORES: Final = _page(indexing.READ_SCORE, "true", "scored_at", "session_key")

# The ids come out of an index, and so does the latest session of each: how many there are does not matter.
_PROJECTS = """
with recursive ids (id) as (
       select min(project_id) from sessions
        union all
       select (select min(project_id) from sessions where project_id > ids.id)
         from ids
        where ids.id is not null
     )
select (select metadata from sessions where project_id = ids.id order by updated_at desc limit 1)
  from ids
 where ids.id is not null
"""

_PROJECT_AT = """
select project_id
  from session_checkpoints
 where project_normalized = :path
 order by created_at desc
 limit 1
"""

_HEADS = f"""
select * from (
    select 'session', key, key, updated_at from sessions order by updated_at desc, key desc limit :limit
) as latest_sessions
union all
select * from (
    select 'checkpoint', id, session_key, {CHECKPOINT_AT}
      from session_checkpoints
     order by created_at desc, id desc
     limit :limit
) as latest_checkpoints
union all
select * from (
    select 'brief', id, session_key, created_at from receipts order by created_at desc, id desc limit :limit
) as latest_briefs
union all
select * from (
    select 'memory', id, session_key, created_at from memories order by created_at desc, id desc limit :limit
) as latest_memories
"""  # noqa: S608 - both parts are ours

_READ_IDS: Final = {
    RowKind.SESSION: ("select key from sessions", "key"),
    RowKind.CHECKPOINT: ("select id from session_checkpoints", "id"),
    RowKind.BRIEF: ("select id from receipts", "id"),
    RowKind.MEMORY: ("select id from memories", "id"),
}
_IDS_BEGINNING: Final = {
    kind: f"{read} where {id} >= :first and {id} < :last order by {id} limit :limit"
    for kind, (read, id) in _READ_IDS.items()
}
_ID_BEFORE: Final = {
    kind: f"{read} where {id} < :id order by {id} desc limit 1" for kind, (read, id) in _READ_IDS.items()
}
_ID_AFTER: Final = {
    kind: f"{read} where {id} > :id order by {id} limit 1" for kind, (read, id) in _READ_IDS.items()
}

_COUNTS = """
select (select count(*) from sessions),
       (select count(*) from sessions where phase = :live),
       (select count(*) from messages),
       (select count(*) from session_checkpoints),
       (select count(*) from receipts),
       (select count(*) from memories),
       (select count(*) from documents)
"""

_CAPTURED = """
select harness,
       count(*),
       count(*) filter (where phase = :live),
       max(updated_at),
       (select coalesce(max(given.created_at), 0)
          from receipts as given
          join sessions as other on other.key = given.session_key
         where other.harness = sessions.harness)
  from sessions
 group by harness
 order by harness
"""

_ACTIVITY = """
select (select count(*) from sessions where updated_at >= :first and updated_at < :after),
       (select count(*) from session_checkpoints where created_at >= :first_iso and created_at < :after_iso),
       (select count(distinct session_key || ' ' || "window")
          from receipts
         where created_at >= :first
           and created_at < :after
           and reason in ('compact', 'late')),
       (select count(*)
          from receipts
         where created_at >= :first
           and created_at < :after
           and reason in ('startup', 'clear', 'resume', 'fork')),
       (select count(*) from memories where created_at >= :first and created_at < :after)
"""

# An index alone answers this, for the rows are large; and day by day, for to cut its day out of every time
# takes several times as long. All times of a day come before that day with a tilde.
_TAKEN = """
with recursive days (day) as (
       select substr(min(created_at), 1, 10)
         from session_checkpoints
        where created_at >= :since
        union all
       select (select substr(min(created_at), 1, 10) from session_checkpoints where created_at > day || '~')
         from days
        where day is not null
     )
select day,
       (select count(*)
          from session_checkpoints
         where created_at >= case when day > :since then day else :since end
           and created_at < day || '~')
  from days
 where day is not null
 order by day
"""
