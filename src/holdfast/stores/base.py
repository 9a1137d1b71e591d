"""The contract of a store: where what was acknowledged is kept.

Named operations over our own values, with ids and times given by the caller. No SQL, no dialect and no
decision is visible here, so that another database can come without touching the engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from holdfast.core.brief import Receipt
from holdfast.core.checkpoint import Checkpoint
from holdfast.core.events import Event
from holdfast.core.session import Process, Session


class Novelty(StrEnum):
    """What an event was to the store."""

    NEW = "new"
    REVISED = "revised"
    KNOWN = "known"


@dataclass(frozen=True, slots=True)
class Lineage:
    """Which session a session continues, and how: `clear`, `fork`, `startup`, `handoff`."""

    child: str
    parent: str
    kind: str
    at: int


@dataclass(frozen=True, slots=True)
class Document:
    """A text that can be found again, with its vector where it has one."""

    id: str
    kind: str
    project_id: str
    text: str
    vector: tuple[float, ...] = ()
    session: str = ""
    """The session that it goes with when that is pruned; empty for what stays until it is dropped."""


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that was found; the greater the score, the nearer."""

    id: str
    kind: str
    score: float
    text: str


class Store(Protocol):
    """Everything that Holdfast keeps. Every write stands inside `writing` or `writing_durably`."""

    def writing(self) -> AbstractContextManager[None]:
        """One transaction: all of it or nothing; what is read inside is what is written on."""
        ...

    def writing_durably(self) -> AbstractContextManager[None]:
        """The same, and on the disk before it returns."""
        ...

    # Sessions

    def session(self, key: str) -> Session | None:
        """The session of that key."""
        ...

    def put_session(self, session: Session) -> None:
        """Keep this state of the session."""
        ...

    def sessions(self, limit: int) -> list[Session]:
        """The sessions with the latest events first."""
        ...

    def sessions_of_project(self, project_id: str, since: int, limit: int) -> list[Session]:
        """Sessions of a project with an event since then, the latest first."""
        ...

    def sessions_of_process(self, process: Process, limit: int) -> list[Session]:
        """Sessions that this process was last seen with, the latest first."""
        ...

    def live_sessions(self) -> list[Session]:
        """Sessions that neither ended nor were found orphaned."""
        ...

    # Events and cursors

    def add_event(self, event: Event) -> Novelty:
        """Keep an event, unless this or a later revision of its record is known in its session."""
        ...

    def events(self, session: str, limit: int) -> list[Event]:
        """The last events of a session, oldest first."""
        ...

    def sessions_sharing_records(self, session: str) -> list[str]:
        """Keys of other sessions that hold records of this one, the one that shares most first."""
        ...

    def cursor(self, source: str) -> str:
        """How far that source was read; empty if it never was."""
        ...

    def put_cursor(self, source: str, cursor: str) -> None:
        """Remember how far that source was read."""
        ...

    # Checkpoints

    def add_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Keep a checkpoint."""
        ...

    def checkpoints_of_session(self, session: str, limit: int) -> list[Checkpoint]:
        """A session's checkpoints, the newest first."""
        ...

    def checkpoints_of_project(self, project_id: str, limit: int) -> list[Checkpoint]:
        """A project's checkpoints, the newest first."""
        ...

    def checkpoints(self, limit: int) -> list[Checkpoint]:
        """All checkpoints, the newest first."""
        ...

    def trim_checkpoints(self, session: str, keep: int) -> int:
        """Drop a session's oldest checkpoints beyond `keep`; how many went."""
        ...

    def prune_checkpoints(self, before: int, newest_before: int) -> int:
        """Drop checkpoints from before then, a session's newest only from before the other time; how many."""
        ...

    def prune_sessions(self, before: int) -> int:
        """Drop sessions that are over since before then, with all that belongs to them; how many."""
        ...

    # Lineage and receipts

    def add_lineage(self, lineage: Lineage) -> None:
        """Keep which session another continues; the first word on it stands."""
        ...

    def lineage(self, child: str) -> Lineage | None:
        """Which session this one continues."""
        ...

    def add_receipt(self, receipt: Receipt) -> None:
        """Keep the account of a brief."""
        ...

    def receipts(self, session: str, limit: int) -> list[Receipt]:
        """A session's receipts, the newest first; of all sessions for an empty key."""
        ...

    # Finding again

    def add_document(self, document: Document) -> None:
        """Make a text findable; the same id again replaces it."""
        ...

    def drop_document(self, id: str) -> None:
        """Make a text unfindable."""
        ...

    def search(self, words: Sequence[str], project_id: str, limit: int) -> list[Hit]:
        """Documents of a project that hold any of the words, the best match first."""
        ...

    def nearest(self, vector: Sequence[float], project_id: str, limit: int) -> list[Hit]:
        """Documents of a project whose vectors point most nearly the same way."""
        ...

    # Health

    def count_skipped(self, reason: str, times: int) -> None:
        """Count what could not be read."""
        ...

    def skipped(self) -> dict[str, int]:
        """What could not be read so far, by reason."""
        ...

    def check(self) -> str:
        """Empty if the store is sound, otherwise what is wrong with it."""
        ...

    def close(self) -> None:
        """Let go of the store."""
        ...
