"""Merge: add the rows of another sound database to the one in use, some at a time.

Existing rows stay unless the other database has a later state, and what was forgotten is not brought back.
Each step is a transaction, and repeating it changes nothing: a process that was killed half-way starts again.
Memories are merged by `engine.upkeep.recover_store`, which knows what two of them may not both say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, TypeAlias, cast

from holdfast.lazy_dataclass import dataclass
from holdfast.stores.codec import hashed
from holdfast.stores.sqlite.database import Database, translated

_Define: TypeAlias = Callable[..., None]
"""apsw writes its own types for a newer Python than our oldest."""

ROWS_AT_ONCE: Final = 500
"""How many rows one transaction takes on: a hook that comes meanwhile waits for some tens of milliseconds."""


@dataclass(frozen=True, slots=True)
class LostSession:
    """A session of which only its events are left, with what its checkpoints and passages say of it."""

    key: str
    first_at: int
    last_at: int
    harness: str
    project: str
    normalized: str
    project_id: str
    worktree_id: str


class StoreMerge:
    """A connection to the store in use, with the other database attached to it."""

    def __init__(self, path: Path, other: Path) -> None:
        self._database = Database(path)
        self._database.configure()
        with translated(path):
            define = cast("_Define", self._database.connection.create_scalar_function)  # pyright: ignore[reportUnknownMemberType]
            define("name_hash", hashed, 1, deterministic=True)
        self._database.rows("attach database :other as other", {"other": str(other)})

    def close(self) -> None:
        self._database.close()

    def rows(self, table: str) -> int:
        """How many rows of that table the other has."""
        row = self._database.row(f"select count(*) from other.{table}")  # noqa: S608 - the names are ours
        return int(row[0]) if row else 0

    def is_forgotten(self, name: str, at: int) -> bool:
        """Whether what has this name and is from then was forgotten."""
        return bool(self._database.row(_IS_FORGOTTEN, {"name": name, "at": at}))

    def add(self, table: str) -> Iterator[tuple[int, int]]:
        """Add a table's rows step by step: how many were looked at in the step, and how many were added."""
        if table in _WHOLE:
            with self._database.writing():
                added = self._database.write(_WHOLE[table], {})
            yield self.rows(table), added
            return
        after, row_count = None, 0
        while True:
            step = self._database.row(
                f"select max(rowid), count(*) from (select rowid from other.{table}"  # noqa: S608 - ours
                " where :after is null or rowid > :after order by rowid limit :limit)",
                {"after": after, "limit": ROWS_AT_ONCE},
            )
            if step is None or not step[1]:
                return
            last, row_count = step
            with self._database.writing():
                added = self._database.write(_BY_STEPS[table], {"after": after, "last": last})
            yield row_count, added
            after = last

    def lost_sessions(self) -> list[LostSession]:
        """The sessions of events that belong to none in either database."""
        return [LostSession(*row) for row in self._database.rows(_LOST_SESSIONS)]

    def checkpoints_to_find(self) -> list[str]:
        """The ids of added checkpoints whose document was lost."""
        return [str(id) for (id,) in self._database.rows(_CHECKPOINTS_TO_FIND)]

    def keep_passages(self) -> None:
        """Do not index anew what has passages but no note how far: some of its events may be lost."""
        with self._database.writing():
            self._database.write(_KEEP_PASSAGES, {})


_IS_FORGOTTEN = """
select true
  from forgotten
 where name = name_hash(:name)
   and at >= :at
"""

_FORGOTTEN = """
not exists (
       select true
         from main.forgotten
        where name in ({names})
          and at >= {at}
       )
"""
_STEP = "(:after is null or other.{table}.rowid > :after) and other.{table}.rowid <= :last"


def _names(*columns: str) -> str:
    return ", ".join(f"name_hash({column})" for column in columns)


