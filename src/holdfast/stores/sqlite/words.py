"""Words in SQLite: which of a query's words are looked for, where all of them would take too long.

A word that stands in most documents tells them apart least and costs most: every document that holds it is
scored. So the rarest words are looked for, as many as the time allows, and where even the rarest is common,
the newest documents that hold it are scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from holdfast.stores.sqlite.database import Bindings, Database

SCORED_MOST: Final = 1_000
"""The rarest words are looked for that stand in about so many documents together."""
NEWEST_MOST: Final = 2_000
"""Of those that hold them so many are scored, the newest: about is not always nearly. Some 3 µs each."""
SAMPLE: Final = 2_000
"""Among so many documents, the newest, it is asked how common a word is."""
KNOWN_MOST: Final = 4_096
GROWN: Final = 1.2
"""When the store has grown by so much, it is asked anew how common each word is."""


class Words:
    """How common words are, asked once for each."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._known: dict[str, int] = {}
        self._asked_among = 0

    def rarest(self, words: Sequence[str]) -> list[str]:
        """The words to look for, the rarest first; at least one of them, and all in a small store."""
        words, last = list(dict.fromkeys(words)), self._last()
        if last <= SCORED_MOST:
            return words
        if not self._asked_among <= last <= self._asked_among * GROWN:
            self._known.clear()
            self._asked_among = last
        chosen, held = list[str](), 0
        most = SCORED_MOST * min(1.0, SAMPLE / last)
        for count, word in sorted((self._count(word), word) for word in words):
            if held and held + count > most:
                break
            chosen.append(word)
            held += count
        return chosen

    def _last(self) -> int:
        row = self._database.row("select max(number) from documents")
        return int(row[0] or 0) if row else 0

    def _count(self, word: str) -> int:
        """In how many documents of the sample a word stands; one if only in others."""
        if word not in self._known:
            asked: Bindings = {"query": any_of([word]), "before": self._asked_among - SAMPLE}
            row = self._database.row(_COUNT, asked)
            if len(self._known) >= KNOWN_MOST:
                self._known.clear()
            self._known[word] = int(row[0]) if row else 0
        return self._known[word]


def any_of(words: Sequence[str]) -> str:
    """A query for any of the words. In quotes nothing is an operator; only a quote or a NUL ends them."""
    quoted = (word.replace("\0", " ").replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in quoted)


_COUNT = """
select coalesce(nullif(newest, 0), exists (select 1
                                             from documents_text
                                            where documents_text match :query))
  from (select count(*) as newest
          from documents_text
         where documents_text match :query
           and rowid > :before)
"""
