"""Transcript: the sessions in OpenCode's database, and in the files that it exports, as events.

All sessions share one database, which is never written to; each goes by a path of its own, that of the
database and behind it the session's id. A message and its parts change in place while they
are written, so the cursor is a time: what was changed since then is read again, message by message in the
order in which they were written. A subagent is a session with a parent and is read with it. What the messages
tell is in `messages`.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from holdfast.core.events.event import MAIN, Event, Origin, Skipped, Todo, TodosChanged
from holdfast.harnesses.base import Batch, Extent, file_extent
from holdfast.harnesses.databases import looking_into
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.opencode import exports
from holdfast.harnesses.opencode.messages import MessageContext, Row, told
from holdfast.lazy_dataclass import dataclass

_MAGIC: Final = b"SQLite format 3\0"
_NAME: Final = re.compile(r"\w[\w.-]*")


class _Place(msgspec.Struct):
    """How far a reading came. `until` is 0 between two readings, else up to when the present one looks."""

    since: int = 0
    seen: list[str] = msgspec.field(default_factory=list[str])
    """What was read of that very millisecond."""
    until: int = 0
    after: tuple[int, str] = (-1, "")
    """The message up to which the present reading came."""
    noted: str = ""
    """Which list of what is to be done was told last."""
    reached: MessageContext = msgspec.field(default_factory=MessageContext)


_CURSOR = msgspec.json.Decoder(_Place)


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """What was changed behind the cursor of this session and its subagents; of an export, all of it."""
    if exports.is_export(path):
        return exports.read(path, session, cursor)
    database, id = (path.parent, path.name) if is_row(path) else (path, session)
    unreadable = _unreadable(database)
    if unreadable is not None:
        return Batch((), (unreadable,) if unreadable.reason else (), cursor, done=True)
    try:
        with looking_into(database) as connection:
            return _read(connection, id, session, _parsed(cursor), limit)
    except sqlite3.Error as error:
        # Another version keeps its sessions otherwise, or a program is at work in the file: as it was before.
        return Batch((), (Skipped(f"database: {error}", str(database)),), cursor, done=True)


def transcripts(folder: Path) -> Iterator[Path]:
    """The sessions in the databases of a folder, and what was exported into it."""
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        if exports.is_export(path):
            yield path
        elif path.suffix == ".db" and _is_database(path):
            yield from (path / id for id in _ids(path))


def extent(path: Path) -> Extent | None:
    """How large a session is and when it last changed; None if there is none, or a database with many."""
    if exports.is_export(path):
        return file_extent(path)
    if not is_row(path) or _unreadable(path.parent) is not None:
        return None
    try:
        with looking_into(path.parent) as connection:
            found = connection.execute(_EXTENT, {"session": path.name}).fetchone()
    except sqlite3.Error:
        return None
    return Extent(*found) if found else None


def session_of(path: Path) -> str:
    """The session at this path; of a database, the one that changed last."""
    if exports.is_export(path):
        return exports.session_of(path)
    if is_row(path):
        return path.name
    return next(iter(_ids(path)), "")


def forked_from(path: Path) -> Path | None:
    """The session that the one at this path was forked from; None if it is no fork.

    A fork begins with a copy of messages under new ids: all that they keep is when they were written, and
    that is before the fork itself was made.
    """
    if not is_row(path) or _unreadable(path.parent) is not None:
        return None
    try:
        with looking_into(path.parent) as connection:
            found = connection.execute(_ORIGIN, {"session": path.name}).fetchone()
    except sqlite3.Error:
        return None
    return path.parent / found[0] if found and _NAME.fullmatch(found[0]) else None


def is_row(path: Path) -> bool:
    """Whether this is the path of a session in a database."""
    return path.parent.suffix == ".db"


def _ids(database: Path) -> list[str]:
    """The sessions of people in a database, the latest first; none where it cannot be read."""
    if _unreadable(database) is not None:
        return []
    try:
        with looking_into(database) as connection:
            return [id for (id,) in connection.execute(_SESSIONS) if _NAME.fullmatch(id)]
    except sqlite3.Error:
        return []


@dataclass(frozen=True, slots=True)
class _Looked:
    """A session that is being read: the database, its id there, those of all that are part of it, its key."""

    database: sqlite3.Connection
    id: str
    family: str
    session: str


def _read(database: sqlite3.Connection, id: str, session: str, place: _Place, limit: int) -> Batch:
    # Everything is read in one transaction: what is written meanwhile belongs to the next reading.
    database.execute("begin")
    family = [each for (each,) in database.execute(_FAMILY, {"session": id})]
    looked = _Looked(database, id, msgspec.json.encode(family).decode(), session)
    if not place.until:
        (newest,) = database.execute(_NEWEST, {"family": looked.family}).fetchone()
        place.until = max(newest or 0, place.since)
    events: list[Event] = []
    skipped: list[Skipped] = []
    done = True
    for message, parts, frame in _changed(looked, place):
        if limit <= 0:
            done = False
            break
        whole = told(message, parts, frame, place.reached)
        events += whole.events
        skipped += whole.skipped
        place.after = (frame.at, message.id)
        limit -= len(message.content) + sum(len(part.content) for part in parts)
    if done:
        events += _todos(looked, place)
        _finish(looked, place)
    row = database.execute(_FOLDER, {"session": id}).fetchone()
    cwd = row[0] if row and row[0] else place.reached.cwd
    return Batch(tuple(events), tuple(skipped), msgspec.json.encode(place).decode(), done, cwd)


def _changed(looked: _Looked, place: _Place) -> Iterator[tuple[Row, list[Row], Frame]]:
    """The messages of which something is new, each with its parts, and by whom and when it was written."""
    at, id = place.after
    seen = msgspec.json.encode(place.seen).decode()
    wanted = {"family": looked.family, "since": place.since, "seen": seen, "at": at, "id": id}
    for id, data, at, owner in looked.database.execute(_CHANGED, wanted):
        parts = [Row(*row) for row in looked.database.execute(_PARTS, {"message": id})]
        agent = MAIN if owner == looked.id else owner
        yield Row(id, data), parts, Frame(looked.session, id, at, agent)


def _todos(looked: _Looked, place: _Place) -> list[Event]:
    """What is to be done, as it was last noted; a version without that table keeps it in the calls alone."""
    try:
        rows = looked.database.execute(_TODOS, {"session": looked.id}).fetchall()
    except sqlite3.OperationalError:
        return []
    at = max((changed for _, _, changed in rows), default=0)
    frame = Frame(looked.session, f"todo/{looked.id}/{at}", at)
    if at < place.since or frame.record in place.seen or not rows:
        return []
    place.until = max(place.until, at)
    place.noted = frame.record
    todos = tuple(Todo(str(content), str(status)) for content, status, _ in rows)
    return [TodosChanged(**frame.told(Origin.ASSISTANT), todos=todos)]


def _finish(looked: _Looked, place: _Place) -> None:
    """Begin the next reading where this one ended."""
    known = looked.database.execute(_SEEN, {"family": looked.family, "until": place.until})
    place.seen = [place.noted, *(id for (id,) in known)]
    place.since, place.until, place.after = place.until, 0, (-1, "")


def _unreadable(path: Path) -> Skipped | None:
    """Why a file is not read; without a reason where it is not there, or is not written yet."""
    try:
        mode = os.lstat(path).st_mode
    except OSError:
        return Skipped("")
    if not stat.S_ISREG(mode):
        return Skipped("not a regular file", str(path))
    return None if _is_database(path) else Skipped("not a database", str(path))


def _is_database(path: Path) -> bool:
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return False
        with path.open("rb") as file:
            return file.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def _parsed(cursor: str) -> _Place:
    try:
        return _CURSOR.decode(cursor)
    except (ValueError, RecursionError):
        return _Place()


_SESSIONS: Final = """
select id
  from session
 where parent_id is null
 order by time_updated desc, id
