"""The full-text index of PostgreSQL: a column of `tsvector`, weighed by BM25 as in SQLite."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from holdfast.stores.base import Hit, Within
from holdfast.stores.codec import encode_texts
from holdfast.stores.postgres.database import PostgresDatabase
from holdfast.stores.postgres.dialect import terms_of
from holdfast.stores.sql.documents import best_hits
from holdfast.stores.sql.words import LENGTH_BITS, Posting, bm25


class TermIndex:
    """The columns `terms` and `length` of the documents."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._database = database

    def held(self, word: str, limit: int) -> Posting:
        """The documents that contain a word, at most `limit`."""
        return self._held(word, 0, limit)

    def count(self, word: str, behind: int) -> int:
        """How many documents with a number above that contain a word; one if only others do."""
        row = self._database.row(_COUNT, {"word": word, "behind": behind})
        return int(row[0]) if row else 0

    def size(self, word: str) -> tuple[int, float]:
        """How many documents there are, and their mean length in words; `word` is in some of them."""
        documents, words = self._database.row(_SIZE, {"word": word}) or (0, 0)
        return documents, max(words / max(documents, 1), 1.0)

    def matches(self, words: Sequence[str], within: Within, limit: int) -> list[Hit]:
        """The documents that contain any of the words, the best match first."""
        return self._best(words, 0, within, limit)

    def newest_matches(self, words: Sequence[str], within: Within, scored: int, limit: int) -> list[Hit]:
        """The same among the newest `scored` of them."""
        row = self._database.row(_FIRST_OF_NEWEST, {"words": _list_of(words), "scored": scored})
        return self._best(words, int(row[0] or 0) if row else 0, within, limit)

    def _best(self, words: Sequence[str], first: int, within: Within, limit: int) -> list[Hit]:
        postings = [self._held(word, first, _ALL) for word in dict.fromkeys(words)]
        scores = bm25(postings, *self.size(""))
        return best_hits(self._database, scores, within, limit)

    def _held(self, word: str, first: int, limit: int) -> Posting:
        return Posting(word, self._database.rows(_HELD, {"word": word, "first": first, "limit": limit}))


def _list_of(words: Sequence[str]) -> str:
    return encode_texts(tuple(terms_of(word) for word in words))


_ALL: Final = 1 << 40

# Of a row of words it counts how often the rarest is there.
_HELD = f"""
select number,
       (coalesce((select min(cardinality(positions))
                    from unnest(terms)
                   where lexeme = any(tsvector_to_array(to_tsvector('words', :terms_of_word)))), 1)
        * cast({1 << LENGTH_BITS} as bigint)) + length
  from documents
 where terms @@ phraseto_tsquery('words', :terms_of_word)
   and number >= :first
 limit :limit
"""  # noqa: S608 - a number

_COUNT = """
select case
         when newest > 0 then newest
         when exists (select 1 from documents where terms @@ phraseto_tsquery('words', :terms_of_word)) then 1
         else 0
       end
  from (select count(*) as newest
          from documents
         where terms @@ phraseto_tsquery('words', :terms_of_word)
           and number > :behind) as sample
"""

_SIZE = """
select documents, words
  from documents_in_all
"""

_FIRST_OF_NEWEST = """
select min(number)
  from (select number
          from documents
         where terms @@ (
               select cast(string_agg(cast(phraseto_tsquery('words', value) as text), ' | ') as tsquery)
                 from json_each(:words)
                where value <> ''
               )
         order by number desc
         limit :scored) as newest
"""
