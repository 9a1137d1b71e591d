"""Documents in SQL: texts found by their words or by the similarity of their vectors.

What to search for and how to weigh the two is decided elsewhere. `words.py` knows which of many words are
worth the time; `vectors.py` compares vectors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.core.memory.memory import Merits
from holdfast.stores.base import UNREDACTED, Hit, SearchDocument, Within
from holdfast.stores.codec import encode_texts, packed, unit
from holdfast.stores.sql.database import Bindings, Row, SqlDatabase
from holdfast.stores.sql.words import NEWEST_MOST, SCORED_MOST, TextIndex, Words

if TYPE_CHECKING:
    from holdfast.stores.sql.vectors import Vectors


class Documents:
    """The tables `documents` and `vectors`, and the full-text index."""

    _words: Words
    _vectors: Vectors | None

    def __init__(self, database: SqlDatabase, index: TextIndex) -> None:
        self._database = database
        self._index = index
        self._words = Words(database, index)
        self._vectors = None

    def add_document(self, document: SearchDocument, redactor: str = UNREDACTED) -> None:
        columns: Bindings = {
            "id": document.id,
            "kind": document.kind,
            "project_id": document.project_id,
            "worktree_id": document.worktree_id,
            "session": document.session,
            "at": document.at,
            "place": document.place,
            "vectored": int(bool(document.vector)),
            "redactor": redactor,
            "source": document.source,
            "text": document.text,
        }
        self._database.write(ADD_DOCUMENT, columns)
        self._database.write(_DROP_VECTOR, {"id": document.id})
        if document.vector:
            self._database.write(_ADD_VECTOR, {"id": document.id, "vector": packed(document.vector)})

    def drop_document(self, id: str) -> None:
        self._database.write(_DROP_DOCUMENT, {"id": id})

    def documents(self, within: Within, limit: int) -> list[SearchDocument]:
        return self._documents(_DOCUMENTS, {**where(within), "limit": limit})

    def documents_beginning(self, prefix: str, within: Within, limit: int) -> list[SearchDocument]:
        beginning: Bindings = {"first": prefix, "last": f"{prefix}\U0010ffff", "limit": limit}
        return self._documents(_DOCUMENTS_BEGINNING, {**where(within), **beginning})

    def around(self, ids: Sequence[str], reach: int, within: Within) -> list[SearchDocument]:
        bindings: Bindings = {"ids": encode_texts(tuple(ids)), "reach": reach}
        return [
            _document(row[:9], Merits(*row[9:]) if row[9] is not None else None)
            for row in self._database.rows(_AROUND, {**where(within), **bindings})
        ]

    def search(self, words: Sequence[str], within: Within, limit: int) -> list[Hit]:
        if not words:
            return []
        if limit > SCORED_MOST or self._words.are_few():
            return self._index.matches(words, within, limit)
        postings = self._words.rarest(words)
        if any(len(posting.rows) > NEWEST_MOST for posting in postings):
            chosen = [posting.word for posting in postings]
            return self._index.newest_matches(chosen, within, NEWEST_MOST, limit)
        return best_hits(self._database, self._words.scores(postings), within, limit)

    def nearest(self, vector: Sequence[float], within: Within, limit: int) -> list[Hit]:
        query_vector = unit(vector)
        if not query_vector:
            return []
        neighbours = self._held(len(query_vector)).nearest(query_vector, within, limit)
        numbers: Bindings = {"numbers": json.dumps([number for number, _ in neighbours])}
        ids: dict[int, str] = dict(self._database.rows(_OF_VECTORS, numbers))
        return [Hit(ids[number], cosine) for number, cosine in neighbours if number in ids][:limit]

    def without_vector(self, limit: int) -> list[SearchDocument]:
        return self._documents(_WITHOUT_VECTOR, {"limit": limit})

    def put_vector(self, id: str, vector: Sequence[float]) -> None:
        self._database.write(_DROP_VECTOR, {"id": id})
        self._database.write(_ADD_VECTOR, {"id": id, "vector": packed(vector)})
        self._database.write(_VECTORED, {"id": id})

    def forget_what_is_cached(self) -> None:
        """Drop what is known in memory of the documents: their rows may have been removed on purpose."""
        self._words, self._vectors = Words(self._database, self._index), None

    def drop_vectors(self) -> None:
        self._database.write("delete from vectors", {})
        self._database.write("update documents set vectored = 0", {})

    def _held(self, size: int) -> Vectors:
        """The vectors of that length. Nothing is cached from a transaction that may be rolled back."""
        if self._vectors is not None and self._vectors.size == size and not self._database.is_writing:
            return self._vectors
        # Imported here: no hook needs it.
        vectors: Vectors = import_module("holdfast.stores.sql.vectors").Vectors(self._database, size)
        if not self._database.is_writing:
            self._vectors = vectors
        return vectors

    def _documents(self, sql: str, bindings: Bindings) -> list[SearchDocument]:
        return [_document(row, None) for row in self._database.rows(sql, bindings)]


def _document(row: Row, merits: Merits | None) -> SearchDocument:
    """In the order of `_READ`."""
    id, kind, project_id, text, session, at, place, source, worktree_id = row
    return SearchDocument(id, kind, project_id, text, (), session, at, place, source, worktree_id, merits)


def best_hits(database: SqlDatabase, scores: Mapping[int, float], within: Within, limit: int) -> list[Hit]:
    """The documents with the highest scores, by their numbers, among those that are wanted."""
    # Equals stay in the order of their numbers.
    best = sorted(sorted(scores), key=scores.__getitem__, reverse=True)
    rows = database.rows(BEST, {**where(within), "numbers": json.dumps(best), "limit": limit})
    return [Hit(id, scores[number]) for number, id in rows]


def where(within: Within) -> Bindings:
    """The bindings of the conditions on places, kinds and time."""
    return {
        "everywhere": within.projects is None,
        "projects": encode_texts(within.projects or ()),
        "worktree_id": within.worktree_id,
        "kinds": encode_texts(within.kinds),
        "since": within.since,
    }


WITHIN = """
(:everywhere or documents.project_id in (select value from json_each(:projects)))
   and (:worktree_id = '' or documents.worktree_id in ('', :worktree_id))
   and (:kinds = '[]' or documents.kind in (select value from json_each(:kinds)))
   and documents.at >= :since
