"""Transcript: the records of a pi or OpenClaw session, in a file or in a database, as events.

It reads from a cursor and remembers the time of the last record, nothing else, between two reads. A database
is read while its owner writes, and never changed.

The records form a tree: the user may go back to an earlier one and continue from there. The file only grows,
and its records become events as it grows, so nothing is taken back: the events of an abandoned branch stay,
as do the files it changed. Each event has its record's parent, from which the path to the last record, the
one that the model sees, can be followed.

`records` has the record types, `tools` what the tools do.
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
from holdfast.core.events.event import (
    AssistantText,
    BriefSeen,
    Compacted,
    CompactionSign,
    DigestGiven,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    SessionEnded,
    Skipped,
    Source,
    Titled,
    Usage,
)
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import has_injected_text, without_injected_text
from holdfast.harnesses.base import Batch, Extent, file_extent
from holdfast.harnesses.databases import read_only_database
from holdfast.harnesses.fields import count, decoded, milliseconds, text_of
from holdfast.harnesses.openclaw import records, tools
from holdfast.harnesses.openclaw.records import (
    PASSED_OVER,
    PASSED_OVER_UNREAD,
    READ_TYPES,
    RECORD,
    Block,
    Checkpoint,
    Message,
    Moment,
    Record,
    Tokens,
)
from holdfast.harnesses.record_events import Frame
from holdfast.harnesses.transcript_files import (
    Line,
    Stretch,
    files_below,
    read_lines,
    unpack,
)

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


def earlier_transcripts(path: Path) -> tuple[Path, ...]:
    """The session in the same database that this one was forked from; none if it is not a fork."""
    if not is_row(path):
        return ()
    lines = _rows(path, "", _HEAD).lines[:1]
    first = _record(lines[0]) if lines else None
    origin = _ORIGIN.match(first.origin or "") if isinstance(first, Record) else None
    return (path.parent / origin["session"],) if origin else ()


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
        with contextlib.suppress(Unreadable), read_only_database(database) as connection:
            ids = [id for (id,) in connection.execute(_IDS) if isinstance(id, str) and _NAME.fullmatch(id)]
            yield from (database / id for id in ids)


def extent(path: Path) -> Extent | None:
    """How large a session is and when it last changed; None if there is none."""
    if not is_row(path):
        return file_extent(path)
    try:
        with read_only_database(path.parent) as connection:
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
    with read_only_database(database) as connection:
        yield from connection.execute(_SESSIONS)


def lines_in(database: Path, session: str) -> Iterator[bytes]:
    """The records of a session in an OpenClaw database, in order."""
    with read_only_database(database) as connection:
        for row in connection.execute(_ROWS, (session, _BEFORE_ALL)):
            yield _row(*row).content


class _Row(Line, frozen=True):
    """A record in a database, and its number there."""

    @property
    def where(self) -> str:
        return f"row {self.at}"


def _row(number: int, line: bytes | None, packed: bytes | None) -> _Row:
    """A row's record; an empty one if it cannot be unpacked."""
    return _Row(number, line if line is not None else unpack(packed or b"", _LARGEST_RECORD))


def _rows(path: Path, cursor: str, limit: int) -> Stretch:
    """About `limit` bytes of a session's rows after the cursor, which is the last row's number."""
    reached = int(cursor) if cursor.removeprefix("-").isdecimal() and len(cursor) < 19 else _BEFORE_ALL
    try:
        with read_only_database(path.parent) as connection:
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


_MIRRORS = frozenset({"delivery-mirror", "gateway-injected"})
"""Not real models: OpenClaw records under these names what was shown to the user."""
_CUT_OFF = frozenset({"aborted", "error"})


