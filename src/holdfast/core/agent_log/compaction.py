"""Compaction: when a window is full, which of its messages stay, and what replaces the rest.

This module plans; the engine carries the plan out. A plan never separates a tool call from its result, and
messages that a checkpoint does not cover always stay.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Final, TypeAlias

from holdfast.core.agent_log.context import window_of
from holdfast.core.agent_log.record_bodies import (
    Block,
    Checkpoint,
    Compaction,
    CompactionNote,
    Message,
    Rolling,
    body,
)
from holdfast.core.agent_log.records import (
    BRANCH_SUMMARY,
    CHECKPOINT,
    COMPACTION,
    CUSTOM_MESSAGE,
    MESSAGE,
    RESET,
    Record,
    new_record,
)
from holdfast.core.agent_log.summary import ByRule, Written
from holdfast.core.session.rolling import Outline
from holdfast.lazy_dataclass import dataclass

KEPT_AT_MOST: Final = 0.5
"""The largest part of a window that may stay unchanged in a compaction; else it would soon be full again."""
LAST_AT_MOST: Final = 0.8
"""The same if only the last turn stays."""


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """The user's settings for compaction."""

    reserve_tokens: int = 4_000
    """How many tokens of a window stay free for an answer."""
    prefer_checkpoint: bool = True
    keep_percent: int = 20
    """The percentage of a window's messages that stay unchanged, but at least `keep_messages`."""
    keep_messages: int = 6


@dataclass(frozen=True, slots=True)
class FromCheckpoint:
    """A checkpoint replaces the removed messages; no model is asked."""

    summary: str
    first_kept: str


@dataclass(frozen=True, slots=True)
class FromModel:
    """The removed messages must be summarised: by a model, or else by rule."""

    covered: tuple[Record, ...]
    earlier: str
    """The summary of everything before these records; empty in the first window."""
    first_kept: str
    """The id of the first record that stays; empty if none stays."""


@dataclass(frozen=True, slots=True)
class CheckpointCoverage:
    """What a model was shown when it wrote a checkpoint."""

    tokens: int
    messages: int
    up_to: str
    """The id of the last record."""


Plan: TypeAlias = FromCheckpoint | FromModel


