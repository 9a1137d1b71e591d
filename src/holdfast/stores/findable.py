"""The other half of a store's contract: texts that are found again, and memories.

What to look for, how to weigh what was found and what becomes a memory is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from holdfast.core.memory.memory import Memory, Merits
from holdfast.lazy_dataclass import dataclass

NOBODY: Final = "0"
"""The redactor of a text that nobody vouches for: it is redacted again at the next opportunity."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text that can be found again, with its vector where it has one."""

    id: str
    kind: str
    project_id: str
    text: str
    vector: tuple[float, ...] = ()
    session: str = ""
    """The session that it goes with when that is pruned; empty for what stays until it is dropped.

    Where it is read again, that of its checkpoint or its memory where it has none of its own.
    """
    at: int = 0
    place: int = 0
    """Where it stands in its session; those of one kind beside it speak for it."""
    source: str = ""
    """Where it comes from, for a person."""
    worktree_id: str = ""
    """The worktree that it holds in alone; empty if it holds in all of its project."""
    merits: Merits | None = None
    """That of the memory whose document it is, where `around` read it."""


@dataclass(frozen=True, slots=True)
class Within:
    """Where to look: in which projects, in which worktree of theirs, among which kinds, and since when."""

    projects: tuple[str, ...] | None
    """Their ids; the empty id is that of what holds in every project. None for all there are."""
    worktree_id: str = ""
    """What holds in one worktree alone is found if it is this one; empty: if it is any."""
    kinds: tuple[str, ...] = ()
    """Empty for every kind."""
    since: int = 0


EVERYWHERE: Final = Within(None)


class Hit(NamedTuple):
    """A document that was found; the greater the score, the nearer."""

    id: str
    score: float


class Findable(Protocol):
    """Documents and memories."""

    def add_document(self, document: Document, redactor: str = NOBODY) -> None:
        """Make a text findable; the same id again replaces it. A checkpoint's or memory's goes with it."""
        ...

    def drop_document(self, id: str) -> None:
        """Make a text unfindable."""
        ...

    def documents(self, within: Within, limit: int) -> list[Document]:
        """Documents without their vectors, the newest first."""
        ...

    def documents_beginning(self, prefix: str, within: Within, limit: int) -> list[Document]:
        """Documents whose id begins so, without their vectors, by id."""
        ...

    def around(self, ids: Sequence[str], reach: int, within: Within) -> list[Document]:
        """These documents and those of the same kind up to so many places from them in their sessions.

        Of memories, those that were said so shortly before or after. Each once, without its vector; that of
        a memory with its merits.
        """
        ...

    def search(self, words: Sequence[str], within: Within, limit: int) -> list[Hit]:
        """Documents that hold any of the words, the best match first.

        Among very many, a word that stands in most of them is not looked for beside rarer ones, and if all of
        the words are common, then only among the newest.
        """
        ...

    def nearest(self, vector: Sequence[float], within: Within, limit: int) -> list[Hit]:
        """Documents whose vectors point most nearly the same way."""
        ...

    def without_vector(self, limit: int) -> list[Document]:
        """Documents that were given no vector yet, the newest first."""
        ...

    def put_vector(self, id: str, vector: Sequence[float]) -> None:
        """Give a document its vector; an empty one says that it points nowhere."""
        ...

    def drop_vectors(self) -> None:
        """Take all documents their vectors: another model will give them new ones."""
        ...

    # Memories

    def put_memory(self, memory: Memory, redactor: str = "") -> None:
        """Keep a memory; the same id again replaces it. Without a redactor, no text in it is new.

        Making it findable is `add_document`'s work.
        """
        ...

    def memory(self, id: str) -> Memory | None:
        """The memory of that id."""
        ...

    def memories_named(self, ids: Sequence[str]) -> list[Memory]:
        """Those of these ids that are memories."""
        ...

    def memories(self, within: Within, limit: int) -> list[Memory]:
        """Memories that no newer one supersedes, the newest first; their kind is `memory`."""
        ...

    def superseded_memories(self, within: Within, limit: int) -> list[Memory]:
        """The others, the newest first."""
        ...

    def superseded_among(self, ids: Sequence[str]) -> set[str]:
        """Those of these ids that are memories which a newer one supersedes."""
        ...

    def memory_like(self, memory: Memory) -> Memory | None:
        """Another memory of the same scope that says the same, word for word."""
        ...

    def last_memory(self, memory: Memory) -> Memory | None:
        """The newest of the other memories of the same scope."""
        ...

    def memories_about(self, memory: Memory) -> list[Memory]:
        """Other memories of the same scope that say something of the same subject, not superseded."""
        ...

    def count_found(self, ids: Sequence[str], at: int) -> None:
        """Count that these memories were recalled."""
        ...

    def drop_memory(self, id: str) -> None:
        """Drop a memory and its document."""
        ...