def events_in(record: Record, frame: Frame) -> Iterable[Event]:
    """The events in a record, if any."""
    match record:
        case Record(type="message", message=Message() as message):
            return _message(message, frame)
        case Record(type="compaction"):
            return (_compacted(record, frame),)
        case Record(type="checkpoint", checkpoint=Checkpoint() as checkpoint):
            return _digest(checkpoint, frame)
        case Record(type="model_change" | "session", model=str() as model) if model:
            return (ModelChanged(**frame.common(Origin.HARNESS), model=model),)
        case Record(type="session_info"):
            name = text_of(record.name) or ""
            return (Titled(**frame.common(Origin.HUMAN), text=name, by_user=True),)
        case Record(type="custom_message"):
            return _brief(record.content, frame)
        case Record(type="reset"):
            # The file keeps its name; the conversation in it starts anew.
            return (SessionEnded(**frame.common(Origin.HARNESS), reason=Source.CLEAR),)
        case _:
            return ()


def _message(message: Message, frame: Frame) -> Iterable[Event]:
    match message.role:
        case "user":
            return _prompt(message, frame)
        case "assistant":
            return _assistant(message, frame)
        case "toolResult":
            return tools.returned(message, frame)
        case "bashExecution":
            return tools.ran(message, frame)
        case "custom" | "hookMessage" if message.custom_type == tools.NESTED:
            return tools.nested(message, frame)
        case "custom" | "hookMessage":
            return _brief(message.content, frame)
        case _:
            return ()


def _prompt(message: Message, frame: Frame) -> Iterable[Event]:
    origin = message.provenance
    if origin is not None and origin.kind not in (None, "external_user"):
        return ()
    text = records.typed_text(tools.content_text(message.content))
    return (Prompt(**frame.common(Origin.HUMAN), text=text),) if text else ()


def _assistant(message: Message, frame: Frame) -> Iterable[Event]:
    if message.provider == "openclaw" and message.model in _MIRRORS:
        return ()
    content = message.content
    blocks = [Block("text", content)] if isinstance(content, str) else content or ()
    events: list[Event] = []
    for number, block in enumerate(blocks):
        if block.type == "text":
            events += _assistant_text(block.text or "", frame.block(number))
        elif block.type == "toolCall" and message.stop not in _CUT_OFF:
            # The calls of a message that was cut off are never made.
            events += tools.called(block, frame.block(number))
    if message.usage is not None:
        events += _usage(message.usage, message.model or "", frame)
    return events


def _assistant_text(text: str, frame: Frame) -> Iterable[Event]:
    text = records.agent_text(text)
    return (AssistantText(**frame.common(Origin.ASSISTANT), text=text),) if text else ()


def _usage(tokens: Tokens, model: str, frame: Frame) -> Iterable[Event]:
    """The tokens of one request; a request that failed has none, and says nothing about the window."""
    if not (tokens.input or tokens.output or tokens.cache_read or tokens.cache_written):
        return ()
    usage = Usage(
        **frame.part(Origin.HARNESS, "usage"),
        input=count(tokens.input),
        output=count(tokens.output),
        cache_read=count(tokens.cache_read),
        cache_written=count(tokens.cache_written),
        model=model,
    )
    return (usage,)


def _brief(content: str | list[Block] | None, frame: Frame) -> Iterable[Event]:
    text = tools.content_text(content)
    return (BriefSeen(**frame.common(Origin.HOLDFAST), text=text),) if has_injected_text(text) else ()


def _compacted(record: Record, frame: Frame) -> Compacted:
    return Compacted(
        **frame.common(Origin.HARNESS),
        sign=CompactionSign.BOUNDARY,
        summary=without_injected_text(record.summary or "").strip(),
        tokens_before=count(record.tokens_before),
        tokens_after=count(record.tokens_after),
    )


def _digest(checkpoint: Checkpoint, frame: Frame) -> Iterator[Event]:
    parts = [checkpoint.summary or ""]
    for title, rows in (
        ("Topics", checkpoint.topics),
        ("Key decisions", checkpoint.decisions),
        ("Open questions", checkpoint.questions),
    ):
        if rows:
            parts.append("\n".join((f"{title}:", *(f"- {row}" for row in rows))))
    text = without_injected_text("\n\n".join(filter(None, parts))).strip()
    if text:
        yield DigestGiven(**frame.common(Origin.HARNESS), text=text)
