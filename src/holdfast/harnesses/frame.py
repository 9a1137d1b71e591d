"""Frame: what all events of one record have in common, for every harness alike.

A record may tell several events; each is known by the record's id and its own number or name, so that
reading it again gives the same ids. What the events are is for each harness to say.
"""

from __future__ import annotations

from typing import TypedDict

import msgspec

from holdfast.core.events.event import MAIN, Origin


class Common(TypedDict):
    """The arguments that every event takes."""

    session: str
    record: str
    at: int
    origin: Origin
    agent: str
    parent: str


class Frame(msgspec.Struct, frozen=True):
    """Whose record, when, and under which id; `turn` is the turn in which it stands, where one is known.

    There is one for every record, and a `Struct` is made in a fifth of a frozen dataclass's time.
    """

    session: str
    record: str
    at: int
    agent: str = MAIN
    parent: str = ""
    turn: str = ""

    @property
    def is_main(self) -> bool:
        """Whether the agent that a person talks to wrote or read this."""
        return self.agent == MAIN

    def block(self, number: int) -> Frame:
        """The frame of one block of the record; the first goes by the record's own id."""
        if not number:
            return self
        own = f"{self.record}/{number}"
        return Frame(self.session, own, self.at, self.agent, self.parent, self.turn)

    def part(self, origin: Origin, name: str) -> Common:
        """The arguments of one more event that is told here, beside the first."""
        return self.told(origin, f"{self.record}/{name}")

    def told(self, origin: Origin, record: str = "") -> Common:
        """The arguments of an event that is told here, under an id of its own where one is given."""
        return {
            "session": self.session,
            "record": record or self.record,
            "at": self.at,
            "origin": origin,
            "agent": self.agent,
            "parent": self.parent,
        }
