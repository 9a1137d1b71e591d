"""Vectors in SQL: cached in memory on first use, and compared all at once.

A row of the table never changes and no number is reused. So the cache is updated by reading the rows after
its last one. Deleted rows are noticed when their documents are looked up; after many deletions everything is
read again. What compares vectors is loaded only with this module: no hook needs it.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain, compress
from typing import Any, Final, TypeAlias, cast

import simsimd

from holdfast.stores.base import Within
from holdfast.stores.codec import packed
from holdfast.stores.sql.database import SqlDatabase

_NATIVE: Final[Any] = simsimd
"""Its types name numpy's arrays, and numpy need not be installed."""
MOST: Final = 200_000
"""How many are cached, the newest; with 192 dimensions 42 MB. Older documents are found by their words."""
SPARE: Final = 10
"""By this part of them there may be more until they are read again."""
GONE_MOST: Final = 1_000
READ_AT_ONCE: Final = 20_000

Neighbour: TypeAlias = tuple[int, float]


class VectorBlock:
    """The vectors of one project, worktree and kind, one after the other, each with its number and time."""

    def __init__(self, project: str, worktree: str, kind: str) -> None:
        self._project = project
        self._worktree = worktree
        self._kind = kind
        self._numbers = array("q")
        self._times = array("q")
        self._vectors = bytearray()

    def add(self, number: int, time: int, vector: bytes) -> None:
        self._numbers.append(number)
        self._times.append(time)
        self._vectors += vector

    def is_within(self, within: Within) -> bool:
        return (
            (within.projects is None or self._project in within.projects)
            and (not within.worktree_id or self._worktree in ("", within.worktree_id))
            and (not within.kinds or self._kind in within.kinds)
        )

    def distances(self, query_vector: bytes, since: int) -> tuple[list[int], list[float]]:
        """The numbers of the vectors since that time, and how far each is from the query."""
        query = memoryview(query_vector).cast("b", (1, len(query_vector)))
        rows = memoryview(self._vectors).cast("b", (len(self._numbers), len(query_vector)))
        distances: Any = _NATIVE.cdist(query, rows, "cosine")
        far = cast("list[list[float]]", memoryview(distances).tolist())[0]
        if not since or min(self._times) >= since:
            return self._numbers.tolist(), far
        chosen = [time >= since for time in self._times]
        return [*compress(self._numbers, chosen)], [*compress(far, chosen)]


class Vectors:
    """The table `vectors` as far as it was asked for: those of one length."""

    def __init__(self, database: SqlDatabase, size: int) -> None:
        self._database = database
        self.size = size
        self._gone_before = self._gone()
        self._read_all()

    def nearest(self, query_vector: Sequence[float], within: Within, limit: int) -> list[Neighbour]:
        """Numbers and cosines, the nearest first; more than the limit if some may have been deleted."""
        deletions = self._catch_up()
        query = packed(query_vector)
        blocks = [block for block in self._blocks.values() if block.is_within(within)]
        parts = [block.distances(query, within.since) for block in blocks]
        # Most are far away: to compare each with the last that is near enough is faster than to sort them.
        near = heapq.nsmallest(limit + deletions, chain.from_iterable(far for _, far in parts))
        if not near:
            return []
        best = [
            (far, number)
            for numbers, distances in parts
            for number, far in zip(numbers, distances, strict=True)
            if far <= near[-1]
        ]
        best.sort()
        return [(number, 1.0 - far) for far, number in best[: limit + deletions]]

    def _catch_up(self) -> int:
        """Update the cache; returns how many of its vectors may have been deleted."""
        deletions = self._gone() - self._gone_before
        if deletions > max(GONE_MOST, self._count // SPARE):
            self._gone_before, deletions = self._gone_before + deletions, 0
            self._read_all()
            return deletions
        self._read_behind(self._last)
        if self._count > MOST + MOST // SPARE:
            self._read_all()
        return deletions

    def _gone(self) -> int:
        row = self._database.row("select times from vectors_dropped")
        return int(row[0]) if row else 0

    def _read_all(self) -> None:
        """Read the newest into an empty cache."""
        self._blocks: dict[tuple[str, str, str], VectorBlock] = {}
        self._count = self._last = 0
        before = self._database.row(_LAST_LEFT_OUT, {"size": self.size, "most": MOST})
        self._read_behind(int(before[0]) if before else 0)

    def _read_behind(self, last: int) -> None:
        """Add the rows after that number."""
        self._last = last
        for number, vector, project, worktree, kind, at in self._rows_behind(last):
            place = (project, worktree, kind)
            if place not in self._blocks:
                self._blocks[place] = VectorBlock(*place)
            self._blocks[place].add(number, at, vector)
            self._count += 1
            self._last = number

    def _rows_behind(self, last: int) -> Iterator[tuple[int, bytes, str, str, str, int]]:
        while rows := self._database.rows(_VECTORS, {"last": last, "size": self.size, "limit": READ_AT_ONCE}):
            yield from rows
            last = rows[-1][0]


_VECTORS = """
select number, vector, project_id, worktree_id, kind, at
  from vectors
 where number > :last
   and length(vector) = :size
 order by number
 limit :limit
"""

_LAST_LEFT_OUT = """
select number
  from vectors
 where length(vector) = :size
 order by number desc
 limit 1
offset :most
"""
