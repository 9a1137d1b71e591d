"""Promotion: turn an item of the continuity into a memory, or into a proposed change to an instruction file.

Nothing is promoted automatically: a person must approve each candidate. What reads like an instruction only
becomes a proposal, which a person applies by hand.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from difflib import unified_diff
from enum import StrEnum
from typing import Final

from holdfast.core.documents.continuity import ContinuityPart, LayerName, LayerSummary, key
from holdfast.core.documents.continuity_summary import PLACE_LABEL
from holdfast.core.documents.durable import is_durable
from holdfast.core.evidence.prose import reader
from holdfast.core.memory.memory import MemoryKind, kind_of
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass


class Destination(StrEnum):
    """Where a candidate would end up."""

    DURABLE = "durable-memory"
    INSTRUCTION = "instruction-like"


class ReviewState(StrEnum):
    """How far a candidate has come."""

    BLOCKED = "blocked"
    """It comes from a subagent and waits until the user adopts it."""
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    PROMOTED = "promoted"
    """It became a memory."""
    WAITING = "manual-apply-pending"
    """It became a proposal, which the user has to apply."""
    APPLIED = "applied"


class ReviewStep(StrEnum):
    """What can be done with a candidate."""

    ADOPT = "adopt"
    APPROVE = "approve"
    REJECT = "reject"
    PROMOTE = "promote"
    VERIFY = "verify-apply"


@dataclass(frozen=True, slots=True)
class PromotionCandidate:
    """Something that may be worth keeping beyond the current work."""

    id: str
    text: str
    lane: Destination
    part: ContinuityPart
    source: str
    """The layer, or the transcript of a subagent."""
    standing: ReviewState
    built_at: int
    became: str = ""
    """The id of the memory that it became, or the file that its proposal is for."""


@dataclass(frozen=True, slots=True)
class StepRefused:
    """Why a step is not allowed, and what to do first."""

    reason: str
    hint: str


def candidates(
    summary: LayerSummary, source: str, by_user: Collection[str], *, blocked: bool, at: int
) -> list[PromotionCandidate]:
    """The lasting items of a summary: rules, decisions and what the work needs; nothing done, now or next.

    A note `by_user` counts as it is: who wrote it by hand knows what it is worth.
    """
    by_id: dict[str, PromotionCandidate] = {}
    for item in summary.of(ContinuityPart.NOTES):
        if not item.startswith(_PASSING) and (item in by_user or is_durable(item)):
            standing = ReviewState.BLOCKED if blocked else ReviewState.PENDING
            candidate = PromotionCandidate(
                _id(item), one_line(item), destination_of(item), ContinuityPart.NOTES, source, standing, at
            )
            by_id.setdefault(candidate.id, candidate)
    return list(by_id.values())


_PASSING: Final = ("`", PLACE_LABEL)
"""How notes begin that matter only for the current work: changed files, and where the work is."""


def destination_of(text: str) -> Destination:
    """Whether a text is an instruction or a fact; a decision counts as a fact."""
    ordered = kind_of(text) is MemoryKind.RULE and not reader.decisions(text)
    return Destination.INSTRUCTION if ordered else Destination.DURABLE


def rebuild_candidates(
    known: Iterable[PromotionCandidate], fresh: Iterable[PromotionCandidate]
) -> list[PromotionCandidate]:
    """The candidates after another build; reviewed ones stay, pending ones only if they are found again."""
    new = {candidate.id: candidate for candidate in fresh}
    reviewed = [
        candidate
        for candidate in known
        if candidate.standing is not ReviewState.PENDING or candidate.id in new
    ]
    reviewed_ids = {candidate.id for candidate in reviewed}
    return [*reviewed, *(candidate for candidate in new.values() if candidate.id not in reviewed_ids)]


_MOVES: Final[Mapping[tuple[ReviewState, ReviewStep], ReviewState]] = {
    (ReviewState.BLOCKED, ReviewStep.ADOPT): ReviewState.PENDING,
    (ReviewState.PENDING, ReviewStep.APPROVE): ReviewState.APPROVED,
    (ReviewState.PENDING, ReviewStep.REJECT): ReviewState.REJECTED,
    (ReviewState.APPROVED, ReviewStep.REJECT): ReviewState.REJECTED,
    (ReviewState.REJECTED, ReviewStep.APPROVE): ReviewState.APPROVED,
    (ReviewState.APPROVED, ReviewStep.PROMOTE): ReviewState.PROMOTED,
    (ReviewState.WAITING, ReviewStep.VERIFY): ReviewState.APPLIED,
}
_HINTS: Final[Mapping[ReviewState, str]] = {
    ReviewState.BLOCKED: "`holdfast dream adopt {id}` takes it over first",
    ReviewState.PENDING: "`holdfast dream review {id} --approve` comes first",
    ReviewState.APPROVED: "`holdfast dream promote {id}` comes next",
    ReviewState.REJECTED: "`holdfast dream review {id} --approve` would take that back",
    ReviewState.PROMOTED: "`holdfast memories show {became}` has it",
    ReviewState.WAITING: "apply it by hand, then `holdfast dream verify-apply {id}`",
    ReviewState.APPLIED: "nothing is left to be done",
}


def take_step(candidate: PromotionCandidate, step: ReviewStep) -> PromotionCandidate | StepRefused:
    """The candidate after one step; no step can be skipped, and an instruction only becomes a proposal."""
    after = _MOVES.get((candidate.standing, step))
    if after is None:
        hint = _HINTS[candidate.standing].format(id=candidate.id, became=candidate.became)
        return StepRefused(f"{candidate.id} is {candidate.standing}: {step} is not its next step", hint)
    if after is ReviewState.PROMOTED and candidate.lane is Destination.INSTRUCTION:
        after = ReviewState.WAITING
    return replace(candidate, standing=after)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change to an instruction file, which Holdfast shows but never makes."""

    file: str
    line: str
    patch: str


def proposal(candidate: PromotionCandidate, file: str, before: str) -> Proposal:
    """The change to the file, as a patch that the user can apply."""
    line = f"- {candidate.text}"
    gap = "" if not before or before.endswith("\n") else "\n"
    after = f"{before}{gap}{line}\n"
    patch = unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{file}", f"b/{file}"
    )
    return Proposal(
        file,
        line,
        "".join(
            diff_line if diff_line.endswith("\n") else f"{diff_line}\n{_NO_END}\n" for diff_line in patch
        ),
    )


_NO_END: Final = "\\ No newline at end of file"
"""A patch needs this line to apply to a file whose last line has no newline."""


def is_applied(candidate: PromotionCandidate, content: str) -> bool:
    """Whether a file contains the candidate's text, in any layout."""
    return key(candidate.text) in one_line(content).casefold()


def _id(text: str) -> str:
    return hashlib.sha256(key(text).encode()).hexdigest()[:10]


def layer_source(name: LayerName) -> str:
    """The name of a layer as a candidate's source."""
    return f"continuity:{name}"
