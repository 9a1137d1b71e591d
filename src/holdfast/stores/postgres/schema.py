"""Schema: the numbered steps to the tables of today, each taken once by whoever comes first.

A step is a file in `migrations/`. PostgreSQL undoes a step that fails half-way, so no copy is made before it:
backups of the database are its owner's.
"""

from __future__ import annotations

import re
from importlib.resources import files

from holdfast.errors import StoreError, StoreTooNew
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.postgres.database import PostgresDatabase, quoted_name


@dataclass(frozen=True, slots=True)
class Step:
    """The version that it leads to, and how."""

    version: int
    sql: str


def shipped_steps() -> tuple[Step, ...]:
    """The steps that come with this version, in order."""
    steps = [
        Step(int(name["version"]), file.read_text(encoding="utf-8"))
        for file in files("holdfast.stores.postgres").joinpath("migrations").iterdir()
        if (name := _NAME.fullmatch(file.name))
    ]
    return tuple(sorted(steps, key=lambda step: step.version))


def bring_up(database: PostgresDatabase, steps: tuple[Step, ...]) -> None:
    """Bring the schema to the latest version; another process may be doing the same."""
    if _stored_version(database) == steps[-1].version:
        return
    with database.writing_durably():
        version = _stored_version(database)
        if version > steps[-1].version:
            raise StoreTooNew(
                f"the store at `{database.place}` was written by a later version "
                f"(schema {version}, this is {steps[-1].version})",
                hint="upgrade with `uv tool upgrade holdfast`",
            )
        if version == 0:
            _prepare(database)
        for step in steps:
            if step.version > version:
                database.script(step.sql)
                database.write("update schema_version set version = :version", {"version": step.version})


def has_schema(database: PostgresDatabase) -> bool:
    """Whether there is a store in the schema."""
    return _stored_version(database) > 0


def _stored_version(database: PostgresDatabase) -> int:
    """The version of what is there; 0 if nothing is."""
    row = database.row(_HAS_VERSION, {"schema": database.schema})
    if row is None or not row[0]:
        return 0
    row = database.row("select version from schema_version")
    return int(row[0]) if row else 0


def _prepare(database: PostgresDatabase) -> None:
    encoding = database.row("select current_setting('server_encoding')")
    if encoding is None or encoding[0] != "UTF8":
        raise StoreError(
            f"the database at `{database.place}` has the encoding {encoding and encoding[0]}",
            hint="create one with `createdb --encoding UTF8 --template template0 NAME`",
        )
    if database.row(_HAS_SCHEMA, {"schema": database.schema}) is None:
        database.script(f"create schema {quoted_name(database.schema)}")
    database.script("create table schema_version (version bigint not null)")
    database.write("insert into schema_version (version) values (0)", {})


_NAME = re.compile(r"(?P<version>\d{4})_\w+\.sql")

_HAS_SCHEMA = "select 1 from pg_namespace where nspname = :schema"

_HAS_VERSION = """
select exists (select 1
                 from pg_catalog.pg_class
                 join pg_catalog.pg_namespace
                   on pg_namespace.oid = pg_class.relnamespace
                where nspname = :schema
                  and relname = 'schema_version')
"""
