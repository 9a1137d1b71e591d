"""Context: what a model is sent of a log, as turns in which every tool call has its result.

That is the summary of the last compaction before the leaf, the records that it kept, then everything after
it. They are found by position along the parents, never by comparing ids. `providers` converts turns
to a provider's format.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from typing import Final, TypeAlias

import msgspec

from holdfast.core.agent_log.record_bodies import (
    Block,
    BranchSummary,
    Compaction,
    Content,
    ContextEdit,
    CustomMessage,
    Message,
    MessageBody,
    Replacement,
    body,
)
from holdfast.core.agent_log.records import COMPACTION, CONTEXT_EDIT, CUSTOM_MESSAGE, MESSAGE, RESET, Record
from holdfast.core.evidence.prose.statement_rules import says_nothing
from holdfast.lazy_dataclass import dataclass

FLUSH: Final = "holdfast.memory_flush"
"""The type of message in which Holdfast asks an agent to write down what must last."""
GAUGE: Final = "holdfast.gauge"
"""The type of message that tells the model how full its window is."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    mime: str
    data: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A model's thinking; only the provider that signed it accepts it again."""

    text: str
    signature: str
    api: str
    redacted: bool


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call; its arguments are a JSON object."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Result:
    call: str
    parts: tuple[Text | Image, ...]
    ok: bool


@dataclass(frozen=True, slots=True)
class UserTurn:
    """A message in the user's role."""

    parts: tuple[Text | Image, ...]
    flush: bool = False
    """Whether it is only Holdfast's request to write down what must last."""


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """What the agent said, and the result of each of its calls, in order."""

    parts: tuple[Text | Thinking | ToolCall, ...]
    results: tuple[Result, ...] = ()


Turn: TypeAlias = UserTurn | AgentTurn


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a path that a model is sent: a summary of what came before, and the records since."""

    summary: str
    records: tuple[Record, ...]
    whole: bool
    """Whether no record before this path could belong to the window."""


def window_of(path: Sequence[Record]) -> Window:
    """The window that contains the last record of a path."""
    reset = _last_reset(path)
    begins = reset >= 0 or not path or not path[0].parent
    last = _last_compaction(path, reset)
    if last is None:
        return Window("", tuple(path[reset + 1 :]), begins)
    place, compaction = last
    first = _kept_from(path, reset + 1, place, compaction.first_kept)
    records = (record for record in path[first:place] if record.type != COMPACTION)
    whole = begins or _is_settled(path, first, place, compaction.first_kept)
    return Window(compaction.summary or "", (*records, *path[place + 1 :]), whole)


def without_past(path: Sequence[Record]) -> tuple[Record, ...]:
    """The path without the records that no model will be sent again."""
    reset = _last_reset(path)
    last = _last_compaction(path, reset)
    if last is None:
        return tuple(path[max(reset, 0) :])
    place, compaction = last
    return tuple(path[_kept_from(path, reset + 1, place, compaction.first_kept) :])


def turns_of(path: Sequence[Record]) -> tuple[Turn, ...]:
    """What a model is sent at the end of a path; the first turn is always in the user's role."""
    window = window_of(path)
    builder = _TurnBuilder(_edits(window.records))
    if window.summary:
        builder.add_user_turn((Text(SUMMARY.format(window.summary.strip())),))
    stale = _stale_gauges(path)
    for record in window.records:
        if record.id not in stale:
            builder.add(record)
    turns = tuple(builder.turns())
    return (UserTurn((Text(UNKNOWN_BEFORE),)), *turns) if turns and isinstance(turns[0], AgentTurn) else turns


SUMMARY: Final = (
    "What came before this point is no longer in the window. Its summary:\n\n<summary>\n{}\n</summary>"
)
BRANCH: Final = "What happened on a branch that was left. Its summary:\n\n<summary>\n{}\n</summary>"
UNKNOWN_BEFORE: Final = "(What came before this point is not known.)"
NO_RESULT: Final = "No result: the session stopped before this call returned."
NO_OUTPUT: Final = "(no output)"
_CUT_OFF: Final = frozenset({"aborted", "error"})
_IMAGE_TYPES: Final = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_LONGEST_ID: Final = 40
_NOT_IN_A_NAME: Final = re.compile(r"[^a-zA-Z0-9_-]+")


def _last_reset(path: Sequence[Record]) -> int:
    return next((place for place in range(len(path) - 1, -1, -1) if path[place].type == RESET), -1)


