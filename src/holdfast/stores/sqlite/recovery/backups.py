"""Backups of the database that the user can go back to, and moving a damaged database out of the way.

Nothing here overwrites or repairs; copies older than the last few are deleted. A file's name says how old it
is.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import apsw

from holdfast.core.events.durations import DAY_MS
from holdfast.stores.sqlite.database import corrupt, run, translated
from holdfast.stores.store_files import SUFFIX, files_of, files_set_aside, set_aside_stores, stamp, time_of
from holdfast.system import process_exists

BACKUPS_KEPT = 3
DAILY_KEPT = 7
ROOM_FACTOR = 3
"""No backup is made if the free disk space is less than this many times the store."""
_DAILY = "-daily"
_PART = ".part"
_SNAPSHOT = "-snapshot-"
COMPANIONS = ("-wal", "-shm", SUFFIX)
"""Files beside a database that are named after it: SQLite's own files, and the note of its row counts."""


def back_up(path: Path, backups: Path, schema: int, at: int) -> Path:
    """Make a whole copy of the committed database, and delete all but the last few older copies."""
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy = _reserved(backups, f"{path.stem}-{stamp(at)}-schema-{schema:04}", ".db")
    with ExitStack() as undo:
        undo.callback(copy.unlink, missing_ok=True)
        _copy(path, copy)
        undo.pop_all()
    earlier = [file for file in copies(path, backups) if file.suffix == ".db" and _DAILY not in file.name]
    for old in earlier[:-BACKUPS_KEPT]:
        old.unlink()
    return copy


def is_daily_backup_due(path: Path, backups: Path, at: int) -> bool:
    """Whether the last daily backup is a day old, something was written since, and there is room."""
    times = [time_of(file.name) for file in _daily_backups(path, backups)]
    last = max((time.timestamp() * 1000 for time in times if time), default=0.0)
    if at - last < DAY_MS or not path.exists():
        return False
    files = [file for file in (path, Path(f"{path}-wal")) if file.exists() and file.stat().st_size]
    size = sum(file.stat().st_size for file in files)
    is_changed = any(file.stat().st_mtime * 1000 > last for file in files)
    return is_changed and shutil.disk_usage(path.parent).free > ROOM_FACTOR * size


def back_up_daily(path: Path, backups: Path, at: int) -> Path:
    """Make a copy of the committed database while others write; those of the last days stay.

    Every row is read for it, so a damaged database gives an error and no copy. It gets its final name only
    once it is complete.
    """
    with translated(path):
        backups.mkdir(mode=0o700, parents=True, exist_ok=True)
        for partial in backups.glob(f"{path.stem}-*{_DAILY}*{_PART}*"):
            partial.unlink(missing_ok=True)
        source = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            schema = int(run(source, "pragma user_version")[0][0])
            copy = backups / f"{path.stem}-{stamp(at)}{_DAILY}-schema-{schema:04}.db"
            part = _reserved(backups, copy.name, _PART)
            run(source, "vacuum into :part", {"part": str(part)})
        finally:
            source.close()
        with part.open("rb+") as file:
            os.fsync(file.fileno())
        part.replace(copy)
        for old in _daily_backups(path, backups)[:-DAILY_KEPT]:
            old.unlink(missing_ok=True)
        return copy


@contextmanager
def snapshot(path: Path, backups: Path, at: int) -> Generator[tuple[Path, int]]:
    """A whole copy of the committed database while others write, and its schema; it goes at the end.

    Every page of it is checked, so a damaged database gives an error and no copy.
    """
    with translated(path):
        backups.mkdir(mode=0o700, parents=True, exist_ok=True)
        for leftover in backups.glob(f"{path.stem}-*{_SNAPSHOT}*"):
            if not is_being_made(leftover):
                leftover.unlink(missing_ok=True)
        copy = _reserved(backups, f"{path.stem}-{stamp(at)}{_SNAPSHOT}{os.getpid()}-schema-0000", _PART)
    try:
        with translated(path):
            _copy(path, copy)
            database = apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)
            try:
                schema = int(run(database, "pragma user_version")[0][0])
                problem = str(run(database, "pragma quick_check(1)")[0][0])
            finally:
                database.close()
        if problem != "ok":
            raise corrupt(path, problem)
        yield copy, schema
    finally:
        copy.unlink(missing_ok=True)


def is_being_made(copy: Path) -> bool:
    """Whether it is a snapshot of a process that still runs, which removes it by itself."""
    pid = copy.name.partition(_SNAPSHOT)[2].partition("-")[0]
    return pid.isdigit() and process_exists(int(pid))


def newest_backup(path: Path, backups: Path, before: int) -> Path | None:
    """The newest complete copy from before that time."""
    candidates = [
        file for file in copies(path, backups) if file.suffix == ".db" and _is_from_before(file, before)
    ]
    return max(candidates, key=lambda file: (time_of(file.name), file.name), default=None)


def set_aside(path: Path, at: int) -> Path:
    """Move a damaged database out of the way, untouched; returns its new path.

    Only for the process that holds the daemon's lock: any other could move the new store instead.
    """
    aside = _reserved(path.parent, f"{path.stem}.corrupt-{stamp(at)}", path.suffix)
    # The log first: left behind, it would be played into the new database.
    for companion in COMPANIONS:
        beside = Path(f"{path}{companion}")
        if beside.exists():
            beside.rename(f"{aside}{companion}")
    # Of a missing database only the name stays, so that the user is told about it.
    return path.rename(aside) if path.exists() else aside


def drop_copies(path: Path, backups: Path, before: int) -> int:
    """Remove copies from before that time, which still hold what retention removed; returns how many."""
    every = copies(path, backups)
    old = [copy for copy in every if _is_from_before(copy, before) and not is_being_made(copy)]
    for copy in old:
        copy.unlink(missing_ok=True)
    return len(old)


def drop_set_aside(path: Path, now: int) -> int:
    """Remove the damaged databases whose retention period is over; returns how many."""
    past = [
        store for store in set_aside_stores(path) if store.until and store.until.timestamp() * 1000 <= now
    ]
    for file in [file for store in past for file in files_of(store)]:
        file.unlink(missing_ok=True)
    return len(past)


def copies(path: Path, backups: Path) -> list[Path]:
    """The copies of the database, the oldest first, including partial ones that a killed process left."""
    return sorted(file for file in backups.glob(f"{path.stem}-*-schema-*") if file.is_file())


def damaged(path: Path) -> list[Path]:
    """The damaged databases that were set aside, and what SQLite kept beside them."""
    return files_set_aside(path)


def _daily_backups(path: Path, backups: Path) -> list[Path]:
    return [file for file in copies(path, backups) if _DAILY in file.name and file.suffix == ".db"]


def _is_from_before(copy: Path, before: int) -> bool:
    time = time_of(copy.name)
    return time is not None and time.timestamp() * 1000 < before


def _copy(path: Path, copy: Path) -> None:
    source, target = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY), apsw.Connection(str(copy))
    try:
        with target.backup("main", source, "main") as backup:
            backup.step()
        # A copy is one file that can be taken elsewhere.
        run(target, "pragma journal_mode = delete")
    finally:
        target.close()
        source.close()


def _reserved(directory: Path, name: str, suffix: str) -> Path:
    """Create an empty file with that name, numbered if taken, readable by its owner only."""
    path, number = directory / f"{name}{suffix}", 1
    while True:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return path
        except FileExistsError:
            number += 1
            path = directory / f"{name}-{number}{suffix}"
