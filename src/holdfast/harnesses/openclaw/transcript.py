"""Transcript: the records of a pi or OpenClaw session file as events.

It reads a file from a cursor and remembers the time of the last record, nothing else, between two reads.

The records form a tree: a person may go back to an earlier one and go on from there. The file only grows and
is told as it grows, so that nothing is taken back: what was told of a side that was later left stays told,
as do the files it changed. Each event carries its record's parent, by which the path to the last record, the
one that the model sees, can be followed.

Which records there are is in `records`, what the tools do in `tools`, whose words a text holds in `prompts`.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote

import msgspec

from holdfast.core.events import (
    AssistantText,
    BriefSeen,
    Compacted,
    DigestGiven,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    SessionEnded,
    Sign,
    Skipped,
    Source,
    Usage,
)
from holdfast.core.fence import is_ours, without_ours
from holdfast.core.records import Record as KeptRecord
from holdfast.core.text import one_line, shortened
from holdfast.harnesses.base import Batch
from holdfast.harnesses.fields import count, decoded, milliseconds
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.lines import Line, read_lines
from holdfast.harnesses.openclaw import prompts, tools
from holdfast.harnesses.openclaw.records import (
    PASSED_OVER,
    PASSED_OVER_UNREAD,
    RECORD,
    TOLD,
    Block,
    Checkpoint,
    Message,
    Moment,
    Record,
    Tokens,
)

_ROLES = frozenset(
    """user assistant toolResult bashExecution custom hookMessage system compactionSummary
    branchSummary""".split()
)
_MIRRORS = frozenset({"delivery-mirror", "gateway-injected"})
"""Models that do not exist: OpenClaw writes down under their names what was shown to a person."""
_CUT_OFF = frozenset({"aborted", "error"})
_HEAD = 1 << 16
_LATEST = 1 << 48
"""Milliseconds: a larger number is no time."""


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The records behind the cursor as events of this session, whatever session the file itself names."""
    place, at = _parsed(cursor)
    stretch = read_lines(path, place, limit)
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
            # The oldest files have no ids: the place where a record stands is as good.
            events += _told(
                record, Frame(session, record.id or f"@{line.at}", at, parent=record.parent or "")
            )
    written = msgspec.json.encode((stretch.cursor, at)).decode()
    return Batch(tuple(events), tuple(skipped), written, stretch.done, cwd)


def session_of(path: Path) -> str:
    """The session's id, as its first record gives it; the file's own name where that gives none."""
    lines = read_lines(path, "", _HEAD).lines
    first = _record(lines[0]) if lines else None
    if not isinstance(first, Record):
        return ""
    return (first.id if first.type == "session" else None) or path.stem


def events_of(session: str, record: KeptRecord) -> tuple[Event, ...]:
    """What one record tells, wherever it is kept."""
    told = _record(Line(0, record.line.encode()))
    if not isinstance(told, Record):
        return ()
    return tuple(_told(told, Frame(session, record.id, record.at, parent=record.parent)))


Unreadable: TypeAlias = sqlite3.Error
"""What is raised where a database cannot be read, or is none."""


def sessions_in(database: Path) -> Iterator[tuple[str, str, str]]:
    """The sessions in a database of OpenClaw's: the key, the id, and what is noted of it, as JSON."""
    with _looking_into(database) as connection:
        yield from connection.execute(_SESSIONS)


def lines_in(database: Path, session: str) -> Iterator[bytes]:
    """The records of a session in a database of OpenClaw's, in their order."""
    with _looking_into(database) as connection:
        for line, packed in connection.execute(_LINES, (session,)):
            if line is not None:
                yield line.encode() if isinstance(line, str) else bytes(line)
            elif packed is not None:
                yield _unpacked(packed)


@contextmanager
def _looking_into(database: Path) -> Generator[sqlite3.Connection]:
    """A connection that changes nothing; where nobody has the database open, it makes no file beside it."""
    alone = "" if Path(f"{database}-wal").exists() else "&immutable=1"
    connection = sqlite3.connect(f"file:{quote(str(database))}?mode=ro{alone}", uri=True)
    try:
        yield connection
    finally:
        connection.close()


