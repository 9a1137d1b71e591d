"""A crowd in a home of its own; no daemon outlives its test."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.core.events.event import Prompt
from holdfast.daemon.local import client
from holdfast.engine.health.doctor import leftovers
from holdfast.errors import DaemonAway
from holdfast.stores.sqlite import open_store
from tests.chaos.crowd import MANY, Crowd
from tests.daemon.conftest import wait_until

SESSIONS = 200


@pytest.fixture
def crowd(monkeypatch: pytest.MonkeyPatch) -> Iterator[Crowd]:
    # Not tmp_path: a socket's path must be short.
    root = Path(tempfile.mkdtemp(prefix="hf-")).resolve()
    monkeypatch.setenv("HOME", str(root))
    found = Crowd(root, root / "holdfast", SESSIONS)
    found.prepare()
    try:
        yield found
    finally:
        end(found)
        shutil.rmtree(root)


def end(crowd: Crowd) -> None:
    """End every daemon of this home, and see that none is left."""
    for daemon in crowd.daemons:
        if daemon.poll() is None:
            daemon.kill()
        daemon.wait()
    for pid in leftovers(crowd.home, 0):
        os.kill(pid, 9)


def settle(crowd: Crowd) -> None:
    """Have everything that waits taken in, as a person's command would, and then the daemon gone."""
    crowd.reap()
    if not client.is_up(crowd.home):
        crowd.start()
        wait_until(lambda: client.is_up(crowd.home))
    client.ask(crowd.home, "flush", timeout=120.0)
    # One that was still starting may have the home next.
    wait_until(lambda: _stopped(crowd))


def _stopped(crowd: Crowd) -> bool:
    with contextlib.suppress(DaemonAway):
        client.ask(crowd.home, "stop", timeout=2.0)
    return all(daemon.poll() is not None for daemon in crowd.daemons)


def said(crowd: Crowd) -> dict[str, Counter[str]]:
    """How often each prompt of each session is in the store."""
    store = open_store(crowd.home / "store.db", crowd.home / "backups", 0)
    try:
        assert store.check() == ""
        return {
            key: Counter(event.text for event in store.events(key, MANY) if isinstance(event, Prompt))
            for key in [*store.keys()]
        }
    finally:
        store.close()


def assert_kept(crowd: Crowd) -> None:
    """Nothing that was acknowledged is lost, and nothing at all is there twice."""
    kept = said(crowd)
    for key, words in {**crowd.acknowledged, **crowd.written}.items():
        told = kept.get(key, Counter())
        missing = [each for each in words if not told[each]]
        assert not missing, f"{key} lost {missing[:3]}, {len(missing)} of {len(words)}"
        doubled = [each for each, times in told.items() if times > 1]
        assert not doubled, f"{key} has {doubled[:3]} twice"
        strange = told.keys() - set(words) - crowd.doubtful
        assert not strange, f"{key} was told {list(strange)[:3]}, which it never said"
    assert not list((crowd.home / "spool").glob("*.event"))


def assert_nobody_is_left(crowd: Crowd) -> None:
    """No daemon lives, and the next one can have the home."""
    assert leftovers(crowd.home, 0) == []
    with pytest.raises(DaemonAway):
        client.ask(crowd.home, "status", timeout=1.0)
