"""Agent prompts: what an agent is asked or advised as its window fills.

A flush prompt asks it to write down what must last, before the window is full. Advice says when a fresh start
is better than going on: a table of texts, each due at a pressure, after a number of compactions or at the end
of the day, and each given once; a row about pressure once per window. With the ledger enabled, another table
applies. How a text reaches the model is up to the harness.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from holdfast.core.events.event import Action, DigestGiven, Event, Origin, Remembered, ToolReturned
from holdfast.core.evidence.trail import Trail
from holdfast.core.session.pressure import THRESHOLDS, Threshold
from holdfast.core.text.lazy_patterns import compiled
from holdfast.lazy_dataclass import dataclass

MEMORY_FOLDERS: Final = frozenset({"memory", "memories"})


@dataclass(frozen=True, slots=True)
class FlushPolicy:
    """The user's settings for flush prompts."""

    enabled: bool = True
    show_in_system_prompt: bool = True
    """Whether prompts with `system` delivery are given at all."""
    once_per_window: bool = True
    thresholds: tuple[Threshold, ...] = THRESHOLDS


@dataclass(frozen=True, slots=True)
class Flush:
    """What the agent was asked in this window, and whether it did it. All fields are stored."""

    asked: tuple[int, ...] = ()
    """Thresholds passed, in percent; of several passed at once, only the highest one's prompt was given."""
    asked_at: int = 0
    actioned: bool = False
    """Whether the agent wrote something down since it was last asked."""


def due_threshold(flush: Flush, policy: FlushPolicy, percent: int) -> Threshold | None:
    """The threshold whose prompt is due at this pressure: only the highest of those passed."""
    if not policy.enabled:
        return None
    passed = [each for each in policy.thresholds if each.percent <= percent and _is_shown(each, policy)]
    highest = max(passed, key=lambda threshold: threshold.percent, default=None)
    if highest is None or (policy.once_per_window and highest.percent in flush.asked):
        return None
    return highest


def after_asking(flush: Flush, policy: FlushPolicy, threshold: Threshold, at: int) -> Flush:
    """The state after this threshold's prompt was given: all lower ones count as passed."""
    passed = {each.percent for each in policy.thresholds if each.percent <= threshold.percent}
    return Flush(tuple(sorted(passed | set(flush.asked))), asked_at=at)


def after_event(flush: Flush, trail: Trail, event: Event) -> Flush:
    """The state after an event; `trail` is the one before it. The agent may have written something down."""
    if not flush.asked_at or flush.actioned or event.at < flush.asked_at or not _writes_down(trail, event):
        return flush
    return replace(flush, actioned=True)


def _is_shown(threshold: Threshold, policy: FlushPolicy) -> bool:
    return threshold.is_urgent or policy.show_in_system_prompt


def _writes_down(trail: Trail, event: Event) -> bool:
    match event:
        case Remembered(origin=origin) | DigestGiven(origin=origin):
            return origin is not Origin.HUMAN
        case ToolReturned(call=call, ok=True):
            open_calls = (other for other in trail.open_calls if other.call == call)
            changes = (change for other in open_calls for change in other.changes)
            return any(
                change.action in (Action.WRITE, Action.EDIT) and _is_memory(change.path) for change in changes
            )
        case _:
            return False


def _is_memory(path: str) -> bool:
    """Whether a file is in a folder of memories, the project's own or a harness's."""
    return not MEMORY_FOLDERS.isdisjoint(path.replace("\\", "/").lower().split("/")[:-1])


# ---------------------------------------------------------------- advice

MARKS_KEPT: Final = 16
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


ADVICE: Final = (
    Advice(
        "fresh start",
        "This session was compacted more than once, and each time detail is lost. At the next good moment "
        "save where the work stands (the `session_digest` tool, or `holdfast checkpoint`) and suggest to the "
        "user to type /clear: what was saved comes back into the fresh context.",
        compactions=2,
    ),
)


LEDGER_ADVICE: Final = (
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


def due_advice(
    marks_given: Iterable[str],
    percent: int,
    compactions: int,
    table: tuple[Advice, ...] = ADVICE,
    prompt: str = "",
) -> tuple[Advice, ...]:
    """The rows that apply now and were not given yet; of those about pressure only the highest."""
    marks = set(marks_given)
    applicable = [row for row in table if row.is_due(percent, compactions, prompt)]
    highest = max((row.percent for row in applicable), default=0)
    return tuple(
        row for row in applicable if row.percent in (0, highest) and row.mark(compactions) not in marks
    )


def marks_after(before: tuple[str, ...], rows: Iterable[Advice], compactions: int) -> tuple[str, ...]:
    """The marks of all given rows after these were given."""
    return (*before, *(row.mark(compactions) for row in rows))[-MARKS_KEPT:]


def ends_the_day(prompt: str) -> bool:
    """Whether the user says in this prompt that they stop for the day."""
    return len(prompt) <= _LONGEST_GOODBYE and _GOODBYE.search(prompt) is not None


_LONGEST_GOODBYE: Final = 400
_GOODBYE: Final = compiled(
    r"\b(?:(?:that['’]s|that is|this is) (?:it|all|enough) for (?:today|tonight|now)"
    r"|(?:done|finished|stop(?:ping)?|wrap(?:ping)? up) (?:for|until) (?:today|tonight|the day|tomorrow)"
    r"|call(?:ing)? it a (?:day|night)"
    r"|(?:continue|resume|go on|pick (?:this|it) up|finish) (?:again )?tomorrow"
    r"|see you tomorrow|good ?night|end of (?:the )?(?:working )?day)\b"
    r"|今天(?:就)?到(?:此|这)|明天(?:再|继续)|晚安|下班",
    re.IGNORECASE,
)