def _unpacked(packed: bytes) -> bytes:
    """A packed record; empty if it cannot be unpacked."""
    # Only newer versions of OpenClaw pack, and only a few records.
    from zstandard import ZstdDecompressor, ZstdError  # noqa: PLC0415

    try:
        return ZstdDecompressor().decompress(packed, max_output_size=_LARGEST_RECORD)
    except ZstdError:
        return b""


_LARGEST_RECORD = 64 << 20

_SESSIONS = """
select session_key, current_session_id, entry_json
  from session_nodes
"""

_LINES = """
select event_json, event_zstd
  from transcript_events
 where session_id = ?
 order by seq
"""


def _parsed(cursor: str) -> tuple[str, int]:
    try:
        return msgspec.json.decode(cursor, type=tuple[str, int])
    except ValueError:
        return "", 0


def _record(line: Line) -> Record | Skipped | None:
    """The record on this line if it may tell something."""
    if line.content.startswith(PASSED_OVER_UNREAD):
        return None
    record = decoded(RECORD, line.content)
    if isinstance(record, Skipped):
        return Skipped(record.reason, line.where)
    if record.type in PASSED_OVER:
        return None
    if record.type not in TOLD:
        return _unknown("record", record.type, line.where)
    if record.message is not None and record.message.role not in _ROLES:
        return _unknown("role", record.message.role, line.where)
    return record


def _unknown(what: str, name: str, where: str) -> Skipped:
    name = shortened(one_line(name), 40)
    return Skipped(f"unknown {what} {name}" if name else f"{what} without a name", where)


def _at(record: Record) -> int:
    own = _milliseconds(record.timestamp)
    return own or (_milliseconds(record.message.timestamp) if record.message else 0)


def _milliseconds(moment: Moment) -> int:
    if isinstance(moment, str):
        return milliseconds(moment)
    return int(moment) if moment is not None and 0 < moment < _LATEST else 0


def _told(record: Record, frame: Frame) -> Iterable[Event]:
    match record:
        case Record(type="message", message=Message() as message):
            return _message(message, frame)
        case Record(type="compaction"):
            return (_compacted(record, frame),)
        case Record(type="checkpoint", checkpoint=Checkpoint() as checkpoint):
            return _digest(checkpoint, frame)
        case Record(type="model_change" | "session", model=str() as model) if model:
            return (ModelChanged(**frame.told(Origin.HARNESS), model=model),)
        case Record(type="custom_message"):
            return _brief(record.content, frame)
        case Record(type="reset"):
            # The file goes on under the same name; the conversation in it starts anew.
            return (SessionEnded(**frame.told(Origin.HARNESS), reason=Source.CLEAR),)
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
    text = prompts.typed(tools.content_text(message.content))
    return (Prompt(**frame.told(Origin.HUMAN), text=text),) if text else ()


def _assistant(message: Message, frame: Frame) -> Iterable[Event]:
    if message.provider == "openclaw" and message.model in _MIRRORS:
        return ()
    content = message.content
    blocks = [Block("text", content)] if isinstance(content, str) else content or ()
    told: list[Event] = []
    for number, block in enumerate(blocks):
        if block.type == "text":
            told += _said(block.text or "", frame.block(number))
        elif block.type == "toolCall" and message.stop not in _CUT_OFF:
            # The calls of a message that was cut off are never made.
            told += tools.called(block, frame.block(number))
    if message.usage is not None:
        told += _usage(message.usage, message.model or "", frame)
    return told


def _said(text: str, frame: Frame) -> Iterable[Event]:
    text = prompts.said(text)
    return (AssistantText(**frame.told(Origin.ASSISTANT), text=text),) if text else ()


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
    return (BriefSeen(**frame.told(Origin.OURS), text=text),) if is_ours(text) else ()


def _compacted(record: Record, frame: Frame) -> Compacted:
    return Compacted(
        **frame.told(Origin.HARNESS),
        sign=Sign.BOUNDARY,
        summary=without_ours(record.summary or "").strip(),
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
    text = without_ours("\n\n".join(filter(None, parts))).strip()
    if text:
        yield DigestGiven(**frame.told(Origin.HARNESS), text=text)
