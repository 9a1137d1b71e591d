"""The PostgreSQL store: opening, health check and closing; `stores/sql/` handles its tables.

One connection, for one thread at a time. Any number of processes may use the same schema.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from holdfast.errors import StoreError
from holdfast.stores.base import Hit, StoredText, Within
from holdfast.stores.codec import unit
from holdfast.stores.postgres.connection import PostgresAddress
from holdfast.stores.postgres.database import PostgresDatabase
from holdfast.stores.postgres.full_text import TermIndex
from holdfast.stores.postgres.neighbours import nearest_on_server, prepare_extension
from holdfast.stores.postgres.schema import Step, bring_up, shipped_steps
from holdfast.stores.sql.database import Row
from holdfast.stores.sql.tables import Tables
from holdfast.stores.sql.texts import texts_in_rows

SCHEMA = "holdfast"
"""The schema that holds a store's tables unless the settings name another."""


class PostgresStore(Tables):
    """Everything that Holdfast stores, in one schema of a database."""

    _database: PostgresDatabase

    def __init__(self, database: PostgresDatabase, *, has_extension: bool) -> None:
        super().__init__(database, TermIndex(database))
        self._has_extension = has_extension

    def nearest(self, vector: Sequence[float], within: Within, limit: int) -> list[Hit]:
        if not self._has_extension:
            return super().nearest(vector, within, limit)
        return nearest_on_server(self._database, vector, within, limit) if unit(vector) else []

    @property
    def place(self) -> str:
        return f"PostgreSQL at {self._database.place}"

    @property
    def size(self) -> int:
        row = self._database.row(_SIZE, {"schema": self._database.schema})
        return int(row[0]) if row else 0

    def leave_log(self) -> None:
        """The server looks after its log."""

    def move_log(self) -> None:
        """The server looks after its log."""

    def note_held(self, at: int) -> None:
        """Nothing: a database that is gone is no empty one, and its owner has backups."""

    def check(self) -> str:
        try:
            self._database.rows("select 1 from schema_version")
        except StoreError as error:
            return error.message
        return ""

    def texts(self) -> Iterator[StoredText]:
        for (table,) in self._database.rows(_TABLES, {"schema": self._database.schema}):
            yield from self._texts_in(str(table))

    def scrub(self) -> None:
        """Drop what is cached; when the server overwrites deleted rows is its owner's to say."""
        self.forget_what_is_cached()

    def close(self) -> None:
        self._database.close()

    def _texts_in(self, table: str) -> Iterator[StoredText]:
        columns = [
            str(name)
            for (name,) in self._database.rows(_COLUMNS, {"schema": self._database.schema, "table": table})
        ]
        if not columns:
            return
        listed = ", ".join(f'"{column}"' for column in columns)
        read = _ROWS.format(columns=listed, table=table)
        after = "(0,0)"
        while rows := self._database.rows(read, {"after": after}):
            texts: list[Row] = [row[1:] for row in rows]
            yield from texts_in_rows(table, columns, texts)
            after = str(rows[-1][0])


def open_postgres(address: PostgresAddress, schema: str = SCHEMA) -> PostgresStore:
    """The store in that schema, made if there is none, brought to the latest version if it is older."""
    return open_by_steps(address, schema, shipped_steps())


def open_by_steps(address: PostgresAddress, schema: str, steps: tuple[Step, ...]) -> PostgresStore:
    """The same, by these steps."""
    database = PostgresDatabase(address, schema)
    with ExitStack() as undo:
        undo.callback(database.close)
        bring_up(database, steps)
        has_extension = prepare_extension(database)
        undo.pop_all()
    return PostgresStore(database, has_extension=has_extension)


_ROWS = """
select ctid, {columns}
  from "{table}"
 where ctid > cast(:after as tid)
 order by ctid
 limit 200
"""

_SIZE = """
select coalesce(sum(pg_total_relation_size(pg_class.oid)), 0)
  from pg_class
  join pg_namespace
    on pg_namespace.oid = relnamespace
 where nspname = :schema
   and relkind = 'r'
"""

_TABLES = """
select table_name
  from information_schema.tables
 where table_schema = :schema
   and table_type = 'BASE TABLE'
 order by table_name
"""

_COLUMNS = """
select column_name
  from information_schema.columns
 where table_schema = :schema
   and table_name = :table
   and data_type = 'text'
 order by ordinal_position
"""
