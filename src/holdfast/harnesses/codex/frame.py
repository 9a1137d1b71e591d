"""Frame: what all events of one record have in common.

An event is known by the item's own id, by its call's, or by the place where it stands, so that reading it
again gives the same ids. What the events are is for `messages`, `tools` and `transcript` to say.
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
    agent: str


@dataclass(frozen=True, slots=True)
class Frame:
    """Whose record, when, and the place where it stands."""

    session: str
    place: str
    at: int
    agent: str

    def told(self, origin: Origin, record: str | None = None) -> Common:
        """The arguments of an event that is told here, under an id of its own where one is given."""
        return {
            "session": self.session,
            "record": record or self.place,
            "at": self.at,
            "origin": origin,
            "agent": self.agent,
        }
