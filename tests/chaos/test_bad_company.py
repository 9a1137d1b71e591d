"""What else a home must live through: a store that someone else holds, transcripts that do not stay put."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from holdfast.daemon.local import client
from tests.chaos.conftest import assert_kept, assert_nobody_is_left, settle
from tests.chaos.crowd import Crowd
from tests.daemon.conftest import LIMIT_S, wait_until

pytestmark = pytest.mark.slow

STEPS = 40


def up(crowd: Crowd) -> None:
    crowd.start()
    wait_until(lambda: client.is_up(crowd.home))


def test_while_another_program_holds_the_store_hook_events_wait(crowd: Crowd) -> None:
    up(crowd)
    for number in range(STEPS):
        crowd.speak(number)
    other = apsw.Connection(str(crowd.home / "store.db"))
    other.set_busy_timeout(int(LIMIT_S * 1000))  # the daemon may be writing just now
    try:
        other.execute("begin immediate")
        # Each waits as long as a hook waits, and is then in the spool.
        for number in range(STEPS, STEPS + 4):
            crowd.speak(number)
        other.execute("rollback")
    finally:
        other.close()
    for number in range(STEPS + 4, 2 * STEPS):
        crowd.speak(number)
    settle(crowd)
    assert_kept(crowd)
    assert_nobody_is_left(crowd)


def shrinks(path: Path) -> None:
    """Its last lines are gone, and half of one more."""
    os.truncate(path, path.stat().st_size * 2 // 3)


def is_replaced(path: Path) -> None:
    """Another file with the same beginning is put in its place."""
    beside = path.with_suffix(".new")
    shutil.copy(path, beside)
    beside.replace(path)


def vanishes(path: Path) -> None:
    path.unlink()


def is_emptied(path: Path) -> None:
    path.write_bytes(b"")


def turns_into_noise(path: Path) -> None:
    with path.open("ab") as file:
        file.write(b"\x00\xff{]\n" * 50)


def becomes_a_directory(path: Path) -> None:
    path.rename(path.with_suffix(".away"))
    path.mkdir()


@pytest.mark.parametrize(
    "change", [shrinks, is_replaced, vanishes, is_emptied, turns_into_noise, becomes_a_directory]
)
def test_what_was_read_of_a_transcript_stays_whatever_becomes_of_it(
    crowd: Crowd, change: Callable[[Path], None]
) -> None:
    crowd.sessions = 4
    up(crowd)
    for number in range(STEPS):
        crowd.speak(number)
    client.ask(crowd.home, "flush", timeout=60.0)
    read = {key: [*words] for key, words in crowd.written.items()}
    for key in crowd.written:
        change(crowd.transcript(key))
    for number in range(STEPS, STEPS + 8):
        if not crowd.transcript(f"s-{number % 4}").is_dir():
            crowd.speak(number)
    settle(crowd)
    # What was cut off before it was read nobody can have; what was read is there, and what came later too.
    later = {key: words[len(read[key]) :] for key, words in crowd.written.items()}
    if change in (shrinks, turns_into_noise):
        # The first line after a cut is one with what the cut left of a line.
        later = {key: words[1:] for key, words in later.items()}
    crowd.doubtful |= {words for each in crowd.written.values() for words in each}
    crowd.written = {key: read[key] + later[key] for key in read}
    assert_kept(crowd)
    assert_nobody_is_left(crowd)
