"""Tables: all that the reference store holds, as dictionaries, and its transactions."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from dataclasses import field, fields
from typing import TypeAlias, TypeVar

from holdfast.core.brief import Receipt
from holdfast.core.checkpoint import Checkpoint
from holdfast.core.events import Event
from holdfast.core.identity import Site
from holdfast.core.memory import Memory, restored
from holdfast.core.records import Record
from holdfast.core.session import Session
from holdfast.core.session_score import SessionScore
from holdfast.core.wordings import Fingerprint
from holdfast.errors import StoreError
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import NOBODY, Document, Lineage
from holdfast.stores.forgettable import ForgottenWording

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Line:
    """A record of a session's log."""

    session: str
    record: Record


Row: TypeAlias = Session | Checkpoint | Receipt | Memory | Document | Event | Line
"""What holds texts."""


@dataclass(slots=True)
class Tables:
    """Everything the store holds. A dictionary keeps its order, so equal times stay as they came."""

    sessions: dict[str, Session] = field(default_factory=dict[str, Session])
    events: dict[tuple[str, str], Event] = field(default_factory=dict[tuple[str, str], Event])
    lines: dict[tuple[str, str], Line] = field(default_factory=dict[tuple[str, str], Line])
    cursors: dict[str, str] = field(default_factory=dict[str, str])
    checkpoints: dict[str, Checkpoint] = field(default_factory=dict[str, Checkpoint])
    lineage: dict[str, Lineage] = field(default_factory=dict[str, Lineage])
    receipts: dict[str, Receipt] = field(default_factory=dict[str, Receipt])
    documents: dict[str, Document] = field(default_factory=dict[str, Document])
    memories: dict[str, Memory] = field(default_factory=dict[str, Memory])
    bare: dict[str, None] = field(default_factory=dict[str, None])
    """The ids of documents that were given no vector yet."""
    unindexed: dict[str, int] = field(default_factory=dict[str, int])
    """Sessions of which something was said that cannot be found yet, and since when."""
    recalls: dict[tuple[str, str], int] = field(default_factory=dict[tuple[str, str], int])
    """By session and document: when a session's agent was first told it."""
    scores: dict[str, SessionScore] = field(default_factory=dict[str, SessionScore])
    sites: dict[tuple[str, str], Site] = field(default_factory=dict[tuple[str, str], Site])
    """By location and project."""
    skipped: dict[str, int] = field(default_factory=dict[str, int])
    redactors: dict[tuple[str, object], str] = field(default_factory=dict[tuple[str, object], str])
    """By table and id, for every row that holds texts."""
    facts: dict[str, str] = field(default_factory=dict[str, str])
    secrets: dict[str, bytes] = field(default_factory=dict[str, bytes])
    forgotten: dict[bytes, tuple[int, str]] = field(default_factory=dict[bytes, tuple[int, str]])
    """By a hash of its name: until when a session is forgotten, or how far a source was read."""
    forgotten_wordings: dict[Fingerprint, ForgottenWording] = field(
        default_factory=dict[Fingerprint, ForgottenWording]
    )
    memory_wordings: dict[str, tuple[Fingerprint, ...]] = field(
        default_factory=dict[str, tuple[Fingerprint, ...]]
    )
    """By the memory's id: wordings that it had before it was edited."""

    def copied(self) -> Tables:
        return Tables(*(dict(getattr(self, table.name)) for table in fields(self)))

    def rows(self) -> Iterator[tuple[str, object, Row]]:
        """Every row that holds texts: its table, its id and itself."""
        for table in ("sessions", "checkpoints", "receipts", "memories", "documents", "events", "lines"):
            yield from ((table, id, row) for id, row in getattr(self, table).items())

    def redactor(self, table: str, id: object) -> str:
        """Whose texts a row holds."""
        return self.redactors.get((table, id), NOBODY)

    def session_of(self, row: Row) -> str:
        """Whose words a row holds; the document of a checkpoint or a memory has its session from there."""
        if isinstance(row, Session):
            return row.key
        if row.session or not isinstance(row, Document):
            return row.session
        owner = self.checkpoints.get(row.id) or self.memories.get(row.id)
        return owner.session if owner else ""


def drop(table: dict[K, T], chosen: Callable[[T], object]) -> int:
    """Take the chosen rows out of a table; how many went."""
    old = [id for id, row in table.items() if chosen(row)]
    for id in old:
        del table[id]
    return len(old)


def drop_memories(tables: Tables, chosen: Callable[[Memory], object]) -> int:
    """Take the chosen memories out, with their documents; what they had superseded holds again."""
    gone = {id for id, memory in tables.memories.items() if chosen(memory)}
    drop(tables.memories, lambda each: each.id in gone)
    drop(tables.documents, lambda each: each.id in gone and each.kind == "memory")
    for id, memory in tables.memories.items():
        if memory.superseded_by in gone:
            tables.memories[id] = restored(memory)
    return len(gone)


class Keeper:
    """Holds the tables, and lets nothing change them outside a transaction."""

    def __init__(self) -> None:
        self._tables = Tables()
        self._is_writing = False

    @contextmanager
    def _transaction(self) -> Generator[None]:
        if self._is_writing:
            raise RuntimeError("a transaction is open already")
        kept = self._tables.copied()
        self._is_writing = True
        try:
            yield
            self._refuse_events_without_session()
            kept = self._tables
        finally:
            self._tables = kept
            self._is_writing = False

    def _refuse_events_without_session(self) -> None:
        for key, record in (*self._tables.events, *self._tables.lines):
            if key not in self._tables.sessions:
                raise StoreError(
                    f"the event `{record}` belongs to the session `{key}`, which the store does not hold"
                )

    def _writable(self) -> Tables:
        if not self._is_writing:
            raise RuntimeError("a write stands outside `writing`")
        return self._tables
