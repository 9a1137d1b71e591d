"""Sharing runs in a thread of its own: by itself, without haste when it fails, and gone with the daemon."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random

import pytest

from holdfast.daemon.work.sharing_thread import HubAccess, Sharing
from holdfast.engine.engine import Engine
from holdfast.engine.sharing.report import notes_of
from holdfast.errors import HubAway, HubRefused
from holdfast.lazy_dataclass import replace
from holdfast.stores.hub.base import Hub
from holdfast.stores.sqlite import open_store
from tests.daemon.conftest import wait_until
from tests.engine.sharing.machines import Fleet, SharingMachine, fleet
from tests.engine.stage import NOON

__all__ = ["fleet"]

LOG = logging.getLogger("holdfast.tests.sharing")
QUICK = 0.05


class Runner:
    """Runs the thread of one machine."""

    def __init__(self, machine: SharingMachine) -> None:
        self.machine = machine
        self.joined = {"work"}
        self.connects: Callable[[str], Hub] = lambda _: machine.hub
        access = HubAccess(lambda: self.joined, self._connect, lambda: machine.machine)
        self.sharing = Sharing(self._opened, access, LOG, Random(1), QUICK)

    def _connect(self, name: str) -> Hub:
        return self.connects(name)

    @contextmanager
    def _opened(self) -> Generator[Engine]:
        home = self.machine.library.home
        store = open_store(home / "store.db", home / "backups", NOON)
        try:
            yield replace(self.machine.engine, store=store)
        finally:
            store.close()

    def problem(self) -> str:
        return notes_of(self.machine.store, "work").problem


@pytest.fixture
def laptop(fleet: Fleet) -> Iterator[Runner]:
    runner = Runner(fleet.machine("laptop"))
    yield runner
    runner.sharing.stop()


def test_what_changes_is_sent_by_itself(fleet: Fleet, laptop: Runner) -> None:
    laptop.sharing.begin()
    wait_until(lambda: laptop.sharing.rounds > 0)
    laptop.machine.remember("The staging port is 5433.")
    wait_until(lambda: "5433" in "".join(fleet.database.texts.values()))
    wait_until(lambda: bool(notes_of(laptop.machine.store, "work").pushed_at))


def test_what_others_send_arrives_by_itself(fleet: Fleet, laptop: Runner) -> None:
    laptop.sharing.begin()
    desk = fleet.machine("desk")
    id = desk.remember("The staging port is 5433.")
    desk.exchange()
    wait_until(lambda: list(laptop.machine.texts()) == [id])


def test_a_hub_that_is_away_is_tried_again_and_the_problem_is_shown_meanwhile(
    fleet: Fleet, laptop: Runner
) -> None:
    failures = [HubAway("the hub does not answer"), HubAway("the hub does not answer")]

    def connect(_: str) -> Hub:
        if failures:
            raise failures.pop()
        return laptop.machine.hub

    laptop.connects = connect
    laptop.machine.remember("The staging port is 5433.")
    laptop.sharing.begin()
    wait_until(lambda: bool(fleet.database.texts))
    wait_until(lambda: laptop.problem() == "")
    assert failures == []


def test_a_hub_that_was_not_joined_is_named(laptop: Runner) -> None:
    laptop.joined.clear()
    laptop.sharing.begin()
    wait_until(lambda: "was not joined" in laptop.problem())


def test_a_refusal_is_noted(laptop: Runner) -> None:
    def refuse(_: str) -> Hub:
        raise HubRefused("the certificate of the hub is not valid", "ask its owner")

    laptop.connects = refuse
    laptop.sharing.begin()
    wait_until(lambda: laptop.problem() == "the certificate of the hub is not valid")


def test_an_unexpected_error_does_not_end_sharing(
    fleet: Fleet, laptop: Runner, caplog: pytest.LogCaptureFixture
) -> None:
    failures = [RuntimeError("nobody thought of this")]

    def connect(_: str) -> Hub:
        if failures:
            raise failures.pop()
        return laptop.machine.hub

    laptop.connects = connect
    laptop.machine.remember("The staging port is 5433.")
    laptop.sharing.begin()
    wait_until(lambda: bool(fleet.database.texts))
    assert "nobody thought of this" in caplog.text


def test_it_stops_although_a_hub_never_answers(laptop: Runner) -> None:
    answers = threading.Event()
    is_asked = threading.Event()

    def wait(_: str) -> Hub:
        is_asked.set()
        answers.wait(60)
        raise HubAway("too late")

    laptop.connects = wait
    laptop.sharing.begin()
    assert is_asked.wait(60)
    laptop.sharing.stop()
    laptop.sharing.begin()
    assert not answers.is_set(), "nobody waited for the answer"
    answers.set()


def test_the_same_failure_is_logged_once(
    laptop: Runner, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    attempts = 0

    def refuse(_: str) -> Hub:
        nonlocal attempts
        attempts += 1
        raise HubAway("the hub does not answer")

    laptop.connects = refuse
    laptop.sharing.begin()
    wait_until(lambda: attempts >= 3)
    assert caplog.text.count("the hub does not answer") == 1
