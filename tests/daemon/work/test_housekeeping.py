"""When the daemon goes, and what comes after it."""

from __future__ import annotations

import asyncio
import json
import logging
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import holdfast
from holdfast.daemon.local import client
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.housekeeping import Housekeeping, Watch, installed_version, is_idle, is_outdated
from holdfast.daemon.work.worker import Worker
from holdfast.engine.index import BACKLOG, SETTLED_MS
from holdfast.errors import DaemonAway
from holdfast.stores.base import EVERYWHERE, SearchDocument, Store
from holdfast.stores.sqlite import open_store
from tests.daemon.conftest import Lodging, wait_until


@pytest.mark.parametrize(
    ("unneeded_seconds", "idle"), [(0, False), (7_199, False), (7_200, True), (9_999, True)]
)
def test_it_goes_when_nobody_needed_it_for_two_hours(unneeded_seconds: float, *, idle: bool) -> None:
    assert is_idle(unneeded_seconds, 120) is idle


def test_a_daemon_that_is_to_stay_is_never_idle() -> None:
    assert not is_idle(1e9, 0)


@pytest.mark.parametrize(
    ("installed", "outdated"), [("0.1.0", False), ("0.2.0", True), ("0.0.9", True), ("", False)]
)
def test_another_version_is_a_reason_to_hand_over(installed: str, *, outdated: bool) -> None:
    assert is_outdated("0.1.0", installed) is outdated


def test_the_installed_version_is_read_from_the_disk() -> None:
    assert installed_version() == holdfast.__version__


def test_a_daemon_older_than_the_package_hands_over_and_loses_nothing(
    lodging: Lodging, tmp_path: Path
) -> None:
    package = tmp_path / "lib" / "holdfast"
    shutil.copytree(Path(holdfast.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    first = lodging.start(PYTHONPATH=str(package.parent))
    lodging.payload(
        '{"session_id": "s1", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "x"}', "1"
    )
    init = package / "__init__.py"
    init.write_text(init.read_text().replace(holdfast.__version__, "9.9.9"))

    def handed_over() -> bool:
        try:
            return bool(client.ask(lodging.home, "status", timeout=2.0)["version"] == "9.9.9")
        except DaemonAway:
            return False

    wait_until(handed_over)
    assert lodging.ask("status")["pid"] == first.pid
    assert "hands over to version 9.9.9" in lodging.log()


def test_a_chore_that_fails_stops_no_other_and_is_logged_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []

    async def failing() -> None:
        done.append("failing")
        raise ValueError("it cannot")

    async def working() -> None:
        done.append("working")

    async def kept() -> dict[str, str]:
        stop, log = asyncio.Event(), logging.getLogger("test")
        worker = Worker(asyncio.get_running_loop())
        dispatcher = Dispatcher(tmp_path, worker, stop, log, "")
        house = Housekeeping(tmp_path, dispatcher, Watch(dispatcher.transcripts_changed, log), stop, log)
        for _ in range(100):
            await house.attempt("a", failing)
            await house.attempt("b", working)
        worker.stop()
        return dispatcher.troubles

    assert asyncio.run(kept()) == {"a": "ValueError"}
    assert done.count("working") == 100
    assert done.count("failing") < 100
    assert caplog.text.count("housekeeping failed: a") == 1


@contextmanager
def opened(lodging: Lodging) -> Iterator[Store]:
    store = open_store(lodging.home / "store.db", lodging.home / "backups", 0)
    try:
        yield store
    finally:
        store.close()


def found(lodging: Lodging) -> list[str]:
    with opened(lodging) as store:
        return [one.text for one in store.documents(EVERYWHERE, 9)]


def kept(store: Store, *documents: SearchDocument) -> None:
    with store.writing():
        for document in documents:
            store.add_document(document)


def test_what_a_session_said_is_found_a_while_later(lodging: Lodging) -> None:
    lodging.start()
    payload = {
        "session_id": "s1",
        "cwd": "/",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Why so slow?",
    }
    lodging.payload(json.dumps(payload), id="1", at=str(time.time_ns() // 1_000_000 - 2 * SETTLED_MS))
    wait_until(lambda: "User: Why so slow?" in found(lodging))


def test_very_many_documents_are_given_vectors(lodging: Lodging) -> None:
    with opened(lodging) as store:
        kept(
            store,
            *(SearchDocument(f"d{n}", "record", "p", f"text {n}", at=1 << 50) for n in range(BACKLOG + 5)),
        )
    lodging.start()

    def waiting() -> int:
        with opened(lodging) as store:
            return len(store.without_vector(BACKLOG + 5))

    wait_until(lambda: waiting() <= BACKLOG)


def test_what_is_past_its_days_goes(lodging: Lodging) -> None:
    with opened(lodging) as store:
        kept(
            store,
            SearchDocument("old", "record", "p", "old", at=1),
            SearchDocument("new", "record", "p", "new", at=1 << 50),
        )
    lodging.start()
    wait_until(lambda: found(lodging) == ["new"])
