"""Context: what a model is told of a log, as turns in which every tool's call stands with its result.

The last compaction on the way to the leaf, its summary, what it kept, then all that came after: found by
position and along the parents, never by comparing ids. How turns look to a provider is `shapes`' work.
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
from holdfast.core.evidence.prose.signs import says_nothing
from holdfast.lazy_dataclass import dataclass

FLUSH: Final = "holdfast.memory_flush"
"""The kind of message in which we ask an agent to write down what must last."""
GAUGE: Final = "holdfast.gauge"
"""The kind of message in which the model is told how full its window is."""


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    mime: str
    data: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """What a model thought; only the provider that signed it takes it back."""

    text: str
    signature: str
    api: str
    redacted: bool


@dataclass(frozen=True, slots=True)
class Call:
    """A tool's call; its arguments are a JSON object."""

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
    """What stands in the user's role."""

    parts: tuple[Text | Image, ...]
    flush: bool = False
    """Whether it is only our own question about what must last."""


@dataclass(frozen=True, slots=True)
class AgentTurn:
    """What the agent said, and the result of each of its calls, in their order."""

    parts: tuple[Text | Thinking | Call, ...]
    results: tuple[Result, ...] = ()


Turn: TypeAlias = UserTurn | AgentTurn


@dataclass(frozen=True, slots=True)
class Window:
    """The part of a path that a model is told: a summary of what came before, and the records since."""

    summary: str
    records: tuple[Record, ...]
    whole: bool
    """Whether nothing that stands before this path could belong to it."""


def window_of(path: Sequence[Record]) -> Window:
    """The window that the last record of a path stands in."""
    reset = _last_reset(path)
    begins = reset >= 0 or not path or not path[0].parent
    found = _last_compaction(path, reset)
    if found is None:
        return Window("", tuple(path[reset + 1 :]), begins)
    place, compaction = found
    first = _kept_from(path, reset + 1, place, compaction.first_kept)
    kept = (record for record in path[first:place] if record.type != COMPACTION)
    whole = begins or _is_settled(path, first, place, compaction.first_kept)
    return Window(compaction.summary or "", (*kept, *path[place + 1 :]), whole)


def without_past(path: Sequence[Record]) -> tuple[Record, ...]:
    """The path without what no model will be told any more."""
    reset = _last_reset(path)
    found = _last_compaction(path, reset)
    if found is None:
        return tuple(path[max(reset, 0) :])
    place, compaction = found
    return tuple(path[_kept_from(path, reset + 1, place, compaction.first_kept) :])


def turns_of(path: Sequence[Record]) -> tuple[Turn, ...]:
    """What a model is told at the end of a path; the first turn is always one in the user's role."""
    window = window_of(path)
    telling = _Telling(_edits(window.records))
    if window.summary:
        telling.ask((Text(SUMMARY.format(window.summary.strip())),))
    stale = _stale_gauges(path)
    for record in window.records:
        if record.id not in stale:
            telling.tell(record)
    turns = tuple(telling.turns())
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
    """The last compaction behind a reset, and its place; one that cannot be read compacts nothing."""
    for place in range(len(path) - 1, reset, -1):
        if path[place].type == COMPACTION and isinstance(compaction := body(path[place]), Compaction):
            return place, compaction
    return None


def _stale_gauges(path: Sequence[Record]) -> frozenset[str]:
    """The ids of gauges that a compaction kept: they say how full the window was before it."""
    for place in range(len(path) - 1, -1, -1):
        said = body(path[place]) if path[place].type == COMPACTION else None
        if isinstance(said, Compaction) and not said.owed.retells:
            return frozenset(record.id for record in path[:place] if is_gauge(record))
    return frozenset()


def is_gauge(record: Record) -> bool:
    """Whether a record only tells the model how full its window is."""
    said = body(record) if record.type == CUSTOM_MESSAGE else None
    return isinstance(said, CustomMessage) and said.custom_type == GAUGE


def _kept_from(path: Sequence[Record], start: int, end: int, first_kept: str) -> int:
    """The place from which a compaction keeps; where the record that it names is not here, its own place."""
    named = next((place for place in range(end - 1, start - 1, -1) if path[place].id == first_kept), end)
    return _with_its_call(path, start, named) if named < end else end


def _with_its_call(path: Sequence[Record], start: int, first: int) -> int:
    """A window that begins with a tool's result begins with the answer that called the tool instead."""
    result = _said(path[first])
    if result is None or result.role != "toolResult":
        return first
    for place in range(first - 1, start - 1, -1):
        said = _said(path[place])
        if said is not None and said.role == "assistant":
            calls = {block.id for block in said.content or () if isinstance(block, Block)}
            return place if result.call in calls else first
    return first


def _is_settled(path: Sequence[Record], first: int, compacted: int, first_kept: str) -> bool:
    """Whether what a compaction keeps was found, and nothing before it is missing there."""
    if first == compacted:
        return first_kept in ("", path[compacted].id)
    said = _said(path[first])
    return said is None or said.role != "toolResult"


def _said(record: Record) -> MessageBody | None:
    said = body(record) if record.type == MESSAGE else None
    return said.message if isinstance(said, Message) else None


def _edits(records: Sequence[Record]) -> Mapping[str, Replacement | None]:
    """By the id of a record, what a later one has told in its place; of several the last counts."""
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
    """An answer whose results are still to come."""

    parts: list[Text | Thinking | Call] = field(default_factory=list[Text | Thinking | Call])
    awaited: dict[str, str] = field(default_factory=dict[str, str])
    """By the id that the log has for a call, the one that the model is told."""
    results: dict[str, Result] = field(default_factory=dict[str, Result])

    def finished(self) -> AgentTurn:
        calls = [part.id for part in self.parts if isinstance(part, Call)]
        missing = (Text(NO_RESULT),)
        results = [self.results.get(call) or Result(call, missing, ok=False) for call in calls]
        return AgentTurn(tuple(self.parts), tuple(results))


