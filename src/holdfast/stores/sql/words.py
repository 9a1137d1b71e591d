"""Words in SQL: BM25, one word at a time, and which words of a query to search for.

A word that is in most documents says least about them and costs most: every document that contains it is
scored. So the rarest words are used, as many as the time allows, and if even the rarest is common, the newest
documents that contain it are scored. How an index is asked is each database's own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final, NamedTuple, Protocol

from holdfast.stores.base import Hit, Within
from holdfast.stores.sql.database import Row, SqlDatabase

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
LENGTH_BITS: Final = 32

_ROW: Final = re.compile(r"\w[\W_]+\w")
"""What the index knows as a row of words."""


class Posting(NamedTuple):
    """A word, and the documents that contain it."""

    word: str
    rows: list[Row]
    """Each document's number, and one integer with its word count and, in the lower bits, its length."""


class TextIndex(Protocol):
    """The full-text index over the documents."""

    def held(self, word: str, limit: int) -> Posting:
        """The documents that contain a word, at most `limit`."""
        ...

    def count(self, word: str, behind: int) -> int:
        """How many documents with a number above that contain a word; one if only others do."""
        ...

    def size(self, word: str) -> tuple[int, float]:
        """How many documents there are, and their mean length in words; `word` is in some of them."""
        ...

    def matches(self, words: Sequence[str], within: Within, limit: int) -> list[Hit]:
        """The documents that contain any of the words, the best match first."""
        ...

    def newest_matches(self, words: Sequence[str], within: Within, scored: int, limit: int) -> list[Hit]:
        """The same among the newest `scored` of them."""
        ...


class Words:
    """How common words are, asked once for each."""

    def __init__(self, database: SqlDatabase, index: TextIndex) -> None:
        self._database = database
        self._index = index
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
        """How well each of these documents matches the words, by its number; every match must be listed."""
        filled = [posting for posting in postings if posting.rows]
        if not filled:
            return {}
        in_all, mean = self._index.size(filled[0].word)
        return bm25(filled, in_all, mean)

    def _held(self, word: str) -> Posting:
        return self._index.held(word, NEWEST_MOST + 1)

    def _last(self) -> int:
        row = self._database.row("select max(number) from documents")
        return int(row[0] or 0) if row else 0

    def _count(self, word: str) -> int:
        """How many documents of the sample contain a word; one if only others do."""
        if word not in self._known:
            if len(self._known) >= KNOWN_MOST:
                self._known.clear()
            self._known[word] = self._index.count(word, self._asked_among - SAMPLE)
        return self._known[word]


K1: Final = 1.2
B: Final = 0.75
LEAST: Final = 1e-6
"""FTS5's constants; the last is the weight of a word that most documents contain."""


def bm25(postings: Sequence[Posting], in_all: int, mean: float) -> dict[int, float]:
    """How well each document matches the words, by its number, among so many of that mean length."""
    scores: dict[int, float] = {}
    for _, rows in postings:
        others = max(in_all - len(rows), 0)
        weight = max(LEAST, math.log((others + 0.5) / (len(rows) + 0.5))) * (K1 + 1)
        least, by_length = K1 * (1 - B), K1 * B / mean
        for number, packed in rows:
            times, length = packed >> LENGTH_BITS, packed & _LENGTH
            score = weight * times / (times + least + by_length * length)
            scores[number] = scores.get(number, 0.0) + score
    return scores


_LENGTH: Final = (1 << LENGTH_BITS) - 1