def _last_compaction(path: Sequence[Record], reset: int) -> tuple[int, Compaction] | None:
    """The last compaction after a reset, and its place; one that cannot be parsed is ignored."""
    for place in range(len(path) - 1, reset, -1):
        if path[place].type == COMPACTION and isinstance(compaction := body(path[place]), Compaction):
            return place, compaction
    return None


def _stale_gauges(path: Sequence[Record]) -> frozenset[str]:
    """The ids of gauges from before the last compaction: they say how full the window was then."""
    for place in range(len(path) - 1, -1, -1):
        compaction = body(path[place]) if path[place].type == COMPACTION else None
        if isinstance(compaction, Compaction) and not compaction.note.retells:
            return frozenset(record.id for record in path[:place] if is_gauge(record))
    return frozenset()


def is_gauge(record: Record) -> bool:
    """Whether a record only tells the model how full its window is."""
    message = body(record) if record.type == CUSTOM_MESSAGE else None
    return isinstance(message, CustomMessage) and message.custom_type == GAUGE


def _kept_from(path: Sequence[Record], start: int, end: int, first_kept: str) -> int:
    """The place of the first record that a compaction keeps; its own place if that record is missing."""
    named = next((place for place in range(end - 1, start - 1, -1) if path[place].id == first_kept), end)
    return _with_its_call(path, start, named) if named < end else end


def _with_its_call(path: Sequence[Record], start: int, first: int) -> int:
    """The place of the answer that called the tool, if a window would begin with a tool's result."""
    result = _message_of(path[first])
    if result is None or result.role != "toolResult":
        return first
    for place in range(first - 1, start - 1, -1):
        message = _message_of(path[place])
        if message is not None and message.role == "assistant":
            calls = {block.id for block in message.content or () if isinstance(block, Block)}
            return place if result.call in calls else first
    return first


def _is_settled(path: Sequence[Record], first: int, compacted: int, first_kept: str) -> bool:
    """Whether the first record that a compaction keeps was found, with its tool call if it is a result."""
    if first == compacted:
        return first_kept in ("", path[compacted].id)
    message = _message_of(path[first])
    return message is None or message.role != "toolResult"


def _message_of(record: Record) -> MessageBody | None:
    message = body(record) if record.type == MESSAGE else None
    return message.message if isinstance(message, Message) else None


def _edits(records: Sequence[Record]) -> Mapping[str, Replacement | None]:
    """The replacement of each edited record, by id; of several edits the last counts."""
    edits: dict[str, Replacement | None] = {}
    seen: set[str] = set()
    for record in records:
        edit = body(record) if record.type == CONTEXT_EDIT else None
        if isinstance(edit, ContextEdit) and edit.target in seen:
            edits[edit.target] = edit.replacement
        seen.add(record.id)
    return edits


@dataclass(slots=True)
class _Draft:
    """An answer that still waits for the results of its calls."""

    parts: list[Text | Thinking | ToolCall] = field(default_factory=list[Text | Thinking | ToolCall])
    awaited: dict[str, str] = field(default_factory=dict[str, str])
    """For each call id in the log, the id that the model is sent."""
    results: dict[str, Result] = field(default_factory=dict[str, Result])

    def finished(self) -> AgentTurn:
        calls = [part.id for part in self.parts if isinstance(part, ToolCall)]
        missing = (Text(NO_RESULT),)
        results = [self.results.get(call) or Result(call, missing, ok=False) for call in calls]
        return AgentTurn(tuple(self.parts), tuple(results))


