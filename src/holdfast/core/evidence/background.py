"""Background work: commands and subagents that the agent left running, and how they ended.

After a compaction the agent does not know that a server or a long test run is still running, nor its handle,
and would start it again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from holdfast.core.events.event import LeftRunning, ToolReturned
from holdfast.core.evidence.trail import RUNNING_KEPT, OpenCall, Running

_HANDLE: Final = re.compile(r"[\w.:-]{1,80}(?: [\w.:-]{1,80})?")
"""An id, with at most one word before it: a transcript may contain anything, and a brief shows the handle."""


def with_running(
    entries: tuple[Running, ...], calls: Iterable[OpenCall], event: LeftRunning
) -> tuple[Running, ...]:
    """The background work with one more entry, whose command or task is taken from the open calls."""
    call = next((call for call in calls if call.call == event.call), None)
    is_known = any(running.call == event.call for running in entries)
    if call is None or is_known or not (call.command or call.task) or not _HANDLE.fullmatch(event.handle):
        return entries
    # A handle that is used again no longer belongs to the earlier entry.
    others = tuple(running for running in entries if running.handle != event.handle)
    return _capped((*others, Running(event.call, event.handle, event.at, call.command, call.task)))


def _capped(entries: tuple[Running, ...]) -> tuple[Running, ...]:
    """At most `RUNNING_KEPT` entries; finished ones go first, since a server outlives many subagents."""
    if len(entries) <= RUNNING_KEPT:
        return entries
    victim = next((running for running in entries if running.over), entries[0])
    return tuple(running for running in entries if running is not victim)


def with_call(entries: Iterable[Running], event: ToolReturned) -> ToolReturned:
    """The event with its call looked up, if it names only a handle."""
    if not event.handle:
        return event
    call = next((running.call for running in entries if running.handle == event.handle), "")
    return replace(event, call=call)


def ended(entries: tuple[Running, ...], call: str) -> tuple[Running, ...]:
    """The background work after a call ended: a command is removed, a subagent is marked as over."""
    after = (replace(running, over=True) if running.call == call else running for running in entries)
    return tuple(running for running in after if running.task or not running.over)
