"""Sessions and sites in SQL: the state of each session, which continues which, and where projects are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from holdfast.core.events.identity import Marks, Site
from holdfast.core.session.session import Phase, Process, Session
from holdfast.core.sharing.identity import SharedName
from holdfast.stores.base import UNREDACTED, Lineage
from holdfast.stores.codec import decode_session, decode_texts, encode_session, encode_texts
from holdfast.stores.sql.database import Bindings, Row, SqlDatabase


class Sessions:
    """The tables `sessions` and `lineage`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database
        self._decoded = DecodedSessions()

    def session(self, key: str) -> Session | None:
        row = self._database.row(_SESSION, {"key": key})
        return self._decoded.session(key, row[0]) if row else None

    def put_session(self, session: Session, redactor: str = "") -> None:
        columns = _columns(session)
        self._database.write(_PUT_SESSION, {**columns, "redactor": redactor, "nobody": UNREDACTED})
        self._decoded.keep(session, str(columns["metadata"]))

    def sessions(self, limit: int) -> list[Session]:
        return self._sessions(_SESSIONS, {"limit": limit})

    def sessions_of_project(self, project_id: str, since: int, limit: int) -> list[Session]:
        bindings: Bindings = {"project_id": project_id, "since": since, "limit": limit}
        return self._sessions(_SESSIONS_OF_PROJECT, bindings)

    def sessions_of_process(self, process: Process, limit: int) -> list[Session]:
        bindings: Bindings = {"pid": process.pid, "pid_start": process.start, "limit": limit}
        return self._sessions(_SESSIONS_OF_PROCESS, bindings)

    def live_sessions(self) -> list[Session]:
        return self._sessions(_LIVE_SESSIONS, {"live": Phase.LIVE.value})

    def live_transcripts(self) -> dict[str, str]:
        return dict(self._database.rows(_LIVE_TRANSCRIPTS, {"live": Phase.LIVE.value}))

    def prune_sessions(self, before: int, imported_before: int) -> int:
        bindings: Bindings = {"live": Phase.LIVE.value, "before": before, "imported_before": imported_before}
        over = self._database.rows(_OVER, bindings)
        for key, transcript in over:
            self._database.write(_DROP_SESSION, {"key": key, "transcript": transcript})
        return len(over)

    def add_lineage(self, lineage: Lineage) -> None:
        self._database.write(
            _ADD_LINEAGE,
            {"child": lineage.child, "parent": lineage.parent, "kind": lineage.kind, "at": lineage.at},
        )

    def lineage(self, child: str) -> Lineage | None:
        row = self._database.row(_LINEAGE, {"child": child})
        return Lineage(*row) if row else None

    def continued_by(self, parent: str) -> list[Lineage]:
        return [Lineage(*row) for row in self._database.rows(_CONTINUED_BY, {"parent": parent})]

    def _sessions(self, sql: str, bindings: Bindings) -> list[Session]:
        return [decode_session(metadata) for (metadata,) in self._database.rows(sql, bindings)]


class DecodedSessions:
    """The sessions that were read or written last, each beside its stored text.

    A row is read every time, and decoded unless its text is still the same, whoever wrote it. What is
    computed from a session's trail can be used again as long as the session is the same object.
    """

    def __init__(self) -> None:
        self._latest = dict[str, tuple[str, Session]]()

    def session(self, key: str, text: str) -> Session:
        """The session that a text says."""
        known = self._latest.get(key)
        if known and known[0] == text:
            return known[1]
        session = decode_session(text)
        self.keep(session, text)
        return session

    def keep(self, session: Session, text: str) -> None:
        """Keep a session as what its text says, in place of the one used longest ago."""
        self._latest.pop(session.key, None)
        # A text that cannot be stored is changed when it is encoded, so the session is not what it says.
        if _REPLACEMENT in text:
            return
        self._latest[session.key] = text, session
        if len(self._latest) > SESSIONS_DECODED:
            del self._latest[next(iter(self._latest))]


SESSIONS_DECODED: Final = 4
"""More than are at work at once; a long session takes a few megabytes."""
_REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"


def _columns(session: Session) -> Bindings:
    return {
        "key": session.key,
        "created_at": session.started_at,
        "updated_at": session.last_event_at,
        "metadata": encode_session(session),
        "harness": session.harness,
        "project": session.project.path,
        "project_id": session.project.project_id,
        "worktree_id": session.project.worktree_id,
        "phase": session.phase.value,
        "transcript": session.transcript,
        "pid": session.process.pid if session.process else None,
        "pid_start": session.process.start if session.process else None,
    }