"""

ADD_DOCUMENT = """
insert into documents (
    id, kind, project_id, worktree_id, session_key, at, place, vectored, redactor, source, text
) values (
    :id, :kind, :project_id, :worktree_id, :session, :at, :place, :vectored, :redactor, :source, :text
)
on conflict (id) do update
   set kind        = excluded.kind,
       project_id  = excluded.project_id,
       worktree_id = excluded.worktree_id,
       session_key = excluded.session_key,
       at          = excluded.at,
       place       = excluded.place,
       vectored    = excluded.vectored,
       redactor    = excluded.redactor,
       source      = excluded.source,
       text        = excluded.text
"""

_DROP_DOCUMENT = """
delete from documents
 where id = :id
"""

_ADD_VECTOR = """
insert into vectors (document, project_id, worktree_id, kind, at, vector)
select number, project_id, worktree_id, kind, at, :vector
  from documents
 where id = :id
"""

_DROP_VECTOR = """
delete from vectors
 where document = (select number from documents where id = :id)
"""

_VECTORED = """
update documents
   set vectored = 1
 where id = :id
"""

# A checkpoint's and a memory's document have no session of their own.
_COLUMNS = """
select documents.id,
       documents.kind,
       documents.project_id,
       documents.text,
       coalesce(nullif(documents.session_key, ''), session_checkpoints.session_key, memories.session_key, ''),
       documents.at,
       documents.place,
       documents.source,
       documents.worktree_id"""

_STANDING = """       memories.text,
       memories.created_at,
       memories.importance,
       memories.pinned,
       memories.seen_at,
       memories.found_at,
       memories.superseded_by,
       memories.stretch,
       memories.place"""

_FROM = """
  from documents
  left join session_checkpoints
    on session_checkpoints.id = documents.id
  left join memories
    on memories.id = documents.id
"""

_READ = f"{_COLUMNS}{_FROM}"

_DOCUMENTS = f"""
{_READ}
 where {WITHIN}
 order by documents.at desc, documents.number desc
 limit :limit
"""

_DOCUMENTS_BEGINNING = f"""
{_READ}
 where documents.id >= :first
   and documents.id < :last
   and {WITHIN}
 order by documents.id
 limit :limit
"""

# A cross join is made in the order in which it is written.
_AROUND = f"""
with wanted as (
       select number, id, session_key, kind, place
         from documents
        where id in (select value from json_each(:ids))
     )
{_COLUMNS},
{_STANDING}
{_FROM}
 where documents.number in (
       select number
         from wanted
        union
       select beside.number
         from wanted
         join documents as beside
           on beside.session_key = wanted.session_key
          and beside.kind = wanted.kind
          and beside.place between wanted.place - :reach and wanted.place + :reach
        where wanted.session_key <> ''
        union
       select beside_them.number
         from wanted
        cross join memories as own
           on own.id = wanted.id
        cross join memories as beside
           on beside.stretch = own.stretch
          and beside.stretch <> ''
          and beside.place between own.place - :reach and own.place + :reach
        cross join documents as beside_them
           on beside_them.id = beside.id
        where wanted.kind = 'memory'
       )
   and {WITHIN}
 order by documents.number
"""  # noqa: S608 - all parts are ours

# The best stand first, in which order json_each gives them, and no more are looked at than are wanted.
BEST = f"""
select documents.number, documents.id
  from json_each(:numbers) as best
 cross join documents
    on documents.number = cast(best.value as bigint)
 where {WITHIN}
 limit :limit
"""  # noqa: S608 - all parts are ours

_OF_VECTORS = """
select vectors.number, documents.id
  from vectors
  join documents
    on documents.number = vectors.document
 where vectors.number in (select cast(value as bigint) from json_each(:numbers))
"""

_WITHOUT_VECTOR = f"""
{_READ}
 where documents.vectored = 0
 order by documents.number desc
 limit :limit
"""
