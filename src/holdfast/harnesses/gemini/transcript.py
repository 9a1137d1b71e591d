"""Transcript: the records of a Gemini CLI session as events.

It reads a chat from a cursor and remembers nothing else between two reads. `records` has the record types,
`tools` says what the tools do, `records` finds the user's words.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec

from holdfast.core.events.event import (
    MAIN,
    AssistantText,
    BriefSeen,
    Compacted,
    CompactionSign,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    Skipped,
    Usage,
)
from holdfast.harnesses.base import Batch
from holdfast.harnesses.fields import count, decoded, milliseconds, text_of
from holdfast.harnesses.gemini import tools
from holdfast.harnesses.gemini.records import (
    RECORD,
    Message,
    Record,
    Tokens,
    brief_in,
    texts,
    typed_text,
    without_hooks,
    workspace_in,
)
from holdfast.harnesses.record_events import Frame, title_event
from holdfast.harnesses.transcript_files import files_below, read_lines

CHATS: Final = "chats"
_THANKS: Final = "Got it. Thanks for the additional context!"
"""The text in the model's role that follows a compaction's summary."""
_HEAD: Final = 1 << 16


class _Reached(msgspec.Struct):
    """How far a chat was read, and what later records need to know of earlier ones."""

    place: str = ""
    at: int = 0
    model: str = ""
    cwd: str = ""


_CURSOR = msgspec.json.Decoder(_Reached)


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The records after the cursor as events of this session, whatever session a record itself names."""
    agent = MAIN if path.parent.name == CHATS or not _is_below_chats(path) else path.stem
    return _read(path, session, cursor, limit, agent)


def read_subagent(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The same for a subagent's chat, with that subagent as the main agent."""
    return _read(path, session, cursor, limit, MAIN)


def _read(path: Path, session: str, cursor: str, limit: int, agent: str) -> Batch:
    reached = _parsed(cursor)
    stretch = read_lines(path, reached.place, limit)
    if stretch.restarted:
        reached = _Reached()
    events: list[Event] = []
    skipped = list(stretch.skipped)
    for line in stretch.lines:
        record = decoded(RECORD, line.content, line.where)
        if isinstance(record, Skipped):
            skipped.append(record)
        else:
            events += _events_of(record, session, agent, reached)
    reached.place = stretch.cursor
    new_cursor = msgspec.json.encode(reached).decode()
    return Batch(tuple(events), tuple(skipped), new_cursor, stretch.done, reached.cwd)


def transcripts(folder: Path) -> Iterator[Path]:
    """The files that may be a session's; those of its subagents are in a folder named after it."""
    return (path for path in files_below(folder) if path.parent.name == CHATS or not _is_below_chats(path))


def session_of(path: Path) -> str:
    """A chat's session; empty if another agent started it, or it is not a chat."""
    lines = read_lines(path, "", _HEAD).lines
    if not lines:
        return ""
    first = decoded(RECORD, lines[0].content)
    if isinstance(first, Skipped) or not first.is_header or first.kind == "subagent":
        return ""
    return first.session or ""


def subagent_transcripts(path: Path) -> tuple[Path, ...]:
    """The chats of subagents that this session started."""
    session = session_of(path)
    if not session or path.parent.name != CHATS or "/" in session or session in (".", ".."):
        return ()
    return tuple(files_below(path.parent / session))


def _is_below_chats(path: Path) -> bool:
    return path.parent.parent.name == CHATS


def _parsed(cursor: str) -> _Reached:
    try:
        return _CURSOR.decode(cursor)
    except (ValueError, RecursionError):
        return _Reached()


def _events_of(record: Record, session: str, agent: str, reached: _Reached) -> Iterator[Event]:
    reached.at = (milliseconds(record.timestamp) if record.timestamp else 0) or reached.at
    if record.patch is not None:
        yield from _patched(record.patch.messages or [], session, agent, reached)
        title = text_of(record.patch.summary)
        if title and agent == MAIN:
            yield title_event(session, title, reached.at)
    elif record.id:
        yield from _message_events(record, Frame(session, record.id, reached.at, agent), reached)


def _patched(messages: list[Message], session: str, agent: str, reached: _Reached) -> Iterator[Event]:
    """The events of a list that replaces all messages: a session begins, continues, or was compacted."""
    for before, message in zip([None, *messages], messages, strict=False):
        text = "\n".join(texts(message.content))
        reached.cwd = reached.cwd or workspace_in(text)
        if text == _THANKS and before is not None and before.id and agent == MAIN:
            reached.at = (milliseconds(before.timestamp) if before.timestamp else 0) or reached.at
            # It is listed again whenever the session is resumed: the summary's id makes these the same event.
            common = Frame(session, before.id, reached.at).common(Origin.HARNESS)
            summary = without_hooks("\n".join(texts(before.content))).strip()
            yield Compacted(**common, sign=CompactionSign.BOUNDARY, summary=summary)


def _message_events(message: Message, frame: Frame, reached: _Reached) -> Iterator[Event]:
    match message.type:
        case "user":
            yield from _prompted(message, frame)
        case "gemini":
            yield from _answered(message, frame, reached)
        case _:
            return


def _prompted(message: Message, frame: Frame) -> Iterator[Event]:
    whole = texts(message.content)
    # A subagent's task was written by the agent that started it.
    words = typed_text(texts(message.shown) or whole) if frame.is_main else ""
    if words:
        yield Prompt(**frame.common(Origin.HUMAN), text=words)
    brief = brief_in("\n".join(whole))
    if brief and frame.is_main:
        yield BriefSeen(**frame.part(Origin.HOLDFAST, "brief"), text=brief)


def _answered(message: Message, frame: Frame, reached: _Reached) -> Iterator[Event]:
    if message.model and message.model != reached.model and frame.is_main:
        reached.model = message.model
        yield ModelChanged(**frame.part(Origin.HARNESS, "model"), model=message.model)
    words = without_hooks("\n".join(texts(message.content))).strip()
    if words:
        yield AssistantText(**frame.common(Origin.ASSISTANT), text=words)
    for call in message.calls or ():
        yield from tools.called(call, frame)
    if message.tokens is not None:
        yield _usage(message.tokens, message.model or "", frame)


def _usage(tokens: Tokens, model: str, frame: Frame) -> Usage:
    """The tokens of one request: tokens from the cache count as input."""
    whole, cached = count(tokens.input), count(tokens.cached)
    return Usage(
        **frame.part(Origin.HARNESS, "usage"),
        input=max(0, whole - cached),
        output=count(tokens.output) + count(tokens.thoughts),
        cache_read=cached,
        model=model,
    )