"""
# Of several that hold the same messages it is the first: the others are forks like this one.
_ORIGIN: Final = """
select origin.id
  from session as fork
 cross join message as copy on copy.session_id = fork.id and copy.time_created < fork.time_created
  join message as written on written.time_created = copy.time_created
  join session as origin on origin.id = written.session_id
 where fork.id = :session
   and origin.time_created < fork.time_created
   and origin.parent_id is null
 group by origin.id
 order by count(*) desc, origin.time_created, origin.id
 limit 1
"""
_EXTENT: Final = """
select coalesce((select sum(length(data)) from part where session_id = session.id), 0), time_updated
  from session
 where id = :session
"""
# A session with all that its agents started, however deep.
_FAMILY: Final = """
with recursive family (id) as (
  select :session
  union
  select session.id from session join family on session.parent_id = family.id
)
select id from family
"""
_NEWEST: Final = """
select max(changed)
  from (select max(time_updated) as changed
          from message
         where session_id in (select value from json_each(:family))
         union all
        select max(time_updated)
          from part
         where session_id in (select value from json_each(:family)))
"""
_CHANGED: Final = """
select message.id, cast(message.data as blob), message.time_created, message.session_id
  from message
 where message.session_id in (select value from json_each(:family))
   and (message.time_created, message.id) > (:at, :id)
   and (message.time_updated > :since
        or (message.time_updated = :since and message.id not in (select value from json_each(:seen)))
        or exists (select 1
                     from part
                    where part.message_id = message.id
                      and (part.time_updated > :since
                           or (part.time_updated = :since
                               and part.id not in (select value from json_each(:seen))))))
 order by message.time_created, message.id
"""
_PARTS: Final = """
select id, cast(data as blob)
  from part
 where message_id = :message
 order by id
"""
_SEEN: Final = """
select id
  from message
 where session_id in (select value from json_each(:family))
   and time_updated = :until
 union all
select id
  from part
 where session_id in (select value from json_each(:family))
   and time_updated = :until
"""
_TODOS: Final = """
select content, status, time_updated
  from todo
 where session_id = :session
 order by position
"""
_FOLDER: Final = """
select directory
  from session
 where id = :session
"""
