"""Running: what the agent left running in the background, and what became of it.

A server, a long test run, a subagent. After a compaction the agent knows neither that they run nor by which
handle to ask for them, and starts them again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from holdfast.core.events.event import LeftRunning, ToolReturned
from holdfast.core.evidence.trail import RUNNING_KEPT, OpenCall, Running

_HANDLE: Final = re.compile(r"[\w.:-]{1,80}(?: [\w.:-]{1,80})?")
"""An id, at most with one word before it: a transcript may hold anything there, and a brief tells it."""


def left(row: tuple[Running, ...], calls: Iterable[OpenCall], event: LeftRunning) -> tuple[Running, ...]:
    """The row with one more: what was asked for is still with the open calls."""
    call = next((call for call in calls if call.call == event.call), None)
    is_known = any(one.call == event.call for one in row)
    if call is None or is_known or not (call.command or call.task) or not _HANDLE.fullmatch(event.handle):
        return row
    # A handle that is given again is no longer the other's.
    others = tuple(one for one in row if one.handle != event.handle)
    return _capped((*others, Running(event.call, event.handle, event.at, call.command, call.task)))


def _capped(row: tuple[Running, ...]) -> tuple[Running, ...]:
    """Over the cap, what is over goes first: a server outlives many subagents."""
    if len(row) <= RUNNING_KEPT:
        return row
    victim = next((one for one in row if one.over), row[0])
    return tuple(one for one in row if one is not victim)


def by_call(row: Iterable[Running], event: ToolReturned) -> ToolReturned:
    """The same event of the call that it is of, where only a handle was told."""
    if not event.handle:
        return event
    return replace(event, call=next((one.call for one in row if one.handle == event.handle), ""))


def ended(row: tuple[Running, ...], call: str) -> tuple[Running, ...]:
    """The row after a call is over: a command is done with, a subagent has reported."""
    after = (replace(one, over=True) if one.call == call else one for one in row)
    return tuple(one for one in after if one.task or not one.over)
