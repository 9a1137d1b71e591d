"""Budget: how many characters a session is given, and how they are divided.

Every text that Holdfast gives to an agent gets its size here: the brief of a hook, of `holdfast run`, of a
tool, and each preview of them. So a preview shows what will be given.

    total                 everything that is given at a start
    ├── brief             the record of the session, within its own, smaller limit
    │   ├── queries       its last line, with what to ask `recall`
    │   └── repository    a ledger that came with the clone, in a block below
    └── continuity        the block below the brief, in what remains of the total

Where the model has nothing else to go by, the brief may grow into what the other blocks leave of the total.

Not here: which items fill the space (`compose`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from holdfast.core.brief.brief_input import Reason
from holdfast.core.documents.continuity_startup import StartupLimits
from holdfast.core.text.untrusted import OVERHEAD
from holdfast.lazy_dataclass import dataclass

SUMMARY_CHARS: Final = 1_500
"""What a harness's own summary is asked to keep; it needs room for its own words."""
PROMPT_MEMORIES_CHARS: Final = 500
"""The memories that are added to a prompt."""
FILE_CHARS: Final = 2_000
"""A brief from a file alone: independent of the settings, so that the same file gives the same brief."""
QUERIES_SHARE: Final = 20
"""The last line takes at most a twentieth of the brief."""
REPOSITORY_SHARE: Final = 4
"""A ledger that came with a clone takes at most a quarter of the brief."""
REPOSITORY_CHARS_MOST: Final = 1_200
_BETWEEN: Final = "\n"
"""What separates two fenced blocks."""


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """What the user's settings allow."""

    recovery_chars: int
    """`continuity.recovery_budget_chars`: reserved for the brief."""
    total_chars: int
    """`brief.total_chars`: for all that a starting session is given."""
    continuity_lines: int
    brief_is_capped: bool = False
    """Whether the user set `recovery_chars`, so that the brief never takes more."""


@dataclass(frozen=True, slots=True)
class AnswerLimit:
    """The largest answer that a harness accepts, in its own unit: bytes, UTF-16 units or characters."""

    most: int
    size: Callable[[str], int]
    is_resent: bool = False
    """Whether the harness sends the answer again with every request, so that each character costs often."""

    def fits(self, *texts: str) -> bool:
        """Whether an answer of these texts, of which some may be empty, is accepted."""
        return self.size("\n\n".join(filter(None, texts))) <= self.most


@dataclass(frozen=True, slots=True)
class Budget:
    """The characters of a brief, of all that is given with it, and the lines of the continuity block."""

    brief: int
    """Reserved for the brief."""
    total: int
    continuity_lines: int = 0
    may_grow: bool = False
    """Whether the brief may also take what the other blocks leave of the total."""

    @property
    def brief_most(self) -> int:
        """The most that the brief may take."""
        return self.total if self.may_grow else self.brief

    @property
    def repository_ledger(self) -> int:
        """For the fenced ledger that came with the clone."""
        return min(REPOSITORY_CHARS_MOST, self.brief // REPOSITORY_SHARE)

    def brief_beside(self, below: str) -> int:
        """For the brief itself, if this block stands below it."""
        return self.brief - _with_separator(below)

    def grown_beside(self, below: str, continuity: int) -> int:
        """For the brief itself, if so many characters of continuity stand below it too."""
        if not self.may_grow:
            return self.brief_beside(below)
        return max(self.total - continuity, self.brief) - _with_separator(below)

    def continuity(self, *blocks: str) -> StartupLimits:
        """For the continuity block without its fence, beside these blocks, of which some may be empty."""
        used = sum(map(_with_separator, blocks))
        return StartupLimits(self.continuity_lines, self.total - used - OVERHEAD)

    def reduced(self, limit: AnswerLimit, answer: str) -> Budget:
        """The budget after this answer turned out to be too large for the harness."""
        most, size = limit.most, limit.size(answer)
        return replace(self, brief=self.brief * most // size, total=self.total * most // size)


def budget_for(reason: Reason, settings: BudgetSettings, limit: AnswerLimit | None) -> Budget:
    """The budget of a start or a tool's answer; `limit` is None where no harness limits it.

    A character takes at least one of a harness's units, so the limit holds for characters too. An answer that
    is still too large is composed again with a `reduced` budget.
    """
    total = min(settings.total_chars, limit.most) if limit else settings.total_chars
    brief = min(settings.recovery_chars, total)
    if reason is Reason.SUMMARY:
        brief = min(brief, SUMMARY_CHARS)
    elif reason is Reason.ASKED:
        # An agent that asks for its brief gets all that a start may take: nothing else goes with it.
        brief = total
    grows = reason in _WITHOUT_HISTORY and not settings.brief_is_capped and not (limit and limit.is_resent)
    return Budget(brief, total, settings.continuity_lines, may_grow=grows)


_WITHOUT_HISTORY: Final = (Reason.STARTUP, Reason.CLEAR)
"""The starts, also after a crash, at which the model has neither its history nor a summary of it."""


def _with_separator(block: str) -> int:
    """What a block takes; nothing if it is empty."""
    return len(block) + len(_BETWEEN) if block else 0
