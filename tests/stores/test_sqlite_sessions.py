"""Sessions are decoded once in a process, and yet read from the file every time."""

from __future__ import annotations

import contextlib
from pathlib import Path

from holdfast.stores.sql.sessions import SESSIONS_DECODED
from tests.stores.contract import session
from tests.stores.sqlite_files import opened


def test_a_session_that_nobody_changed_is_the_same_object(path: Path) -> None:
    store, written = opened(path), session("s1")
    with store.writing():
        store.put_session(written)
    assert store.session("s1") is written
    store.close()
    store = opened(path)
    first = store.session("s1")
    assert first == written
    assert store.session("s1") is first
    store.close()


def test_what_another_process_changes_is_seen_at_once(path: Path) -> None:
    one, other = opened(path), opened(path)
    with one.writing():
        one.put_session(session("s1", model="small"))
    with other.writing():
        other.put_session(session("s1", model="large"))
    assert one.session("s1") == session("s1", model="large")
    one.close()
    other.close()


def test_what_was_rolled_back_is_not_there(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.put_session(session("s1", model="small"))
    with contextlib.suppress(ZeroDivisionError), store.writing():
        store.put_session(session("s1", model="large"))
        raise ZeroDivisionError
    assert store.session("s1") == session("s1", model="small")
    store.close()


def test_half_a_character_is_read_as_it_was_stored(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.put_session(session("s1", model="half \ud83d"))
    assert store.session("s1") == session("s1", model="half \N{REPLACEMENT CHARACTER}")
    store.close()


def test_of_many_sessions_only_the_latest_stay_decoded(path: Path) -> None:
    store = opened(path)
    sessions = [session(f"s{number}") for number in range(SESSIONS_DECODED + 1)]
    with store.writing():
        for each in sessions:
            store.put_session(each)
    assert store.session("s0") == sessions[0]
    assert store.session("s0") is not sessions[0]
    assert store.session(sessions[-1].key) is sessions[-1]
    store.close()


def test_a_session_that_was_dropped_is_gone(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.put_session(session("s1"))
    with store.writing():
        store._database.write("delete from sessions where key = :key", {"key": "s1"})
    assert store.session("s1") is None
    store.close()
