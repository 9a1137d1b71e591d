"""File edits in SQL, which session changed which file and why, and the work of imported sessions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields

from holdfast.core.events.event import Action
from holdfast.core.evidence.file_edits import CallSettled, EditUpdate, FileEdit, FileExplained
from holdfast.stores.base import UNREDACTED, ChangedFile
from holdfast.stores.codec import clean, decode_name, encode_texts
from holdfast.stores.sql.database import Bindings, Row, SqlDatabase


class FileEdits:
    """The tables `file_edits` and `imported_work`."""

    def __init__(self, database: SqlDatabase) -> None:
        self._database = database

    def update_file_edits(
        self, session: str, updates: Sequence[EditUpdate], redactor: str = UNREDACTED
    ) -> None:
        for update in updates:
            match update:
                case FileEdit():
                    self._database.write(_ADD, {**_columns(update), "redactor": redactor})
                case CallSettled(call=call, ok=ok):
                    self._database.write(_DONE if ok else _UNDONE, {"session": session, "call": call})
                case FileExplained(path=path, since=since, until=until, reason=reason):
                    self._database.write(
                        _EXPLAIN,
                        {
                            "session": session,
                            "path": path,
                            "since": since,
                            "until": until,
                            "reason": reason.text,
                            "strength": reason.strength,
                            "redactor": redactor,
                            "nobody": UNREDACTED,
                        },
                    )

    def file_edits(self, project_id: str, paths: Sequence[str], limit: int) -> list[FileEdit]:
        bindings: Bindings = {"project_id": project_id, "paths": encode_texts(tuple(paths)), "limit": limit}
        return [_edit_of(row) for row in self._database.rows(_EDITS, bindings)]

    def renames_to(self, project_id: str, paths: Sequence[str]) -> list[FileEdit]:
        bindings: Bindings = {"project_id": project_id, "paths": encode_texts(tuple(paths))}
        return [_edit_of(row) for row in self._database.rows(_RENAMES, bindings)]

    def edited_files(self, project_id: str, limit: int) -> list[ChangedFile]:
        rows = self._database.rows(_FILES, {"project_id": project_id, "limit": limit})
        return [ChangedFile(*row) for row in rows]

    def prune_file_edits(self, before: int, limit: int) -> int:
        return self._database.write(_PRUNE, {"before": before, "limit": limit})

    def put_imported_work(self, session: str, at: int, extent: str) -> None:
        self._database.write(_PUT_WORK, {"session": session, "at": at, "extent": extent})

    def imported_work(self, session: str) -> str | None:
        row = self._database.row(_WORK, {"session": session})
        return str(row[0]) if row else None

    def waiting_imports(self, limit: int) -> list[str]:
        return [str(key) for (key,) in self._database.rows(_WAITING, {"limit": limit})]

    def drop_imported_work(self, session: str) -> None:
        self._database.write("delete from imported_work where session_key = :session", {"session": session})


def _columns(edit: FileEdit) -> Bindings:
    edit = clean(edit)
    columns = {field.name: getattr(edit, field.name) for field in fields(edit)}
    return {**columns, "action": edit.action.value, "done": int(edit.done)}


def _edit_of(row: Row) -> FileEdit:
    *known, action, at, agent, renamed_to, asked, asked_at, reason, strength, marks, done = row
    session, record, path, project_id, call = map(str, known)
    return FileEdit(
        session,
        record,
        path,
        project_id,
        call,
        decode_name(Action, action),
        at,
        agent,
        renamed_to,
        asked,
        asked_at,
        reason,
        strength,
        bytes(marks),
        bool(done),
    )


# The same call again changes nothing but what is known better now: that it is done, or what it wrote.
_ADD = """
insert into file_edits (
    session_key, record_id, path, project_id, call, action, at, agent, renamed_to, asked_at, strength, done,
    marks, redactor, asked, reason
) values (
    :session, :record, :path, :project_id, :call, :action, :at, :agent, :renamed_to, :asked_at, :strength,
    :done, :marks, :redactor, :asked, :reason
)
on conflict (session_key, record_id, path) do update
   set project_id = excluded.project_id,
       action     = excluded.action,
       renamed_to = excluded.renamed_to,
       at         = excluded.at,
       asked_at   = excluded.asked_at,
       done       = case when excluded.done > file_edits.done then excluded.done else file_edits.done end,
       marks      = case when length(excluded.marks) > 0 then excluded.marks else file_edits.marks end,
       asked      = excluded.asked,
       reason     = case
                      when excluded.strength >= file_edits.strength then excluded.reason
                      else file_edits.reason
                    end,
       strength   = case
                      when excluded.strength > file_edits.strength then excluded.strength
                      else file_edits.strength
                    end,
       redactor   = case when excluded.redactor = file_edits.redactor then file_edits.redactor else '0' end
"""

_DONE = """
update file_edits
   set done = 1
 where session_key = :session
   and call = :call
   and done = 0
"""

_UNDONE = """
delete from file_edits
 where session_key = :session
   and call = :call
   and done = 0
"""

_EXPLAIN = """
update file_edits
   set reason   = :reason,
       strength = :strength,
       redactor = case when :redactor = redactor then redactor else :nobody end
 where session_key = :session
   and :path in (path, renamed_to)
   and at between :since and :until
   and strength < :strength
"""

_READ = """
select session_key, record_id, path, project_id, call, action, at, agent, renamed_to, asked, asked_at, reason,
       strength, marks, done
  from file_edits
"""

_EDITS = f"""{_READ}
 where project_id = :project_id
   and path in (select value from json_each(:paths))
   and done = 1
 order by at desc, number desc
 limit :limit
"""  # noqa: S608 - all parts are ours

_RENAMES = f"""{_READ}
 where project_id = :project_id
   and renamed_to in (select value from json_each(:paths))
   and renamed_to <> ''
   and done = 1
 order by at desc, number desc
"""  # noqa: S608 - all parts are ours

_FILES = """
select path, max(at), count(distinct session_key)
  from file_edits
 where project_id = :project_id
   and done = 1
 group by path
 order by 2 desc, path
 limit :limit
"""

_PRUNE = """
delete from file_edits
 where number in (
       select number
         from file_edits
        where at < :before
        order by at
        limit :limit
       )
"""

_PUT_WORK = """
insert into imported_work (session_key, at, extent)
values (:session, :at, :extent)
on conflict (session_key) do update
   set at     = excluded.at,
       extent = excluded.extent
"""

_WORK = """
select extent
  from imported_work
 where session_key = :session
"""

_WAITING = """
select session_key
  from imported_work
 where extent = ''
 order by at desc, session_key
 limit :limit
"""
