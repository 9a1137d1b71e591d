"""Translation: SQLite's errors as StoreErrors that name the file and what the user can do."""

from __future__ import annotations

import errno
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import apsw

from holdfast.errors import StoreCorrupt, StoreError, StoreLocked


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