class _Telling:
    """Puts records into turns, one after the other."""

    def __init__(self, edits: Mapping[str, Replacement | None]) -> None:
        self._edits = edits
        self._turns: list[UserTurn | _Draft] = []
        self._ids: set[str] = set()

    def turns(self) -> Iterator[Turn]:
        for turn in self._turns:
            finished = turn.finished() if isinstance(turn, _Draft) else turn
            if finished.parts:
                yield finished

    def tell(self, record: Record) -> None:
        edit = self._edits.get(record.id, _UNEDITED)
        if edit is None:
            return
        match body(record):
            case Message(message=said):
                self._tell_message(said if edit is _UNEDITED else _edited(said, edit.content))
            case CustomMessage(custom_type=kind, content=content):
                content = content if edit is _UNEDITED else edit.content
                self.ask(_shown(content), flush=kind == FLUSH)
            case BranchSummary(summary=str() as summary) if summary.strip():
                self.ask((Text(BRANCH.format(summary.strip())),))
            case _:
                pass

    def ask(self, parts: tuple[Text | Image, ...], *, flush: bool = False) -> None:
        self._turns.append(UserTurn(parts, flush))

    def _tell_message(self, said: MessageBody) -> None:
        match said.role:
            case "assistant":
                self._answer(said)
            case "toolResult":
                self._return(said)
            case "user" | "custom" | "hookMessage":
                self.ask(_shown(said.content), flush=said.custom_type == FLUSH)
            case "bashExecution" if not said.left_out:
                self.ask((Text(_ran(said)),))
            case "branchSummary" if said.summary:
                self.ask((Text(BRANCH.format(said.summary.strip())),))
            case "compactionSummary" if said.summary:
                self.ask((Text(SUMMARY.format(said.summary.strip())),))
            case _:
                pass

    def _answer(self, said: MessageBody) -> None:
        draft = _Draft()
        for block in _blocks(said.content):
            self._add(draft, block, said)
        told = [part for part in draft.parts if not isinstance(part, Thinking)]
        if len(told) == 1 and isinstance(told[0], Text) and says_nothing(told[0].text):
            # Then our question goes too: no model is told of either again.
            if self._turns and isinstance(asked := self._turns[-1], UserTurn) and asked.flush:
                self._turns.pop()
        elif told:
            self._turns.append(draft)

    def _add(self, draft: _Draft, block: Block, said: MessageBody) -> None:
        is_whole = said.stop not in _CUT_OFF
        if block.type == "text" and block.text and block.text.strip():
            draft.parts.append(Text(block.text))
        elif block.type == "thinking" and block.signature and is_whole:
            redacted = block.redacted is True
            draft.parts.append(Thinking(block.thinking or "", block.signature, said.api or "", redacted))
        elif block.type == "toolCall" and is_whole:
            # The calls of an answer that was cut off were never made.
            call = Call(self._own_id(block.id or ""), _name(block.name), _arguments(block.arguments))
            draft.parts.append(call)
            draft.awaited.setdefault(block.id or "", call.id)

    def _return(self, said: MessageBody) -> None:
        """Put a result where its call is, however late it came; one without a call tells nothing."""
        call = said.call or ""
        for turn in reversed(self._turns):
            if isinstance(turn, _Draft) and call in turn.awaited:
                own = turn.awaited[call]
                parts = _shown(said.content) or (Text(NO_OUTPUT),)
                turn.results.setdefault(own, Result(own, parts, said.is_error is not True))
                return

    def _own_id(self, id: str) -> str:
        """An id that every provider takes, and that no other call here has."""
        clean = _NOT_IN_A_NAME.sub("_", id)[:_LONGEST_ID] or "call"
        own, number = clean, 1
        while own in self._ids:
            number += 1
            own = f"{clean[: _LONGEST_ID - 8]}_{number}"
        self._ids.add(own)
        return own


_UNEDITED: Final = Replacement()
_OBJECT: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _edited(said: MessageBody, content: Content) -> MessageBody:
    return msgspec.structs.replace(said, content=content)


def _blocks(content: Content) -> Sequence[Block]:
    return [Block("text", content)] if isinstance(content, str) else content or ()


def _shown(content: Content) -> tuple[Text | Image, ...]:
    """What of a content can be shown in the user's role."""
    parts: list[Text | Image] = []
    for block in _blocks(content):
        if block.type == "text" and block.text and block.text.strip():
            parts.append(Text(block.text))
        elif block.type == "image" and block.data and block.mime in _IMAGE_TYPES:
            parts.append(Image(block.mime, block.data))
    return tuple(parts)


def _ran(said: MessageBody) -> str:
    """What a command told that a person ran."""
    ended = "cancelled" if said.cancelled else f"exit {said.exit_code}" if said.exit_code else ""
    told = said.output.strip() if said.output and said.output.strip() else NO_OUTPUT
    return f"Ran `{said.command or ''}`{f' ({ended})' if ended else ''}:\n\n{told}"


def _name(name: str | None) -> str:
    return _NOT_IN_A_NAME.sub("_", name or "")[:64] or "tool"


def _arguments(raw: msgspec.Raw) -> str:
    """The arguments as they were given, where they are an object."""
    try:
        _OBJECT.decode(raw)
    except (ValueError, RecursionError):
        return "{}"
    return bytes(raw).decode()
