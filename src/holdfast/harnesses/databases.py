"""Databases: read-only access to a harness's own SQLite file."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

_WAIT_S: Final = 0.2
"""How long a reader waits if the writer locks the whole database, which is rare."""


@contextmanager
def read_only_database(path: Path) -> Generator[sqlite3.Connection]:
    """A read-only connection; if no process has the database open, it creates no file beside it."""
    alone = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    uri = f"file:{quote(str(path))}?mode=ro{alone}"
    database = sqlite3.connect(uri, uri=True, timeout=_WAIT_S, isolation_level=None)
    try:
        yield database
    except UnicodeDecodeError as error:
        # SQLite's message quotes the damaged file, and Python cannot decode it.
        raise sqlite3.DatabaseError("it is damaged") from error
    finally:
        database.close()
