"""Flush: asking the agent to write down what must last, before its window is full.

Which prompt is due at which pressure, in which words, and whether the agent did as it was asked. How full the
window is comes in as a number; how a prompt reaches the model is the harness's matter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from holdfast.core.events.event import Action, DigestGiven, Event, Origin, Remembered, ToolReturned
from holdfast.core.evidence.trail import Trail
from holdfast.core.session.thresholds import THRESHOLDS, Threshold
from holdfast.lazy_dataclass import dataclass

MEMORY_FOLDERS: Final = frozenset({"memory", "memories"})


@dataclass(frozen=True, slots=True)
class FlushPolicy:
    """What the user's settings say about asking."""

    enabled: bool = True
    show_in_system_prompt: bool = True
    """Whether what is given as `system` is given at all."""
    once_per_window: bool = True
    thresholds: tuple[Threshold, ...] = THRESHOLDS


@dataclass(frozen=True, slots=True)
class Flush:
    """What the agent was asked in this window, and whether it did it. All of it is durable."""

    asked: tuple[int, ...] = ()
    """The percentages that were passed; the prompt of the highest of those passed at once was given."""
    asked_at: int = 0
    actioned: bool = False
    """Whether something was written down since it was last asked for."""


def due(flush: Flush, policy: FlushPolicy, percent: int) -> Threshold | None:
    """What to ask at this pressure: of all that is due only the most pressing."""
    if not policy.enabled:
        return None
    passed = [one for one in policy.thresholds if one.percent <= percent and _is_shown(one, policy)]
    highest = max(passed, key=lambda one: one.percent, default=None)
    if highest is None or (policy.once_per_window and highest.percent in flush.asked):
        return None
    return highest


def asked(flush: Flush, policy: FlushPolicy, threshold: Threshold, at: int) -> Flush:
    """After that was asked: what is below it is passed, and needs no asking any more."""
    passed = {one.percent for one in policy.thresholds if one.percent <= threshold.percent}
    return Flush(tuple(sorted(passed | set(flush.asked))), asked_at=at)


def acted(flush: Flush, trail: Trail, event: Event) -> Flush:
    """After an event: with the trail before it, it says whether the agent wrote something down."""
    if not flush.asked_at or flush.actioned or event.at < flush.asked_at or not _keeps(trail, event):
        return flush
    return replace(flush, actioned=True)


def _is_shown(threshold: Threshold, policy: FlushPolicy) -> bool:
    return threshold.is_urgent or policy.show_in_system_prompt


def _keeps(trail: Trail, event: Event) -> bool:
    match event:
        case Remembered(origin=origin) | DigestGiven(origin=origin):
            return origin is not Origin.HUMAN
        case ToolReturned(call=call, ok=True):
            changes = (change for one in trail.open_calls if one.call == call for change in one.changes)
            return any(
                change.action in (Action.WRITE, Action.EDIT) and _is_memory(change.path) for change in changes
            )
        case _:
            return False


def _is_memory(path: str) -> bool:
    """Whether a file lies in a folder of memories, the project's own or one that a harness keeps."""
    return not MEMORY_FOLDERS.isdisjoint(path.replace("\\", "/").lower().split("/")[:-1])
