"""Damage that is met while a daemon uses the store: it stops, and the next one sets the store aside."""

from __future__ import annotations

import random
import sqlite3
from contextlib import closing
from pathlib import Path

from holdfast.engine.liveness import lock_holder, spooled_hook_events
from holdfast.stores.sqlite import open_store
from tests.cli.commands.daemon.test_daily_backup import is_redacted
from tests.cli.commands.daemon.test_recover_store import PAGE, kept
from tests.cli.conftest import Person
from tests.daemon.conftest import wait_until

__all__ = ["kept"]


def test_a_daemon_stops_at_damage_and_the_next_one_loses_no_hook_event(kept: Person) -> None:
    assert kept.types("up").status == 0
    # So that nothing but the backup has to read all rows.
    wait_until(lambda: is_redacted(kept.home))
    assert kept.types("down").status == 0
    move_log_into(kept.home / "store.db")
    spoil_page(kept.home / "store.db", b"word1000 word1000")
    kept.variables["HOLDFAST_DAEMON_BACKUP_QUIET_SECONDS"] = "0"
    assert kept.prompts("Go on with the amber lexer", "s9").status == 0
    log = kept.home / "logs" / "daemon.log"
    wait_until(lambda: "the daemon stops: the store is damaged" in log.read_text())
    wait_until(lambda: not lock_holder(kept.home))
    assert "housekeeping failed" in log.read_text()
    assert list(kept.home.glob("store.corrupt-*")) == [], "others may have it open still"
    assert kept.types("up").status == 0
    (aside,) = kept.home.glob("store.corrupt-*.db")
    wait_until(lambda: not spooled_hook_events(kept.home))
    assert str(aside) in kept.types("status").err
    told = kept.types("recover-store", "--json").json
    assert told["recovered"][0]["tables"]["memories"]["added"] == 2000
    with closing(open_store(kept.home / "store.db", kept.home / "backups", 0)) as store:
        (event,) = store.events("s9", 9)
    assert "amber lexer" in str(event)


def move_log_into(store: Path) -> None:
    """Move what a daemon that was stopped in a hurry left in the store's log into the store."""
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def spoil_page(path: Path, text: bytes) -> None:
    """Random bytes in the page with that text: deeper than whoever only opens the store looks."""
    content = path.read_bytes()
    at = content.index(text) // PAGE * PAGE
    path.write_bytes(content[:at] + random.Random(5).randbytes(PAGE) + content[at + PAGE :])
