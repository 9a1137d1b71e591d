"""Schema: the numbered steps from an empty file to the tables of today.

A step is a file in `migrations/`, applied once and whole. Before the first one a copy of the database is
made: there is no other way back.
"""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.errors import StoreTooNew
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.sqlite.database import Database, run, translated
from holdfast.stores.sqlite.recovery.backups import back_up


@dataclass(frozen=True, slots=True)
class Migration:
    """One step: the version it leads to, and how."""

    version: int
    sql: str


def shipped() -> tuple[Migration, ...]:
    """The steps that come with this version, in order."""
    migrations = [
        Migration(int(name["version"]), file.read_text(encoding="utf-8"))
        for file in Path(__file__).with_name("migrations").iterdir()
        if (name := _NAME.fullmatch(file.name))
    ]
    return tuple(sorted(migrations, key=lambda migration: migration.version))


def latest() -> int:
    """The schema version of this program's stores."""
    return shipped()[-1].version


def refuse_later(database: Database, migrations: tuple[Migration, ...]) -> None:
    """Raise StoreTooNew if a later version wrote the database."""
    stored_version, own_version = _version(database), migrations[-1].version
    if stored_version > own_version:
        raise StoreTooNew(
            f"the store at `{database.path}` was written by a later version "
            f"(schema {stored_version}, this is {own_version})",
            hint="upgrade with `uv tool upgrade holdfast`",
        )


def migrate(database: Database, migrations: tuple[Migration, ...], backups: Path, at: int) -> None:
    """Bring the database to the latest version; another process may be doing the same.

    One copy is made, before the first step: only an earlier program can use it, and more copies would push
    older ones out.
    """
    if _version(database) == 0:
        with database.writing():
            _make(database, migrations)
    is_saved = False
    for migration in migrations:
        if _version(database) >= migration.version:
            continue
        with database.writing():
            version = _version(database)
            if version >= migration.version:
                continue
            if not is_saved:
                with translated(database.path):
                    back_up(database.path, backups, version, at)
                is_saved = True
            step(database, migration)


def migrate_unsaved(database: Database, migrations: tuple[Migration, ...]) -> None:
    """The same for a database that is itself a copy: no other copy is made of it."""
    with database.writing():
        for migration in migrations:
            if _version(database) < migration.version:
                step(database, migration)


def _make(database: Database, migrations: tuple[Migration, ...]) -> None:
    """A new database takes all steps at once, and there is nothing to copy."""
    if _version(database) == 0:
        for migration in migrations:
            step(database, migration)


def step(database: Database, migration: Migration) -> None:
    """Take one step, in a transaction or not."""
    with translated(database.path):
        run(database.connection, migration.sql)
        run(database.connection, f"pragma user_version = {migration.version}")


def _version(database: Database) -> int:
    row = database.row("pragma user_version")
    return int(row[0]) if row else 0


_NAME = re.compile(r"(?P<version>\d{4})_\w+\.sql")
