"""A real daemon backs the store up each day, and `forget` reaches what is in the backup."""

from __future__ import annotations

import time
from contextlib import closing
from pathlib import Path

from holdfast.engine.privacy.forget import OWED
from holdfast.engine.privacy.rewrite import FILES
from holdfast.stores.sqlite import back_up_daily, open_store
from tests.cli.conftest import Person
from tests.daemon.conftest import wait_until

DAY_MS = 86_400_000
TEXT = "The cinnamon gateway listens on port 47110 behind the orchard proxy"


def test_the_daemon_backs_up_each_day_and_forgetting_reaches_the_backup(person: Person) -> None:
    id = person.types("remember", TEXT, "--json").json["id"]
    assert person.types("up").status == 0
    # The first daemon of a home redacts its files once, and removes the copies from before.
    wait_until(lambda: is_redacted(person.home))
    assert person.types("down").status == 0
    path, backups, now = person.home / "store.db", person.home / "backups", time.time_ns() // 1_000_000
    earlier = [back_up_daily(path, backups, now - days * DAY_MS) for days in range(8, 0, -1)]
    person.variables["HOLDFAST_DAEMON_BACKUP_QUIET_SECONDS"] = "0"
    assert person.types("up").status == 0
    wait_until(lambda: len(kept := sorted(backups.glob("*.db"))) == 7 and kept[:6] == earlier[2:])
    kept = sorted(backups.iterdir())
    assert kept[:6] == earlier[2:], "with that of today they are seven"
    assert all(TEXT.encode() in backup.read_bytes() for backup in kept)
    assert person.types("forget", "--memory", id, "--yes").status == 0
    assert sorted(backups.iterdir()) == kept, "they are rewritten, not removed"
    assert mentioning("cinnamon", person.home) == []


def is_redacted(home: Path) -> bool:
    with closing(open_store(home / "store.db", home / "backups", 0)) as store:
        return bool(store.fact(FILES)) and not store.fact(OWED)


def mentioning(word: str, home: Path) -> list[Path]:
    files = [file for file in home.rglob("*") if file.is_file()]
    return [file for file in files if word.encode() in file.read_bytes().lower()]
