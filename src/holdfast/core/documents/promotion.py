"""Promotion: how something in the continuity may become a memory, or a change to an instruction file.

Nothing is promoted by itself. A candidate is put up, a person says yes, and only then it may go on; what
reads like an instruction never goes further than a proposal that a person applies.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import unified_diff
from enum import StrEnum
from typing import Final

from holdfast.core.documents.continuity import LayerName, Part, Summary, key
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
    """A subagent's: it waits until someone adopts it."""
    PENDING = "pending"
    APPROVED = "approved"
    REJECTED = "rejected"
    PROMOTED = "promoted"
    """It is a memory."""
    WAITING = "manual-apply-pending"
    """It is a proposal, and a person has to apply it."""
    APPLIED = "applied"


class Step(StrEnum):
    """What can be done with a candidate."""

    ADOPT = "adopt"
    APPROVE = "approve"
    REJECT = "reject"
    PROMOTE = "promote"
    VERIFY = "verify-apply"


@dataclass(frozen=True, slots=True)
class Candidate:
    """Something that may be worth keeping beyond the work at hand."""

    id: str
    text: str
    lane: Destination
    part: Part
    source: str
    """The layer, or the transcript of a subagent."""
    standing: ReviewState
    built_at: int
    became: str = ""
    """The id of the memory, or the file that the proposal is for."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Why a step cannot be taken, and what could be done first."""

    reason: str
    hint: str


def candidates(summary: Summary, source: str, *, blocked: bool, at: int) -> list[Candidate]:
    """What of a summary may be worth keeping: what was found out and decided, not what comes next."""
    found: dict[str, Candidate] = {}
    for part in _LASTING:
        for item in summary.of(part):
            if not item.startswith("`"):  # what was run and which file was changed is of this day only
                standing = ReviewState.BLOCKED if blocked else ReviewState.PENDING
                one = Candidate(_id(item), one_line(item), lane_of(item), part, source, standing, at)
                found.setdefault(one.id, one)
    return list(found.values())


_LASTING: Final = (Part.CONFIRMED, Part.FAILED, Part.NOTES)


def lane_of(text: str) -> Destination:
    """Whether a text tells agents what to do, or what is the case; what was decided is the case."""
    ordered = kind_of(text) is MemoryKind.RULE and not reader.decisions(text)
    return Destination.INSTRUCTION if ordered else Destination.DURABLE


def rebuilt(known: Iterable[Candidate], fresh: Iterable[Candidate]) -> list[Candidate]:
    """The candidates after another build: what a person decided stands, what was never looked at may go."""
    new = {one.id: one for one in fresh}
    kept = [one for one in known if one.standing is not ReviewState.PENDING or one.id in new]
    there = {one.id for one in kept}
    return [*kept, *(one for one in new.values() if one.id not in there)]


_MOVES: Final[Mapping[tuple[ReviewState, Step], ReviewState]] = {
    (ReviewState.BLOCKED, Step.ADOPT): ReviewState.PENDING,
    (ReviewState.PENDING, Step.APPROVE): ReviewState.APPROVED,
    (ReviewState.PENDING, Step.REJECT): ReviewState.REJECTED,
    (ReviewState.APPROVED, Step.REJECT): ReviewState.REJECTED,
    (ReviewState.REJECTED, Step.APPROVE): ReviewState.APPROVED,
    (ReviewState.APPROVED, Step.PROMOTE): ReviewState.PROMOTED,
    (ReviewState.WAITING, Step.VERIFY): ReviewState.APPLIED,
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


def moved(candidate: Candidate, step: Step) -> Candidate | Refused:
    """The candidate after one step; nothing is skipped, and what reads like an instruction only waits."""
    after = _MOVES.get((candidate.standing, step))
    if after is None:
        hint = _HINTS[candidate.standing].format(id=candidate.id, became=candidate.became)
        return Refused(f"{candidate.id} is {candidate.standing}: {step} is not its next step", hint)
    if after is ReviewState.PROMOTED and candidate.lane is Destination.INSTRUCTION:
        after = ReviewState.WAITING
    return replace(candidate, standing=after)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change to an instruction file, shown and never made."""

    file: str
    line: str
    patch: str


def proposal(candidate: Candidate, file: str, before: str) -> Proposal:
    """What a person would add to the file, as a patch that they can apply."""
    line = f"- {candidate.text}"
    gap = "" if not before or before.endswith("\n") else "\n"
    after = f"{before}{gap}{line}\n"
    patch = unified_diff(
        before.splitlines(keepends=True), after.splitlines(keepends=True), f"a/{file}", f"b/{file}"
    )
    return Proposal(
        file, line, "".join(one if one.endswith("\n") else f"{one}\n{_NO_END}\n" for one in patch)
    )


_NO_END: Final = "\\ No newline at end of file"
"""Without this line no program could apply a patch to a file whose last line is not ended."""


def is_applied(candidate: Candidate, content: str) -> bool:
    """Whether a file says what the candidate says, in whatever layout."""
    return key(candidate.text) in one_line(content).casefold()


def _id(text: str) -> str:
    return hashlib.sha256(key(text).encode()).hexdigest()[:10]


def layer_source(name: LayerName) -> str:
    """How a layer is named as a source."""
    return f"continuity:{name}"
