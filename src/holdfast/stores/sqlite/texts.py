"""Every text in a database of SQLite, or in a copy of one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from holdfast.stores.base import StoredText
from holdfast.stores.sql.texts import texts_in_rows
from holdfast.stores.sqlite.database import Database


def texts_in(database: Database) -> Iterator[StoredText]:
    """Every text of every column of every table."""
    for (table,) in database.rows(_TEXT_TABLES):
        columns = [str(name) for _, name, *_ in database.rows(f'pragma table_info("{table}")')]
        # The names come from Holdfast's own schema.
        yield from texts_in_rows(table, columns, database.each(f'select * from "{table}"'))  # noqa: S608


def texts_of_copy(path: Path) -> Iterator[StoredText]:
    """The same for a copy of the database, read-only; StoreCorrupt if it cannot be read."""
    database = Database.to_look_at(path)
    try:
        yield from texts_in(database)
    finally:
        database.close()


# Neither what an index keeps for itself, nor a view of it.
_TEXT_TABLES = """
select name
  from pragma_table_list
 where schema = 'main'
   and type = 'table'
   and name not like 'sqlite!_%' escape '!'
 order by name
"""
