"""Neighbours: vectors compared by the server, where it has the extension pgvector.

The column `direction` is there only where the extension is. The server derives it from `vector`, as numbers
that it can compare. Without it vectors are compared in memory, as with SQLite.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence

from holdfast.stores.base import Hit, Within
from holdfast.stores.codec import packed
from holdfast.stores.postgres.database import PostgresDatabase
from holdfast.stores.sql.database import Row
from holdfast.stores.sql.documents import WITHIN, where


def prepare_extension(database: PostgresDatabase) -> bool:
    """Whether the server compares vectors; the column for that is made when the extension is first seen."""
    schema = database.row(_EXTENSION)
    if schema is None:
        return False
    database.search_also(str(schema[0]))
    if _has_column(database):
        return True
    with database.writing():
        if not _has_column(database):
            database.script(_ADD_COLUMN)
    return True


def nearest_on_server(
    database: PostgresDatabase, vector: Sequence[float], within: Within, limit: int
) -> list[Hit]:
    """Documents with the most similar vectors, and the cosine of each."""
    directed = {"direction": direction_of(packed(vector)), "size": len(vector), "limit": limit}
    rows: list[Row] = database.rows(_NEAREST, {**where(within), **directed})
    return [Hit(str(id), float(cosine)) for id, cosine in rows]


def direction_of(bytes_of_vector: bytes) -> str | None:
    """A packed vector as pgvector reads it; None for one without a direction."""
    return json.dumps(array("b", bytes_of_vector).tolist()) if bytes_of_vector else None


def _has_column(database: PostgresDatabase) -> bool:
    return database.row(_COLUMN, {"schema": database.schema}) is not None


_EXTENSION = """
select nspname
  from pg_catalog.pg_extension
  join pg_catalog.pg_namespace
    on pg_namespace.oid = extnamespace
 where extname = 'vector'
"""

_ADD_COLUMN = """
create or replace function direction_of(packed bytea) returns halfvec immutable strict parallel safe
return (
    select cast(array_agg(case when byte > 127 then byte - 256 else byte end order by place) as halfvec)
      from (select place, get_byte(packed, place) as byte
              from generate_series(0, length(packed) - 1) as place) as bytes
);

alter table vectors add column direction halfvec generated always as (direction_of(vector)) stored;
"""

_COLUMN = """
select 1
  from information_schema.columns
 where table_schema = :schema
   and table_name = 'vectors'
   and column_name = 'direction'
"""

# Every vector of its length is compared, which finds the nearest for certain, also in a small project.
_NEAREST = f"""
select documents.id, 1 - distance
  from (select vectors.number, documents.id, vectors.direction <=> cast(:direction as halfvec) as distance
          from vectors
          join documents
            on documents.number = vectors.document
         where length(vectors.vector) = :size
           and {WITHIN}) as documents
 order by distance, number
 limit :limit
"""  # noqa: S608 - all parts are ours
