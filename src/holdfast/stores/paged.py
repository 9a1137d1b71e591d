"""The fifth part of a store's contract: everything stored, page by page.

The newest first, and of two of the same time the one with the greater id. A page begins after a mark, not at
a number, so that new rows do not shift it. What a page is used for is decided elsewhere.
"""

from __future__ import annotations

from typing import Final, Protocol

from holdfast.core.brief.compose import Receipt
from holdfast.core.events.event import Event
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Memory
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.score import SessionScore
from holdfast.core.session.session import Session
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.findable import Within


@dataclass(frozen=True, slots=True)
class Mark:
    """Where a page ended: the time and the id of its last row."""

    at: int
    id: str


START: Final = Mark(253_402_300_799_999, "")
"""Before everything that can be stored: the last millisecond that a date can express."""


@dataclass(frozen=True, slots=True)
class Head:
    """The least that distinguishes a row from others and from its earlier state."""

    kind: str
    """`session`, `checkpoint`, `brief` or `memory`."""
    id: str
    session: str
    at: int


@dataclass(frozen=True, slots=True)
class Counts:
    """How much is stored, by kind."""

    sessions: int
    live: int
    events: int
    checkpoints: int
    receipts: int
    memories: int
    documents: int


@dataclass(frozen=True, slots=True)
class Captured:
    """What is stored of one harness."""

    harness: str
    sessions: int
    live: int
    last_event_at: int


@dataclass(frozen=True, slots=True)
class DailyCheckpoints:
    """How many checkpoints of one day are stored."""

    day: str
    checkpoints: int


class Paged(Protocol):
    """Pages, single rows, and counts."""

    def checkpoint(self, id: str) -> Checkpoint | None:
        """The checkpoint with that id."""
        ...

    def receipt(self, id: str) -> Receipt | None:
        """The receipt with that id."""
        ...

    def page_of_checkpoints(self, behind: Mark, limit: int) -> list[Checkpoint]:
        """Checkpoints of all projects, by when they were taken."""
        ...

    def page_of_project(self, project_id: str, behind: Mark, limit: int) -> list[Checkpoint]:
        """The same, of one project."""
        ...

    def page_of_session(self, session: str, behind: Mark, limit: int) -> list[Checkpoint]:
        """The same, of one session."""
        ...

    def page_of_sessions(self, project_id: str, behind: Mark, limit: int) -> list[Session]:
        """Sessions by their latest event; of every project for an empty id."""
        ...

    def page_of_events(self, session: str, behind: Mark, limit: int) -> list[Event]:
        """A session's events; the id of each is that of its record."""
        ...

    def page_of_receipts(self, session: str, behind: Mark, limit: int) -> list[Receipt]:
        """A session's receipts; of all sessions for an empty key."""
        ...

    def page_of_memories(self, within: Within, behind: Mark, limit: int) -> list[Memory]:
        """Memories by when they were first stated, including superseded ones."""
        ...

    def page_of_scores(self, behind: Mark, limit: int) -> list[SessionScore]:
        """How sessions went, by when they were scored; the id of each is that of its session."""
        ...

    def projects(self) -> list[Project]:
        """Every project with a stored session, as its latest session names it."""
        ...

    def project_at(self, path: str) -> str:
        """The id of the project in which a checkpoint was taken at that real path; empty if there is none."""
        ...

    def heads(self, limit: int) -> list[Head]:
        """Up to `limit` of each kind, the latest first; those of one kind together."""
        ...

    def counts(self) -> Counts:
        """How much is stored."""
        ...

    def captured(self) -> list[Captured]:
        """What is stored of each harness, by name."""
        ...

    def taken_since(self, at: int) -> list[DailyCheckpoints]:
        """What is stored of each UTC day since then, in order, without empty days."""
        ...
