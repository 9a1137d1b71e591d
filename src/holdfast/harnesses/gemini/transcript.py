"""Transcript: the records of a Gemini CLI session as events.

It reads a chat from a cursor and remembers nothing else between two reads. Which records there are is in
`records`, what the tools do in `tools`, whose words a text holds in `prompts`.
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
    Event,
    ModelChanged,
    Origin,
    Prompt,
    Sign,
    Skipped,
    Usage,
)
from holdfast.harnesses.base import Batch
from holdfast.harnesses.fields import count, decoded, milliseconds
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.gemini import tools
from holdfast.harnesses.gemini.prompts import brief_in, typed, without_hooks, workspace_in
from holdfast.harnesses.gemini.records import RECORD, Message, Record, Tokens, texts
from holdfast.harnesses.lines import files_below, read_lines

CHATS: Final = "chats"
_THANKS: Final = "Got it. Thanks for the additional context!"
"""What stands, in the model's role, behind the summary with which a compaction replaces what was said."""
_HEAD: Final = 1 << 16


class _Reached(msgspec.Struct):
    """How far a reading came, and what a later record needs to know of those before it."""

    place: str = ""
    at: int = 0
    model: str = ""
    cwd: str = ""


_CURSOR = msgspec.json.Decoder(_Reached)


def read_transcript(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The records behind the cursor as events of this session, whatever session a record itself names."""
    agent = MAIN if path.parent.name == CHATS or not _is_below_chats(path) else path.stem
    return _read(path, session, cursor, limit, agent)


def read_subagent(path: Path, session: str, cursor: str, limit: int) -> Batch:
    """The same of a subagent's chat, with that subagent as the main agent."""
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
            events += _told(record, session, agent, reached)
    reached.place = stretch.cursor
    written = msgspec.json.encode(reached).decode()
    return Batch(tuple(events), tuple(skipped), written, stretch.done, reached.cwd)


def transcripts(folder: Path) -> Iterator[Path]:
    """The files that may be a session's; those of its subagents lie in a folder named after it."""
    return (path for path in files_below(folder) if path.parent.name == CHATS or not _is_below_chats(path))


def session_of(path: Path) -> str:
    """The session that a chat is of; empty where another agent started it, or it is no chat."""
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


def _told(record: Record, session: str, agent: str, reached: _Reached) -> Iterator[Event]:
    reached.at = (milliseconds(record.timestamp) if record.timestamp else 0) or reached.at
    if record.patch is not None:
        yield from _patched(record.patch.messages or [], session, agent, reached)
    elif record.id:
        yield from _said(record, Frame(session, record.id, reached.at, agent), reached)


def _patched(messages: list[Message], session: str, agent: str, reached: _Reached) -> Iterator[Event]:
    """What a list says that takes the place of all messages: a session begins, goes on, or was compacted."""
    for before, message in zip([None, *messages], messages, strict=False):
        said = "\n".join(texts(message.content))
        reached.cwd = reached.cwd or workspace_in(said)
        if said == _THANKS and before is not None and before.id and agent == MAIN:
            reached.at = (milliseconds(before.timestamp) if before.timestamp else 0) or reached.at
            # It is listed again whenever the session is resumed: the id of the summary makes it one.
            told = Frame(session, before.id, reached.at).told(Origin.HARNESS)
            summary = without_hooks("\n".join(texts(before.content))).strip()
            yield Compacted(**told, sign=Sign.BOUNDARY, summary=summary)


def _said(message: Message, frame: Frame, reached: _Reached) -> Iterator[Event]:
    match message.type:
        case "user":
            yield from _prompted(message, frame)
        case "gemini":
            yield from _answered(message, frame, reached)
        case _:
            return


def _prompted(message: Message, frame: Frame) -> Iterator[Event]:
    whole = texts(message.content)
    # What a subagent is told was written by the agent that started it.
    words = typed(texts(message.shown) or whole) if frame.is_main else ""
    if words:
        yield Prompt(**frame.told(Origin.HUMAN), text=words)
    brief = brief_in("\n".join(whole))
    if brief and frame.is_main:
        yield BriefSeen(**frame.part(Origin.OURS, "brief"), text=brief)


def _answered(message: Message, frame: Frame, reached: _Reached) -> Iterator[Event]:
    if message.model and message.model != reached.model and frame.is_main:
        reached.model = message.model
        yield ModelChanged(**frame.part(Origin.HARNESS, "model"), model=message.model)
    words = without_hooks("\n".join(texts(message.content))).strip()
    if words:
        yield AssistantText(**frame.told(Origin.ASSISTANT), text=words)
    for call in message.calls or ():
        yield from tools.called(call, frame)
    if message.tokens is not None:
        yield _usage(message.tokens, message.model or "", frame)


def _usage(tokens: Tokens, model: str, frame: Frame) -> Usage:
    """The tokens of one request: what came from the cache is counted as input."""
    whole, cached = count(tokens.input), count(tokens.cached)
    return Usage(
        **frame.part(Origin.HARNESS, "usage"),
        input=max(0, whole - cached),
        output=count(tokens.output) + count(tokens.thoughts),
        cache_read=cached,
        model=model,
    )
