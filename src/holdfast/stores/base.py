"""The contract of a store: where what was acknowledged is kept.

Named operations over our own values, with ids and times given by the caller. No SQL, no dialect and no
decision is visible here, so that another database can come without touching the engine. What is found again
and remembered is in `findable.py`, what is forgotten in `forgettable.py`.
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
"""What becomes of a text: from the key of its session, empty where it has none, and the text itself."""


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
class Text:
    """One text that is kept, and where: the table and the column, or what is like them."""

    place: str
    text: str


@dataclass(frozen=True, slots=True)
class Redaction:
    """How many rows hold texts, and how many of these another redactor wrote."""

    rows: int
    stale: int


@dataclass(frozen=True, slots=True)
class Rewritten:
    """How many rows were looked at once more, and in how many of them a text changed."""

    rows: int
    changed: int


def names_one_of(source: str, keys: set[str]) -> bool:
    """Whether a source is named after one of these sessions: its file is, or a directory on the way to it."""
    return not keys.isdisjoint(_BETWEEN_NAMES.split(source))


_BETWEEN_NAMES = re.compile(r"[/\\.]")


class Store(Findable, Recorded, Logged, Paged, Forgettable, Sited, Protocol):
    """Everything that Holdfast keeps. Every write stands inside `writing` or `writing_durably`.

    What is given with a text as its `redactor` says which one that text went through.
    """

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

    def put_session(self, session: Session, redactor: str = "") -> None:
        """Keep this state of the session; without a redactor, nothing in it is new.

        One that texts of two redactors went into is nobody's.
        """
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

    def add_event(self, event: Event, redactor: str = NOBODY) -> Novelty:
        """Keep an event, unless this or a later revision of its record is known in its session."""
        ...

    def events(self, session: str, limit: int) -> list[Event]:
        """The last events of a session, oldest first."""
        ...

    def events_backwards(self, session: str, limit: int) -> Iterator[Event]:
        """The same, newest first; each is decoded when it is asked for."""
        ...

    def sessions_sharing_records(self, session: str) -> list[str]:
        """Keys of other sessions that hold records of this one, the one that shares most first."""
        ...

    def cursor(self, source: str) -> str:
        """How far that source was read, also if what it told was forgotten; empty if it never was."""
        ...

    def put_cursor(self, source: str, cursor: str) -> None:
        """Remember how far that source was read."""
        ...

    # Checkpoints

    def add_checkpoint(self, checkpoint: Checkpoint, redactor: str = NOBODY) -> None:
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
        """Drop a session's oldest checkpoints beyond `keep`, and their documents; how many went."""
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

    def continued_by(self, parent: str) -> list[Lineage]:
        """How other sessions continue this one, the first that did so first."""
        ...

    def add_receipt(self, receipt: Receipt, redactor: str = NOBODY) -> None:
        """Keep the account of a brief."""
        ...

    def receipts(self, session: str, limit: int) -> list[Receipt]:
        """A session's receipts, the newest first; of all sessions for an empty key."""
        ...

    # Redaction

    def secret(self, name: str, fresh: bytes) -> bytes:
        """The secret of that name; where there is none, the fresh one becomes it, in a transaction or not."""
        ...

    def redaction(self, redactor: str) -> Redaction:
        """How far all texts are those of this redactor."""
        ...

    def rewrite(self, redactor: str, change: Change, rows: int, characters: int) -> Rewritten:
        """Change the texts of some rows that another redactor wrote, sessions first, and mark them.

        At most so many rows, and no further one once that many characters were read. Ids, names and paths
        stay; a document whose text changes loses its vector.
        """
        ...

    def texts(self) -> Iterator[Text]:
        """Every text that is kept."""
        ...

    # Facts and health

    def fact(self, name: str) -> str:
        """What was noted under that name; empty if nothing was."""
        ...

    def put_fact(self, name: str, fact: str) -> None:
        """Note something about the store; an empty text takes the note away."""
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
        """Let go of the store."""
        ...
