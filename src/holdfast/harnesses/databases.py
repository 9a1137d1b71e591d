"""Databases: how a harness's own SQLite file is looked into, which never changes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

_WAIT_S: Final = 0.2
"""How long a reader waits where the writer holds the whole database, which it hardly ever does."""


@contextmanager
def looking_into(path: Path) -> Generator[sqlite3.Connection]:
    """A connection that changes nothing; where nobody has the database open, it makes no file beside it."""
    alone = "" if Path(f"{path}-wal").exists() else "&immutable=1"
    uri = f"file:{quote(str(path))}?mode=ro{alone}"
    database = sqlite3.connect(uri, uri=True, timeout=_WAIT_S, isolation_level=None)
    try:
        yield database
    except UnicodeDecodeError as error:
        # SQLite says what is wrong in the words of the damaged file, and Python cannot read them.
        raise sqlite3.DatabaseError("it is damaged") from error
    finally:
        database.close()