def is_full(total: int, window: int, policy: CompactionPolicy) -> bool:
    """Whether so many tokens leave less than the reserve free; in a small window, less than half."""
    return total >= window - min(policy.reserve_tokens, window // 2)


def plan(path: Sequence[Record], total: int, window: int, policy: CompactionPolicy) -> Plan:
    """How to compact the window at the end of a path that has so many tokens."""
    records = window_of(path).records
    half = KEPT_AT_MOST * window / max(total, 1)
    checkpoint = _latest_checkpoint(path)
    if checkpoint is not None and policy.prefer_checkpoint and (checkpoint[1].tokens or 0) > total / 2:
        checkpoint_id, rolling = checkpoint
        ids = [record.id for record in records]
        place = ids.index(rolling.up_to if rolling.up_to in ids else checkpoint_id)
        cut = _cut(records, _next_message(records, place), half, policy)
        if cut:
            return FromCheckpoint(checkpoint_text(rolling), records[cut].id)
    cut = _cut(records, len(records) - 1, half, policy)
    if not _fits(records, cut, half / KEPT_AT_MOST * LAST_AT_MOST):
        cut = 0
    covered = records[:cut] if cut else records
    return FromModel(covered, window_of(path).summary, records[cut].id if cut else "")


def old_checkpoint(path: Sequence[Record]) -> str:
    """The text of the last checkpoint of a path, however little it covers; empty if there is none."""
    checkpoint = _latest_checkpoint(path)
    return checkpoint_text(checkpoint[1]) if checkpoint is not None else ""


def latest_checkpoint(path: Sequence[Record]) -> Outline | None:
    """The last checkpoint in the last window of a path; None if there is none."""
    checkpoint = _latest_checkpoint(path)
    if checkpoint is None:
        return None
    rolling = checkpoint[1]
    return Outline(
        summary=rolling.summary or "",
        tokens=_whole(rolling.tokens),
        messages=_whole(rolling.messages),
        topics=tuple(rolling.topics or ()),
        open_questions=tuple(rolling.questions or ()),
        key_decisions=tuple(rolling.decisions or ()),
    )


def _whole(number: float | None) -> int:
    return int(number) if number and 0 < number < 1 << 53 else 0


def checkpoint_text(rolling: Rolling) -> str:
    """A checkpoint as one text: its summary, and the entries of its lists that are not in the summary."""
    summary = (rolling.summary or "").strip()
    parts = [summary]
    for title, rows in (
        ("Topics", rolling.topics),
        ("Key decisions", rolling.decisions),
        ("Open questions", rolling.questions),
    ):
        news = [row for row in rows or () if row.strip() and row not in summary]
        if news:
            parts.append("\n".join((f"{title}:", *(f"- {row}" for row in news))))
    return "\n\n".join(part for part in parts if part)


def compaction_record(
    id: str, behind: Record, at: int, first_kept: str, summary: Written | ByRule, tokens_before: int
) -> Record:
    """The record of a compaction: its summary replaces everything before the first kept record.

    If nothing is kept, the first kept record is the compaction itself.
    """
    fields: dict[str, object] = {
        "summary": summary.text,
        "firstKeptEntryId": first_kept or id,
        "tokensBefore": tokens_before,
        "fromCheckpoint": isinstance(summary, ByRule),
    }
    if isinstance(summary, ByRule) and summary.reason:
        fields["details"] = CompactionNote(no_model=summary.reason)
    return new_record(COMPACTION, id, behind.id, at, fields)


def improved_compaction_record(id: str, behind: Record, at: int, owed: Record, summary: Written) -> Record:
    """The record that replaces the summary of an earlier compaction by a better one."""
    earlier = body(owed)
    first_kept = earlier.first_kept if isinstance(earlier, Compaction) else ""
    tokens = earlier.tokens_before if isinstance(earlier, Compaction) else 0
    fields = {
        "summary": summary.text,
        "firstKeptEntryId": first_kept,
        "tokensBefore": tokens or 0,
        "fromCheckpoint": False,
        "details": CompactionNote(retells=owed.id),
    }
    return new_record(COMPACTION, id, behind.id, at, fields)


def checkpoint_record(
    id: str, behind: Record, at: int, written: Written, covered: CheckpointCoverage
) -> Record:
    """The record of a checkpoint that a model wrote while the session continued."""
    fields = {
        "summary": written.text,
        "tokensAtCheckpoint": covered.tokens,
        "messageCountAtCheckpoint": covered.messages,
        "topics": written.topics,
        "openQuestions": written.open_questions,
        "keyDecisions": written.key_decisions,
        "upToEntryId": covered.up_to,
        "model": written.model,
    }
    return new_record(CHECKPOINT, id, behind.id, at, {"checkpoint": fields})


def compaction_without_model(path: Sequence[Record]) -> Record | None:
    """The last compaction of a path, if a model should have written its summary and did not."""
    for record in reversed(path):
        if record.type == COMPACTION and isinstance(compaction := body(record), Compaction):
            return record if compaction.note.no_model else None
    return None


def covered_by(owed: Record, before: Sequence[Record]) -> FromModel:
    """What a compaction removed, from the path before it."""
    window = window_of(before)
    compaction = body(owed)
    first = compaction.first_kept if isinstance(compaction, Compaction) else ""
    places = (place for place, record in enumerate(window.records) if record.id == first)
    covered = window.records[: next(places, len(window.records))]
    return FromModel(covered, window.summary, first)


_TURN_STARTS: Final = frozenset(
    {"user", "assistant", "custom", "hookMessage", "bashExecution", "branchSummary"}
)


def _latest_checkpoint(path: Sequence[Record]) -> tuple[str, Rolling] | None:
    """The id and content of the last checkpoint in the last window of a path."""
    for record in reversed(path):
        if record.type in (COMPACTION, RESET):
            return None
        if record.type == CHECKPOINT and isinstance(checkpoint := body(record), Checkpoint):
            return record.id, checkpoint.checkpoint
    return None


def _cut(records: Sequence[Record], latest: int, share: float, policy: CompactionPolicy) -> int:
    """The place of the first record that stays; 0 if there is no possible cut up to `latest`.

    As many records stay as the policy says, or fewer if they would exceed that share of the window; the last
    turn always stays.
    """
    points = [place for place in _cut_points(records) if 0 < place <= latest]
    if not points:
        return 0
    messages = [place for place, record in enumerate(records) if record.type in _IN_CONTEXT]
    keep = max(policy.keep_messages, math.ceil(len(messages) * policy.keep_percent / 100), 1)
    target = messages[max(0, len(messages) - keep)]
    weights = _weights(records)
    before = [place for place in points if place <= target] or points[:1]
    fitting = (place for place in points if place >= before[-1] and weights[place] <= share * weights[0])
    return next(fitting, points[-1])


def _fits(records: Sequence[Record], cut: int, share: float) -> bool:
    """Whether the records from the cut on are at most that share of the window."""
    weights = _weights(records)
    return not records or weights[cut] <= share * weights[0]


def _next_message(records: Sequence[Record], place: int) -> int:
    """The place of the next record that a model is sent; the last record if there is none."""
    places = (index for index in range(place + 1, len(records)) if records[index].type in _IN_CONTEXT)
    return next(places, len(records) - 1)


_IN_CONTEXT: Final = frozenset({MESSAGE, CUSTOM_MESSAGE, BRANCH_SUMMARY})


def _cut_points(records: Sequence[Record]) -> Iterator[int]:
    """The places where a turn begins and no tool call is separated from its result."""
    called: dict[str, int] = {}
    parted: set[int] = set()
    begins: list[int] = []
    for place, record in enumerate(records):
        message = body(record) if record.type == MESSAGE else None
        if not isinstance(message, Message):
            begins += [place] if record.type in _IN_CONTEXT else []
            continue
        if message.message.role in _TURN_STARTS:
            begins.append(place)
        if message.message.role == "toolResult":
            parted.update(range(called.get(message.message.call or "", place) + 1, place + 1))
        called |= dict.fromkeys(_calls(message), place)
    yield from (place for place in begins if place not in parted)


def _calls(message: Message) -> Iterable[str]:
    content = message.message.content
    blocks: Sequence[Block] = content if isinstance(content, list) else ()
    return [block.id or "" for block in blocks if block.type == "toolCall"]


def _weights(records: Sequence[Record]) -> list[int]:
    """For every place, how many characters follow from there on: a good enough estimate of tokens."""
    sizes = [len(record.line) if record.type in _IN_CONTEXT else 0 for record in records]
    return list(accumulate(reversed(sizes)))[::-1]
