"""The third part of a store's contract: what past sessions said, as far as it is found, and how they went.

What a passage is and how a session is scored is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from holdfast.core.events.event import Event
from holdfast.core.session.score import SessionScore
from holdfast.lazy_dataclass import dataclass

RECORDS: Final = ("record", "digest")
"""The kinds of documents that are what a session said: they outlive it, by a rule of their own."""


@dataclass(frozen=True, slots=True)
class RecordsKept:
    """How many passages are kept of all sessions, how many bytes of text that is, and since when."""

    passages: int
    bytes: int
    since: int


class Recorded(Protocol):
    """Passages of sessions, and scores."""

    def unindexed(self, before: int, limit: int) -> list[str]:
        """Sessions with events of the main agent that came since they were indexed, the oldest first.

        Records in a log count as such. Only those of which the first is from before then.
        """
        ...

    def mark_indexed(self, session: str) -> None:
        """All that the session said so far can be found."""
        ...

    def events_from(self, session: str, record: str, limit: int) -> list[Event]:
        """A session's events in the order in which they came, from that record on; else from the first."""
        ...

    def drop_records(self, session: str, place: int) -> int:
        """Drop a session's passages from that place on; how many went."""
        ...

    def records_kept(self) -> RecordsKept:
        """How much of what sessions said can be found."""
        ...

    def prune_records(self, before: int, most_bytes: int, limit: int) -> int:
        """Drop passages from before then, and the oldest beyond so many bytes of text; how many went.

        At most so many: a letter that comes meanwhile must not wait for long.
        """
        ...

    def add_recalls(self, session: str, ids: Sequence[str], at: int) -> None:
        """Note which documents a session's agent was told when it asked; the first time of each counts."""
        ...

    def recalls(self, session: str) -> list[tuple[str, int]]:
        """The documents that a session's agent was told, and when first, in that order."""
        ...

    def put_score(self, score: SessionScore) -> None:
        """Keep how a session went; the same session again replaces it."""
        ...

    def scores(self, limit: int) -> list[SessionScore]:
        """How sessions went, the one that was scored last first."""
        ...
