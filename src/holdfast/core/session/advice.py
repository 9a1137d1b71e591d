"""Advice: what an agent is told when a fresh start would serve it better than going on.

One table: from how much pressure on, after how many compactions or at the end of the day, and what is said
then. Each row is given once, one about pressure once in every window. Who keeps a ledger has another table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from holdfast.lazy_dataclass import dataclass

KEPT: Final = 16
"""How many of the rows that were given a session remembers."""


@dataclass(frozen=True, slots=True)
class Advice:
    """One row: due at a pressure, in percent, after so many compactions, or when the user stops for today."""

    name: str
    text: str
    percent: int = 0
    compactions: int = 0
    in_the_evening: bool = False

    def is_due(self, percent: int, compactions: int, prompt: str = "") -> bool:
        """Whether it holds at this pressure, after so many compactions, with that prompt."""
        if self.in_the_evening:
            return ends_the_day(prompt)
        return 0 < self.percent <= percent or 0 < self.compactions <= compactions

    def mark(self, compactions: int) -> str:
        """By what it is known that it was given: in each window anew, unless it speaks of compactions."""
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
"""What is said instead where the ledger is enabled."""


def due(
    given: Iterable[str],
    percent: int,
    compactions: int,
    table: tuple[Advice, ...] = TABLE,
    prompt: str = "",
) -> tuple[Advice, ...]:
    """The rows that hold now and were not given; of those about pressure only the most pressing."""
    known = set(given)
    held = [row for row in table if row.is_due(percent, compactions, prompt)]
    most = max((row.percent for row in held), default=0)
    return tuple(row for row in held if row.percent in (0, most) and row.mark(compactions) not in known)


def given(before: tuple[str, ...], rows: Iterable[Advice], compactions: int) -> tuple[str, ...]:
    """What is known to be given after these rows."""
    return (*before, *(row.mark(compactions) for row in rows))[-KEPT:]


def ends_the_day(prompt: str) -> bool:
    """Whether a user says that they stop for today."""
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
