"""Messages: what the user and the agent said, and what was given to the agent.

A rollout holds each message at least twice, as an item and as an event; it is reported once. `prompts` says
whose words a text holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest

from holdfast.core.events.event import AssistantText, BriefSeen, Event, Origin, Prompt, SubagentStopped
from holdfast.core.text.untrusted import has_injected_text, without_injected_text
from holdfast.harnesses.codex.prompts import typed
from holdfast.harnesses.codex.record_context import RecordContext
from holdfast.harnesses.codex.records import Item, object_in
from holdfast.harnesses.fields import capped, items, mapping, text
from holdfast.harnesses.frame import Frame

_NOTIFICATION = re.compile(
    r"\s*<subagent_notification>(?P<told>.*)</subagent_notification>\s*\Z", re.DOTALL | re.IGNORECASE
)


def message(item: Item, frame: Frame, reached: RecordContext) -> Iterable[Event]:
    """The events of an item that has a role."""
    blocks, record = texts(item.content), item.id or ""
    words = "\n".join(blocks)
    match item.role:
        case "assistant":
            return said("item", record, words, frame, reached)
        case "user":
            turn = (item.passthrough and item.passthrough.turn) or reached.turn
            typed_here = prompted("item", record, turn, _with_kinds(blocks, item), frame, reached)
            return (*_notified(words, record, frame), *typed_here)
        case _:
            return _brief(words, record, frame, reached)


def prompted(
    way: str, record: str, turn: str, blocks: Iterable[tuple[str, str]], frame: Frame, reached: RecordContext
) -> Iterable[Event]:
    """What the user typed; a subagent's task was written by the agent that started it."""
    words = typed(blocks)
    if words and reached.is_main and reached.is_news(way, "user", words):
        return (Prompt(**frame.common(Origin.HUMAN, record), text=words, turn=turn),)
    return ()


def said(way: str, record: str, words: str, frame: Frame, reached: RecordContext) -> Iterable[Event]:
    """What the agent said."""
    words = without_injected_text(words).strip()
    if words and reached.is_news(way, "assistant", words):
        return (AssistantText(**frame.common(Origin.ASSISTANT, record), text=words),)
    return ()


def completed(
    fields: Mapping[str, object], turn: str, frame: Frame, reached: RecordContext
) -> Iterable[Event]:
    """What an event says about a message that is now complete."""
    blocks, record = texts(fields.get("content")), text(fields, "id")
    if fields.get("type") == "UserMessage":
        return prompted("completed", record, turn, [(block, "") for block in blocks], frame, reached)
    return said("completed", record, "\n".join(blocks), frame, reached)


def texts(content: object) -> list[str]:
    """The texts of a content that is a text or a list of blocks; a block without text gives an empty one."""
    if isinstance(content, str):
        return [content]
    return [block if isinstance(block, str) else text(mapping(block), "text") for block in items(content)]


def _with_kinds(blocks: list[str], item: Item) -> Iterator[tuple[str, str]]:
    """Each block with its kind; older messages do not say it."""
    kinds = (item.passthrough and item.passthrough.kinds) or ()
    for block, kind in zip_longest(blocks, kinds[: len(blocks)]):
        yield block, kind or ""


def _brief(words: str, record: str, frame: Frame, reached: RecordContext) -> Iterator[Event]:
    if reached.is_main and has_injected_text(words):
        yield BriefSeen(**frame.common(Origin.OURS, record), text=words)


def _notified(words: str, record: str, frame: Frame) -> Iterator[Event]:
    """How a subagent ended."""
    notification = _NOTIFICATION.match(words)
    if notification is None:
        return
    fields = object_in(notification["told"])
    agent = text(fields, "agent_path", "agent_id")
    status = fields.get("status")
    last_words = text(mapping(status), "completed", "errored") or (status if isinstance(status, str) else "")
    if agent and last_words not in ("running", "pending_init"):
        yield SubagentStopped(
            **frame.common(Origin.TOOL, record),
            subagent=agent,
            text=capped(without_injected_text(last_words)),
        )
