"""Record events: one record of a pi or OpenClaw session as events.

`transcript` reads the records, `tools` says what the tools do, `prompts` finds the user's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

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
    Source,
    Usage,
)
from holdfast.core.text.untrusted import has_injected_text, without_injected_text
from holdfast.harnesses.fields import count
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.openclaw import prompts, tools
from holdfast.harnesses.openclaw.records import Block, Checkpoint, Message, Record, Tokens

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
    text = prompts.typed(tools.content_text(message.content))
    return (Prompt(**frame.common(Origin.HUMAN), text=text),) if text else ()


def _assistant(message: Message, frame: Frame) -> Iterable[Event]:
    if message.provider == "openclaw" and message.model in _MIRRORS:
        return ()
    content = message.content
    blocks = [Block("text", content)] if isinstance(content, str) else content or ()
    events: list[Event] = []
    for number, block in enumerate(blocks):
        if block.type == "text":
            events += _said(block.text or "", frame.block(number))
        elif block.type == "toolCall" and message.stop not in _CUT_OFF:
            # The calls of a message that was cut off are never made.
            events += tools.called(block, frame.block(number))
    if message.usage is not None:
        events += _usage(message.usage, message.model or "", frame)
    return events


def _said(text: str, frame: Frame) -> Iterable[Event]:
    text = prompts.said(text)
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
    return (BriefSeen(**frame.common(Origin.OURS), text=text),) if has_injected_text(text) else ()


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
