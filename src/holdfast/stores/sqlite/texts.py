"""Texts: every text in a Holdfast database, whatever its schema."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from holdfast.stores.base import Text
from holdfast.stores.codec import texts_of
from holdfast.stores.sqlite.database import Database


def texts_in(database: Database) -> Iterator[Text]:
    """Every text of every column of every table; of a JSON document, each text in it."""
    for (table,) in database.rows(_TABLES):
        columns = [str(name) for _, name, *_ in database.rows(f'pragma table_info("{table}")')]
        # The names come from Holdfast's own schema.
        for row in database.each(f'select * from "{table}"'):  # noqa: S608
            for column, value in zip(columns, row, strict=True):
                if isinstance(value, str):
                    yield from (Text(f"{table}.{column}", text) for text in _texts(value))


def texts_of_copy(path: Path) -> Iterator[Text]:
    """The same for a copy of the database, read-only; StoreCorrupt if it cannot be read."""
    database = Database.to_look_at(path)
    try:
        yield from texts_in(database)
    finally:
        database.close()


def _texts(value: str) -> Iterator[str]:
    return texts_of(value) if value[:1] in ("{", "[") else iter((value,))


# Neither what an index keeps for itself, nor a view of it.
_TABLES = """
select name
  from pragma_table_list
 where schema = 'main'
   and type = 'table'
   and name not like 'sqlite!_%' escape '!'
 order by name
"""
