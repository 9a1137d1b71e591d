"""Vectors in SQLite: cached in memory on first use, and compared all at once.

A row of the table never changes and no number is reused. So the cache is updated by reading the rows after
its last one. Deleted rows are noticed when their documents are looked up; after many deletions everything is
read again. Numpy takes longer to load than a hook may take, so it is loaded only with this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Within
from holdfast.stores.sqlite.database import Database, Row

MOST: Final = 200_000
"""How many are cached, the newest; with 192 dimensions 45 MB. Older documents are found by their words."""
GONE_MOST: Final = 1_000
READ_AT_ONCE: Final = 20_000
COMPARED_AT_ONCE: Final = 1_024
"""Few enough that no thread of a linear algebra library is woken, which would take longer."""

Ints: TypeAlias = NDArray[np.int64]
Bytes: TypeAlias = NDArray[np.int8]
Floats: TypeAlias = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class VectorBlock:
    """Vectors of one length, each with its number and where it applies."""

    numbers: Ints
    vectors: Bytes
    lengths: Floats
    places: Ints
    """Four rows: of projects, worktrees and kinds, by their codes, and of times."""


def _joined(blocks: Sequence[VectorBlock]) -> VectorBlock:
    """One block of them all, or of the newest."""
    return VectorBlock(
        np.concatenate([block.numbers for block in blocks])[-MOST:],
        np.concatenate([block.vectors for block in blocks])[-MOST:],
        np.concatenate([block.lengths for block in blocks])[-MOST:],
        np.concatenate([block.places for block in blocks], axis=1)[:, -MOST:],
    )


class Vectors:
    """The table `vectors` as far as it was asked for: those of one length."""

    def __init__(self, database: Database, size: int) -> None:
        self._database = database
        self.size = size
        self._codes: dict[str, int] = {}
        self._gone_before = self._gone()
        self._block = _joined([self._block_of([]), *self._behind(0)])

    def nearest(self, query_vector: Sequence[float], within: Within, limit: int) -> list[tuple[int, float]]:
        """Numbers and cosines, the nearest first; more than the limit if some may have been deleted."""
        deletions = self._catch_up()
        chosen = self._chosen(within)
        cosines = self._cosines(np.asarray(query_vector, np.float32), chosen)
        count = min(limit + deletions, len(cosines))
        best = np.argpartition(-cosines, count - 1)[:count] if 0 < count < len(cosines) else slice(None)
        numbers, cosines = self._block.numbers[chosen][best], cosines[best]
        order = np.lexsort((numbers, -cosines))
        return list(zip(numbers[order].tolist(), cosines[order].tolist(), strict=True))

    def _catch_up(self) -> int:
        """Update the cache; returns how many of its vectors may have been deleted."""
        deletions = self._gone() - self._gone_before
        if deletions > max(GONE_MOST, len(self._block.numbers) // 10):
            self._gone_before, deletions = self._gone_before + deletions, 0
            self._block = self._block_of([])
        last = int(self._block.numbers[-1]) if len(self._block.numbers) else 0
        if more := list(self._behind(last)):
            self._block = _joined([self._block, *more])
        return deletions

    def _gone(self) -> int:
        row = self._database.row("select times from vectors_dropped")
        return int(row[0]) if row else 0

    def _behind(self, last: int) -> Iterator[VectorBlock]:
        """The rows after that number."""
        while rows := self._database.rows(_VECTORS, {"last": last, "size": self.size, "limit": READ_AT_ONCE}):
            yield self._block_of(rows)
            last = rows[-1][0]

    def _block_of(self, rows: Sequence[Row]) -> VectorBlock:
        vectors = np.frombuffer(b"".join(row[1] for row in rows), np.int8).reshape(-1, self.size)
        lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.int32)).astype(np.float32)
        numbers = np.array([row[0] for row in rows], np.int64)
        places = np.array([self._place(row) for row in rows], np.int64).reshape(-1, 4).T
        return VectorBlock(numbers, vectors, lengths, places)

    def _place(self, row: Row) -> tuple[int, int, int, int]:
        _, _, project, worktree, kind, at = row
        return self._code(project), self._code(worktree), self._code(kind), at

    def _code(self, name: str) -> int:
        return self._codes.setdefault(name, len(self._codes))

    def _chosen(self, within: Within) -> Ints:
        """The places in the block of those that are within."""
        projects, worktrees, kinds, times = self._block.places
        chosen = times >= within.since
        if within.projects is not None:
            chosen &= self._one_of(projects, within.projects)
        if within.worktree_id:
            chosen &= self._one_of(worktrees, ("", within.worktree_id))
        if within.kinds:
            chosen &= self._one_of(kinds, within.kinds)
        return np.flatnonzero(chosen)

    def _one_of(self, codes: Ints, names: Iterable[str]) -> NDArray[np.bool_]:
        chosen = np.zeros(len(codes), np.bool_)
        for name in names:
            if name in self._codes:
                chosen |= codes == self._codes[name]
        return chosen

    def _cosines(self, query_vector: Floats, chosen: Ints) -> Floats:
        block, whole = self._block, len(chosen) == len(self._block.numbers)
        cosines = np.empty(len(chosen), np.float32)
        # One array for all of them: to get a new one for each thousand takes as long as comparing them.
        compared = np.empty((COMPARED_AT_ONCE, self.size), np.float32)
        for start in range(0, len(chosen), COMPARED_AT_ONCE):
            part = slice(start, start + COMPARED_AT_ONCE)
            rows = block.vectors[part] if whole else block.vectors[chosen[part]]
            floats = compared[: len(rows)]
            floats[...] = rows
            np.dot(floats, query_vector, out=cosines[part])
        return cosines / block.lengths[chosen]


_VECTORS = """
select number, vector, project_id, worktree_id, kind, at
  from vectors
 where number > :last
   and length(vector) = :size
 order by number
 limit :limit
"""
