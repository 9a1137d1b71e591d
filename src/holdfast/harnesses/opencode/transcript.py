"""Transcript: the sessions in OpenCode's database, and in the files that it exports, as events.

All sessions share one database, which is never written to; a session's path is that of the database followed
by the session's id. A message and its parts change in place while they are written, so the cursor is a time:
what changed since then is read again, message by message in the order in which they were written. A subagent
is a session with a parent and is read with it. `messages` interprets the messages.
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
from holdfast.harnesses.opencode.messages import MessageContext, Row, read_message
from holdfast.lazy_dataclass import dataclass

_MAGIC: Final = b"SQLite format 3\0"
_NAME: Final = re.compile(r"\w[\w.-]*")


class _Place(msgspec.Struct):
    """How far a session was read. `until` is 0 between two reads, else the time up to which this one goes."""

    since: int = 0
    seen: list[str] = msgspec.field(default_factory=list[str])
    """What was read of that same millisecond."""
    until: int = 0
    after: tuple[int, str] = (-1, "")
    """The last message of this read so far."""
    noted: str = ""
    """The id of the to-do list that was reported last."""
    reached: MessageContext = msgspec.field(default_factory=MessageContext)


_CURSOR = msgspec.json.Decoder(_Place)


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """What changed in this session and its subagents since the cursor; of an export, all of it."""
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
        # Another version stores sessions differently, or a program has locked the file: the cursor stays.
        return Batch((), (Skipped(f"database: {error}", str(database)),), cursor, done=True)


def transcripts(folder: Path) -> Iterator[Path]:
    """The sessions in the databases of a folder, and the exports in it."""
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        if exports.is_export(path):
            yield path
        elif path.suffix == ".db" and _is_database(path):
            yield from (path / id for id in _ids(path))


def extent(path: Path) -> Extent | None:
    """How large a session is and when it last changed; None if there is none, or for a whole database."""
    if exports.is_export(path):
        return file_extent(path)
    if not is_row(path) or _unreadable(path.parent) is not None:
        return None
    try:
        with looking_into(path.parent) as connection:
            row = connection.execute(_EXTENT, {"session": path.name}).fetchone()
    except sqlite3.Error:
        return None
    return Extent(*row) if row else None


def session_of(path: Path) -> str:
    """The session at this path; for a whole database, the one that changed last."""
    if exports.is_export(path):
        return exports.session_of(path)
    if is_row(path):
        return path.name
    return next(iter(_ids(path)), "")


def forked_from(path: Path) -> Path | None:
    """The session that the one at this path was forked from; None if it is not a fork.

    A fork begins with a copy of messages under new ids: they keep only the time at which they were written,
    which is before the fork was made.
    """
    if not is_row(path) or _unreadable(path.parent) is not None:
        return None
    try:
        with looking_into(path.parent) as connection:
            origin = connection.execute(_ORIGIN, {"session": path.name}).fetchone()
    except sqlite3.Error:
        return None
    return path.parent / origin[0] if origin and _NAME.fullmatch(origin[0]) else None


def is_row(path: Path) -> bool:
    """Whether this is the path of a session in a database."""
    return path.parent.suffix == ".db"


def _ids(database: Path) -> list[str]:
    """The sessions in a database without subagents, the latest first; none if it cannot be read."""
    if _unreadable(database) is not None:
        return []
    try:
        with looking_into(database) as connection:
            return [id for (id,) in connection.execute(_SESSIONS) if _NAME.fullmatch(id)]
    except sqlite3.Error:
        return []


@dataclass(frozen=True, slots=True)
class _Session:
    """A session that is being read: the database, its id there, the ids of it and its subagents, its key."""

    database: sqlite3.Connection
    id: str
    family: str
    session: str


def _read(database: sqlite3.Connection, id: str, session: str, place: _Place, limit: int) -> Batch:
    # Everything is read in one transaction: what is written meanwhile belongs to the next read.
    database.execute("begin")
    family = [member for (member,) in database.execute(_FAMILY, {"session": id})]
    read_session = _Session(database, id, msgspec.json.encode(family).decode(), session)
    if not place.until:
        (newest,) = database.execute(_NEWEST, {"family": read_session.family}).fetchone()
        place.until = max(newest or 0, place.since)
    events: list[Event] = []
    skipped: list[Skipped] = []
    done = True
    for message, parts, frame in _changed(read_session, place):
        if limit <= 0:
            done = False
            break
        whole = read_message(message, parts, frame, place.reached)
        events += whole.events
        skipped += whole.skipped
        place.after = (frame.at, message.id)
        limit -= len(message.content) + sum(len(part.content) for part in parts)
    if done:
        events += _todos(read_session, place)
        _finish(read_session, place)
    row = database.execute(_FOLDER, {"session": id}).fetchone()
    cwd = row[0] if row and row[0] else place.reached.cwd
    return Batch(tuple(events), tuple(skipped), msgspec.json.encode(place).decode(), done, cwd)


def _changed(read_session: _Session, place: _Place) -> Iterator[tuple[Row, list[Row], Frame]]:
    """The messages that changed, each with its parts and a frame of who wrote it and when."""
    at, id = place.after
    seen_ids = msgspec.json.encode(place.seen).decode()
    parameters = {"family": read_session.family, "since": place.since, "seen": seen_ids, "at": at, "id": id}
    for id, data, at, owner in read_session.database.execute(_CHANGED, parameters):
        parts = [Row(*row) for row in read_session.database.execute(_PARTS, {"message": id})]
        agent = MAIN if owner == read_session.id else owner
        yield Row(id, data), parts, Frame(read_session.session, id, at, agent)


def _todos(read_session: _Session, place: _Place) -> list[Event]:
    """The latest to-do list; a version without that table has it only in the calls."""
    try:
        rows = read_session.database.execute(_TODOS, {"session": read_session.id}).fetchall()
    except sqlite3.OperationalError:
        return []
    at = max((changed_at for _, _, changed_at in rows), default=0)
    frame = Frame(read_session.session, f"todo/{read_session.id}/{at}", at)
    if at < place.since or frame.record in place.seen or not rows:
        return []
    place.until = max(place.until, at)
    place.noted = frame.record
    todos = tuple(Todo(str(content), str(status)) for content, status, _ in rows)
    return [TodosChanged(**frame.common(Origin.ASSISTANT), todos=todos)]


def _finish(read_session: _Session, place: _Place) -> None:
    """Make the next read begin where this one ended."""
    newest_ids = read_session.database.execute(_SEEN, {"family": read_session.family, "until": place.until})
    place.seen = [place.noted, *(id for (id,) in newest_ids)]
    place.since, place.until, place.after = place.until, 0, (-1, "")


def _unreadable(path: Path) -> Skipped | None:
    """Why a file is not read; the reason is empty if it is missing or not written yet. None if it is read."""
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
# If several sessions hold the same messages, the first is the origin: the others are forks like this one.
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
# A session with all subagents below it, at any depth.
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
