"""The full-text index of SQLite: FTS5, with functions that it calls for each document."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias, cast

import apsw

from holdfast.stores.base import Hit, Within
from holdfast.stores.sql.database import Bindings
from holdfast.stores.sql.documents import WITHIN, where
from holdfast.stores.sql.words import LENGTH_BITS, Posting
from holdfast.stores.sqlite.database import Database

_Register: TypeAlias = Callable[[str, Callable[[apsw.FTS5ExtensionApi], float]], None]
"""apsw writes its own types for functions with any number of arguments."""


class Fts5:
    """The table `documents_text`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        register = cast("_Register", database.connection.register_fts5_function)  # pyright: ignore[reportUnknownMemberType]
        register("said", _occurrences)
        register("documents_in_all", _documents_in_all)
        register("mean_length", _mean_length)

    def held(self, word: str, limit: int) -> Posting:
        """The documents that contain a word, the oldest first, at most `limit`."""
        return Posting(word, self._database.rows(_HELD, {"query": any_of([word]), "limit": limit}))

    def count(self, word: str, behind: int) -> int:
        """How many documents with a number above that contain a word; one if only others do."""
        row = self._database.row(_COUNT, {"query": any_of([word]), "behind": behind})
        return int(row[0]) if row else 0

    def size(self, word: str) -> tuple[int, float]:
        """How many documents there are, and their mean length in words; `word` is in some of them."""
        # Any document can be asked about all of them; another program may just have removed the last one.
        in_all, mean = self._database.row(_SIZE, {"query": any_of([word])}) or (0, 1.0)
        return in_all, mean

    def matches(self, words: Sequence[str], within: Within, limit: int) -> list[Hit]:
        """The documents that contain any of the words, the best match first."""
        return self._hits(_SEARCH, words, within, _ALL, limit)

    def newest_matches(self, words: Sequence[str], within: Within, scored: int, limit: int) -> list[Hit]:
        """The same among the newest `scored` of them."""
        return self._hits(_SEARCH_NEWEST, words, within, scored, limit)

    def _hits(self, sql: str, words: Sequence[str], within: Within, scored: int, limit: int) -> list[Hit]:
        bindings: Bindings = {"query": any_of(words), "scored": scored, "limit": limit}
        return [Hit(id, score) for id, score in self._database.rows(sql, {**where(within), **bindings})]


def any_of(words: Sequence[str]) -> str:
    """A query for any of the words. In quotes nothing is an operator; only a quote or a NUL ends them."""
    quoted = (word.replace("\0", " ").replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in quoted)


def _occurrences(document: apsw.FTS5ExtensionApi) -> int:
    return document.inst_count << LENGTH_BITS | document.column_size(0)


def _documents_in_all(document: apsw.FTS5ExtensionApi) -> int:
    return document.row_count


def _mean_length(document: apsw.FTS5ExtensionApi) -> float:
    return document.column_total_size(0) / document.row_count


_ALL: Final = -1

_COUNT = """
select coalesce(nullif(newest, 0), exists (select 1
                                             from documents_text
                                            where documents_text match :query))
  from (select count(*) as newest
          from documents_text
         where documents_text match :query
           and rowid > :behind)
"""

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

_SEARCH = f"""
with scored as materialized (
       select documents.number, bm25(documents_text) as score
         from documents_text
        cross join documents
           on documents.number = documents_text.rowid
        where documents_text match :query
          and {WITHIN}
        order by documents_text.rowid
        limit :scored
     ),
     best as materialized (
       select number, score
         from scored
        order by score, number
        limit :limit
     )
select documents.id, -best.score
  from best
 cross join documents
    on documents.number = best.number
 order by best.score, best.number
"""  # noqa: S608 - all parts are ours

# The index gives them by their numbers, so that it stops when enough were scored; forwards is the faster way.
_SEARCH_NEWEST = _SEARCH.replace("order by documents_text.rowid", "order by documents_text.rowid desc")
