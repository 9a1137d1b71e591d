"""Compaction: when a window is full, which of its messages stay, and what stands for the rest.

A plan is made here and carried out elsewhere. It never parts a tool's call from its result, and what a
checkpoint does not cover always stays.
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
    made,
)
from holdfast.core.agent_log.summary import ByRule, Written
from holdfast.core.session.rolling import Outline
from holdfast.lazy_dataclass import dataclass

KEPT_AT_MOST: Final = 0.5
"""Of a window, what may stay as it is when it is compacted: else it would be full again at once."""
LAST_AT_MOST: Final = 0.8
"""The same where it is the last turn alone."""


@dataclass(frozen=True, slots=True)
class CompactionPolicy:
    """What the user's settings say about compacting."""

    reserve_tokens: int = 4_000
    """So much of a window stays free for an answer."""
    prefer_checkpoint: bool = True
    keep_percent: int = 20
    """So many of a window's messages stay as they are, and at least so many:"""
    keep_messages: int = 6


@dataclass(frozen=True, slots=True)
class FromCheckpoint:
    """A checkpoint stands for what goes; no model is asked."""

    summary: str
    first_kept: str


@dataclass(frozen=True, slots=True)
class FromModel:
    """Somebody has to sum up what goes: a model, or else whoever can by rule."""

    covered: tuple[Record, ...]
    earlier: str
    """The summary that stood for all before these; empty in the first window."""
    first_kept: str
    """The id of the first record that stays; empty if none does."""


@dataclass(frozen=True, slots=True)
class Covered:
    """What a model was shown when it wrote a checkpoint."""

    tokens: int
    messages: int
    up_to: str
    """The id of the last record."""


Plan: TypeAlias = FromCheckpoint | FromModel


