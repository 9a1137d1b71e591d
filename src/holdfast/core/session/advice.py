"""Advice: what an agent is told when a fresh start is better than going on.

A table of texts, each due at a pressure, after a number of compactions or at the end of the day. Each row is
given once; a row about pressure once per window. With the ledger enabled, another table applies.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from holdfast.lazy_dataclass import dataclass

KEPT: Final = 16
"""How many marks of given rows a session stores."""


@dataclass(frozen=True, slots=True)
class Advice:
    """One row: due at a pressure in percent, after some compactions, or when the user stops for the day."""

    name: str
    text: str
    percent: int = 0
    compactions: int = 0
    in_the_evening: bool = False

    def is_due(self, percent: int, compactions: int, prompt: str = "") -> bool:
        """Whether the row applies at this pressure, after so many compactions, with this prompt."""
        if self.in_the_evening:
            return ends_the_day(prompt)
        return 0 < self.percent <= percent or 0 < self.compactions <= compactions

    def mark(self, compactions: int) -> str:
        """Records that the row was given: once per window, unless the row is about compactions."""
        return self.name if self.compactions else f"{self.name}@{compactions}"


TABLE: Final = (
    Advice(
        "fresh start",
        "This session was compacted more than once, and each time detail is lost. At the next good moment "
        "save where the work stands (the `session_digest` tool, or `holdfast checkpoint`) and suggest to the "
        "user to type /clear: what was saved comes back into the fresh context.",
        compactions=2,
    ),
)


LEDGER: Final = (
    Advice(
        "ledger",
        "The context is 70% full. Before it becomes tight, save where the work stands: `holdfast ledger save "
        "--now '…' --next '…'`, with `--decision` and `--question` where there are any.",
        percent=70,
    ),
    Advice(
        "ledger and clear",
        "The context is 85% full. Save where the work stands now (`holdfast ledger save --now '…' --next "
        "'…'`), then suggest to the user to type /clear: the ledger comes back into the fresh context.",
        percent=85,
    ),
    Advice(
        "ledger and fresh start",
        "This session was compacted more than once, and each time detail is lost. At the next good moment "
        "run `holdfast ledger save --now '…' --next '…'` and suggest to the user to type /clear: the ledger "
        "comes back into the fresh context.",
        compactions=2,
    ),
    Advice(
        "ledger for tomorrow",
        "The user stops for today. Save where the work stands: `holdfast ledger save --now '…' --next '…'`.",
        in_the_evening=True,
    ),
)
"""The table used instead if the ledger is enabled."""


def due(
    given: Iterable[str],
    percent: int,
    compactions: int,
    table: tuple[Advice, ...] = TABLE,
    prompt: str = "",
) -> tuple[Advice, ...]:
    """The rows that apply now and were not given yet; of those about pressure only the highest."""
    marks = set(given)
    applicable = [row for row in table if row.is_due(percent, compactions, prompt)]
    highest = max((row.percent for row in applicable), default=0)
    return tuple(
        row for row in applicable if row.percent in (0, highest) and row.mark(compactions) not in marks
    )


def given(before: tuple[str, ...], rows: Iterable[Advice], compactions: int) -> tuple[str, ...]:
    """The marks of all given rows after these were given."""
    return (*before, *(row.mark(compactions) for row in rows))[-KEPT:]


def ends_the_day(prompt: str) -> bool:
    """Whether the user says in this prompt that they stop for the day."""
    return len(prompt) <= _LONGEST_GOODBYE and _GOODBYE.search(prompt) is not None


_LONGEST_GOODBYE: Final = 400
_GOODBYE: Final = re.compile(
    r"\b(?:(?:that['’]s|that is|this is) (?:it|all|enough) for (?:today|tonight|now)"
    r"|(?:done|finished|stop(?:ping)?|wrap(?:ping)? up) (?:for|until) (?:today|tonight|the day|tomorrow)"
    r"|call(?:ing)? it a (?:day|night)"
    r"|(?:continue|resume|go on|pick (?:this|it) up|finish) (?:again )?tomorrow"
    r"|see you tomorrow|good ?night|end of (?:the )?(?:working )?day)\b"
    r"|今天(?:就)?到(?:此|这)|明天(?:再|继续)|晚安|下班",
    re.IGNORECASE,
)