_SESSION = """
select metadata
  from sessions
 where key = :key
"""

_PUT_SESSION = """
insert into sessions (
    key, created_at, updated_at, metadata, harness, project, project_id, worktree_id, phase, transcript,
    pid, pid_start, redactor
) values (
    :key, :created_at, :updated_at, :metadata, :harness, :project, :project_id, :worktree_id, :phase,
    :transcript, :pid, :pid_start, coalesce(nullif(:redactor, ''), :nobody)
)
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
       redactor    = case when :redactor in ('', sessions.redactor) then sessions.redactor else :nobody end
"""

_SESSIONS = """
select metadata
  from sessions
 order by updated_at desc, rowid desc
 limit :limit
"""

_SESSIONS_OF_PROJECT = """
select metadata
  from sessions
 where project_id = :project_id
   and updated_at >= :since
 order by updated_at desc, rowid desc
 limit :limit
"""

_SESSIONS_OF_PROCESS = """
select metadata
  from sessions
 where pid = :pid
   and pid_start = :pid_start
 order by updated_at desc, rowid desc
 limit :limit
"""

_LIVE_SESSIONS = """
select metadata
  from sessions
 where phase = :live
 order by updated_at desc, rowid desc
"""

_LIVE_TRANSCRIPTS = """
select key, transcript
  from sessions
 where phase = :live
 order by updated_at desc, rowid desc
"""

# A log that lives here and nowhere else goes only if someone says so.
_OVER = """
select key, transcript
  from sessions
 where phase <> :live
   and updated_at < :before
   and (updated_at < :imported_before or key not in (select session_key from imported_work))
   and not exists (select 1 from messages where session_key = sessions.key and origin = 'record')
"""

# Its checkpoints and what it said are not here: they outlive a session by rules of their own.
_DROP_SESSION = """
delete from messages  where session_key = :key;
delete from receipts  where session_key = :key;
delete from documents where session_key = :key and kind not in ('record', 'digest');
delete from lineage   where child = :key;
delete from cursors   where source = :transcript;
delete from sessions  where key = :key;
"""

_ADD_LINEAGE = """
insert into lineage (child, parent, kind, at)
values (:child, :parent, :kind, :at)
on conflict (child) do nothing
"""

_LINEAGE = """
select child, parent, kind, at
  from lineage
 where child = :child
"""

_CONTINUED_BY = """
select child, parent, kind, at
  from lineage
 where parent = :parent
 order by at, child
"""


class Sites:
    """The tables `sites` and `shared_names`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def sites(self) -> list[Site]:
        return self._sites(_SITES, {})

    def sites_at(self, location: str) -> list[Site]:
        return self._sites(_SITES_AT, {"location": location})

    def sites_of(self, project_id: str) -> list[Site]:
        return self._sites(_SITES_OF, {"project_id": project_id})

    def sites_around(self, paths: Sequence[str]) -> list[Site]:
        return self._sites(_SITES_AROUND, {"paths": encode_texts(tuple(paths))})

    def sites_like(self, inode: str, first_entry: str) -> list[Site]:
        return self._sites(_SITES_LIKE, {"inode": inode, "first_entry": first_entry})

    def put_site(self, site: Site) -> None:
        columns = {**asdict(site), **asdict(site.marks), "remotes": encode_texts(site.marks.remotes)}
        columns["is_git"] = int(site.is_git)
        del columns["marks"]
        self._database.write(_PUT_SITE, columns)

    def forget_sites(self, project_id: str) -> int:
        self._database.write(_FORGET_SHARED_NAMES, {"project_id": project_id})
        return self._database.write(_FORGET_SITES, {"project_id": project_id})

    def prune_sites(self, before: int) -> int:
        count = self._database.write(_PRUNE_SITES, {"before": before})
        self._database.write(_PRUNE_SHARED_NAMES, {"before": before})
        return count

    def put_shared_name(self, name: SharedName) -> None:
        self._database.write(_PUT_SHARED_NAME, {**asdict(name), "is_bound": int(name.is_bound)})

    def shared_names(self, project_id: str) -> list[SharedName]:
        rows = self._database.rows(_SHARED_NAMES, {"project_id": project_id})
        return [
            SharedName(project_id, name, first_seen_at, last_seen_at, is_bound=bool(is_bound))
            for name, is_bound, first_seen_at, last_seen_at in rows
        ]

    def projects_named(self, name: str) -> list[str]:
        return [str(id) for (id,) in self._database.rows(_PROJECTS_NAMED, {"name": name})]

    def drop_shared_name(self, project_id: str, name: str) -> bool:
        return self._database.write(_DROP_SHARED_NAME, {"project_id": project_id, "name": name}) > 0

    def _sites(self, sql: str, bindings: Bindings) -> list[Site]:
        return [_site_of(row) for row in self._database.rows(sql, bindings)]


def _site_of(row: Row) -> Site:
    project_id, location, anchor, root, is_git, *marks, first_seen_at, last_seen_at, left_at, moved_from = row
    device, inode, born, first_entry, began_at, remotes = marks
    return Site(
        project_id,
        location,
        anchor,
        root,
        bool(is_git),
        Marks(device, inode, born, first_entry, began_at, decode_texts(remotes)),
        first_seen_at,
        last_seen_at,
        left_at,
        moved_from,
    )


_READ = """
select project_id, location, anchor, root, is_git, device, inode, born, first_entry, began_at, remotes,
       first_seen_at, last_seen_at, left_at, moved_from
  from sites
