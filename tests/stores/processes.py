"""Processes that write into a store, for tests that let them race, kill them or starve them.

Run as `python -m tests.stores.processes DEED PATH …`; what is printed was committed before.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from pathlib import Path

from holdfast.errors import StoreError
from holdfast.stores.sqlite import SqliteStore, open_store
from tests.stores.contract import NOON, SESSION, prompt


def write(path: Path, name: str, times: str) -> None:
    """Two events and one more prompt in the session's count, each time in one transaction."""
    store = _opened(path)
    for number in range(int(times)) if times != "endless" else count():
        with store.writing():
            session = store.session("s1") or SESSION
            store.put_session(replace(session, prompt_count=session.prompt_count + 1))
            store.add_event(prompt(f"{name} {number} first"))
            store.add_event(prompt(f"{name} {number} second"))
        _say(str(number))
    store.close()


def stop_halfway(path: Path) -> None:
    """One transaction that is whole, one that is never finished; more is written than stays in memory."""
    store = _opened(path)
    with store.writing():
        store.put_session(SESSION)
        store.add_event(prompt("whole"))
    with store.writing():
        for number in range(5_000):
            store.add_event(prompt(f"half {number}", text="word " * 400))
        _say("halfway")
        sys.stdin.read()


def fill(path: Path) -> None:
    """Write until there is no more room, say so, and write on when there is."""
    store = _opened(path)
    with store.writing_durably():
        store.put_session(SESSION)
        store.add_event(prompt("first"))
    kept = 0
    try:
        for number in range(100):
            with store.writing():
                for part in range(10):
                    store.add_event(prompt(f"{number} {part}", text="word " * 1_000))
            kept += 10
    except StoreError as error:
        _say(_refusal(error))
    store.close()
    (path.parent / "ballast").unlink()
    store = _opened(path)
    with store.writing_durably():
        store.add_event(prompt("last"))
    records = [event.record for event in store.events("s1", 10_000)]
    _say(f"{records[0]} {records[-1]} {len(records) - kept} {store.check() or 'sound'}")
    store.close()


def rewrite(path: Path, steps: str) -> None:
    """Take secrets out of rows, five at a time; after so many steps, stop in the middle of one."""
    store = _opened(path)
    for number in count(1):
        with store.writing():
            step = store.rewrite("2", lambda _, text: text.replace("hunter2", "[gone]"), 5, 1 << 20)
            if str(number) == steps:
                _say("halfway")
                sys.stdin.read()
        _say(str(step.rows))
        if not step.rows:
            break
        if steps != "all":
            sys.stdin.readline()
    store.close()


def try_to_open(path: Path) -> None:
    """Open the store and write, or say why not."""
    try:
        store = _opened(path)
        with store.writing():
            store.add_event(prompt("another"))
    except StoreError as error:
        _say(_refusal(error))


def _opened(path: Path) -> SqliteStore:
    return open_store(path, path.parent / "backups", NOON)


def _refusal(error: StoreError) -> str:
    return f"{type(error).__name__}: {error.message}\nhint: {error.hint}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


DEEDS: dict[str, Callable[..., None]] = {
    "write": write,
    "stop_halfway": stop_halfway,
    "fill": fill,
    "rewrite": rewrite,
    "try_to_open": try_to_open,
}

if __name__ == "__main__":
    deed, at, *rest = sys.argv[1:]
    DEEDS[deed](Path(at), *rest)