class _TurnBuilder:
    """Collects records into turns, one after the other."""

    def __init__(self, edits: Mapping[str, Replacement | None]) -> None:
        self._edits = edits
        self._turns: list[UserTurn | _Draft] = []
        self._ids: set[str] = set()

    def turns(self) -> Iterator[Turn]:
        for turn in self._turns:
            finished = turn.finished() if isinstance(turn, _Draft) else turn
            if finished.parts:
                yield finished

    def add(self, record: Record) -> None:
        edit = self._edits.get(record.id, _UNEDITED)
        if edit is None:
            return
        match body(record):
            case Message(message=message):
                self._add_message(message if edit is _UNEDITED else _edited(message, edit.content))
            case CustomMessage(custom_type=kind, content=content):
                content = content if edit is _UNEDITED else edit.content
                self.add_user_turn(_shown(content), flush=kind == FLUSH)
            case BranchSummary(summary=str() as summary) if summary.strip():
                self.add_user_turn((Text(BRANCH.format(summary.strip())),))
            case _:
                pass

    def add_user_turn(self, parts: tuple[Text | Image, ...], *, flush: bool = False) -> None:
        self._turns.append(UserTurn(parts, flush))

    def _add_message(self, message: MessageBody) -> None:
        match message.role:
            case "assistant":
                self._add_answer(message)
            case "toolResult":
                self._add_result(message)
            case "user" | "custom" | "hookMessage":
                self.add_user_turn(_shown(message.content), flush=message.custom_type == FLUSH)
            case "bashExecution" if not message.left_out:
                self.add_user_turn((Text(_command_text(message)),))
            case "branchSummary" if message.summary:
                self.add_user_turn((Text(BRANCH.format(message.summary.strip())),))
            case "compactionSummary" if message.summary:
                self.add_user_turn((Text(SUMMARY.format(message.summary.strip())),))
            case _:
                pass

    def _add_answer(self, message: MessageBody) -> None:
        draft = _Draft()
        for block in _blocks(message.content):
            self._add_block(draft, block, message)
        visible = [part for part in draft.parts if not isinstance(part, Thinking)]
        if len(visible) == 1 and isinstance(visible[0], Text) and says_nothing(visible[0].text):
            # Holdfast's request goes too, so that no model is sent either again.
            if self._turns and isinstance(last := self._turns[-1], UserTurn) and last.flush:
                self._turns.pop()
        elif visible:
            self._turns.append(draft)

    def _add_block(self, draft: _Draft, block: Block, message: MessageBody) -> None:
        is_whole = message.stop not in _CUT_OFF
        if block.type == "text" and block.text and block.text.strip():
            draft.parts.append(Text(block.text))
        elif block.type == "thinking" and block.signature and is_whole:
            redacted = block.redacted is True
            draft.parts.append(Thinking(block.thinking or "", block.signature, message.api or "", redacted))
        elif block.type == "toolCall" and is_whole:
            # The calls of an answer that was cut off were never made.
            call = ToolCall(self._own_id(block.id or ""), _name(block.name), _arguments(block.arguments))
            draft.parts.append(call)
            draft.awaited.setdefault(block.id or "", call.id)

    def _add_result(self, message: MessageBody) -> None:
        """Add a result to its call, however late it came; a result without a call is ignored."""
        call = message.call or ""
        for turn in reversed(self._turns):
            if isinstance(turn, _Draft) and call in turn.awaited:
                own = turn.awaited[call]
                parts = _shown(message.content) or (Text(NO_OUTPUT),)
                turn.results.setdefault(own, Result(own, parts, message.is_error is not True))
                return

    def _own_id(self, id: str) -> str:
        """An id that every provider accepts and that no other call here has."""
        clean = _NOT_IN_A_NAME.sub("_", id)[:_LONGEST_ID] or "call"
        own, number = clean, 1
        while own in self._ids:
            number += 1
            own = f"{clean[: _LONGEST_ID - 8]}_{number}"
        self._ids.add(own)
        return own


_UNEDITED: Final = Replacement()
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _edited(message: MessageBody, content: Content) -> MessageBody:
    return msgspec.structs.replace(message, content=content)


def _blocks(content: Content) -> Sequence[Block]:
    return [Block("text", content)] if isinstance(content, str) else content or ()


def _shown(content: Content) -> tuple[Text | Image, ...]:
    """The parts of a content that can be sent in the user's role."""
    parts: list[Text | Image] = []
    for block in _blocks(content):
        if block.type == "text" and block.text and block.text.strip():
            parts.append(Text(block.text))
        elif block.type == "image" and block.data and block.mime in _IMAGE_TYPES:
            parts.append(Image(block.mime, block.data))
    return tuple(parts)


def _command_text(message: MessageBody) -> str:
    """A command that the user ran, with its output."""
    status = "cancelled" if message.cancelled else f"exit {message.exit_code}" if message.exit_code else ""
    output = message.output.strip() if message.output and message.output.strip() else NO_OUTPUT
    return f"Ran `{message.command or ''}`{f' ({status})' if status else ''}:\n\n{output}"


def _name(name: str | None) -> str:
    return _NOT_IN_A_NAME.sub("_", name or "")[:64] or "tool"


def _arguments(raw: msgspec.Raw) -> str:
    """The arguments as they were written if they are a JSON object, else an empty object."""
    try:
        _OBJECT.decode(raw)
    except (ValueError, RecursionError):
        return "{}"
    return bytes(raw).decode()
