"""Record context: how far a transcript was read, and what later records need to know of earlier ones.

Codex reports one thing in several records: a message as an item and as an event, a command by its call, its
output so far and its end. This remembers what was reported already, within bounds, and is stored in the
cursor. It is the one mutable value of this harness; each read makes its own.
"""

from __future__ import annotations

import zlib
from functools import lru_cache

import msgspec

from holdfast.core.events.event import MAIN, Action

OWN = -1
"""The stage in which a session's own file is read; earlier stages are the files it was forked from."""

_MESSAGES_KEPT = 16
_CALLS_KEPT = 64
_ENDED_KEPT = 16


class DeliveredMessage(msgspec.Struct, array_like=True):
    """A message, and the kinds of record that reported it."""

    mark: int
    ways: list[str]


class Call(msgspec.Struct, array_like=True):
    """A call that has not ended: what it does, a subagent's task, the questions for the user."""

    action: Action
    task: str = ""
    questions: dict[str, str] = {}


class RecordContext(msgspec.Struct):
    """What a record may take over from earlier ones."""

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
    """The kind of record that reported the last compaction, until the other kind has reported it too."""
    messages: list[DeliveredMessage] = msgspec.field(default_factory=list[DeliveredMessage], name="heard")
    """The last messages; stored under the name that older cursors have."""
    open: dict[str, Call] = {}
    ended: list[str] = []
    polls: dict[str, str] = {}
    """Calls that wait for a process started earlier, and its number."""
    running: dict[str, str] = {}
    """Processes that outlived the call that started them, and that call."""

    @property
    def is_main(self) -> bool:
        """Whether this belongs to the main agent, the one that the user talks to."""
        return self.agent == MAIN

    def is_news(self, way: str, role: str, text: str) -> bool:
        """Whether a message is new; the same words in another kind of record are not."""
        mark = _mark(role, text)
        for message in self.messages:
            if message.mark == mark and way not in message.ways:
                message.ways.append(way)
                return False
        self.messages.append(DeliveredMessage(mark, [way]))
        del self.messages[:-_MESSAGES_KEPT]
        return True

    def is_new_boundary(self, way: str) -> bool:
        """Whether a compaction is reported for the first time: it has both a record and an event."""
        if self.boundary not in ("", way):
            self.boundary = ""
            return False
        self.boundary = way
        return True

    def opened(self, call: str, opened: Call) -> None:
        """Note a call whose end is expected from now on."""
        self.open[call] = opened
        _bound(self.open)

    def closed(self, call: str) -> Call | None:
        """The call that ends now; None if it was not open."""
        open_call = self.open.pop(call, None)
        self.ended.append(call)
        del self.ended[:-_ENDED_KEPT]
        return open_call

    def outlived(self, process: str, call: str) -> None:
        """Note a process that is still running although its call has returned."""
        self.running[process] = call
        _bound(self.running)

    def polled(self, call: str, process: str) -> None:
        """Note that the call's output will be that of a process started earlier."""
        self.polls[call] = process
        _bound(self.polls)


_CURSOR = msgspec.json.Decoder(RecordContext)


def parsed(cursor: str) -> RecordContext:
    """The context in a cursor; an invalid cursor means from the start."""
    try:
        return _CURSOR.decode(cursor)
    except (ValueError, RecursionError):
        return RecordContext()


def written(reached: RecordContext) -> str:
    """The context as a cursor."""
    return msgspec.json.encode(reached).decode()


@lru_cache(maxsize=4)  # two records that report the same message are close to each other
def _mark(role: str, text: str) -> int:
    """A hash of a message that ignores white space."""
    return zlib.crc32(" ".join((role, *text.split())).encode(errors="replace"))


def _bound(calls: dict[str, Call] | dict[str, str]) -> None:
    while len(calls) > _CALLS_KEPT:
        calls.pop(next(iter(calls)))
