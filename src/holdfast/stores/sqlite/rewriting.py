"""Rewriting a backup of the database: a changed copy of it replaces it in one step."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Generator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

from holdfast.stores.sqlite.database import Database, translated
from holdfast.stores.sqlite.recovery.backups import COMPANIONS
from holdfast.stores.sqlite.schema import latest, migrate_unsaved, refuse_later, shipped
from holdfast.stores.sqlite.store import SqliteStore

DRAFT = ".rewriting"
"""The ending of an unfinished copy's name. One that a killed process left does not count as a backup."""


@contextmanager
def rewriting(copy: Path) -> Generator[SqliteStore]:
    """A store over a copy, brought to the latest schema; what was changed takes its place, with its times.

    Raises StoreError, and leaves the copy as it was, if it cannot be opened or changed.
    """
    draft = copy.with_name(copy.name + DRAFT)
    _remove(draft)
    try:
        with translated(copy):
            times = copy.stat()
            shutil.copyfile(copy, draft)
            draft.chmod(0o600)
        with closing(_opened(draft)) as store:
            yield store
            store.scrub()
            # A copy is one file that can be taken elsewhere.
            store.leave_wal()
        with translated(copy):
            _synced(draft, times)
            draft.replace(copy)
            renamed = _SCHEMA.sub(rf"\g<1>{latest():04}", copy.name)
            if renamed != copy.name and not copy.with_name(renamed).exists():
                copy.rename(copy.with_name(renamed))
    finally:
        _remove(draft)


def _opened(path: Path) -> SqliteStore:
    database = Database(path)
    with ExitStack() as undo:
        undo.callback(database.close)
        refuse_later(database, shipped())
        database.configure()
        migrate_unsaved(database, shipped())
        undo.pop_all()
    return SqliteStore(database)


def _synced(draft: Path, times: os.stat_result) -> None:
    os.utime(draft, ns=(times.st_atime_ns, times.st_mtime_ns))
    descriptor = os.open(draft, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _remove(draft: Path) -> None:
    for ending in ("", "-journal", *COMPANIONS):
        Path(f"{draft}{ending}").unlink(missing_ok=True)


_SCHEMA = re.compile(r"(-schema-)\d{4}(?=\D|$)")
