"""The third part of a store's contract: searchable passages of past sessions, and their scores.

What a passage is and how a session is scored is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from holdfast.core.events.event import Event
from holdfast.core.session.score import SessionScore
from holdfast.lazy_dataclass import dataclass

RECORDS: Final = ("record", "digest")
"""The kinds of documents that hold a session's conversation: they outlive it, by their own rule."""


@dataclass(frozen=True, slots=True)
class RecordsKept:
    """How many passages are stored of all sessions, how many bytes of text that is, and since when."""

    passages: int
    bytes: int
    since: int


class Recorded(Protocol):
    """Passages of sessions, and scores."""

    def unindexed(self, before: int, limit: int) -> list[str]:
        """Sessions with main-agent events that arrived since they were indexed, the oldest first.

        Log records count as events. Only sessions whose first such event is older than `before`.
        """
        ...

    def mark_indexed(self, session: str) -> None:
        """Mark everything in the session so far as indexed."""
        ...

    def events_from(self, session: str, record: str, limit: int) -> list[Event]:
        """A session's events in order of arrival, from that record on; if it is not there, from the first."""
        ...

    def drop_records(self, session: str, place: int) -> int:
        """Delete a session's passages from that place on; returns how many."""
        ...

    def records_kept(self) -> RecordsKept:
        """How much of the sessions' conversations is searchable."""
        ...

    def prune_records(self, before: int, most_bytes: int, limit: int) -> int:
        """Delete passages older than `before`, and the oldest beyond `most_bytes` of text; returns how many.

        At most `limit`: a hook event that arrives meanwhile must not wait for long.
        """
        ...

    def add_recalls(self, session: str, ids: Sequence[str], at: int) -> None:
        """Store which documents a session's agent received from recall; the first time of each counts."""
        ...

    def recalls(self, session: str) -> list[tuple[str, int]]:
        """The documents that a session's agent received from recall, and when first, in that order."""
        ...

    def put_score(self, score: SessionScore) -> None:
        """Store a session's score, replacing an earlier one."""
        ...

    def scores(self, limit: int) -> list[SessionScore]:
        """The sessions' scores, the latest first."""
        ...