"""

# The current ones before those that were left, the latest of each first.
_ORDER = " order by left_at > 0, left_at desc, last_seen_at desc, location, project_id"

_SITES = f"{_READ}{_ORDER}"

_SITES_AT = f"{_READ} where location = :location{_ORDER}"

_SITES_OF = f"{_READ} where project_id = :project_id{_ORDER}"

_ONE_OF_THEM = "in (select value from json_each(:paths))"

_SITES_AROUND = f"""{_READ}
 where location {_ONE_OF_THEM}
    or root {_ONE_OF_THEM}
{_ORDER}
"""

_SITES_LIKE = f"""{_READ}
 where (inode = :inode and :inode <> '')
    or (first_entry = :first_entry and first_entry <> '')
{_ORDER}
"""

_PUT_SITE = """
insert into sites (
    location, project_id, anchor, root, is_git, device, inode, born, first_entry, began_at, remotes,
    first_seen_at, last_seen_at, left_at, moved_from
) values (
    :location, :project_id, :anchor, :root, :is_git, :device, :inode, :born, :first_entry, :began_at,
    :remotes, :first_seen_at, :last_seen_at, :left_at, :moved_from
)
on conflict (location, project_id) do update
   set anchor        = excluded.anchor,
       root          = excluded.root,
       is_git        = excluded.is_git,
       device        = excluded.device,
       inode         = excluded.inode,
       born          = excluded.born,
       first_entry   = excluded.first_entry,
       began_at      = excluded.began_at,
       remotes       = excluded.remotes,
       first_seen_at = excluded.first_seen_at,
       last_seen_at  = excluded.last_seen_at,
       left_at       = excluded.left_at,
       moved_from    = excluded.moved_from
"""

_FORGET_SITES = """
delete from sites
 where project_id = :project_id
"""

_PRUNE_SITES = """
delete from sites
 where last_seen_at < :before
   and not exists (select 1 from sessions where sessions.project_id = sites.project_id)
   and not exists (select 1 from session_checkpoints where session_checkpoints.project_id = sites.project_id)
   and not exists (select 1 from memories where memories.project_id = sites.project_id)
   and not exists (select 1 from documents where documents.project_id = sites.project_id)
"""

_PRUNE_SHARED_NAMES = """
delete from shared_names
 where last_seen_at < :before
   and project_id not in (
       select project_id from sites
        union all select project_id from sessions
        union all select project_id from session_checkpoints
        union all select project_id from memories
        union all select project_id from documents
       )
"""

_PUT_SHARED_NAME = """
insert into shared_names (project_id, name, is_bound, first_seen_at, last_seen_at)
values (:project_id, :name, :is_bound, :first_seen_at, :last_seen_at)
on conflict (project_id, name) do update
   set is_bound     = excluded.is_bound,
       last_seen_at = case
                        when excluded.last_seen_at > shared_names.last_seen_at then excluded.last_seen_at
                        else shared_names.last_seen_at
                      end
"""

_SHARED_NAMES = """
select name, is_bound, first_seen_at, last_seen_at
  from shared_names
 where project_id = :project_id
 order by is_bound desc, last_seen_at desc, name
"""

_PROJECTS_NAMED = """
select project_id
  from shared_names
 where name = :name
 order by project_id
"""

_DROP_SHARED_NAME = """
delete from shared_names
 where project_id = :project_id
   and name = :name
"""

_FORGET_SHARED_NAMES = """
delete from shared_names
 where project_id = :project_id
"""
