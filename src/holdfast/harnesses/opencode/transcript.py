"""Transcript: the sessions in OpenCode's database, and in the files that it exports, as events.

All sessions share one database, which is never written to; a session's path is that of the database followed
by the session's id. A message and its parts change in place while they are written, so the cursor is a time:
what changed since then is read again, message by message in the order in which they were written. A subagent
is a session with a parent and is read with it.
"""

from __future__ import annotations

import os
import re
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec

from holdfast.core.events.event import (
    MAIN,
    AssistantText,
    Compacted,
    CompactionSign,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    Skipped,
    Todo,
    TodosChanged,
    Usage,
)
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.base import Batch, Extent, file_extent
from holdfast.harnesses.databases import read_only_database
from holdfast.harnesses.fields import NOTHING, count, decoded, text_of
from holdfast.harnesses.opencode import tools
from holdfast.harnesses.opencode.records import INFO, PART, Info, Part, Span, Tokens
from holdfast.harnesses.record_events import Frame, title_event
from holdfast.lazy_dataclass import dataclass

_MAGIC: Final = b"SQLite format 3\0"
_NAME: Final = re.compile(r"\w[\w.-]*")


@dataclass(frozen=True, slots=True)
class Row:
    """A message or a part as it is stored: its id, and its JSON."""

    id: str
    content: bytes


class MessageContext(msgspec.Struct):
    """What later messages need to know of earlier ones."""

    model: str = ""
    newest: int = 0
    """When the latest message was written: an earlier one that is read again does not change the model."""
    trigger: str = ""
    """How the compaction was triggered whose summary comes next; empty if none was."""
    cwd: str = ""


@dataclass(frozen=True, slots=True)
class ReadMessage:
    """The events of a message, and what could not be read."""

    events: tuple[Event, ...]
    skipped: tuple[Skipped, ...]


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
    title: str = ""
    """The title that was reported last."""
    reached: MessageContext = msgspec.field(default_factory=MessageContext)


_CURSOR = msgspec.json.Decoder(_Place)


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """What changed in this session and its subagents since the cursor; of an export, all of it."""
    if is_export(path):
        return read_export(path, session, cursor)
    database, id = (path.parent, path.name) if is_row(path) else (path, session)
    unreadable = _unreadable(database)
    if unreadable is not None:
        return Batch((), (unreadable,) if unreadable.reason else (), cursor, done=True)
    try:
        with read_only_database(database) as connection:
            return _read(connection, id, session, _parsed(cursor), limit)
    except sqlite3.Error as error:
        # Another version stores sessions differently, or a program has locked the file: the cursor stays.
        return Batch((), (Skipped(f"database: {error}", str(database)),), cursor, done=True)


def transcripts(folder: Path) -> Iterator[Path]:
    """The sessions in the databases of a folder, and the exports in it."""
    for path in sorted(folder.glob("*")) if folder.is_dir() else ():
        if is_export(path):
            yield path
        elif path.suffix == ".db" and _is_database(path):
            yield from (path / id for id in _ids(path))


def extent(path: Path) -> Extent | None:
    """How large a session is and when it last changed; None if there is none, or for a whole database."""
    if is_export(path):
        return file_extent(path)
    if not is_row(path) or _unreadable(path.parent) is not None:
        return None
    try:
        with read_only_database(path.parent) as connection:
            row = connection.execute(_EXTENT, {"session": path.name}).fetchone()
    except sqlite3.Error:
        return None
    return Extent(*row) if row else None


def session_of(path: Path) -> str:
    """The session at this path; for a whole database, the one that changed last."""
    if is_export(path):
        return exported_session(path)
    if is_row(path):
        return path.name
    return next(iter(_ids(path)), "")


def earlier_transcripts(path: Path) -> tuple[Path, ...]:
    """The session that the one at this path was forked from; none if it is not a fork.

    A fork begins with a copy of messages under new ids: they keep only the time at which they were written,
    which is before the fork was made.
    """
    if not is_row(path) or _unreadable(path.parent) is not None:
        return ()
    try:
        with read_only_database(path.parent) as connection:
            origin = connection.execute(_ORIGIN, {"session": path.name}).fetchone()
    except sqlite3.Error:
        return ()
    return (path.parent / origin[0],) if origin and _NAME.fullmatch(origin[0]) else ()


