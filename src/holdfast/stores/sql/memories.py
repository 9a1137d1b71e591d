"""Memories in SQL. `documents.py` has the documents by which they are found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from holdfast.core.memory.memory import Label, Memory, MemoryKind, MemoryScope
from holdfast.stores.base import UNREDACTED, Within
from holdfast.stores.codec import decode_name, decode_texts, encode_texts, identity_hash, subject_hash
from holdfast.stores.sql.database import Bindings, Row, SqlDatabase
from holdfast.stores.sql.documents import where


class Memories:
    """The table `memories`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def put_memory(self, memory: Memory, redactor: str = "") -> None:
        self._database.write(_PUT_MEMORY, {**_columns(memory), "redactor": redactor, "nobody": UNREDACTED})

    def memory(self, id: str) -> Memory | None:
        matches = self.memories_named([id])
        return matches[0] if matches else None

    def memories_named(self, ids: Sequence[str]) -> list[Memory]:
        return self._memories(_NAMED, {"ids": encode_texts(tuple(ids))})

    def memories(self, within: Within, limit: int) -> list[Memory]:
        return self._memories(_MEMORIES, {**where(within), "limit": limit})

    def superseded_memories(self, within: Within, limit: int) -> list[Memory]:
        return self._memories(_SUPERSEDED, {**where(within), "limit": limit})

    def superseded_among(self, ids: Sequence[str]) -> set[str]:
        rows = self._database.rows(_SUPERSEDED_AMONG, {"ids": encode_texts(tuple(ids))})
        return {str(id) for (id,) in rows}

    def memory_like(self, memory: Memory) -> Memory | None:
        matches = self._memories(_LIKE, {**_where(memory), "identity": identity_hash(memory.text)})
        return matches[0] if matches else None

    def last_memory(self, memory: Memory) -> Memory | None:
        matches = self._memories(_LAST, _where(memory))
        return matches[0] if matches else None

    def memories_about(self, memory: Memory) -> list[Memory]:
        subject = subject_hash(memory.text)
        return self._memories(_ABOUT, {**_where(memory), "subject": subject}) if subject else []

    def count_found(self, ids: Sequence[str], at: int) -> None:
        self._database.write(_COUNT_FOUND, {"ids": encode_texts(tuple(ids)), "at": at})

    def drop_memory(self, id: str) -> None:
        self._database.write("delete from memories where id = :id", {"id": id})

    def _memories(self, sql: str, bindings: Bindings) -> list[Memory]:
        return [memory_of(row) for row in self._database.rows(sql, bindings)]


def _columns(memory: Memory) -> Bindings:
    return {
        "id": memory.id,
        "project_id": memory.project_id,
        "worktree_id": memory.worktree_id,
        "scope": memory.scope.value,
        "kind": memory.kind.value,
        "created_at": memory.created_at,
        "importance": memory.importance,
        "pinned": int(memory.pinned),
        "seen": memory.seen,
        "seen_at": memory.seen_at,
        "found": memory.found,
        "found_at": memory.found_at,
        "superseded_by": memory.superseded_by,
        "stretch": memory.stretch,
        "place": memory.place,
        "source": memory.source,
        "session": memory.session,
        "labels": encode_texts(memory.labels),
        "tags": encode_texts(memory.tags),
        "identity": identity_hash(memory.text),
        "subject": subject_hash(memory.text),
        "text": memory.text,
    }


def _where(memory: Memory) -> Bindings:
    return {
        "id": memory.id,
        "project_id": memory.project_id,
        "worktree_id": memory.worktree_id,
        "scope": memory.scope.value,
    }


def memory_of(row: Row) -> Memory:
    """In the order of `READ`, which is the order of the fields."""
    (
        id, text, kind, scope, project_id, worktree_id, created_at, tags, importance, pinned, labels,
        source, session, seen, seen_at, times_found, found_at, superseded_by, stretch, place,
    ) = row  # fmt: skip
    return Memory(
        id,
        text,
        _KINDS.get(kind) or decode_name(MemoryKind, kind),
        _SCOPES.get(scope) or decode_name(MemoryScope, scope),
        project_id,
        worktree_id,
        created_at,
        decode_texts(tags),
        importance,
        bool(pinned),
        tuple([decode_name(Label, label) for label in decode_texts(labels)]),
        source,
        session,
        seen,
        seen_at,
        times_found,
        found_at,
        superseded_by,
        stretch,
        place,
    )


