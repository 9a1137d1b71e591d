"""Messages: an OpenCode message as events.

A message is read again whenever it grows, and each of its parts has its own id, so that it is reported once.
`tools` says what the tools do; `transcript` knows where messages are stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec

from holdfast.core.events.event import (
    AssistantText,
    Compacted,
    CompactionSign,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    Skipped,
    Usage,
)
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.fields import count, decoded
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.opencode import tools
from holdfast.harnesses.opencode.records import INFO, PART, Info, Part, Tokens
from holdfast.lazy_dataclass import dataclass


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
    words = typed(part for _, part in parts)
    # A subagent's task was written by the agent that started it.
    if words and frame.is_main:
        yield Prompt(**frame.common(Origin.HUMAN), text=words)


def typed(parts: Iterable[Part]) -> str:
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
