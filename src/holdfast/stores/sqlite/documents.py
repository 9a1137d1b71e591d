"""Documents in SQLite: texts found again by their words or by the nearness of their vectors.

What to look for and how to weigh the two is decided elsewhere. Vectors are compared one by one: exact, and
good for the thousands of a project.
"""

from __future__ import annotations

import heapq
from array import array
from collections.abc import Sequence
from operator import mul

from holdfast.stores.base import NOBODY, Document, Hit
from holdfast.stores.codec import unit
from holdfast.stores.sqlite.database import Bindings, Database


class Documents:
    """The table `documents` and its full-text index."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def add_document(self, document: Document, redactor: str = NOBODY) -> None:
        self._database.write(
            _ADD_DOCUMENT,
            {
                "id": document.id,
                "kind": document.kind,
                "project_id": document.project_id,
                "session": document.session,
                "text": document.text,
                "vector": unit(document.vector).tobytes(),
                "redactor": redactor,
            },
        )

    def drop_document(self, id: str) -> None:
        self._database.write(_DROP_DOCUMENT, {"id": id})

    def search(self, words: Sequence[str], project_id: str, limit: int) -> list[Hit]:
        if not words:
            return []
        wanted: Bindings = {"query": _any_of(words), "project_id": project_id, "limit": limit}
        return [Hit(*row) for row in self._database.rows(_SEARCH, wanted)]

    def nearest(self, vector: Sequence[float], project_id: str, limit: int) -> list[Hit]:
        wanted = unit(vector)
        size = len(wanted) * wanted.itemsize
        if size == 0:
            return []
        rows = self._database.rows(_WITH_VECTORS, {"project_id": project_id, "size": size})
        hits = (Hit(id, kind, _cosine(wanted, vector), text) for id, kind, text, vector in rows)
        return heapq.nlargest(limit, hits, key=lambda hit: hit.score)


def _any_of(words: Sequence[str]) -> str:
    """A query for any of the words. In quotes nothing is an operator; only a quote or a NUL ends them."""
    quoted = (word.replace("\0", " ").replace('"', '""') for word in words)
    return " OR ".join(f'"{word}"' for word in quoted)


def _cosine(wanted: array[float], stored: bytes) -> float:
    return float(sum(map(mul, wanted, array("f", stored))))


_ADD_DOCUMENT = """
insert into documents (id, kind, project_id, session_key, text, vector, redactor)
values (:id, :kind, :project_id, :session, :text, :vector, :redactor)
on conflict (id) do update
   set kind        = excluded.kind,
       project_id  = excluded.project_id,
       session_key = excluded.session_key,
       text        = excluded.text,
       vector      = excluded.vector,
       redactor    = excluded.redactor
"""

_DROP_DOCUMENT = """
delete from documents
 where id = :id
"""

_SEARCH = """
select documents.id, documents.kind, -bm25(documents_text), documents.text
  from documents_text
  join documents
    on documents.number = documents_text.rowid
 where documents_text match :query
   and documents.project_id = :project_id
 order by bm25(documents_text), documents.number
 limit :limit
"""

_WITH_VECTORS = """
select id, kind, text, vector
  from documents
 where project_id = :project_id
   and length(vector) = :size
 order by number
"""
