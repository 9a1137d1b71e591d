"""What the SQLite store says when its file is damaged or in the way, and how a damaged one is set aside."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from holdfast.errors import StoreCorrupt, StoreError
from holdfast.stores.sqlite import drop_copies, set_aside
from holdfast.stores.sqlite.database import run
from tests.stores.contract import (
    ALL,
    NOON,
)
from tests.stores.sqlite_files import columns, filled, opened


def _random_bytes(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 64)


def _a_text(path: Path) -> None:
    path.write_text("not a database, but a letter to one " * 100)


def _truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def _flipped_header(path: Path) -> None:
    _flip(path, 40, 60)


def _flipped_pages(path: Path) -> None:
    _flip(path, 4096, path.stat().st_size)


def _flip(path: Path, start: int, end: int) -> None:
    content = bytearray(path.read_bytes())
    content[start:end] = bytes(byte ^ 0xFF for byte in content[start:end])
    path.write_bytes(content)


@pytest.mark.parametrize("damage", [_random_bytes, _a_text, _truncated, _flipped_header, _flipped_pages])
def test_a_damaged_store_is_said_to_be_so_and_set_aside(path: Path, damage: Callable[[Path], None]) -> None:
    filled(path)
    damage(path)
    before = path.read_bytes()
    with pytest.raises(StoreCorrupt, match=r"store\.db` cannot be read") as refused:
        opened(path).events("s1", ALL)
    assert "sets it aside" in refused.value.hint
    aside = set_aside(path, NOON)
    assert aside == path.parent / "store.corrupt-20260101T120000Z.db"
    assert aside.read_bytes() == before
    store = opened(path)
    assert store.sessions(ALL) == []
    assert store.check() == ""
    store.close()


def test_damage_that_comes_later_is_found_by_the_check(path: Path) -> None:
    filled(path)
    store = opened(path)
    _flip(path, path.stat().st_size // 2, path.stat().st_size)
    assert store.check() != ""
    store.close()


def test_a_store_that_was_not_closed_is_looked_through_when_it_is_opened(path: Path) -> None:
    filled(path)
    _flip(path, path.stat().st_size // 2, path.stat().st_size)
    opened(path).close()
    Path(f"{path}-wal").touch()
    with pytest.raises(StoreCorrupt):
        opened(path)


def test_setting_aside_takes_the_log_along_and_overwrites_nothing(path: Path) -> None:
    path.parent.mkdir()
    for number in (1, 2):
        path.write_text(f"database {number}")
        Path(f"{path}-wal").write_text(f"log {number}")
        Path(f"{path}-shm").write_text(f"index {number}")
        set_aside(path, NOON)
    assert {file.name: file.read_text() for file in path.parent.iterdir()} == {
        "store.corrupt-20260101T120000Z.db": "database 1",
        "store.corrupt-20260101T120000Z.db-wal": "log 1",
        "store.corrupt-20260101T120000Z.db-shm": "index 1",
        "store.corrupt-20260101T120000Z-2.db": "database 2",
        "store.corrupt-20260101T120000Z-2.db-wal": "log 2",
        "store.corrupt-20260101T120000Z-2.db-shm": "index 2",
    }


def test_a_directory_in_the_way_is_said_to_be_so(path: Path) -> None:
    path.mkdir(parents=True)
    with pytest.raises(StoreError, match=r"store\.db` cannot be opened for writing") as refused:
        opened(path)
    assert "permissions" in refused.value.hint


def test_a_file_where_the_home_should_be_is_said_to_be_so(path: Path) -> None:
    path.parent.write_text("in the way")
    with pytest.raises(StoreError, match="cannot be opened for writing"):
        opened(path)


def test_the_database_of_another_program_is_left_alone(path: Path) -> None:
    path.parent.mkdir()
    connection = apsw.Connection(str(path))
    run(connection, "create table sessions (theirs); insert into sessions values (1)")
    connection.close()
    with pytest.raises(StoreError, match="already exists"):
        opened(path)
    assert columns(path, "sessions") == ["theirs"]


def test_copies_go_when_what_is_in_them_has_served_its_time(tmp_path: Path) -> None:
    path, backups = tmp_path / "store.db", tmp_path / "backups"
    backups.mkdir()
    old = [backups / "store-20200101T000000Z-schema-0001.db", tmp_path / "store.corrupt-20200101T000000Z.db"]
    new = [backups / "store-20260101T000000Z-schema-0002.db", tmp_path / "store.corrupt-20260101T000000Z.db"]
    others = [path, backups / "17000-settings.json"]
    for file in (*old, *new, *others):
        file.touch()
        os.utime(file, (1_000, 1_000) if file in (*old, *others) else (2_000, 2_000))
    assert drop_copies(path, backups, before=1_500_000) == 2
    assert sorted(file for file in tmp_path.rglob("*") if file.is_file()) == sorted([*new, *others])
