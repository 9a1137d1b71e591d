"""Forgetting in SQLite: delete all that is stored of some sessions, and leave no byte of it in the files.

What to forget is decided elsewhere. Hashes of names stay, so that a source which is read again does not count
as new.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from holdfast.errors import StoreLocked
from holdfast.stores.base import names_one_of
from holdfast.stores.codec import encode_texts, hashed
from holdfast.stores.forgettable import EVERYTHING, Dropped, project_name
from holdfast.stores.sqlite.database import Bindings, Database


class Forgetting:
    """The table `forgotten`, and deletion from all the others."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def keys(self) -> list[str]:
        return self._keys(_KEYS, {})

    def keys_of_project(self, project_id: str) -> list[str]:
        return self._keys(_KEYS_OF_PROJECT, {"project_id": project_id})

    def keys_before(self, before: int) -> list[str]:
        return self._keys(_KEYS_BEFORE, {"before": before})

    def forget(self, keys: Sequence[str], at: int) -> Dropped:
        chosen: Bindings = {"keys": encode_texts(tuple(keys))}
        transcripts = {str(transcript) for (transcript,) in self._database.rows(_TRANSCRIPTS, chosen)}
        session_keys = set(keys)
        self._forget_sources(lambda source: source in transcripts or names_one_of(source, session_keys), at)
        for key in session_keys:
            self._note(key, at, "")
        self._database.write(_FORGET_BRIEFS, chosen)
        self._database.write(_FORGET_LINEAGE, chosen)
        return Dropped(
            memories=self._database.write(_FORGET_MEMORIES, chosen),
            documents=self._database.write(_FORGET_DOCUMENTS, chosen),
            checkpoints=self._database.write(_FORGET_CHECKPOINTS, chosen),
            receipts=self._database.write(_FORGET_RECEIPTS, chosen),
            events=self._database.write(_FORGET_EVENTS, chosen),
            sessions=self._database.write(_FORGET_SESSIONS, chosen),
        )

    def forget_project(self, project_id: str, at: int) -> Dropped:
        self._note(project_name(project_id), at, "")
        return Dropped(
            documents=self._database.write(_FORGET_DOCUMENTS_OF_PROJECT, {"project_id": project_id}),
            memories=self._database.write(_FORGET_MEMORIES_OF_PROJECT, {"project_id": project_id}),
        )

    def forget_all(self, at: int) -> Dropped:
        self._forget_sources(lambda _: True, at)
        self._note(EVERYTHING, at, "")
        dropped = self.forget(self.keys(), at)
        memories = dropped.memories + self._database.write("delete from memories", {})
        documents = dropped.documents + self._database.write("delete from documents", {})
        self._database.write(_FORGET_THE_REST, {})
        return replace(dropped, documents=documents, memories=memories)

    def forgotten_at(self, key: str) -> int:
        row = self._database.row(_FORGOTTEN, {"name": hashed(key)})
        return int(row[0]) if row else 0

    def scrub(self) -> None:
        path = self._database.path
        large = self._database.size > _LARGE
        # What SQLite needs for a moment goes into memory; for a large store, into a file without a name.
        self._database.rows(f"pragma temp_store = {'default' if large else 'memory'}")
        self._database.rows("insert into documents_text(documents_text) values ('rebuild')")
        self._database.rows("vacuum")
        row = self._database.row("pragma wal_checkpoint(truncate)")
        if row is not None and row[0]:
            raise StoreLocked(
                f"the store at `{path}` is being read by another process, so its log cannot be emptied",
                hint="try again in a moment",
            )

    def _forget_sources(self, chosen: Callable[[str], bool], at: int) -> None:
        """Keep how far a source was read under a name that tells nothing."""
        for source, cursor in self._database.rows("select source, cursor from cursors"):
            if chosen(source):
                self._note(source, at, cursor)
                self._database.write("delete from cursors where source = :source", {"source": source})

    def _note(self, name: str, at: int, cursor: str) -> None:
        self._database.write(_NOTE, {"name": hashed(name), "at": at, "cursor": cursor})

    def _keys(self, sql: str, bindings: Bindings) -> list[str]:
        return [str(key) for (key,) in self._database.rows(sql, bindings)]


_LARGE = 256 * 1024 * 1024

_NOTE = """
insert into forgotten (name, at, cursor)
values (:name, :at, :cursor)
on conflict (name) do update
   set at     = excluded.at,
       cursor = excluded.cursor
"""

_FORGOTTEN = """
select at
  from forgotten
 where name = :name
"""

_KEYS = """
select key from sessions
 union
select session_key from session_checkpoints
 union
select session_key from receipts
 union
select session_key from documents where session_key <> ''
 union
select session_key from memories where session_key <> ''
 order by 1
"""

_KEYS_OF_PROJECT = """
select key from sessions where project_id = :project_id
 union
select session_key from session_checkpoints where project_id = :project_id
 union
select session_key from documents where project_id = :project_id and session_key <> ''
 union
select session_key from memories where project_id = :project_id and session_key <> ''
 order by 1
"""

# A session that was pruned is as old as the last that is left of it.
_KEYS_BEFORE = """
with left_behind as (
       select session_key as key, cast(round(unixepoch(created_at, 'subsec') * 1000) as integer) as at
         from session_checkpoints
        union all
       select session_key, created_at
         from receipts
        union all
       select session_key, created_at
         from memories
        where session_key <> ''
        union all
       select session_key, at
         from documents
        where session_key <> ''
     )
select key
  from sessions
 where updated_at < :before
 union
select key
  from left_behind
 where key not in (select key from sessions)
 group by key
having max(at) < :before
 order by 1
"""

_TRANSCRIPTS = """
select transcript
  from sessions
 where key in (select value from json_each(:keys))
   and transcript <> ''
"""

# Where another session was given a brief that told of these, its transcript showed that brief.
_FORGET_BRIEFS = """
update messages
   set data = json_set(data, '$.text', '')
 where type = 'brief_seen'
   and session_key in (
       select session_key
         from receipts
        where predecessor in (select value from json_each(:keys))
       )
"""

_FORGET_LINEAGE = """
delete from lineage
 where child in (select value from json_each(:keys))
    or parent in (select value from json_each(:keys))
"""

_FORGET_DOCUMENTS = """
delete from documents
 where session_key in (select value from json_each(:keys))
    or (kind = 'checkpoint' and id in (
       select id
         from session_checkpoints
        where session_key in (select value from json_each(:keys))
       ))
"""

# Their documents go with them.
_FORGET_MEMORIES = """
delete from memories
 where session_key in (select value from json_each(:keys))
"""

_FORGET_CHECKPOINTS = """
delete from session_checkpoints
 where session_key in (select value from json_each(:keys))
"""

_FORGET_RECEIPTS = """
delete from receipts
 where session_key in (select value from json_each(:keys))
    or predecessor in (select value from json_each(:keys))
"""

_FORGET_EVENTS = """
delete from messages
 where session_key in (select value from json_each(:keys))
"""

_FORGET_SESSIONS = """
delete from sessions
 where key in (select value from json_each(:keys))
"""

_FORGET_DOCUMENTS_OF_PROJECT = """
delete from documents
 where project_id = :project_id
   and kind <> 'memory'
"""

_FORGET_MEMORIES_OF_PROJECT = """
delete from memories
 where project_id = :project_id
"""

_FORGET_THE_REST = """
delete from lineage;
delete from skipped;
delete from facts;
delete from sites;
"""
