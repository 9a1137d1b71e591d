"""Stores in files, for tests that look at the files themselves."""

from __future__ import annotations

from pathlib import Path

import apsw

from holdfast.stores.sqlite import SqliteStore
from holdfast.stores.sqlite.database import run
from holdfast.stores.sqlite.schema import Migration, shipped
from holdfast.stores.sqlite.store import open_with
from tests.stores.contract import NOON, SESSION, prompt

LATER = shipped()[-1].version + 1


def opened(path: Path, *steps: str, at: int = NOON) -> SqliteStore:
    """The store, with further steps after those that are shipped."""
    further = [Migration(LATER + place, sql) for place, sql in enumerate(steps)]
    return open_with(path, path.parent / "backups", at, (*shipped(), *further))


def filled(path: Path) -> None:
    """A store with something on many pages, closed."""
    store = opened(path)
    with store.writing():
        store.put_session(SESSION)
        for number in range(200):
            store.add_event(prompt(f"r{number}", text="word " * 200))
    store.close()


def columns(path: Path, table: str) -> list[str]:
    connection = apsw.Connection(str(path))
    try:
        return [str(row[1]) for row in run(connection, f"pragma table_info({table})")]
    finally:
        connection.close()