_SESSIONS = f"""
insert into main.sessions (
    key, created_at, updated_at, metadata, harness, project, project_id, worktree_id, phase, transcript,
    pid, pid_start, redactor
)
select key, created_at, updated_at, metadata, harness, project, project_id, worktree_id, phase, transcript,
       pid, pid_start, redactor
  from other.sessions
 where {_STEP.format(table="sessions")}
   and {_FORGOTTEN.format(names=_names("key"), at="updated_at")}
 order by rowid
on conflict (key) do update
   set created_at  = excluded.created_at,
       updated_at  = excluded.updated_at,
       metadata    = excluded.metadata,
       harness     = excluded.harness,
       project     = excluded.project,
       project_id  = excluded.project_id,
       worktree_id = excluded.worktree_id,
       phase       = excluded.phase,
       transcript  = excluded.transcript,
       pid         = excluded.pid,
       pid_start   = excluded.pid_start,
       redactor    = excluded.redactor
 where excluded.updated_at > sessions.updated_at
"""  # noqa: S608 - all parts are ours

_CREATED = "cast(round(unixepoch(created_at, 'subsec') * 1000) as integer)"

_CHECKPOINTS = f"""
insert into main.session_checkpoints (
    id, session_key, harness, project, project_normalized, trigger, digest, prompt_count, memory_queries,
    recent_remembers, created_at, project_id, worktree_id, window, words, outline, redactor
)
select id, session_key, harness, project, project_normalized, trigger, digest, prompt_count, memory_queries,
       recent_remembers, created_at, project_id, worktree_id, window, words, outline, redactor
  from other.session_checkpoints
 where {_STEP.format(table="session_checkpoints")}
   and {_FORGOTTEN.format(names=_names("id", "session_key"), at=_CREATED)}
 order by rowid
on conflict do nothing
"""  # noqa: S608 - all parts are ours

_RECEIPTS = f"""
insert into main.receipts (
    id, session_key, window, reason, predecessor, created_at, budget, text, items, redactor
)
select id, session_key, window, reason, predecessor, created_at, budget, text, items, redactor
  from other.receipts
 where {_STEP.format(table="receipts")}
   and {_FORGOTTEN.format(names=_names("id", "session_key", "predecessor"), at="created_at")}
 order by rowid
on conflict do nothing
"""  # noqa: S608 - all parts are ours

# Their vectors are made anew. The document of a memory comes with the memory.
_DOCUMENTS = f"""
insert into main.documents (
    id, kind, project_id, worktree_id, session_key, at, place, vectored, redactor, source, text
)
select id, kind, project_id, worktree_id, session_key, at, place, 0, redactor, source, text
  from other.documents
 where {_STEP.format(table="documents")}
   and kind <> 'memory'
   and (kind <> 'checkpoint' or id in (select id from main.session_checkpoints))
   and {_FORGOTTEN.format(names=_names("id", "session_key"), at="other.documents.at")}
 order by rowid
on conflict do nothing
"""  # noqa: S608 - all parts are ours

_MESSAGES = f"""
insert into main.messages (
    id, session_key, parent_id, type, timestamp, data, record_id, revision, agent, origin, redactor
)
select id, session_key, parent_id, type, timestamp, data, record_id, revision, agent, origin, redactor
  from other.messages
 where {_STEP.format(table="messages")}
   and session_key in (select key from main.sessions)
   and {_FORGOTTEN.format(names=_names("session_key"), at="timestamp")}
 order by rowid
on conflict (id) do update
   set parent_id = excluded.parent_id,
       type      = excluded.type,
       timestamp = excluded.timestamp,
       data      = excluded.data,
       revision  = excluded.revision,
       agent     = excluded.agent,
       origin    = excluded.origin,
       redactor  = excluded.redactor
 where excluded.revision > messages.revision
on conflict do nothing
"""  # noqa: S608 - all parts are ours

_FILE_EDITS = f"""
insert into main.file_edits (
    session_key, record_id, path, project_id, call, action, at, agent, renamed_to, asked_at, strength, done,
    marks, redactor, asked, reason
)
select session_key, record_id, path, project_id, call, action, at, agent, renamed_to, asked_at, strength,
       done, marks, redactor, asked, reason
  from other.file_edits
 where {_STEP.format(table="file_edits")}
   and {_FORGOTTEN.format(names=_names("session_key"), at="other.file_edits.at")}
 order by rowid
on conflict do nothing
"""  # noqa: S608 - all parts are ours