def is_full(total: int, window: int, policy: CompactionPolicy) -> bool:
    """Whether so many tokens leave less of a window than the reserve; of a small one, less than half."""
    return total >= window - min(policy.reserve_tokens, window // 2)


def plan(path: Sequence[Record], total: int, window: int, policy: CompactionPolicy) -> Plan:
    """How to compact the window at the end of a path that holds so many tokens."""
    records = window_of(path).records
    half = KEPT_AT_MOST * window / max(total, 1)
    found = _latest_checkpoint(path)
    if found is not None and policy.prefer_checkpoint and (found[1].tokens or 0) > total / 2:
        taken, rolling = found
        ids = [record.id for record in records]
        place = ids.index(rolling.up_to if rolling.up_to in ids else taken)
        cut = _cut(records, _next_said(records, place), half, policy)
        if cut:
            return FromCheckpoint(told(rolling), records[cut].id)
    cut = _cut(records, len(records) - 1, half, policy)
    if not _fits(records, cut, half / KEPT_AT_MOST * LAST_AT_MOST):
        cut = 0
    covered = records[:cut] if cut else records
    return FromModel(covered, window_of(path).summary, records[cut].id if cut else "")


def old_checkpoint(path: Sequence[Record]) -> str:
    """What the last checkpoint of a path says, however little it covers; empty if there is none."""
    found = _latest_checkpoint(path)
    return told(found[1]) if found is not None else ""


def latest_checkpoint(path: Sequence[Record]) -> Outline | None:
    """What the last checkpoint in the last window of a path says; None if there is none."""
    found = _latest_checkpoint(path)
    if found is None:
        return None
    rolling = found[1]
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


def told(rolling: Rolling) -> str:
    """A checkpoint as one text: its summary, and what its lists say beyond it."""
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
    """The record from which on a summary stands for all before the first that is kept.

    One that keeps nothing names itself as the first.
    """
    said: dict[str, object] = {
        "summary": summary.text,
        "firstKeptEntryId": first_kept or id,
        "tokensBefore": tokens_before,
        "fromCheckpoint": isinstance(summary, ByRule),
    }
    if isinstance(summary, ByRule) and summary.reason:
        said["details"] = CompactionNote(no_model=summary.reason)
    return made(COMPACTION, id, behind.id, at, said)


def retold(id: str, behind: Record, at: int, owed: Record, summary: Written) -> Record:
    """The record by which a better summary takes the place of that of an earlier compaction."""
    earlier = body(owed)
    kept = earlier.first_kept if isinstance(earlier, Compaction) else ""
    tokens = earlier.tokens_before if isinstance(earlier, Compaction) else 0
    said = {
        "summary": summary.text,
        "firstKeptEntryId": kept,
        "tokensBefore": tokens or 0,
        "fromCheckpoint": False,
        "details": CompactionNote(retells=owed.id),
    }
    return made(COMPACTION, id, behind.id, at, said)


def checkpoint_written(id: str, behind: Record, at: int, written: Written, covered: Covered) -> Record:
    """The record of a checkpoint that a model wrote while the session went on."""
    told = {
        "summary": written.text,
        "tokensAtCheckpoint": covered.tokens,
        "messageCountAtCheckpoint": covered.messages,
        "topics": written.topics,
        "openQuestions": written.open_questions,
        "keyDecisions": written.key_decisions,
        "upToEntryId": covered.up_to,
        "model": written.model,
    }
    return made(CHECKPOINT, id, behind.id, at, {"checkpoint": told})


def owing(path: Sequence[Record]) -> Record | None:
    """The last compaction of a path, if no model wrote its summary and one was to."""
    for record in reversed(path):
        if record.type == COMPACTION and isinstance(said := body(record), Compaction):
            return record if said.owed.no_model else None
    return None


def covered_by(owed: Record, before: Sequence[Record]) -> FromModel:
    """What a compaction let go, from the path that led to it."""
    window = window_of(before)
    said = body(owed)
    first = said.first_kept if isinstance(said, Compaction) else ""
    places = (place for place, record in enumerate(window.records) if record.id == first)
    covered = window.records[: next(places, len(window.records))]
    return FromModel(covered, window.summary, first)


_ASKING: Final = frozenset({"user", "assistant", "custom", "hookMessage", "bashExecution", "branchSummary"})


def _latest_checkpoint(path: Sequence[Record]) -> tuple[str, Rolling] | None:
    """The last checkpoint in the last window of a path, by its id, and what it says."""
    for record in reversed(path):
        if record.type in (COMPACTION, RESET):
            return None
        if record.type == CHECKPOINT and isinstance(said := body(record), Checkpoint):
            return record.id, said.checkpoint
    return None


def _cut(records: Sequence[Record], latest: int, share: float, policy: CompactionPolicy) -> int:
    """The place of the first record that stays; 0 if none can be found up to the latest.

    As many stay as the policy says, or fewer where they are more than that share of all there is; the last
    turn always.
    """
    points = [place for place in _cut_points(records) if 0 < place <= latest]
    if not points:
        return 0
    said = [place for place, record in enumerate(records) if record.type in _IN_CONTEXT]
    keep = max(policy.keep_messages, math.ceil(len(said) * policy.keep_percent / 100), 1)
    wanted = said[max(0, len(said) - keep)]
    kept = _weights(records)
    before = [place for place in points if place <= wanted] or points[:1]
    fitting = (place for place in points if place >= before[-1] and kept[place] <= share * kept[0])
    return next(fitting, points[-1])


def _fits(records: Sequence[Record], cut: int, share: float) -> bool:
    """Whether what stays from there on is at most that share of all there is."""
    kept = _weights(records)
    return not records or kept[cut] <= share * kept[0]


def _next_said(records: Sequence[Record], place: int) -> int:
    """The place of the next record that a model is told behind that one; the last of all if there is none."""
    said = (each for each in range(place + 1, len(records)) if records[each].type in _IN_CONTEXT)
    return next(said, len(records) - 1)


_IN_CONTEXT: Final = frozenset({MESSAGE, CUSTOM_MESSAGE, BRANCH_SUMMARY})


def _cut_points(records: Sequence[Record]) -> Iterator[int]:
    """The places where a turn begins, and no call before waits for a result behind."""
    called: dict[str, int] = {}
    parted: set[int] = set()
    begins: list[int] = []
    for place, record in enumerate(records):
        said = body(record) if record.type == MESSAGE else None
        if not isinstance(said, Message):
            begins += [place] if record.type in _IN_CONTEXT else []
            continue
        if said.message.role in _ASKING:
            begins.append(place)
        if said.message.role == "toolResult":
            parted.update(range(called.get(said.message.call or "", place) + 1, place + 1))
        called |= dict.fromkeys(_calls(said), place)
    yield from (place for place in begins if place not in parted)


def _calls(said: Message) -> Iterable[str]:
    content = said.message.content
    blocks: Sequence[Block] = content if isinstance(content, list) else ()
    return [block.id or "" for block in blocks if block.type == "toolCall"]


def _weights(records: Sequence[Record]) -> list[int]:
    """For every place, how much stands from there on: in characters, which is near enough to choose by."""
    sizes = [len(record.line) if record.type in _IN_CONTEXT else 0 for record in records]
    return list(accumulate(reversed(sizes)))[::-1]
