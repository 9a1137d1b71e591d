"""Transcript: the records of a pi or OpenClaw session, in a file or in a database, as events.

It reads from a cursor and remembers the time of the last record, nothing else, between two reads. A database
is read while its owner writes, and never changed.

The records form a tree: the user may go back to an earlier one and continue from there. The file only grows,
and its records become events as it grows, so nothing is taken back: the events of an abandoned branch stay,
as do the files it changed. Each event has its record's parent, from which the path to the last record, the
one that the model sees, can be followed.

`records` has the record types, `record_events` turns a record into events.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, TypeAlias

import msgspec

from holdfast.core.agent_log.records import Record as KeptRecord
from holdfast.core.events.event import Event, Skipped
from holdfast.core.text.strings import one_line, shortened
from holdfast.harnesses.base import Batch, Extent, file_extent
from holdfast.harnesses.databases import looking_into
from holdfast.harnesses.fields import decoded, milliseconds
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.lines import Line, Stretch, files_below, read_lines
from holdfast.harnesses.openclaw.record_events import events_in
from holdfast.harnesses.openclaw.records import (
    PASSED_OVER,
    PASSED_OVER_UNREAD,
    READ_TYPES,
    RECORD,
    Moment,
    Record,
)
from holdfast.harnesses.packed import unpacked

_ROLES = frozenset(
    """user assistant toolResult bashExecution custom hookMessage system compactionSummary
    branchSummary""".split()
)
_HEAD = 1 << 16
_LATEST = 1 << 48
"""Milliseconds: a larger number is not a time."""


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The records after the cursor as events of this session, whatever session the file itself names."""
    place, at = _parsed(cursor)
    stretch = _rows(path, place, limit) if is_row(path) else read_lines(path, place, limit)
    at = 0 if stretch.restarted else at
    events: list[Event] = []
    skipped = list(stretch.skipped)
    cwd = ""
    for line in stretch.lines:
        record = _record(line)
        if isinstance(record, Skipped):
            skipped.append(record)
        elif record is not None:
            at = _at(record) or at
            cwd = (record.cwd if record.type == "session" else None) or cwd
            # The oldest files have no ids: a record's position serves as well.
            events += events_in(
                record, Frame(session, record.id or f"@{line.at}", at, parent=record.parent or "")
            )
    new_cursor = msgspec.json.encode((stretch.cursor, at)).decode()
    return Batch(tuple(events), tuple(skipped), new_cursor, stretch.done, cwd)


def session_of(path: Path) -> str:
    """The session's id from its first record, or else the path's name."""
    if is_row(path):
        return path.name
    lines = read_lines(path, "", _HEAD).lines
    first = _record(lines[0]) if lines else None
    if not isinstance(first, Record):
        return ""
    return (first.id if first.type == "session" else None) or path.stem


def forked_from(path: Path) -> Path | None:
    """The session in the same database that this one was forked from; None if it is not a fork."""
    if not is_row(path):
        return None
    lines = _rows(path, "", _HEAD).lines[:1]
    first = _record(lines[0]) if lines else None
    origin = _ORIGIN.match(first.origin or "") if isinstance(first, Record) else None
    return path.parent / origin["session"] if origin else None


def events_of(session: str, record: KeptRecord) -> tuple[Event, ...]:
    """The events of one log record, wherever it is stored."""
    log_record = _record(Line(0, record.line.encode()))
    if not isinstance(log_record, Record):
        return ()
    return tuple(events_in(log_record, Frame(session, record.id, record.at, parent=record.parent)))


Unreadable: TypeAlias = sqlite3.Error
"""What is raised if a file cannot be read as a database."""
DATABASE: Final = "openclaw-agent.sqlite"
"""A session in it has a path: that of the database followed by the session's id."""


def transcripts(folder: Path) -> Iterator[Path]:
    """The files of sessions below a folder, and the sessions in the databases there."""
    yield from files_below(folder)
    for database in files_below(folder, DATABASE):
        with contextlib.suppress(Unreadable), looking_into(database) as connection:
            ids = [id for (id,) in connection.execute(_IDS) if isinstance(id, str) and _NAME.fullmatch(id)]
            yield from (database / id for id in ids)


def extent(path: Path) -> Extent | None:
    """How large a session is and when it last changed; None if there is none."""
    if not is_row(path):
        return file_extent(path)
    try:
        with looking_into(path.parent) as connection:
            (size,) = connection.execute(_SIZE, (path.name,)).fetchone()
            last = connection.execute(_LAST, (path.name,)).fetchone()
    except Unreadable:
        return None
    record = _record(_row(*last)) if last else None
    at = _at(record) if isinstance(record, Record) else 0
    whole = file_extent(path.parent)
    return Extent(int(size), at or (whole.changed_at if whole else 0)) if size else None


