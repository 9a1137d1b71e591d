"""Database: one connection, its transactions and the one place where statements run.

SQLite's errors become StoreErrors here, which name the file and what the user can do.

Nothing is cached, so that several processes may write: what a transaction depends on is read inside it.
"""

from __future__ import annotations

import errno
import shutil
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeAlias, cast

import apsw

from holdfast.errors import StoreCorrupt, StoreError, StoreLocked
from holdfast.stores.codec import clean
from holdfast.stores.sql.database import Bindings, Row

BUSY_TIMEOUT_MS = 5_000
LOG_PAGES = 1_000
"""The length from which the log is moved, as in SQLite itself."""
LOG_PAGES_MOST = 4 * LOG_PAGES
"""The length from which nothing else is waited for."""

_TO_WRITE = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE

_Execute: TypeAlias = Callable[[str, Bindings | None], Iterable[Row]]
"""apsw writes its own types for a newer Python than our oldest."""


class Database:
    """A connection to a store's file. Used by one thread at a time; it raises only StoreError."""

    def __init__(self, path: Path, flags: int = _TO_WRITE) -> None:
        self.path = path
        with translated(path):
            self.connection = apsw.Connection(str(path), flags=flags)
            self.connection.set_busy_timeout(BUSY_TIMEOUT_MS)
        self._log_pages = 0
        """The length of the log after the last commit, where `leave_log` was called."""

    @classmethod
    def to_look_at(cls, path: Path) -> Database:
        """A read-only connection that creates no file beside the database."""
        return cls(path, apsw.SQLITE_OPEN_READONLY)

    def configure(self) -> None:
        """Prepare the connection for writing."""
        with translated(self.path):
            enter_wal(self.connection, time.sleep)
            run(self.connection, _SETTINGS)

    def leave_log(self) -> None:
        """Leave it to `move_log` to move the log into the database.

        SQLite does so in a commit once the log has 1,000 pages, which takes up to 30 ms, while somebody may
        be waiting for the commit. From now on a commit does so only if the log is several times as long.
        """
        self.connection.set_wal_hook(self._after_commit)

    def move_log(self) -> None:
        """Move the log into the database if it is worth the time."""
        if self._log_pages >= LOG_PAGES:
            self.rows("pragma wal_checkpoint(passive)")
            self._log_pages = 0

    def _after_commit(self, connection: apsw.Connection, _: str, pages: int) -> int:
        self._log_pages = pages
        if pages >= LOG_PAGES_MOST:
            # As in SQLite itself, a failure is no failure of the commit, and is tried again after the next.
            with suppress(apsw.Error):
                connection.wal_checkpoint()
        return apsw.SQLITE_OK

    @contextmanager
    def writing(self) -> Generator[None]:
        """One transaction; it waits for other writers at its start and nowhere else."""
        self._refuse_nesting()
        self.rows("begin immediate")
        try:
            yield
            self.rows("commit")
        finally:
            self._roll_back()

    @contextmanager
    def writing_durably(self) -> Generator[None]:
        """One transaction that is on the disk when it ends, and with it all that was written before."""
        self._refuse_nesting()
        self.rows("pragma synchronous = full")
        try:
            with self.writing():
                yield
        finally:
            self.rows("pragma synchronous = normal")

    def rows(self, sql: str, bindings: Bindings | None = None) -> list[Row]:
        """Everything a query finds."""
        with translated(self.path):
            try:
                return run(self.connection, sql, bindings)
            except UnicodeEncodeError:
                return run(self.connection, sql, _cleaned(bindings or {}))

    def row(self, sql: str, bindings: Bindings | None = None) -> Row | None:
        """The first row a query finds."""
        rows = self.rows(sql, bindings)
        return rows[0] if rows else None

    def each(self, sql: str) -> Iterator[Row]:
        """Everything a query finds, one row at a time: for more than fits into memory."""
        with translated(self.path):
            yield from cast("_Execute", self.connection.execute)(sql, None)  # pyright: ignore[reportUnknownMemberType]

    def write(self, sql: str, bindings: Bindings) -> int:
        """Change something; how many rows it changed."""
        if not self.is_writing:
            raise RuntimeError("a write stands outside `writing`")
        self.rows(sql, bindings)
        return self.connection.changes()

    @property
    def is_writing(self) -> bool:
        """Whether a transaction is open that may still be rolled back."""
        return self.connection.in_transaction

    @property
    def size(self) -> int:
        """How many bytes the database has."""
        return int(
            self.rows("select page_count * page_size from pragma_page_count(), pragma_page_size()")[0][0]
        )

    def close(self) -> None:
        with translated(self.path):
            self.connection.close()

    def _refuse_nesting(self) -> None:
        if self.is_writing:
            raise RuntimeError("a transaction is open already")

    def _roll_back(self) -> None:
        # After a commit there is nothing to undo; on a full disk SQLite has undone it already.
        if self.is_writing:
            self.rows("rollback")


