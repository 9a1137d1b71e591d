"""Frame: what all events of one record have in common, the same for every harness.

A record may yield several events. Each is identified by the record's id and its own number or name, so that
reading it again gives the same ids. Each harness decides what the events are.
"""

from __future__ import annotations

from typing import TypedDict

import msgspec

from holdfast.core.events.event import MAIN, Origin


class Common(TypedDict):
    """The arguments that every event has."""

    session: str
    record: str
    at: int
    origin: Origin
    agent: str
    parent: str


class Frame(msgspec.Struct, frozen=True):
    """A record's session, time and id; `turn` is the turn it belongs to, if known.

    One is made for every record: a `Struct` takes a fifth of a frozen dataclass's time.
    """

    session: str
    record: str
    at: int
    agent: str = MAIN
    parent: str = ""
    turn: str = ""

    @property
    def is_main(self) -> bool:
        """Whether this belongs to the main agent, the one that the user talks to."""
        return self.agent == MAIN

    def block(self, number: int) -> Frame:
        """The frame of one block of the record; the first block has the record's own id."""
        if not number:
            return self
        own = f"{self.record}/{number}"
        return Frame(self.session, own, self.at, self.agent, self.parent, self.turn)

    def part(self, origin: Origin, name: str) -> Common:
        """The arguments of a further event of this record."""
        return self.common(origin, f"{self.record}/{name}")

    def common(self, origin: Origin, record: str = "") -> Common:
        """The arguments of an event of this record, under its own id if one is passed."""
        return {
            "session": self.session,
            "record": record or self.record,
            "at": self.at,
            "origin": origin,
            "agent": self.agent,
            "parent": self.parent,
        }
