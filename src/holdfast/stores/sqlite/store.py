"""The SQLite store: opening, health check and closing; `stores/sql/` handles its tables.

One connection, for one thread at a time: open it in the thread that uses it. Any number of processes may have
the same file open.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from holdfast import system
from holdfast.errors import StoreError, StoreLocked
from holdfast.stores.base import StoredText
from holdfast.stores.sql.tables import Tables
from holdfast.stores.sqlite.database import Database, corrupt, translated
from holdfast.stores.sqlite.full_text import Fts5
from holdfast.stores.sqlite.schema import Migration, migrate, migrate_unsaved, refuse_later, shipped
from holdfast.stores.sqlite.texts import texts_in
from holdfast.stores.store_files import emptied, held, note_held


class SqliteStore(Tables):
    """Everything that Holdfast stores, in one file."""

    _database: Database

    def __init__(self, database: Database) -> None:
        super().__init__(database, Fts5(database))

    def check(self) -> str:
        try:
            damage = self._database.rows("pragma integrity_check(5)")
            strays = self._database.rows("pragma foreign_key_check")
        except StoreError as error:
            return error.message
        problems = [str(text) for (text,) in damage if text != "ok"]
        return "; ".join([*problems, *(f"a row of `{table}` belongs to no session" for table, *_ in strays)])

    @property
    def place(self) -> str:
        return str(self._database.path)

    @property
    def size(self) -> int:
        path = self._database.path
        return sum(file.stat().st_size for file in path.parent.glob(f"{path.name}*") if file.is_file())

    def note_held(self, at: int) -> None:
        """Note beside the file how much is in it."""
        with translated(self._database.path):
            counts = zip(("sessions", "checkpoints", "memories"), self._database.rows(_HELD)[0], strict=True)
            note_held(self._database.path, dict(counts), at)

    def texts(self) -> Iterator[StoredText]:
        return texts_in(self._database)

    def scrub(self) -> None:
        self.forget_what_is_cached()
        path = self._database.path
        large = self._database.size > _SCRUBBED_IN_MEMORY
        # What SQLite needs for a moment goes into memory; for a large store, into a file without a name.
        self._database.rows(f"pragma temp_store = {'default' if large else 'memory'}")
        self._database.rows("insert into documents_text(documents_text) values ('rebuild')")
        self._database.rows("vacuum")
        row = self._database.row("pragma wal_checkpoint(truncate)")
        if row is not None and row[0]:
            raise StoreLocked(
                f"the store at `{path}` is being read by another process, so its log cannot be emptied",
                hint="try again in a moment",
            )

    def leave_log(self) -> None:
        """Leave it to `move_log` to move what was committed into the database's own file."""
        self._database.leave_log()

    def move_log(self) -> None:
        """Move what was committed into the database's own file, if that is much."""
        self._database.move_log()

    def leave_wal(self) -> None:
        """Move all of the store into one file."""
        self._database.rows("pragma journal_mode = delete")

    def close(self) -> None:
        self._database.close()


def open_store(path: Path, backups: Path, at: int) -> SqliteStore:
    """The store at that path, made if there is none, brought to the latest schema if it is older.

    Before an older one is changed it is copied into `backups`. Close what you opened.
    """
    return open_with(path, backups, at, shipped())


def open_in_memory() -> SqliteStore:
    """An empty store that is gone when it is closed."""
    database = Database(Path(":memory:"))
    database.configure()
    migrate_unsaved(database, shipped())
    return SqliteStore(database)


def open_with(path: Path, backups: Path, at: int, migrations: tuple[Migration, ...]) -> SqliteStore:
    """The same, with these steps to the latest schema."""
    if reason := emptied(path):
        raise corrupt(path, reason)
    was_left_open = _prepare(path)
    database = Database(path)
    with ExitStack() as undo:
        undo.callback(database.close)
        refuse_later(database, migrations)
        database.configure()
        if was_left_open:
            _refuse_damaged(database)
        migrate(database, migrations, backups, at)
        _refuse_emptied(database)
        undo.pop_all()
    return SqliteStore(database)


def _prepare(path: Path) -> bool:
    """Make sure there is a file that only its owner can read; returns whether it is open or was not closed.

    SQLite gives the files that it makes beside the database the same mode. A database that is there is not
    opened here: closing it again would end the locks that this process may hold on it.
    """
    with translated(path):
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        except FileExistsError:
            if system.is_exposed(path.stat()):
                path.chmod(0o600)
        return Path(f"{path}-wal").exists()


def _refuse_damaged(database: Database) -> None:
    """Raise if the file is damaged. It takes 2 ms per megabyte, so a large file is checked only when read."""
    if database.path.stat().st_size > _LARGE:
        return
    row = database.row("pragma quick_check(1)")
    if row is None or row[0] != "ok":
        raise corrupt(database.path, str(row[0]) if row else "no answer")


def _refuse_emptied(database: Database) -> None:
    """Raise if the store has no row although its note says that it held some."""
    last_counts = held(database.path)
    if last_counts is not None and database.row(_HAS_ROWS) is None:
        raise corrupt(database.path, f"it is empty; it held {last_counts}")


_LARGE = 16 * 1024 * 1024
_SCRUBBED_IN_MEMORY = 256 * 1024 * 1024

_HAS_ROWS = """
select true from sessions
 union all
select true from session_checkpoints
 union all
select true from memories
 union all
select true from documents
 union all
select true from forgotten
 limit 1
"""

_HELD = """
select (select count(*) from sessions),
       (select count(*) from session_checkpoints),
       (select count(*) from memories)
"""