_BY_STEPS: Final = {
    "sessions": _SESSIONS,
    "session_checkpoints": _CHECKPOINTS,
    "receipts": _RECEIPTS,
    "documents": _DOCUMENTS,
    "messages": _MESSAGES,
    "file_edits": _FILE_EDITS,
}

# What was forgotten in either stays forgotten.
_TOMBSTONES = """
insert into main.forgotten (name, at, cursor)
select name, at, cursor
  from other.forgotten
 where true
on conflict (name) do update
   set at     = excluded.at,
       cursor = excluded.cursor
 where excluded.at > forgotten.at
"""

_LINEAGE = f"""
insert into main.lineage (child, parent, kind, at)
select child, parent, kind, at
  from other.lineage
 where {_FORGOTTEN.format(names=_names("child", "parent"), at="other.lineage.at")}
on conflict do nothing
"""  # noqa: S608 - all parts are ours

# A transcript whose session is lost is read from its beginning when the session goes on.
_CURSORS = f"""
insert into main.cursors (source, cursor)
select source, cursor
  from other.cursors
 where (exists (select true from main.sessions where 'index/' || key = source)
        or exists (select true from other.sessions where transcript = source))
   and {_FORGOTTEN.format(names=_names("source"), at="0")}
on conflict do nothing
"""  # noqa: S608 - all parts are ours

_SCORES = """
insert into main.session_scores
select *
  from other.session_scores
 where session_key in (select key from main.sessions)
on conflict do nothing
"""

_RECALLS = """
insert into main.recalls (session_key, document_id, at)
select session_key, document_id, at
  from other.recalls
 where session_key in (select key from main.sessions)
on conflict do nothing
"""

# Of a project of which nothing else is left, or that was forgotten, nobody asks where it was.
_SITES = """
insert into main.sites
select *
  from other.sites
 where project_id in (select project_id from main.sessions union select project_id from main.memories)
on conflict do nothing
"""

_SHARED_NAMES = """
insert into main.shared_names
select *
  from other.shared_names
 where project_id in (select project_id from main.sites)
on conflict do nothing
"""

_WORDINGS = """
insert into main.memory_wordings
select *
  from other.memory_wordings
 where memory_id in (select id from main.memories)
on conflict do nothing
"""

_WHOLE: Final = {
    "forgotten": _TOMBSTONES,
    "memory_wordings": _WORDINGS,
    "lineage": _LINEAGE,
    "cursors": _CURSORS,
    "session_scores": _SCORES,
    "recalls": _RECALLS,
    "sites": _SITES,
    "shared_names": _SHARED_NAMES,
}

_LOST_SESSIONS = f"""
select messages.session_key,
       min(messages.timestamp),
       max(messages.timestamp),
       coalesce(known.harness, (
           select harness from other.sessions group by 1 order by count(*) desc limit 1
       ), ''),
       coalesce(known.project, ''),
       coalesce(known.project_normalized, ''),
       coalesce(known.project_id, (
           select project_id from other.documents where session_key = messages.session_key limit 1
       ), ''),
       coalesce(known.worktree_id, '')
  from other.messages as messages
  left join other.session_checkpoints as known
    on known.rowid = (
       select max(rowid) from other.session_checkpoints where session_key = messages.session_key
       )
 where messages.session_key not in (select key from main.sessions)
   and messages.session_key not in (select key from other.sessions)
   and {_FORGOTTEN.format(names=_names("messages.session_key"), at="messages.timestamp")}
 group by messages.session_key
"""  # noqa: S608 - all parts are ours

_CHECKPOINTS_TO_FIND = """
select id
  from other.session_checkpoints
 where id in (select id from main.session_checkpoints)
   and id not in (select id from main.documents)
"""

_KEEP_PASSAGES = """
delete from main.unindexed
 where session_key in (select session_key from other.documents)
   and not exists (select true from main.cursors where source = 'index/' || session_key)
"""
