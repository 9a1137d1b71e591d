"""What the SQLite store says when its file is damaged or in the way, and how a damaged one is set aside."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from holdfast.errors import StoreCorrupt, StoreError
from holdfast.stores.sqlite import (
    back_up_daily,
    drop_copies,
    drop_set_aside,
    is_being_made,
    is_daily_backup_due,
    newest_backup,
    set_aside,
    snapshot,
)
from holdfast.stores.sqlite.database import run
from holdfast.stores.sqlite.recovery.backups import back_up
from holdfast.stores.store_files import held, note_of, set_aside_stores
from tests.stores.contract import (
    ALL,
    NOON,
    SESSION,
)
from tests.stores.sqlite_files import columns, filled, opened

DAY_MS = 86_400_000


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
    _flip(path, path.stat().st_size * 7 // 8, path.stat().st_size)
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
    old = backups / "store-20200101T000000Z-schema-0001.db"
    others = [path, backups / "17000-settings.json", tmp_path / "store.corrupt-20200101T000000Z.db"]
    new = backups / "store-20260101T000000Z-schema-0002.db"
    for file in (old, new, *others):
        file.touch()
        os.utime(file, (1_000, 1_000))
    assert drop_copies(path, backups, before=NOON - 30 * DAY_MS) == 1
    assert sorted(file for file in tmp_path.rglob("*") if file.is_file()) == sorted([new, *others])


def test_a_snapshot_stays_while_its_process_needs_it(path: Path) -> None:
    opened(path).close()
    with snapshot(path, path.parent / "backups", NOON) as (copy, _):
        assert drop_copies(path, copy.parent, before=NOON + DAY_MS) == 0
        assert is_being_made(copy)
        left_behind = copy.with_name(copy.name.replace(f"-{os.getpid()}-", f"-{2**22 - 1}-"))
        copy.rename(left_behind)
        assert drop_copies(path, copy.parent, before=NOON + DAY_MS) == 1


def test_a_damaged_store_is_kept_for_90_days_however_old_its_file_is(path: Path) -> None:
    path.parent.mkdir()
    for name in ("", "-wal"):
        file = Path(f"{path}{name}")
        file.touch()
        os.utime(file, (1_000, 1_000))
    aside = set_aside(path, NOON)
    renamed = path.with_name("store.corrupt-mine.db")
    renamed.touch()
    (one, other) = set_aside_stores(path)
    assert (one.path, other.path) == (aside, renamed)
    assert str(one).endswith(f"set aside on 2026-01-01 as `{aside}`, kept until 2026-04-01")
    assert str(other).endswith("kept until you remove it")
    assert drop_set_aside(path, NOON + 90 * DAY_MS - 1) == 0
    assert aside.exists()
    assert drop_set_aside(path, NOON + 90 * DAY_MS) == 1
    assert list(path.parent.iterdir()) == [renamed], "what its owner named is its owner's to remove"


def _nothing_in_it(path: Path) -> None:
    path.write_bytes(b"")


def _without_a_row(path: Path) -> None:
    path.unlink()
    note = note_of(path).rename(path.with_name("note"))
    opened(path).close()
    note.rename(note_of(path))


@pytest.mark.parametrize(
    ("damage", "says"),
    [(_nothing_in_it, "is empty"), (Path.unlink, "is gone"), (_without_a_row, "is empty")],
)
def test_a_store_that_lost_everything_is_not_called_sound(
    path: Path, damage: Callable[[Path], None], says: str
) -> None:
    filled(path)
    store = opened(path)
    store.note_held(NOON)
    store.close()
    damage(path)
    for _ in range(2):
        with pytest.raises(StoreCorrupt, match=f"{says}; it held 1 session on 2026-01-01"):
            opened(path)
    set_aside(path, NOON)
    (aside,) = set_aside_stores(path)
    assert held(aside.path) is not None, "the note goes with it"
    opened(path).close()


def test_a_log_beside_an_empty_file_is_not_thrown_away(path: Path) -> None:
    filled(path)
    path.write_bytes(b"")
    log = Path(f"{path}-wal")
    log.write_bytes(b"frames")
    with pytest.raises(StoreCorrupt, match="its log is not"):
        opened(path)
    assert log.read_bytes() == b"frames"


def test_a_store_whose_rows_were_forgotten_is_sound(path: Path) -> None:
    filled(path)
    store = opened(path)
    store.note_held(NOON)
    with store.writing():
        store.forget_all(NOON)
    store.close()
    opened(path).close()


@pytest.mark.parametrize(
    "note", [b"", b"{", b"[]", b'{"rows": 3, "at": 1}', b'{"rows": {"a": "x"}, "at": 1}']
)
def test_a_note_that_cannot_be_read_says_nothing(path: Path, note: bytes) -> None:
    path.parent.mkdir()
    note_of(path).write_bytes(note)
    opened(path).close()


class TestDailyBackups:
    def test_one_a_day_and_seven_stay(self, path: Path) -> None:
        filled(path)
        backups = path.parent / "backups"
        before = back_up(path, backups, 1, NOON)
        start = int(time.time() * 1000)
        assert is_daily_backup_due(path, backups, start)
        made = [back_up_daily(path, backups, start + day * DAY_MS) for day in range(9)]
        assert [file.exists() for file in made] == [False] * 2 + [True] * 7
        assert before.exists(), "those from before a migration are counted by themselves"
        assert all(stat.S_IMODE(file.stat().st_mode) == 0o600 for file in made[2:])
        assert not is_daily_backup_due(path, backups, start + 8 * DAY_MS + DAY_MS - 1001)
        assert newest_backup(path, backups, start + 5 * DAY_MS + 1000) == made[5]
        store = opened(made[8])
        assert len(store.events("s1", ALL)) == 200
        store.close()

    def test_none_where_nothing_was_written_since(self, path: Path) -> None:
        filled(path)
        backups, now = path.parent / "backups", int(time.time() * 1000) + 5000
        back_up_daily(path, backups, now)
        assert not is_daily_backup_due(path, backups, now + 2 * DAY_MS)
        os.utime(path, (now / 1000 + 60, now / 1000 + 60))
        assert is_daily_backup_due(path, backups, now + 2 * DAY_MS)

    def test_none_is_made_of_a_damaged_store(self, path: Path) -> None:
        filled(path)
        _flip(path, path.stat().st_size // 2, path.stat().st_size)
        with pytest.raises(StoreCorrupt):
            back_up_daily(path, path.parent / "backups", NOON)
        left = list((path.parent / "backups").glob("*.db"))
        assert left == []

    def test_while_others_write(self, path: Path) -> None:
        filled(path)
        store = opened(path)
        with store.writing():
            store.put_session(SESSION)
            made = back_up_daily(path, path.parent / "backups", NOON)
        store.close()
        assert made.exists()
