"""What every store must do: keep the logs of sessions record by record, as they were given."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.core.agent_log.records import Log, Record, header, new_record
from holdfast.core.events.event import Origin, Prompt
from holdfast.core.session.session import Phase
from holdfast.errors import StoreError
from holdfast.stores.base import Redaction, Rewritten, Store
from tests.core.logs import LOGS, answered, asked, chain
from tests.stores.contract import ALL, NOON, SESSION, prompt, session

LOG = (
    header("s1", NOON, "/home/you/shop"),
    asked("z", "", "first"),
    answered("a", "z", "second", "c1"),
    new_record("surprise", "m", "a", NOON - 5, {"x": {"ü": [1, None]}}),
)


def keep(store: Store, *records: Record, key: str = "s1") -> int:
    with store.writing():
        if store.session(key) is None:
            store.put_session(session(key))
        return store.add_to_log(key, records)


def test_a_log_is_read_as_it_was_written(store: Store) -> None:
    assert keep(store, *LOG) == len(LOG)
    assert store.log("s1", "", ALL) == list(LOG)
    assert store.log("nobody", "", ALL) == []


def test_the_last_records_come_first_to_hand_and_the_rest_from_there(store: Store) -> None:
    keep(store, *LOG)
    assert [record.id for record in store.log("s1", "", 2)] == ["a", "m"]
    assert [record.id for record in store.log("s1", "a", 1)] == ["z"]
    assert [record.id for record in store.log("s1", "a", ALL)] == ["s1", "z"]
    assert store.log("s1", "s1", ALL) == []
    assert store.log("s1", "gone", ALL) == []
    assert store.log("s1", "", 0) == []


def test_from_a_record_on_they_come_in_their_order(store: Store) -> None:
    keep(store, *LOG)
    assert store.log_from("s1", "z", 2) == list(LOG[1:3])
    assert store.log_from("s1", "nobody", ALL) == store.log_from("s1", "", ALL) == list(LOG)
    assert store.log_from("nobody", "", ALL) == []


def test_a_session_with_new_records_waits_to_be_indexed(store: Store) -> None:
    keep(store, *LOG)
    assert store.unindexed(NOON + 1, ALL) == ["s1"]
    with store.writing():
        store.mark_indexed("s1")
    keep(store, *LOG)
    assert store.unindexed(NOON + 1, ALL) == [], "they were known"
    keep(store, asked("y", "m", "third"))
    assert store.unindexed(NOON + 1_000_000, ALL) == ["s1"]


def test_neither_time_nor_id_says_where_a_record_stands(store: Store) -> None:
    records = [
        new_record("custom", id, "", at, {}) for id, at in [("9", NOON), ("1", NOON - 9), ("5", NOON + 9)]
    ]
    keep(store, *records)
    assert store.log("s1", "", ALL) == records


def test_a_record_that_is_known_changes_nothing(store: Store) -> None:
    keep(store, *LOG)
    assert keep(store, asked("z", "", "another"), asked("new", "a", "third")) == 1
    assert store.log("s1", "", ALL) == [*LOG, asked("new", "a", "third")]


def test_the_same_id_in_another_log_is_another_record(store: Store) -> None:
    keep(store, asked("r", "", "one"), key="s1")
    keep(store, asked("r", "", "two"), asked("q", "r", "three"), key="s1#r")
    assert store.log("s1", "", ALL) == [asked("r", "", "one")]
    assert store.log("s1#r", "", ALL) == [asked("r", "", "two"), asked("q", "r", "three")]


def test_a_record_is_no_event_and_an_event_no_record(store: Store) -> None:
    keep(store, *LOG)
    with store.writing():
        store.add_event(prompt("r1"))
    assert store.events("s1", ALL) == [prompt("r1")]
    assert store.log("s1", "", ALL) == list(LOG)


def test_a_record_of_no_session_is_refused_with_its_transaction(store: Store) -> None:
    with pytest.raises(StoreError), store.writing():
        store.add_to_log("nobody", LOG)
    assert store.log("nobody", "", ALL) == []


def test_a_failed_transaction_leaves_the_log_as_it_was(store: Store) -> None:
    keep(store, *LOG[:2])
    with pytest.raises(ZeroDivisionError), store.writing():
        _ = store.add_to_log("s1", LOG[2:]) / 0
    assert store.log("s1", "", ALL) == list(LOG[:2])


def test_sessions_with_a_log_come_with_the_latest_first(store: Store) -> None:
    with store.writing():
        for key, at in [("old", NOON), ("none", NOON + 2), ("new", NOON + 1)]:
            store.put_session(session(key, last_event_at=at))
        store.add_event(Prompt(session="none", record="r", at=NOON, origin=Origin.HUMAN, text="hi"))
        store.add_to_log("old", LOG)
        store.add_to_log("new", LOG)
    assert [each.key for each in store.logged_sessions(ALL)] == ["new", "old"]
    assert [each.key for each in store.logged_sessions(1)] == ["new"]


def test_a_log_goes_if_someone_says_so_and_never_by_itself(store: Store) -> None:
    keep(store, *LOG, key="forgotten")
    with store.writing():
        assert store.forget(["forgotten"], NOON).events == len(LOG)
        store.put_session(session("over", phase=Phase.ENDED, last_event_at=NOON - 1))
        store.add_to_log("over", LOG)
        assert store.prune_sessions(NOON, NOON) == 0
    assert store.log("forgotten", "", ALL) == []
    assert store.log("over", "", ALL) == list(LOG)


def test_leaving_no_trace_of_others_keeps_the_order(store: Store) -> None:
    both = [("one", "s1"), ("two", "gone")] * 5
    for number, (_, key) in enumerate(both):
        keep(store, new_record("custom", str(9 - number), "", NOON, {}), key=key)
    with store.writing():
        store.forget(["gone"], NOON)
    store.scrub()
    keep(store, new_record("custom", "last", "", NOON, {}))
    assert [record.id for record in store.log("s1", "", ALL)] == ["9", "7", "5", "3", "1", "last"]
    assert [record.id for record in store.log("s1", "5", ALL)] == ["9", "7"]


def test_a_newer_redactor_changes_what_was_said_and_no_name(store: Store) -> None:
    keep(store, asked("hunter2", "", "it is hunter2"), *chain(("user", "plain")))
    with store.writing():
        store.put_session(SESSION, "2")
        done = store.rewrite("2", lambda key, text: text.replace("hunter2", f"[{key}]"), ALL, 1 << 20)
    assert done.changed == 1
    assert store.redaction("2") == Redaction(rows=3, stale=0)
    assert store.log("s1", "", ALL) == [asked("hunter2", "", "it is [s1]"), *chain(("user", "plain"))]
    assert any(text.text == "it is [s1]" for text in store.texts())
    with store.writing():
        assert store.rewrite("2", lambda _, text: text, ALL, 1 << 20) == Rewritten(0, 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(LOGS, st.data())
def test_a_log_that_was_broken_off_anywhere_and_read_again_is_whole(
    store: Store, log: Log, data: st.DataObject
) -> None:
    """Whoever dies in the middle of a log leaves a beginning of it; telling it all again mends it."""
    records = list(log.records)
    cut = data.draw(st.integers(0, len(records)))
    with store.writing():
        store.forget(["s1"], 0)
        store.put_session(SESSION)
    for record in records[:cut]:
        keep(store, record)
    assert store.log("s1", "", ALL) == records[:cut]
    keep(store, *records)
    assert store.log("s1", "", ALL) == records
