"""BM25 in SQLite: how well documents say words, asked for one word at a time.

FTS5's own function goes through all that its index holds of a word once more, to count its documents, and
that is most of the time where a word is looked for as a row of others, as an identifier is. Here it is gone
through once. The sums are the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias, cast

import apsw

from holdfast.stores.sqlite.database import Database, Row

K1: Final = 1.2
B: Final = 0.75
LEAST: Final = 1e-6
"""As FTS5 has them; the last is what a word says that most documents hold."""

_LENGTH_BITS: Final = 32

_Register: TypeAlias = Callable[[str, Callable[[apsw.FTS5ExtensionApi], float]], None]
"""apsw writes its own types for functions with any number of arguments."""


class Posting(NamedTuple):
    """A word, and the documents that hold it."""

    word: str
    rows: list[Row]
    """The number of each, and how often it says the word and how long it is, in one number."""


class Bm25:
    """The full-text index. What it is asked of a document is a function that FTS5 calls."""

    def __init__(self, database: Database) -> None:
        self._database = database
        register = cast("_Register", database.connection.register_fts5_function)  # pyright: ignore[reportUnknownMemberType]
        register("said", _said)
        register("documents_in_all", _documents_in_all)
        register("mean_length", _mean_length)

    def held(self, word: str, limit: int) -> Posting:
        """The documents that hold a word, the oldest first, at most so many."""
        return Posting(word, self._database.rows(_HELD, {"query": any_of([word]), "limit": limit}))

    def scores(self, held: Sequence[Posting]) -> dict[int, float]:
        """How well each document says the words, by its number; every one that holds one must be there."""
        scores: dict[int, float] = {}
        found = [one for one in held if one.rows]
        if not found:
            return scores
        # Any document can be asked about all of them; another program may just have removed the last one.
        in_all, mean = self._database.row(_SIZE, {"query": any_of([found[0].word])}) or (0, 1.0)
        for _, rows in found:
            others = max(in_all - len(rows), 0)
            weight = max(LEAST, math.log((others + 0.5) / (len(rows) + 0.5))) * (K1 + 1)
            least, by_length = K1 * (1 - B), K1 * B / mean
            for number, said in rows:
                times, length = said >> _LENGTH_BITS, said & _LENGTH
                score = weight * times / (times + least + by_length * length)
                scores[number] = scores.get(number, 0.0) + score
        return scores


def any_of(words: Sequence[str]) -> str:
    """A query for any of the words. In quotes nothing is an operator; only a quote or a NUL ends them."""
    quoted = (word.replace("\0", " ").replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in quoted)


def _said(document: apsw.FTS5ExtensionApi) -> int:
    return document.inst_count << _LENGTH_BITS | document.column_size(0)


def _documents_in_all(document: apsw.FTS5ExtensionApi) -> int:
    return document.row_count


def _mean_length(document: apsw.FTS5ExtensionApi) -> float:
    return document.column_total_size(0) / document.row_count


_LENGTH: Final = (1 << _LENGTH_BITS) - 1

_HELD = """
select rowid, said(documents_text)
  from documents_text
 where documents_text match :query
 limit :limit
"""

_SIZE = """
select documents_in_all(documents_text), mean_length(documents_text)
  from documents_text
 where documents_text match :query
 limit 1
"""
