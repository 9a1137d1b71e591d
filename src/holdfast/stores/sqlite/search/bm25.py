"""BM25 in SQLite: how well documents match words, computed one word at a time.

FTS5's own function reads a word's index entries a second time, to count its documents. For a word that is
searched as a phrase, such as an identifier, that is most of the time. Here they are read once. The scores are
the same.
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
"""FTS5's constants; the last is the weight of a word that most documents contain."""

_LENGTH_BITS: Final = 32

_Register: TypeAlias = Callable[[str, Callable[[apsw.FTS5ExtensionApi], float]], None]
"""apsw writes its own types for functions with any number of arguments."""


class Posting(NamedTuple):
    """A word, and the documents that contain it."""

    word: str
    rows: list[Row]
    """Each document's number, and one integer with its word count and its length."""


class Bm25:
    """The full-text index, with a function that FTS5 calls for each document."""

    def __init__(self, database: Database) -> None:
        self._database = database
        register = cast("_Register", database.connection.register_fts5_function)  # pyright: ignore[reportUnknownMemberType]
        register("said", _said)
        register("documents_in_all", _documents_in_all)
        register("mean_length", _mean_length)

    def held(self, word: str, limit: int) -> Posting:
        """The documents that contain a word, the oldest first, at most `limit`."""
        return Posting(word, self._database.rows(_HELD, {"query": any_of([word]), "limit": limit}))

    def scores(self, postings: Sequence[Posting]) -> dict[int, float]:
        """How well each document matches the words, by its number; `postings` must list every match."""
        scores: dict[int, float] = {}
        filled = [posting for posting in postings if posting.rows]
        if not filled:
            return scores
        # Any document can be asked about all of them; another program may just have removed the last one.
        in_all, mean = self._database.row(_SIZE, {"query": any_of([filled[0].word])}) or (0, 1.0)
        for _, rows in filled:
            others = max(in_all - len(rows), 0)
            weight = max(LEAST, math.log((others + 0.5) / (len(rows) + 0.5))) * (K1 + 1)
            least, by_length = K1 * (1 - B), K1 * B / mean
            for number, packed in rows:
                times, length = packed >> _LENGTH_BITS, packed & _LENGTH
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
