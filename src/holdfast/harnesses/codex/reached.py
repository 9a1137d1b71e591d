"""Reached: how far a reading came, and what a later record needs to know of those before it.

Codex tells one thing by several records: a message by an item and by an event, a command by its call, by
what it printed so far and by its end. What was heard already is remembered here, within bounds, and goes
into the cursor. It is the one value of this harness that changes; each reading makes its own.
"""

from __future__ import annotations

import zlib
from functools import lru_cache

import msgspec

from holdfast.core.events.event import MAIN, Action

OWN = -1
"""The stage in which a session's own file is read; those before it are the files that it was forked from."""

_HEARD_KEPT = 16
_CALLS_KEPT = 64
_ENDED_KEPT = 16


class DeliveredMessage(msgspec.Struct, array_like=True):
    """A message, and by which ways it was told."""

    mark: int
    ways: list[str]


class Call(msgspec.Struct, array_like=True):
    """A call that has not ended: what it does, the task that a subagent was given, what a person is asked."""

    action: Action
    task: str = ""
    questions: dict[str, str] = {}


class RecordContext(msgspec.Struct):
    """What a record may take over from those before it."""

    place: str = ""
    stage: int = 0
    thread: str = ""
    agent: str = MAIN
    alone: bool = False
    """Whether a subagent's rollout is read with that subagent as the main agent."""
    cwd: str = ""
    model: str = ""
    turn: str = ""
    at: int = 0
    tokens: tuple[int, int] = (-1, -1)
    boundary: str = ""
    """By which way the last compaction was told, as long as the other way has not told it too."""
    hook_event: list[DeliveredMessage] = []
    open: dict[str, Call] = {}
    ended: list[str] = []
    polls: dict[str, str] = {}
    """Calls that wait for a process that was started earlier, and its number."""
    running: dict[str, str] = {}
    """Processes that outlived the call that started them, and that call."""

    @property
    def is_main(self) -> bool:
        """Whether the agent that a person talks to wrote or read this."""
        return self.agent == MAIN

    def is_news(self, way: str, role: str, text: str) -> bool:
        """Whether a message is told for the first time; the same words by another way are no other one."""
        mark = _mark(role, text)
        for one in self.hook_event:
            if one.mark == mark and way not in one.ways:
                one.ways.append(way)
                return False
        self.hook_event.append(DeliveredMessage(mark, [way]))
        del self.hook_event[:-_HEARD_KEPT]
        return True

    def is_new_boundary(self, way: str) -> bool:
        """Whether a compaction is told for the first time: its record and its event stand apart."""
        if self.boundary not in ("", way):
            self.boundary = ""
            return False
        self.boundary = way
        return True

    def opened(self, call: str, opened: Call) -> None:
        """From now on an end of this call is expected."""
        self.open[call] = opened
        _bound(self.open)

    def closed(self, call: str) -> Call | None:
        """The call that ends now; None if it was not open."""
        found = self.open.pop(call, None)
        self.ended.append(call)
        del self.ended[:-_ENDED_KEPT]
        return found

    def outlived(self, process: str, call: str) -> None:
        """The process goes on although its call has returned."""
        self.running[process] = call
        _bound(self.running)

    def polled(self, call: str, process: str) -> None:
        """The call's output will be that of a process which was started earlier."""
        self.polls[call] = process
        _bound(self.polls)


_CURSOR = msgspec.json.Decoder(RecordContext)


def parsed(cursor: str) -> RecordContext:
    """What the cursor says; anything that is none means from the start."""
    try:
        return _CURSOR.decode(cursor)
    except (ValueError, RecursionError):
        return RecordContext()


def written(reached: RecordContext) -> str:
    """The cursor that says this."""
    return msgspec.json.encode(reached).decode()


@lru_cache(maxsize=4)  # what is told twice is told in two records that are close to each other
def _mark(role: str, text: str) -> int:
    """What a message is known by, however its words are set."""
    return zlib.crc32(" ".join((role, *text.split())).encode(errors="replace"))


def _bound(calls: dict[str, Call] | dict[str, str]) -> None:
    while len(calls) > _CALLS_KEPT:
        calls.pop(next(iter(calls)))
