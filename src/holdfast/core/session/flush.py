"""Flush: asking the agent to write down what must last, before its window is full.

Which prompt is due at which pressure, and whether the agent did what it was asked. How a prompt reaches the
model is up to the harness.
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


def due(flush: Flush, policy: FlushPolicy, percent: int) -> Threshold | None:
    """The threshold whose prompt is due at this pressure: only the highest of those passed."""
    if not policy.enabled:
        return None
    passed = [each for each in policy.thresholds if each.percent <= percent and _is_shown(each, policy)]
    highest = max(passed, key=lambda threshold: threshold.percent, default=None)
    if highest is None or (policy.once_per_window and highest.percent in flush.asked):
        return None
    return highest


def asked(flush: Flush, policy: FlushPolicy, threshold: Threshold, at: int) -> Flush:
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
