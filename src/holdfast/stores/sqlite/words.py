"""Words in SQLite: BM25, one word at a time, and which words of a query to search for.

A word that is in most documents says least about them and costs most: every document that contains it is
scored. So the rarest words are used, as many as the time allows, and if even the rarest is common, the newest
documents that contain it are scored.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, TypeAlias, cast

import apsw

from holdfast.stores.sqlite.database import Bindings, Database, Row

SCORED_MOST: Final = 1_000
"""The rarest words are looked for that stand in about so many documents together."""
NEWEST_MOST: Final = 2_000
"""Of those that hold them so many are scored, the newest: about is not always nearly. Some 3 µs each."""
SAMPLE: Final = 2_000
"""Among so many documents, the newest, it is asked how common a word is."""
READ_MOST: Final = 20_000
"""Among so many documents, those with an identifier are read about as fast as a sample of them is counted."""
KNOWN_MOST: Final = 4_096
GROWN: Final = 1.2
"""When the store has grown by so much, it is asked anew how common each word is."""

_ROW: Final = re.compile(r"\w[\W_]+\w")
"""What the index knows as a row of words."""


class Words:
    """How common words are, asked once for each."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._bm25 = Bm25(database)
        self._known: dict[str, int] = {}
        self._asked_among = 0

    def are_few(self) -> bool:
        """Whether there are so few documents that all words can be searched for."""
        return self._last() <= SCORED_MOST

    def rarest(self, words: Sequence[str]) -> list[Posting]:
        """The words to search for, the rarest first, at least one, and the documents that contain them."""
        words, last = list(dict.fromkeys(words)), self._last()
        if not self._asked_among <= last <= self._asked_among * GROWN:
            self._known.clear()
            self._asked_among = last
        share = min(1.0, SAMPLE / last)
        rows = [word for word in words if _ROW.search(word)] if last <= READ_MOST else []
        read = {word: self._held(word) for word in rows}
        counts = {word: len(posting.rows) * share for word, posting in read.items()}
        counts |= {word: self._count(word) for word in words if word not in read}
        chosen, total = list[Posting](), 0.0
        for count, word in sorted((count, word) for word, count in counts.items()):
            if total and total + count > SCORED_MOST * share:
                break
            chosen.append(read.get(word) or self._held(word))
            total += count
        return chosen

    def scores(self, postings: Sequence[Posting]) -> dict[int, float]:
        """How well each of these documents matches the words, by its number."""
        return self._bm25.scores(postings)

    def _held(self, word: str) -> Posting:
        return self._bm25.held(word, NEWEST_MOST + 1)

    def _last(self) -> int:
        row = self._database.row("select max(number) from documents")
        return int(row[0] or 0) if row else 0

    def _count(self, word: str) -> int:
        """How many documents of the sample contain a word; one if only others do."""
        if word not in self._known:
            bindings: Bindings = {"query": any_of([word]), "before": self._asked_among - SAMPLE}
            row = self._database.row(_COUNT, bindings)
            if len(self._known) >= KNOWN_MOST:
                self._known.clear()
            self._known[word] = int(row[0]) if row else 0
        return self._known[word]


_COUNT = """
select coalesce(nullif(newest, 0), exists (select 1
                                             from documents_text
                                            where documents_text match :query))
  from (select count(*) as newest
          from documents_text
         where documents_text match :query
           and rowid > :before)
"""


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
        register("said", _occurrences)
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


def _occurrences(document: apsw.FTS5ExtensionApi) -> int:
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