def is_row(path: Path) -> bool:
    """Whether this is the path of a session in a database."""
    return path.parent.suffix == ".db"


def _ids(database: Path) -> list[str]:
    """The sessions in a database without subagents, the latest first; none if it cannot be read."""
    if _unreadable(database) is not None:
        return []
    try:
        with read_only_database(database) as connection:
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
        events += _title_events(read_session, place)
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


def _title_events(read_session: _Session, place: _Place) -> list[Event]:
    """The session's title, if it is another one; until the first answer it only says when it began."""
    row = read_session.database.execute(_TITLE, {"session": read_session.id}).fetchone()
    title = str(row[0] or "") if row else ""
    if not title or not place.until or title == place.title or _NO_TITLE.match(title):
        return []
    place.title = title
    return [title_event(read_session.session, title, place.until)]


_NO_TITLE: Final = re.compile(r"(?:New|Child) session - \d{4}-\d\d-\d\dT")


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


def read_message(message: Row, parts: Sequence[Row], frame: Frame, reached: MessageContext) -> ReadMessage:
    """Read a message. The frame's time is when it was written."""
    info = decoded(INFO, message.content, f"message {message.id}")
    if isinstance(info, Skipped):
        return ReadMessage((), (info,))
    reached.cwd = reached.cwd or info.cwd
    skipped: list[Skipped] = []
    readable_parts: list[tuple[str, Part]] = []
    for row in parts:
        part = decoded(PART, row.content, f"part {row.id}")
        if isinstance(part, Skipped):
            skipped.append(part)
        else:
            readable_parts.append((row.id, part))
    return ReadMessage(tuple(_events(info, readable_parts, frame, reached)), tuple(skipped))


def _events(
    info: Info, parts: Sequence[tuple[str, Part]], frame: Frame, reached: MessageContext
) -> Iterator[Event]:
    match info.role:
        case "user":
            yield from _prompted(parts, frame, reached)
        case "assistant" if info.is_summary:
            yield from _compacted(info, parts, frame, reached)
        case "assistant":
            yield from _answered(info, parts, frame, reached)
        case _:
            return


def _prompted(parts: Sequence[tuple[str, Part]], frame: Frame, reached: MessageContext) -> Iterator[Event]:
    begun = [part for _, part in parts if part.type == "compaction"]
    if begun and frame.is_main:
        reached.trigger = "auto" if begun[0].auto else "manual"
    words = typed_text(part for _, part in parts)
    # A subagent's task was written by the agent that started it.
    if words and frame.is_main:
        yield Prompt(**frame.common(Origin.HUMAN), text=words)


def typed_text(parts: Iterable[Part]) -> str:
    """What the user typed in a message; a program wrote the synthetic parts."""
    texts = (part.text or "" for part in parts if part.type == "text" and not part.synthetic)
    return "\n".join(filter(None, (without_injected_text(text).strip() for text in texts)))


def _compacted(
    info: Info, parts: Sequence[tuple[str, Part]], frame: Frame, reached: MessageContext
) -> Iterator[Event]:
    """The window was replaced by this summary; one that failed replaced nothing."""
    if not info.is_over or info.failed or not frame.is_main:
        return
    summary = "\n".join(part.text or "" for _, part in parts if part.type == "text")
    at = (info.time.completed if info.time else None) or frame.at
    ended = Frame(frame.session, frame.record, at, frame.agent)
    yield Compacted(
        **ended.common(Origin.HARNESS),
        sign=CompactionSign.BOUNDARY,
        summary=without_injected_text(summary).strip(),
        trigger=reached.trigger,
    )
    reached.trigger = ""


def _answered(
    info: Info, parts: Sequence[tuple[str, Part]], frame: Frame, reached: MessageContext
) -> Iterator[Event]:
    is_latest = frame.is_main and frame.at >= reached.newest
    reached.newest = frame.at if is_latest else reached.newest
    if info.model and info.model != reached.model and is_latest:
        reached.model = info.model
        yield ModelChanged(**frame.part(Origin.HARNESS, "model"), model=info.model)
    for id, part in parts:
        match part.type:
            case "text" if info.is_over or (part.time and part.time.end):
                words = without_injected_text(part.text or "").strip()
                if words and not part.synthetic:
                    at = (part.time.start if part.time else None) or frame.at
                    text_frame = Frame(frame.session, id, at, frame.agent)
                    yield AssistantText(**text_frame.common(Origin.ASSISTANT), text=words)
            case "tool":
                yield from tools.called(id, part, frame)
            case "step-finish" if part.tokens is not None:
                yield _usage(part.tokens, info, Frame(frame.session, id, frame.at, frame.agent))
            case _:
                pass


