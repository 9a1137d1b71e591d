"""Frame: what all events of one record have in common.

A record may tell several events; each is known by the record's id and its own number or name, so that
reading it again gives the same ids. What the events are is for `transcript` and `tools` to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

from holdfast.core.events import Origin


class Common(TypedDict):
    """The arguments that every event takes."""

    session: str
    record: str
    at: int
    origin: Origin
    parent: str


@dataclass(frozen=True, slots=True)
class Frame:
    """Whose record, when, under which id, and behind which other record it stands."""

    session: str
    record: str
    at: int
    parent: str

    def block(self, number: int) -> Frame:
        """The frame of one block of the record; the first goes by the record's own id."""
        return Frame(self.session, f"{self.record}/{number}", self.at, self.parent) if number else self

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
            "parent": self.parent,
        }