def is_row(path: Path) -> bool:
    """Whether this is the path of a session in a database."""
    return path.parent.suffix == ".sqlite"


def sessions_in(database: Path) -> Iterator[tuple[str, str, str]]:
    """The sessions in an OpenClaw database: the key, the id, and its entry as JSON."""
    with looking_into(database) as connection:
        yield from connection.execute(_SESSIONS)


def lines_in(database: Path, session: str) -> Iterator[bytes]:
    """The records of a session in an OpenClaw database, in order."""
    with looking_into(database) as connection:
        for row in connection.execute(_ROWS, (session, _BEFORE_ALL)):
            yield _row(*row).content


class _Row(Line, frozen=True):
    """A record in a database, and its number there."""

    @property
    def where(self) -> str:
        return f"row {self.at}"


def _row(number: int, line: bytes | None, packed: bytes | None) -> _Row:
    """A row's record; an empty one if it cannot be unpacked."""
    return _Row(number, line if line is not None else unpacked(packed or b"", _LARGEST_RECORD))


def _rows(path: Path, cursor: str, limit: int) -> Stretch:
    """About `limit` bytes of a session's rows after the cursor, which is the last row's number."""
    reached = int(cursor) if cursor.removeprefix("-").isdecimal() and len(cursor) < 19 else _BEFORE_ALL
    try:
        with looking_into(path.parent) as connection:
            last = connection.execute(_LAST, (path.name,)).fetchone()
            # If it has fewer rows than were read, it is another database.
            start = reached if last and reached <= last[0] else _BEFORE_ALL
            rows = _so_many(connection.execute(_ROWS, (path.name, start)), limit)
    except Unreadable as error:
        return Stretch(
            (), (Skipped(f"cannot be read: {error}", str(path)),), cursor, restarted=False, done=True
        )
    end = rows[-1].at if rows else start
    done = not last or end >= last[0]
    return Stretch(tuple(rows), (), str(end), restarted=start == _BEFORE_ALL, done=done)


def _so_many(rows: Iterable[tuple[int, bytes | None, bytes | None]], limit: int) -> list[_Row]:
    read_rows, size = list[_Row](), 0
    for row in rows:
        read_rows.append(_row(*row))
        size += len(read_rows[-1].content)
        if size >= limit:
            break
    return read_rows


_LARGEST_RECORD = 64 << 20
_BEFORE_ALL: Final = -1
_NAME: Final = re.compile(r"[\w:@-][\w.:@-]*")
"""An id that can be part of a path."""
_ORIGIN: Final = re.compile(r"sqlite:[^:]*:(?P<session>[\w@-][\w.@-]*):")
"""How a fork names its parent session: after the agent, before the database."""

_SESSIONS = """
select session_key, current_session_id, entry_json
  from session_nodes
"""

_IDS = """
select distinct session_id
  from transcript_events
 order by session_id
"""

_SIZE = """
select total(length(coalesce(event_zstd, event_json)))
  from transcript_events
 where session_id = ?
"""

_ROWS = """
select seq, cast(event_json as blob), event_zstd
  from transcript_events
 where session_id = ?
   and seq > ?
 order by seq
"""

_LAST = """
select seq, cast(event_json as blob), event_zstd
  from transcript_events
 where session_id = ?
 order by seq desc
 limit 1
"""


def _parsed(cursor: str) -> tuple[str, int]:
    try:
        return msgspec.json.decode(cursor, type=tuple[str, int])
    except ValueError:
        return "", 0


def _record(line: Line) -> Record | Skipped | None:
    """The record on this line, if it may say something about the work."""
    if line.content.startswith(PASSED_OVER_UNREAD):
        return None
    record = decoded(RECORD, line.content)
    if isinstance(record, Skipped):
        return Skipped(record.reason, line.where)
    if record.type in PASSED_OVER:
        return None
    if record.type not in READ_TYPES:
        return _unknown("record", record.type, line.where)
    if record.message is not None and record.message.role not in _ROLES:
        return _unknown("role", record.message.role, line.where)
    return record


def _unknown(kind: str, name: str, where: str) -> Skipped:
    name = shortened(one_line(name), 40)
    return Skipped(f"unknown {kind} {name}" if name else f"{kind} without a name", where)


def _at(record: Record) -> int:
    record_time = _milliseconds(record.timestamp)
    return record_time or (_milliseconds(record.message.timestamp) if record.message else 0)


def _milliseconds(moment: Moment) -> int:
    if isinstance(moment, str):
        return milliseconds(moment)
    return int(moment) if moment is not None and 0 < moment < _LATEST else 0
