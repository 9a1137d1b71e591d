"""Labels: which statements of a work state were needed, by what is known of the session.

Four sources say so: the questions about a cut (probes), readers who judged every statement at a cut, the
summary that the harness's own model wrote at a compaction, and what the agent itself named after a cut.
Probes and readers count most, because they are careful; the others are many and rough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Final

from holdfast.core.evaluation.facts import Fact, facts_in
from holdfast.core.evaluation.handover import ExpectedContent, Question
from holdfast.core.evidence.prose import reader
from holdfast.core.text.strings import content_words, one_line
from holdfast.core.work.worth import things_in
from holdfast.lazy_dataclass import dataclass

NUGGET_WEIGHT: Final = 60.0
"""The weight of a statement that answers every question by itself."""
TRAP_WEIGHT: Final = 5.0
"""The weight of a statement that misleads; an ordinary one that is not needed weighs 1."""
SUMMARY_WEIGHT: Final = 0.1
USE_WEIGHT: Final = 0.1
MOST_WORDS: Final = 0.5
"""A sentence that has a larger share of a statement's content words may cover it."""


class LabelSource(StrEnum):
    """How it is known that a statement was needed."""

    PROBES = "probes"
    READERS = "readers"
    SUMMARIES = "summaries"
    USE = "use"


@dataclass(frozen=True, slots=True)
class NeedLabel:
    """Whether a statement was needed, and how much that counts."""

    source: LabelSource
    is_needed: bool
    weight: float


class StatementVerdict(StrEnum):
    """What a reader who knows the session says of a statement at a cut."""

    NEEDED = "needed"
    """It belongs in a handover of 2,000 characters."""
    USEFUL = "useful"
    """It belongs in a longer one."""
    IDLE = "idle"
    """It is true, and not worth telling."""
    NOISE = "noise"
    """It says nothing by itself."""
    OUTDATED = "outdated"
    """It would mislead, because it no longer holds."""


_VERDICT_WEIGHTS: Final = {
    StatementVerdict.NEEDED: 12.0,
    StatementVerdict.USEFUL: 3.0,
    StatementVerdict.IDLE: 3.0,
    StatementVerdict.NOISE: 3.0,
    StatementVerdict.OUTDATED: 6.0,
}


def label_by_verdict(verdict: StatementVerdict) -> NeedLabel:
    """Needed is what a reader wants in a handover, also in a longer one."""
    is_needed = verdict in (StatementVerdict.NEEDED, StatementVerdict.USEFUL)
    return NeedLabel(LabelSource.READERS, is_needed, _VERDICT_WEIGHTS[verdict])


def label_by_questions(
    text: str, questions: Sequence[Question], traps: Iterable[ExpectedContent]
) -> NeedLabel:
    """Needed is what holds nuggets and no trap; it counts by the share of the answers that it gives alone."""
    folded = one_line(text)
    if any(trap.is_in(folded) for trap in traps):
        return NeedLabel(LabelSource.PROBES, is_needed=False, weight=TRAP_WEIGHT)
    share = sum(
        sum(nugget.is_in(folded) for nugget in question.nuggets) / len(question.nuggets) / len(questions)
        for question in questions
        if question.nuggets
    )
    return NeedLabel(LabelSource.PROBES, is_needed=share > 0, weight=NUGGET_WEIGHT * share or 1.0)


class SummarySentences:
    """The sentences of a harness's summary, prepared for many statements."""

    def __init__(self, summary: str) -> None:
        self._sentences = [
            (content_words(sentence), things_in(sentence)) for sentence in reader.sentences(summary)
        ]

    def label(self, text: str) -> NeedLabel | None:
        """Needed is what one sentence covers; None for what names nothing, which the words cannot decide."""
        words, things = content_words(text), things_in(text)
        if not things or not words:
            return None
        is_covered = any(
            len(words & others) > MOST_WORDS * len(words) and not things.isdisjoint(named)
            for others, named in self._sentences
        )
        return NeedLabel(LabelSource.SUMMARIES, is_covered, SUMMARY_WEIGHT)


def label_by_use(text: str, needed: frozenset[Fact]) -> NeedLabel | None:
    """Needed is what names a fact that the agent needed after the cut; None for what names nothing."""
    facts = facts_in(text)
    return NeedLabel(LabelSource.USE, not facts.isdisjoint(needed), USE_WEIGHT) if facts else None
