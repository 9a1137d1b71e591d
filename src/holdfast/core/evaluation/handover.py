"""Handover: the share of what an agent must know to continue that a brief holds.

Each question about a session has nuggets: pieces of content that a brief must hold so that the question can
be answered. A trap is a statement that no longer holds and would mislead. Both are recognised by regular
expressions. Reading probes and making briefs is `engine.evaluation.handover`'s work.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Iterable, Sequence

from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass

DIGITS = 3
"""How many decimals a score has."""


@dataclass(frozen=True, slots=True)
class ExpectedContent:
    """A piece of content, and expressions for it: a text that one of them matches holds it."""

    text: str
    expressions: tuple[re.Pattern[str], ...]

    def is_in(self, folded_text: str) -> bool:
        """Whether a text whose white space is folded holds this."""
        return any(expression.search(folded_text) for expression in self.expressions)


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a session, of a kind (goal, done, decision, …), and what its answer takes."""

    id: str
    kind: str
    nuggets: tuple[ExpectedContent, ...]


@dataclass(frozen=True, slots=True)
class QuestionScore:
    """The share of a question's nuggets that a brief holds, and the texts of the others."""

    id: str
    kind: str
    share: float
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class CutScore:
    """The result of one brief at one cut."""

    name: str
    questions: tuple[QuestionScore, ...]
    traps: int
    traps_stated: tuple[str, ...]
    """The texts of the traps that the brief states as true."""
    is_over_budget: bool

    @property
    def share(self) -> float | None:
        """The mean over the questions, rounded; None if there were none."""
        return mean_share(question.share for question in self.questions)


@dataclass(frozen=True, slots=True)
class HandoverScore:
    """The results of all cuts, and their means; None where there was nothing to measure."""

    cuts: tuple[CutScore, ...]

    @property
    def total(self) -> float | None:
        """The mean over all questions of all cuts."""
        return mean_share(question.share for question in self.questions)

    @property
    def error(self) -> float | None:
        """The standard error over the cuts' rounded shares; None for fewer than two."""
        shares = [share for cut in self.cuts if (share := cut.share) is not None]
        if len(shares) < 2:
            return None
        return round(statistics.stdev(shares) / math.sqrt(len(shares)), DIGITS)

    @property
    def kinds(self) -> dict[str, float | None]:
        """The mean over the questions of each kind, by name."""
        names = sorted({question.kind for question in self.questions})
        return {
            name: mean_share(question.share for question in self.questions if question.kind == name)
            for name in names
        }

    @property
    def misled(self) -> float | None:
        """The share of all traps that the briefs state as true."""
        traps = sum(cut.traps for cut in self.cuts)
        return round(sum(len(cut.traps_stated) for cut in self.cuts) / traps, DIGITS) if traps else None

    @property
    def questions(self) -> list[QuestionScore]:
        return [question for cut in self.cuts for question in cut.questions]


def score_brief(
    name: str, brief: str, budget: int, questions: Iterable[Question], traps: Sequence[ExpectedContent]
) -> CutScore:
    """The score of a brief at the cut of this name; what exceeds the budget does not count."""
    # One character more, for the line feed that ends a file.
    text = one_line(brief[: budget + 1])
    return CutScore(
        name,
        tuple(_question_score(question, text) for question in questions if question.nuggets),
        len(traps),
        tuple(trap.text for trap in traps if trap.is_in(text)),
        len(brief.strip()) > budget,
    )


def without_nuggets_in(questions: Iterable[Question], summary: str) -> tuple[Question, ...]:
    """The same questions without the nuggets that a summary holds: what is left, only the brief can add."""
    text = one_line(summary)
    return tuple(
        Question(question.id, question.kind, tuple(one for one in question.nuggets if not one.is_in(text)))
        for question in questions
    )


def mean_share(shares: Iterable[float]) -> float | None:
    """The mean, rounded; None if there are no shares."""
    present = list(shares)
    # Exact, unlike `fmean`: a difference in the last bit decides how a mean half-way between two is rounded.
    return round(statistics.mean(present), DIGITS) if present else None


def _question_score(question: Question, text: str) -> QuestionScore:
    missing = tuple(nugget.text for nugget in question.nuggets if not nugget.is_in(text))
    held = len(question.nuggets) - len(missing)
    return QuestionScore(question.id, question.kind, held / len(question.nuggets), missing)