def _usage(tokens: Tokens, info: Info, frame: Frame) -> Usage:
    """The tokens of one request."""
    cache = tokens.cache
    return Usage(
        **frame.common(Origin.HARNESS),
        input=count(tokens.input),
        output=count(tokens.output) + count(tokens.reasoning),
        cache_read=count(cache.read) if cache else 0,
        cache_written=count(cache.write) if cache else 0,
        model=info.model or "",
    )


LARGEST_EXPORT: Final = 256 << 20
_HEAD: Final = 4_096
_BEGINS: Final = (b'"info"', b'"messages"')


class _ExportedSession(msgspec.Struct):
    id: str = ""
    title: msgspec.Raw = NOTHING
    directory: str | None = None
    time: Span | None = None


class _Named(msgspec.Struct):
    id: str | None = None
    time: Span | None = None


class _Message(msgspec.Struct):
    info: msgspec.Raw = NOTHING
    parts: list[msgspec.Raw] = msgspec.field(default_factory=list[msgspec.Raw])


class _Export(msgspec.Struct):
    info: _ExportedSession
    messages: list[_Message]


_EXPORT = msgspec.json.Decoder(_Export)
_NAMED = msgspec.json.Decoder(_Named)


def is_export(path: Path) -> bool:
    """Whether this is a JSON file that begins like an export."""
    try:
        state = os.lstat(path)
        if not stat.S_ISREG(state.st_mode) or path.suffix not in (".json", ".jsonl"):
            return False
        with path.open("rb") as file:
            head = file.read(_HEAD).lstrip()
    except OSError:
        return False
    return head.startswith(b"{") and head[1:].lstrip().startswith(_BEGINS)


def read_export(path: Path, session: str, cursor: str) -> Batch:
    """All of it, unless the cursor says that this same file was read."""
    export, mark = _opened(path)
    if cursor == mark:
        return Batch((), (), cursor, done=True)
    if isinstance(export, Skipped):
        return Batch((), (export,), mark, done=True)
    events: list[Event] = []
    skipped: list[Skipped] = []
    reached = MessageContext()
    for message in export.messages:
        header = _named(message.info)
        at = (header.time.created if header.time else None) or 0
        parts = [Row(_named(raw).id or "", bytes(raw)) for raw in message.parts]
        frame = Frame(session, header.id or f"@{at}", at)
        whole = read_message(Row(frame.record, bytes(message.info)), parts, frame, reached)
        events += whole.events
        skipped += whole.skipped
    title = text_of(export.info.title) or ""
    if title and not _NO_TITLE.match(title) and events:
        events.append(title_event(session, title, events[-1].at))
    return Batch(tuple(events), tuple(skipped), mark, done=True, cwd=export.info.directory or reached.cwd)


def exported_session(path: Path) -> str:
    """The session of an export; empty if it cannot be read."""
    export, _ = _opened(path)
    return "" if isinstance(export, Skipped) else export.info.id


def _opened(path: Path) -> tuple[_Export | Skipped, str]:
    """The export, and a mark that stays the same as long as the file does."""
    try:
        state = os.lstat(path)
        mark = f"export {state.st_size} {state.st_mtime_ns}"
        if state.st_size > LARGEST_EXPORT:
            return Skipped("too large", str(path)), mark
        return decoded(_EXPORT, path.read_bytes(), str(path)), mark
    except OSError as error:
        return Skipped(f"cannot be opened: {error.strerror or error}", str(path)), ""


def _named(raw: msgspec.Raw) -> _Named:
    header = decoded(_NAMED, raw)
    return _Named() if isinstance(header, Skipped) else header


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
_TITLE: Final = """
select title
  from session
 where id = :session
"""
_FOLDER: Final = """
select directory
  from session
 where id = :session
"""
