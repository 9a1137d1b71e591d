"""The contract of a store: durable storage for everything that was acknowledged.

Named operations over Holdfast's own types, with ids and times passed by the caller. No SQL and no decision is
visible here, so that another database can be added without touching the engine. Search and memories are in
`findable.py`, forgetting is in `forgettable.py`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from enum import StrEnum
from typing import Protocol, TypeAlias

from holdfast.core.brief.compose import Receipt
from holdfast.core.events.event import Event
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Process, Session
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.findable import EVERYWHERE, NOBODY, Document, Findable, Hit, Within
from holdfast.stores.forgettable import Dropped, Forgettable
from holdfast.stores.logged import Logged
from holdfast.stores.paged import START, Captured, Counts, DailyCheckpoints, Head, Mark, Paged
from holdfast.stores.recorded import RECORDS, Recorded, RecordsKept
from holdfast.stores.sited import Sited

__all__ = [
    "EVERYWHERE",
    "NOBODY",
    "RECORDS",
    "START",
    "Captured",
    "Change",
    "Counts",
    "DailyCheckpoints",
    "Document",
    "Dropped",
    "Head",
    "Hit",
    "Lineage",
    "Mark",
    "Novelty",
    "RecordsKept",
    "Redaction",
    "Rewritten",
    "Store",
    "Text",
    "Within",
    "names_one_of",
]

Change: TypeAlias = Callable[[str, str], str]
"""The new text for a text, from its session's key (empty if it has none) and the text itself."""


class Novelty(StrEnum):
    """Whether an event was new to the store."""

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
class Text:
    """One stored text, and where: the table and the column, or the like."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """How many rows hold texts, and how many of them another redactor processed."""

    rows: int
    stale: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """How many rows were processed again, and in how many of them a text changed."""

    rows: int
    changed: int


def names_one_of(source: str, keys: set[str]) -> bool:
    """Whether a source's file, or a directory above it, is named after one of these sessions."""
    return not keys.isdisjoint(_BETWEEN_NAMES.split(source))


_BETWEEN_NAMES = re.compile(r"[/\\.]")


class Store(Findable, Recorded, Logged, Paged, Forgettable, Sited, Protocol):
    """Everything that Holdfast stores. Every write happens inside `writing` or `writing_durably`.

    `redactor` names the redactor that a text went through.
    """

    def writing(self) -> AbstractContextManager[None]:
        """One transaction: all or nothing; what is read inside stays valid until it is written."""
        ...

    def writing_durably(self) -> AbstractContextManager[None]:
        """The same, and on the disk before it returns."""
        ...

    # Sessions

    def session(self, key: str) -> Session | None:
        """The session with that key."""
        ...

    def put_session(self, session: Session, redactor: str = "") -> None:
        """Store this state of the session; without a redactor, no text in it is new.

        A session with texts of two redactors counts as unredacted.
        """
        ...

    def sessions(self, limit: int) -> list[Session]:
        """The sessions with the latest events first."""
        ...

    def sessions_of_project(self, project_id: str, since: int, limit: int) -> list[Session]:
        """Sessions of a project with an event since that time, the latest first."""
        ...

    def sessions_of_process(self, process: Process, limit: int) -> list[Session]:
        """Sessions that this process was last seen with, the latest first."""
        ...

    def live_sessions(self) -> list[Session]:
        """Sessions that neither ended nor were orphaned."""
        ...

    # Events and cursors

    def add_event(self, event: Event, redactor: str = NOBODY) -> Novelty:
        """Store an event, unless its session already has this or a later revision of its record."""
        ...

    def events(self, session: str, limit: int) -> list[Event]:
        """The last events of a session, oldest first."""
        ...

    def events_backwards(self, session: str, limit: int) -> Iterator[Event]:
        """The same, newest first, each decoded on use."""
        ...

    def sessions_sharing_records(self, session: str) -> list[str]:
        """Keys of other sessions that hold records of this one, those that share most first."""
        ...

    def cursor(self, source: str) -> str:
        """How far that source was read, even if its content was forgotten; empty if it never was."""
        ...

    def put_cursor(self, source: str, cursor: str) -> None:
        """Store how far that source was read."""
        ...

    # Checkpoints

    def add_checkpoint(self, checkpoint: Checkpoint, redactor: str = NOBODY) -> None:
        """Store a checkpoint."""
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
        """Delete a session's oldest checkpoints beyond `keep`, and their documents; returns how many."""
        ...

    def prune_checkpoints(self, before: int, newest_before: int) -> int:
        """Delete checkpoints older than `before`, or `newest_before` for a session's newest; how many."""
        ...

    def prune_sessions(self, before: int) -> int:
        """Delete sessions that ended before that time, with all that belongs to them; returns how many."""
        ...

    # Lineage and receipts

    def add_lineage(self, lineage: Lineage) -> None:
        """Store which session another continues; the first entry for a session stays."""
        ...

    def lineage(self, child: str) -> Lineage | None:
        """Which session this one continues."""
        ...

    def continued_by(self, parent: str) -> list[Lineage]:
        """How other sessions continue this one, the earliest first."""
        ...

    def add_receipt(self, receipt: Receipt, redactor: str = NOBODY) -> None:
        """Store a brief's receipt."""
        ...

    def receipts(self, session: str, limit: int) -> list[Receipt]:
        """A session's receipts, the newest first; of all sessions for an empty key."""
        ...

    # Redaction

    def secret(self, name: str, fresh: bytes) -> bytes:
        """The secret with that name; if there is none, `fresh` is stored, inside a transaction or not."""
        ...

    def redaction(self, redactor: str) -> Redaction:
        """How many texts this redactor has processed."""
        ...

    def rewrite(self, redactor: str, change: Change, rows: int, characters: int) -> Rewritten:
        """Change the texts of some rows that another redactor processed, sessions first, and mark them.

        At most `rows` rows, and no further one once `characters` were read. Ids, names and paths stay; a
        document whose text changes loses its vector.
        """
        ...

    def texts(self) -> Iterator[Text]:
        """Every stored text."""
        ...

    # Facts and health

    def fact(self, name: str) -> str:
        """The note stored under that name; empty if there is none."""
        ...

    def put_fact(self, name: str, fact: str) -> None:
        """Store a note about the store; an empty text removes the note."""
        ...

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
        """Close the store."""
        ...
