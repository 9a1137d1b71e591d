"""Indexing in SQL: sessions that are to be indexed, their stored passages, recalls of them, and scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from holdfast.core.events.event import Event
from holdfast.core.session.score import SessionScore, Start
from holdfast.stores.base import RECORDS, RecordsKept
from holdfast.stores.codec import decode_event, decode_name, encode_texts
from holdfast.stores.sql.database import Bindings, Row, SqlDatabase


class Records:
    """The tables `unindexed`, `recalls` and `session_scores`, and the documents that sessions left."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def unindexed(self, before: int, limit: int) -> list[str]:
        return [str(key) for (key,) in self._database.rows(_UNINDEXED, {"before": before, "limit": limit})]

    def mark_indexed(self, session: str) -> None:
        self._database.write(_INDEXED, {"session": session})

    def events_from(self, session: str, record: str, limit: int) -> list[Event]:
        bindings: Bindings = {"session": session, "record": record, "limit": limit}
        events = (decode_event(kind, data) for kind, data in self._database.rows(_EVENTS_FROM, bindings))
        return [event for event in events if event is not None]

    def drop_records(self, session: str, place: int) -> int:
        return self._database.write(_DROP_RECORDS, {"session": session, "place": place})

    def records_kept(self) -> RecordsKept:
        row = self._database.row(_TOTALS, _KINDS)
        return RecordsKept(*row) if row else RecordsKept(0, 0, 0)

    def prune_records(self, before: int, most_bytes: int, limit: int) -> int:
        dropped = self._database.write(_PRUNE_OLD, {**_KINDS, "before": before, "limit": limit})
        # Adding up all sizes takes a while, and usually there is room.
        if self.records_kept().bytes <= most_bytes or dropped >= limit:
            return dropped
        beyond: Bindings = {**_KINDS, "most": most_bytes, "limit": limit - dropped}
        return dropped + self._database.write(_PRUNE_BEYOND, beyond)

    def add_recalls(self, session: str, ids: Sequence[str], at: int) -> None:
        bindings: Bindings = {"session": session, "ids": encode_texts(tuple(ids)), "at": at}
        self._database.write(_ADD_RECALLS, bindings)

    def recalls(self, session: str) -> list[tuple[str, int]]:
        return [(str(id), int(at)) for id, at in self._database.rows(_RECALLS, {"session": session})]

    def put_score(self, score: SessionScore) -> None:
        self._database.write(_PUT_SCORE, {**asdict(score), "start": score.start.value})

    def scores(self, limit: int) -> list[SessionScore]:
        return [score_of(row) for row in self._database.rows(_SCORES, {"limit": limit})]


def score_of(row: Row) -> SessionScore:
    """In the order of `READ_SCORE`, which is the order of the fields."""
    session, harness, project_id, scored_at, start, *counts = row
    return SessionScore(session, harness, project_id, scored_at, decode_name(Start, start), *counts)


_KINDS: Final[Bindings] = {"kinds": encode_texts(RECORDS)}

_UNINDEXED = """
select session_key
  from unindexed
 where since < :before
 order by since
 limit :limit
"""

_INDEXED = """
delete from unindexed
 where session_key = :session
"""

_EVENTS_FROM = """
select type, data
  from messages
 where session_key = :session
   and rowid >= coalesce((
       select rowid
         from messages
        where session_key = :session
          and record_id = :record
       ), 0)
 order by rowid
 limit :limit
"""

_DROP_RECORDS = """
delete from documents
 where session_key = :session
   and kind = 'record'
   and place >= :place
"""

_TOTALS = """
select count(*), coalesce(sum(octet_length(text)), 0), coalesce(min(at), 0)
  from documents
 where kind in (select value from json_each(:kinds))
"""

_PRUNE_OLD = """
delete from documents
 where number in (
       select number
         from documents
        where at < :before
          and kind in (select value from json_each(:kinds))
        order by at
        limit :limit
       )
"""

_PRUNE_BEYOND = """
delete from documents
 where number in (
       select number
         from (select number,
                      at,
                      sum(octet_length(text)) over (order by at desc, number desc) as bytes
                 from documents
                where kind in (select value from json_each(:kinds))) as sized
        where bytes > :most
        order by at, number
        limit :limit
       )
"""

_ADD_RECALLS = """
insert into recalls (session_key, document_id, at)
select :session, value, :at
  from json_each(:ids)
 where true
on conflict (session_key, document_id) do nothing
"""

_RECALLS = """
select document_id, at
  from recalls
 where session_key = :session
 order by at, document_id
"""

_PUT_SCORE = """
insert into session_scores (
    session_key, harness, project_id, scored_at, start, agent_events, brief_items, brief_items_used, needed,
    rediscovered, novel_context_count, memories_recalled, memories_used
) values (
    :session, :harness, :project_id, :scored_at, :start, :agent_events, :brief_items, :brief_items_used,
    :needed, :rediscovered, :novel_context_count, :memories_recalled, :memories_used
)
on conflict (session_key) do update
   set harness             = excluded.harness,
       project_id          = excluded.project_id,
       scored_at           = excluded.scored_at,
       start               = excluded.start,
       agent_events        = excluded.agent_events,
       brief_items         = excluded.brief_items,
       brief_items_used    = excluded.brief_items_used,
       needed              = excluded.needed,
       rediscovered        = excluded.rediscovered,
       novel_context_count = excluded.novel_context_count,
       memories_recalled   = excluded.memories_recalled,
       memories_used       = excluded.memories_used
"""

READ_SCORE = """
select session_key, harness, project_id, scored_at, start, agent_events, brief_items, brief_items_used,
       needed, rediscovered, novel_context_count, memories_recalled, memories_used
  from session_scores
"""

_SCORES = f"""
{READ_SCORE}
 order by scored_at desc, session_key
 limit :limit
"""