# A query reads a hundred memories and an audit thousands: to look these up is several times as fast.
_KINDS: Final = {kind.value: kind for kind in MemoryKind}
_SCOPES: Final = {scope.value: scope for scope in MemoryScope}

_PUT_MEMORY = """
insert into memories (
    id, project_id, worktree_id, scope, kind, created_at, importance, pinned, seen, seen_at, found, found_at,
    superseded_by, stretch, place, source, session_key, labels, tags, identity, subject, redactor, text
) values (
    :id, :project_id, :worktree_id, :scope, :kind, :created_at, :importance, :pinned, :seen, :seen_at, :found,
    :found_at, :superseded_by, :stretch, :place, :source, :session, :labels, :tags, :identity, :subject,
    coalesce(nullif(:redactor, ''), :nobody), :text
)
on conflict (id) do update
   set project_id    = excluded.project_id,
       worktree_id   = excluded.worktree_id,
       scope         = excluded.scope,
       kind          = excluded.kind,
       created_at    = excluded.created_at,
       importance    = excluded.importance,
       pinned        = excluded.pinned,
       seen          = excluded.seen,
       seen_at       = excluded.seen_at,
       found         = excluded.found,
       found_at      = excluded.found_at,
       superseded_by = excluded.superseded_by,
       stretch       = excluded.stretch,
       place         = excluded.place,
       source        = excluded.source,
       session_key   = excluded.session_key,
       labels        = excluded.labels,
       tags          = excluded.tags,
       identity      = excluded.identity,
       subject       = excluded.subject,
       redactor      = coalesce(nullif(:redactor, ''), memories.redactor),
       text          = excluded.text
"""

READ = """
select id, text, kind, scope, project_id, worktree_id, created_at, tags, importance, pinned, labels, source,
       session_key, seen, seen_at, found, found_at, superseded_by, stretch, place
  from memories
"""

_NAMED = f"""
{READ}
 where id in (select value from json_each(:ids))
"""  # noqa: S608 - both parts are ours

WITHIN = """
(:everywhere or project_id in (select value from json_each(:projects)))
   and (:worktree_id = '' or worktree_id in ('', :worktree_id))
   and (:kinds = '[]' or 'memory' in (select value from json_each(:kinds)))
   and created_at >= :since
"""

_MEMORIES = f"""
{READ}
 where {WITHIN}
   and superseded_by = ''
 order by created_at desc, rowid desc
 limit :limit
"""

_SUPERSEDED = f"""
{READ}
 where {WITHIN}
   and superseded_by <> ''
 order by created_at desc, rowid desc
 limit :limit
"""

_SUPERSEDED_AMONG = """
select id
  from memories
 where id in (select value from json_each(:ids))
   and superseded_by <> ''
"""

# By its identity alone it is found at once; the plus keeps SQLite from going by time instead.
_LIKE = f"""
{READ}
 where project_id = :project_id
   and worktree_id = :worktree_id
   and identity = :identity
   and scope = :scope
   and id <> :id
 order by +created_at
 limit 1
"""

_LAST = f"""
{READ}
 where project_id = :project_id
   and worktree_id = :worktree_id
   and scope = :scope
   and id <> :id
 order by created_at desc, rowid desc
 limit 1
"""

_ABOUT = f"""
{READ}
 where project_id = :project_id
   and worktree_id = :worktree_id
   and subject = :subject
   and subject <> x''
   and scope = :scope
   and id <> :id
   and superseded_by = ''
 order by +created_at desc, rowid desc
"""

_COUNT_FOUND = """
update memories
   set found    = found + 1,
       found_at = :at
 where id in (select value from json_each(:ids))
"""
