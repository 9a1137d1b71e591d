"""The contract of searching: searchable texts, and memories.

What to search for, how to rank the hits and what becomes a memory is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from holdfast.core.memory.memory import Memory, Merits
from holdfast.lazy_dataclass import dataclass

UNREDACTED: Final = "0"
"""The redactor of a text that may be unredacted: it is redacted again at the next opportunity."""


@dataclass(frozen=True, slots=True)
class SearchDocument:
    """A searchable text, with its vector if it has one."""

    id: str
    kind: str
    project_id: str
    text: str
    vector: tuple[float, ...] = ()
    session: str = ""
    """The session with which it is pruned; empty if it stays until it is deleted.

    When read: if it has no session of its own, that of its checkpoint or memory.
    """
    at: int = 0
    place: int = 0
    """Its position in its session; its neighbours of the same kind support it as a hit."""
    source: str = ""
    """Where it comes from, for display."""
    worktree_id: str = ""
    """The only worktree that it applies to; empty if it applies to all of its project."""
    merits: Merits | None = None
    """The merits of the memory whose document it is, if `around` read it."""


@dataclass(frozen=True, slots=True)
class Within:
    """Where to search: in which projects, in which worktree, among which kinds, and since when."""

    projects: tuple[str, ...] | None
    """Their ids; the empty id stands for what applies to every project. None for all."""
    worktree_id: str = ""
    """Only texts that apply to this worktree or to all; empty: to any."""
    kinds: tuple[str, ...] = ()
    """Empty for every kind."""
    since: int = 0


EVERYWHERE: Final = Within(None)


class Hit(NamedTuple):
    """A matching document; the greater the score, the better the match."""

    id: str
    score: float


class Findable(Protocol):
    """Documents and memories."""

    def add_document(self, document: SearchDocument, redactor: str = UNREDACTED) -> None:
        """Make a text searchable; the same id replaces it. A checkpoint's or memory's is deleted with it."""
        ...

    def drop_document(self, id: str) -> None:
        """Remove a text from the search."""
        ...

    def documents(self, within: Within, limit: int) -> list[SearchDocument]:
        """Documents without their vectors, the newest first."""
        ...

    def documents_beginning(self, prefix: str, within: Within, limit: int) -> list[SearchDocument]:
        """Documents whose id begins with this prefix, without their vectors, by id."""
        ...

    def around(self, ids: Sequence[str], reach: int, within: Within) -> list[SearchDocument]:
        """These documents and those of the same kind up to `reach` places from them in their sessions.

        For memories, those stated shortly before or after. Each once, without its vector; a memory's document
        with its merits.
        """
        ...

    def search(self, words: Sequence[str], within: Within, limit: int) -> list[Hit]:
        """Documents that contain any of the words, the best match first.

        Among very many documents, a word that is in most of them is ignored beside rarer ones, and if all
        words are common, only the newest documents are searched.
        """
        ...

    def nearest(self, vector: Sequence[float], within: Within, limit: int) -> list[Hit]:
        """Documents with the most similar vectors."""
        ...

    def without_vector(self, limit: int) -> list[SearchDocument]:
        """Documents that have no vector yet, the newest first."""
        ...

    def put_vector(self, id: str, vector: Sequence[float]) -> None:
        """Store a document's vector; an empty one says that its text has no direction."""
        ...

    def drop_vectors(self) -> None:
        """Remove all vectors: another model will make new ones."""
        ...

    # Memories

    def put_memory(self, memory: Memory, redactor: str = "") -> None:
        """Store a memory; the same id replaces it. Without a redactor, no text in it is new.

        `add_document` makes it searchable.
        """
        ...

    def memory(self, id: str) -> Memory | None:
        """The memory with that id."""
        ...

    def memories_named(self, ids: Sequence[str]) -> list[Memory]:
        """The memories among these ids."""
        ...

    def memories(self, within: Within, limit: int) -> list[Memory]:
        """Memories that no newer one supersedes, the newest first; their kind is `memory`."""
        ...

    def superseded_memories(self, within: Within, limit: int) -> list[Memory]:
        """The others, the newest first."""
        ...

    def superseded_among(self, ids: Sequence[str]) -> set[str]:
        """Those of these ids that are superseded memories."""
        ...

    def memory_like(self, memory: Memory) -> Memory | None:
        """Another memory of the same scope that says the same, word for word."""
        ...

    def last_memory(self, memory: Memory) -> Memory | None:
        """The newest of the other memories of the same scope."""
        ...

    def memories_about(self, memory: Memory) -> list[Memory]:
        """Other memories of the same scope about the same subject that are not superseded."""
        ...

    def count_found(self, ids: Sequence[str], at: int) -> None:
        """Count that these memories were recalled."""
        ...

    def drop_memory(self, id: str) -> None:
        """Delete a memory and its document."""
        ...
