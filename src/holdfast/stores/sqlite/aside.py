"""Aside: copies of the database that a person can go back to, and a damaged one moved out of the way.

Nothing here overwrites or repairs; what is older than the last few copies goes.
"""

from __future__ import annotations

import os
from contextlib import ExitStack
from pathlib import Path

import apsw

from holdfast.stores.codec import to_iso
from holdfast.stores.sqlite.database import run

BACKUPS_KEPT = 3
COMPANIONS = ("-wal", "-shm")
"""What SQLite keeps beside a database, named after it."""


def back_up(path: Path, backups: Path, schema: int, at: int) -> Path:
    """A whole copy of the database as it is committed; the older copies beyond the last few go."""
    backups.mkdir(mode=0o700, parents=True, exist_ok=True)
    copy = _reserved(backups, f"{path.stem}-{_stamp(at)}-schema-{schema:04}", ".db")
    with ExitStack() as undo:
        undo.callback(copy.unlink)
        _copy(path, copy)
        undo.pop_all()
    for old in sorted(backups.glob(f"{path.stem}-*-schema-*.db"))[:-BACKUPS_KEPT]:
        old.unlink()
    return copy


def set_aside(path: Path, at: int) -> Path:
    """Move a damaged database out of the way, untouched; where it is now.

    For the one process that holds the daemon's lock: whoever else does this may catch the new store instead.
    """
    aside = _reserved(path.parent, f"{path.stem}.corrupt-{_stamp(at)}", path.suffix)
    # The log first: left behind, it would be played into the new database.
    for companion in COMPANIONS:
        beside = Path(f"{path}{companion}")
        if beside.exists():
            beside.rename(f"{aside}{companion}")
    return path.rename(aside)


def drop_copies(path: Path, backups: Path, before: int) -> int:
    """Remove copies and set-aside databases from before then: what retention removed lives on in them."""
    every = [*copies(path, backups), *damaged(path)]
    old = [copy for copy in every if copy.stat().st_mtime * 1000 < before]
    for copy in old:
        copy.unlink()
    return len(old)


def copies(path: Path, backups: Path) -> list[Path]:
    """The copies that were made of the database, the oldest first, with what a killed one left of another."""
    return sorted(file for file in backups.glob(f"{path.stem}-*-schema-*") if file.is_file())


def damaged(path: Path) -> list[Path]:
    """The damaged databases that were set aside, and what SQLite kept beside them."""
    return sorted(file for file in path.parent.glob(f"{path.stem}.corrupt-*") if file.is_file())


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
    """A file of that name that nobody else has, empty and for us alone."""
    path, number = directory / f"{name}{suffix}", 1
    while True:
        try:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
            return path
        except FileExistsError:
            number += 1
            path = directory / f"{name}-{number}{suffix}"


def _stamp(at: int) -> str:
    """`20260102T030405Z`: a time that may stand in a file's name and sorts."""
    return to_iso(at)[:19].replace("-", "").replace(":", "") + "Z"
