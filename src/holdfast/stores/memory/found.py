"""What is found again in memory: documents by their words and vectors, and memories."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from operator import mul

from holdfast.core.memory import Memory, Merits, identity, recalled, subject_of
from holdfast.stores.base import NOBODY, Document, Hit, Within
from holdfast.stores.codec import clean, unit
from holdfast.stores.memory.tables import Keeper, drop_memories


class Found(Keeper):
    """Documents and memories."""

    # Documents

    def add_document(self, document: Document, redactor: str = NOBODY) -> None:
        document, tables = clean(document), self._writable()
        tables.documents[document.id] = document
        tables.redactors["documents", document.id] = redactor
        tables.bare.pop(document.id, None)
        if not document.vector:
            tables.bare[document.id] = None

    def drop_document(self, id: str) -> None:
        self._writable().documents.pop(clean(id), None)

    def documents(self, within: Within, limit: int) -> list[Document]:
        newest = sorted(self._documents(within), key=lambda each: each.at)[::-1]
        return [self._read(each) for each in newest[:limit]]

    def documents_beginning(self, prefix: str, within: Within, limit: int) -> list[Document]:
        found = [each for each in self._documents(within) if each.id.startswith(clean(prefix))]
        return [self._read(each) for each in sorted(found, key=lambda each: each.id)[:limit]]

    def around(self, ids: Sequence[str], reach: int, within: Within) -> list[Document]:
        wanted = [self._tables.documents[id] for id in map(clean, ids) if id in self._tables.documents]
        near = {
            (one.session, one.kind, one.place + step)
            for one in wanted
            if one.session
            for step in range(-reach, reach + 1)
        }
        named = {one.id for one in wanted} | self._memories_beside({one.id for one in wanted}, reach)
        return [
            replace(self._read(each), merits=self._merits(each.id))
            for each in self._documents(within)
            if each.id in named or (each.session, each.kind, each.place) in near
        ]

    def _merits(self, id: str) -> Merits | None:
        memory = self._tables.memories.get(id)
        return Merits(*(getattr(memory, name) for name in Merits._fields)) if memory else None

    def _memories_beside(self, ids: set[str], reach: int) -> set[str]:
        memories = self._tables.memories
        near = {
            (memories[id].stretch, memories[id].place + step)
            for id in ids & memories.keys()
            if memories[id].stretch
            for step in range(-reach, reach + 1)
        }
        return {id for id, each in memories.items() if (each.stretch, each.place) in near}

    def search(self, words: Sequence[str], within: Within, limit: int) -> list[Hit]:
        phrases = [phrase for word in words if (phrase := _phrase(word)).strip()]
        hits = [
            Hit(document.id, float(score))
            for document in self._documents(within)
            if (score := sum(phrase in _phrase(document.text) for phrase in phrases))
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def nearest(self, vector: Sequence[float], within: Within, limit: int) -> list[Hit]:
        wanted = unit(vector)
        hits = [
            Hit(document.id, sum(map(mul, wanted, own)))
            for document in self._documents(within)
            if len(own := unit(document.vector)) == len(wanted) > 0
        ]
        return sorted(hits, key=lambda hit: -hit.score)[:limit]

    def without_vector(self, limit: int) -> list[Document]:
        tables = self._tables
        bare = [tables.documents[id] for id in reversed(tables.bare) if id in tables.documents]
        return [self._read(each) for each in bare[:limit]]

    def put_vector(self, id: str, vector: Sequence[float]) -> None:
        tables, id = self._writable(), clean(id)
        if id in tables.documents:
            tables.documents[id] = replace(tables.documents[id], vector=tuple(vector))
            tables.bare.pop(id, None)

    def drop_vectors(self) -> None:
        tables = self._writable()
        for id, document in tables.documents.items():
            tables.documents[id] = replace(document, vector=())
            tables.bare[id] = None

    # Memories

    def put_memory(self, memory: Memory, redactor: str = "") -> None:
        memory, tables = clean(memory), self._writable()
        known = tables.redactor("memories", memory.id) if memory.id in tables.memories else NOBODY
        tables.memories[memory.id] = memory
        tables.redactors["memories", memory.id] = redactor or known

    def memory(self, id: str) -> Memory | None:
        return self._tables.memories.get(clean(id))

    def memories_named(self, ids: Sequence[str]) -> list[Memory]:
        found = map(self.memory, dict.fromkeys(ids))
        return [memory for memory in found if memory is not None]

    def memories(self, within: Within, limit: int) -> list[Memory]:
        return [each for each in self._newest_memories(within) if not each.superseded_by][:limit]

    def superseded_memories(self, within: Within, limit: int) -> list[Memory]:
        return [each for each in self._newest_memories(within) if each.superseded_by][:limit]

    def superseded_among(self, ids: Sequence[str]) -> set[str]:
        return {memory.id for memory in self.memories_named(ids) if memory.superseded_by}

    def memory_like(self, memory: Memory) -> Memory | None:
        said = identity(clean(memory.text))
        others = (each for each in self._others(memory) if identity(each.text) == said)
        return min(others, key=lambda each: each.created_at, default=None)

    def last_memory(self, memory: Memory) -> Memory | None:
        return max(reversed(list(self._others(memory))), key=_created, default=None)

    def memories_about(self, memory: Memory) -> list[Memory]:
        subject = subject_of(clean(memory.text))
        about = [each for each in self._others(memory) if subject and subject_of(each.text) == subject]
        return sorted((each for each in about if not each.superseded_by), key=_created)[::-1]

    def count_found(self, ids: Sequence[str], at: int) -> None:
        memories = self._writable().memories
        for memory in self.memories_named(ids):
            memories[memory.id] = recalled(memory, at)

    def drop_memory(self, id: str) -> None:
        drop_memories(self._writable(), lambda each: each.id == clean(id))

    # Where

    def _documents(self, within: Within) -> Iterator[Document]:
        for each in self._tables.documents.values():
            is_chosen = (not within.kinds or each.kind in within.kinds) and each.at >= within.since
            if is_chosen and _holds(each, within):
                yield each

    def _read(self, document: Document) -> Document:
        return replace(document, vector=(), session=self._tables.session_of(document))

    def _newest_memories(self, within: Within) -> list[Memory]:
        if within.kinds and "memory" not in within.kinds:
            return []
        newest = sorted(self._tables.memories.values(), key=_created)[::-1]
        return [each for each in newest if each.created_at >= within.since and _holds(each, within)]

    def _others(self, memory: Memory) -> Iterator[Memory]:
        """The other memories of the same scope."""
        own = _scope(clean(memory))
        for each in self._tables.memories.values():
            if each.id != memory.id and _scope(each) == own:
                yield each


def _holds(one: Document | Memory, within: Within) -> bool:
    if within.projects is not None and one.project_id not in map(clean, within.projects):
        return False
    return not within.worktree_id or one.worktree_id in ("", clean(within.worktree_id))


def _scope(memory: Memory) -> tuple[str, str, str]:
    return memory.scope, memory.project_id, memory.worktree_id


def _created(memory: Memory) -> int:
    return memory.created_at


def _phrase(text: str) -> str:
    """The text's words in lower case between single spaces, so that `in` finds one phrase in another."""
    return f" {' '.join(_WORD.findall(text.lower()))} "


_WORD = re.compile(r"[^\W_]+")