def run(connection: apsw.Connection, sql: str, bindings: Bindings | None = None) -> list[Row]:
    """Everything that one or more statements give back."""
    execute = cast("_Execute", connection.execute)  # pyright: ignore[reportUnknownMemberType]
    return list(execute(sql, bindings))


def enter_wal(connection: apsw.Connection, pause: Callable[[float], None]) -> None:
    """Processes that make a store at once meet here, and SQLite does not wait for this lock by itself."""
    for _ in range(BUSY_TIMEOUT_MS // _PAUSE_MS):
        try:
            run(connection, "pragma journal_mode = wal")
            return
        except apsw.BusyError:
            pause(_PAUSE_MS / 1_000)
    run(connection, "pragma journal_mode = wal")


def _cleaned(bindings: Bindings) -> Bindings:
    return {name: clean(value) for name, value in bindings.items()}


_PAUSE_MS = 10

# Why NORMAL, and when FULL: docs/decisions/0003-durability.md. On macOS fsync alone does not reach the disk.
# A search looks at thousands of rows, so that up to 16 MB are kept at hand.
_SETTINGS = """
pragma synchronous = normal;
pragma fullfsync = on;
pragma foreign_keys = on;
pragma secure_delete = on;
pragma cell_size_check = on;
pragma journal_size_limit = 4194304;
pragma cache_size = -16384;
"""


@contextmanager
def translated(path: Path) -> Generator[None]:
    """Turn SQLite's errors about the store at that path into StoreErrors."""
    try:
        yield
    except (apsw.Error, OSError, UnicodeDecodeError) as error:
        raise _in_our_words(path, error) from error


def _in_our_words(path: Path, error: Exception) -> StoreError:
    match error:
        case apsw.BusyError() | apsw.LockedError():
            return StoreLocked(
                f"the store at `{path}` is being written by another process", hint="try again in a moment"
            )
        case apsw.CorruptError() | apsw.NotADBError() | UnicodeDecodeError():
            # Holdfast never writes a text that is not UTF-8.
            return corrupt(path, str(error))
        case apsw.SQLError() if "file format" in str(error):
            # A header that no SQLite ever wrote has no error of its own.
            return corrupt(path, str(error))
        case apsw.FullError():
            return _full(path)
        case apsw.IOError() if _has_no_room(path):
            # Where the shared memory file cannot grow, SQLite calls it a failure of the disk.
            return _full(path)
        case OSError() if error.errno == errno.ENOSPC:
            return _full(path)
        case apsw.ReadOnlyError() | apsw.CantOpenError() | apsw.PermissionsError() | OSError():
            return StoreError(
                f"the store at `{path}` cannot be opened for writing: {_reason(error)}",
                hint="look at the permissions of the file and its directory; the disk may be read-only",
            )
        case apsw.IOError():
            return StoreError(
                f"the disk failed under the store at `{path}`: {error}",
                hint="look after the disk; what was acknowledged before is kept",
            )
        case _:
            return StoreError(f"the store at `{path}` refused: {error}")


def corrupt(path: Path, detail: str) -> StoreCorrupt:
    """The store at that path cannot be read; nothing was changed."""
    return StoreCorrupt(
        f"the store at `{path}` cannot be read: {detail}",
        hint="`holdfast restart` sets it aside, as it is, and starts a new one; then `holdfast recover-store`"
        " brings back what can be read",
    )


def _full(path: Path) -> StoreError:
    return StoreError(
        f"the disk that holds the store at `{path}` is full",
        hint="make room on it; what was acknowledged before is kept",
    )


def _has_no_room(path: Path) -> bool:
    try:
        return shutil.disk_usage(path.parent).free < _ROOM_NEEDED
    except OSError:
        return False


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


_ROOM_NEEDED = 64 * 1024
"""The least SQLite asks for at once: two blocks of its shared memory file."""
