"""A damaged store: `restart` sets it aside, `recover-store` brings back what can be read."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.stores.sqlite import open_store, set_aside
from tests.cli.conftest import TIME_LIMIT, Person
from tests.stores.contract import NOON, SESSION, memory, prompt

PAGE = 4096


@pytest.fixture
def kept(person: Person) -> Person:
    """Someone with a store of some hundred pages, which was closed."""
    with closing(open_store(person.home / "store.db", person.home / "backups", NOON)) as store:
        for first in range(0, 2000, 500):
            with store.writing():
                store.put_session(SESSION)
                for number in range(first, first + 500):
                    store.add_event(prompt(f"r{number}", text=f"word{number} " * 50))
                    store.put_memory(memory(f"m{number}", text=f"The port of {number} is {number}"))
    return person


def spoil(path: Path) -> None:
    """Random bytes in every third page."""
    content, chance = bytearray(path.read_bytes()), random.Random(5)
    for at in range(2 * PAGE, len(content), 3 * PAGE):
        content[at : at + PAGE] = chance.randbytes(PAGE)
    path.write_bytes(content)


def test_restart_sets_a_damaged_store_aside_and_what_can_be_read_comes_back(kept: Person) -> None:
    spoil(kept.home / "store.db")
    before = (kept.home / "store.db").read_bytes()
    done = kept.types("restart")
    assert done.status == 0, done.err
    (aside,) = kept.home.glob("store.corrupt-*.db")
    assert aside.read_bytes() == before
    assert f"set aside on {time.strftime('%Y-%m-%d', time.gmtime())} as `{aside}`" in done.err
    assert "`holdfast recover-store`" in done.err
    listed = kept.types("sessions", "--json")
    assert (listed.status, listed.json) == (0, []), "the new store can be used"
    assert str(aside) in listed.err
    told = kept.types("recover-store", "--json").json
    (recovered,) = told["recovered"]
    assert 500 < recovered["tables"]["memories"]["added"] < 2000
    assert 500 < recovered["tables"]["messages"]["added"] < 2000
    assert aside.exists()
    assert "was brought back, and `holdfast recover-store --remove` removes it" in kept.types("sessions").err
    again = kept.types("recover-store", "--remove")
    assert "removed" in again.err
    assert "memories" in again.out
    assert not aside.exists()
    assert "set aside" not in kept.types("sessions").err


def test_there_may_be_nothing_to_recover(person: Person) -> None:
    assert "no damaged store" in person.types("recover-store").err
    assert person.types("recover-store", "--json").json == {"recovered": [], "removed": []}


def test_killed_half_way_it_can_be_run_again(kept: Person) -> None:
    aside = set_aside(kept.home / "store.db", NOON)
    # The new store is there before the rows are.
    running = subprocess.Popen(
        kept.command("recover-store"), env=kept.environment, cwd=kept.project, stdin=subprocess.DEVNULL
    )
    until = time.monotonic() + TIME_LIMIT
    while not list(kept.home.glob(f"{aside.name}.salvage-*")) and running.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.005)
    os.kill(running.pid, signal.SIGKILL)
    running.wait(TIME_LIMIT)
    done = kept.types("recover-store", "--json")
    assert done.status == 0, done.err
    assert not list(kept.home.glob("*.salvage-*"))
    with closing(open_store(kept.home / "store.db", kept.home / "backups", NOON)) as store:
        assert len(store.events("s1", 10_000)) == 2000
        assert store.check() == ""
