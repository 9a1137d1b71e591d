"""What every store must do: transactions, sessions, events, cursors, lineage, receipts and counts."""

from __future__ import annotations

import pytest

from holdfast.core.events.event import AssistantText, Origin
from holdfast.core.session.session import Phase, Process
from holdfast.errors import StoreError
from holdfast.stores.base import Lineage, Novelty, Store
from tests.stores.contract import (
    ALL,
    CHECKPOINT,
    LINEAGE,
    MINUTE,
    NOON,
    PROJECT,
    PROMPT,
    RECEIPT,
    SESSION,
    SHOP,
    checkpoint,
    document,
    ended,
    prompt,
    receipt,
    session,
)

# Transactions


def test_what_was_written_is_there_when_the_transaction_ends(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION)
    with store.writing_durably():
        store.put_cursor("a", "1")
    assert store.session("s1") == SESSION
    assert store.cursor("a") == "1"


def test_what_is_read_inside_is_what_was_written_before(store: Store) -> None:
    with store.writing():
        store.put_cursor("a", "1")
        assert store.cursor("a") == "1"


@pytest.mark.parametrize("way", ["writing", "writing_durably"])
def test_a_failed_transaction_leaves_nothing(store: Store, way: str) -> None:
    with store.writing():
        store.put_session(SESSION)
        store.put_cursor("a", "1")
        store.add_checkpoint(CHECKPOINT)
    with pytest.raises(ZeroDivisionError), getattr(store, way)():
        _write_everything_and_fail(store)
    assert store.sessions(ALL) == [SESSION]
    assert store.events("s1", ALL) == []
    assert store.cursor("a") == "1"
    assert store.checkpoints(ALL) == [CHECKPOINT]
    assert store.lineage("s2") is None
    assert store.receipts("", ALL) == []
    assert store.search(["parser"], SHOP, ALL) == []
    assert store.skipped() == {}


def _write_everything_and_fail(store: Store) -> None:
    store.put_session(ended("s1"))
    store.put_session(session("s2"))
    store.add_event(PROMPT)
    store.put_cursor("a", "2")
    store.trim_checkpoints("s1", 0)
    store.add_lineage(LINEAGE)
    store.add_receipt(RECEIPT)
    store.add_document(document("d1", "parser"))
    store.count_skipped("empty", 1)
    _ = 1 / 0


def test_a_failed_transaction_does_not_stand_in_the_way_of_the_next(store: Store) -> None:
    with pytest.raises(ZeroDivisionError), store.writing():
        _ = 1 / 0
    with store.writing():
        store.put_session(SESSION)
    assert store.session("s1") == SESSION


def test_a_write_outside_a_transaction_is_a_mistake(store: Store) -> None:
    with pytest.raises(RuntimeError, match="outside"):
        store.put_session(SESSION)
    assert store.session("s1") is None


def test_a_transaction_inside_a_transaction_is_a_mistake(store: Store) -> None:
    for inner in (store.writing, store.writing_durably):
        with pytest.raises(RuntimeError, match="open already"), store.writing(), inner():
            pass
    with store.writing():
        store.put_session(SESSION)


# Sessions


def test_an_unknown_session_is_none(store: Store) -> None:
    assert store.session("nobody") is None


def test_a_session_put_again_is_replaced(store: Store) -> None:
    later = ended("s1", last_event_at=NOON + 1, prompt_count=3, pending_queries=("fix parser",))
    with store.writing():
        store.put_session(SESSION)
        store.put_session(later)
    assert store.session("s1") == later
    assert store.sessions(ALL) == [later]


def test_sessions_come_with_the_latest_event_first(store: Store) -> None:
    with store.writing():
        for key, at in [("old", NOON - MINUTE), ("new", NOON + MINUTE), ("mid", NOON), ("mid, later", NOON)]:
            store.put_session(session(key, last_event_at=at))
    assert [each.key for each in store.sessions(ALL)] == ["new", "mid, later", "mid", "old"]
    assert [each.key for each in store.sessions(2)] == ["new", "mid, later"]
    assert store.sessions(0) == []


def test_sessions_of_a_project_are_its_own_and_recent_enough(store: Store) -> None:
    elsewhere = SESSION.project.__class__("~/x", "/x", "x", "x-main", "/x")
    with store.writing():
        store.put_session(session("too old", last_event_at=NOON - 1))
        store.put_session(session("just so", last_event_at=NOON))
        store.put_session(session("new", last_event_at=NOON + 1))
        store.put_session(session("elsewhere", last_event_at=NOON + 2, project=elsewhere))
    assert [each.key for each in store.sessions_of_project("shop", NOON, ALL)] == ["new", "just so"]
    assert [each.key for each in store.sessions_of_project("shop", NOON, 1)] == ["new"]
    assert store.sessions_of_project("nothing", 0, ALL) == []


def test_a_reused_pid_is_another_process(store: Store) -> None:
    with store.writing():
        store.put_session(session("first", process=Process(7, 100)))
        store.put_session(session("second", process=Process(7, 100), last_event_at=NOON + 1))
        store.put_session(session("another", process=Process(7, 200)))
        store.put_session(session("unknown", process=None))
    assert [each.key for each in store.sessions_of_process(Process(7, 100), ALL)] == ["second", "first"]
    assert [each.key for each in store.sessions_of_process(Process(7, 100), 1)] == ["second"]
    assert store.sessions_of_process(Process(8, 100), ALL) == []


def test_live_sessions_neither_ended_nor_were_orphaned(store: Store) -> None:
    with store.writing():
        for phase in Phase:
            store.put_session(session(phase.value, phase=phase))
    assert [each.key for each in store.live_sessions()] == ["live"]


def test_the_transcripts_of_live_sessions_are_listed_by_session(store: Store) -> None:
    with store.writing():
        store.put_session(session("a", transcript="/a.jsonl"))
        store.put_session(session("b"))
        store.put_session(session("c", transcript="/c.jsonl", phase=Phase.ENDED))
    assert store.live_transcripts() == {"a": "/a.jsonl", "b": ""}


# Events and cursors


def test_two_equal_prompts_are_two_events(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION)
        assert store.add_event(prompt("r1")) is Novelty.NEW
        assert store.add_event(prompt("r2")) is Novelty.NEW
    assert store.events("s1", ALL) == [prompt("r1"), prompt("r2")]


def test_a_record_seen_again_is_nothing(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION)
        store.add_event(prompt("r1", revision=1))
        assert store.add_event(prompt("r1", revision=1, text="other")) is Novelty.KNOWN
        assert store.add_event(prompt("r1", revision=0, text="earlier")) is Novelty.KNOWN
    assert store.events("s1", ALL) == [prompt("r1", revision=1)]


def test_a_later_revision_replaces(store: Store) -> None:
    revised = AssistantText(
        session="s1",
        record="r1",
        at=NOON + 2,
        origin=Origin.ASSISTANT,
        agent="sub",
        parent="r0",
        revision=5,
        text="Done",
    )
    with store.writing():
        store.put_session(SESSION)
        store.add_event(prompt("r1"))
        store.add_event(prompt("r2", at=NOON + 1))
    with store.writing():
        assert store.add_event(revised) is Novelty.REVISED
        assert store.add_event(prompt("r1", revision=4)) is Novelty.KNOWN
    assert store.events("s1", ALL) == [prompt("r2", at=NOON + 1), revised]


@pytest.mark.parametrize("limit", [0, 2, ALL])
def test_events_backwards_are_the_same_last_events_newest_first(store: Store, limit: int) -> None:
    with store.writing():
        store.put_session(SESSION)
        for number in (2, 3, 1):
            store.add_event(prompt(f"r{number}", at=NOON + number))
    assert list(store.events_backwards("s1", limit)) == store.events("s1", limit)[::-1]
    assert [event.record for event in store.events_backwards("s1", ALL)] == ["r3", "r2", "r1"]


@pytest.mark.parametrize("limit", [19, 20, 21, 45, ALL])
def test_many_events_come_backwards_each_once(store: Store, limit: int) -> None:
    with store.writing():
        store.put_session(SESSION)
        for number in range(50):
            store.add_event(prompt(f"r{number}", at=NOON + number))
    records = [f"r{number}" for number in reversed(range(50))]
    assert [event.record for event in store.events_backwards("s1", limit)] == records[:limit]


def test_the_same_record_in_another_session_is_another_event(store: Store) -> None:
    with store.writing():
        for key in ("s1", "s1#r1", "s1%23r1"):
            store.put_session(session(key))
        assert store.add_event(prompt("r1#r1")) is Novelty.NEW
        assert store.add_event(prompt("r1", session="s1#r1")) is Novelty.NEW
        assert store.add_event(prompt("r1", session="s1%23r1")) is Novelty.NEW
    assert store.events("s1#r1", ALL) == [prompt("r1", session="s1#r1")]


def test_the_last_events_come_oldest_first_and_equal_times_as_they_came(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION)
        for record, at in [("c", NOON + 2), ("a", NOON), ("b1", NOON + 1), ("b2", NOON + 1)]:
            store.add_event(prompt(record, at=at))
    assert [event.record for event in store.events("s1", ALL)] == ["a", "b1", "b2", "c"]
    assert [event.record for event in store.events("s1", 2)] == ["b2", "c"]
    assert store.events("s1", 0) == []
    assert store.events("nobody", ALL) == []


def test_an_event_may_come_before_its_session_in_one_transaction(store: Store) -> None:
    with store.writing():
        store.add_event(PROMPT)
        store.put_session(SESSION)
    assert store.events("s1", ALL) == [PROMPT]


def test_an_event_of_no_session_is_refused_with_its_transaction(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION)
    with pytest.raises(StoreError), store.writing():
        _ = [store.add_event(event) for event in (prompt("r1"), prompt("r2", session="nobody"))]
    assert store.events("s1", ALL) == []
    assert store.events("nobody", ALL) == []


def test_sessions_sharing_records_come_with_the_most_shared_first(store: Store) -> None:
    with store.writing():
        for key, records in [
            ("s1", "abc"),
            ("one", "xa"),
            ("two", "abx"),
            ("none", "xyz"),
            ("also one", "b"),
        ]:
            store.put_session(session(key))
            for record in records:
                store.add_event(prompt(record, session=key))
    assert store.sessions_sharing_records("s1") == ["two", "also one", "one"]
    assert store.sessions_sharing_records("nobody") == []


def test_a_cursor_is_empty_until_it_is_put_and_then_the_last_one(store: Store) -> None:
    assert store.cursor("transcript") == ""
    with store.writing():
        store.put_cursor("transcript", "10")
        store.put_cursor("transcript", "20")
        store.put_cursor("other", "5")
    assert store.cursor("transcript") == "20"


# Lineage, receipts, counts


def test_the_first_word_on_a_lineage_stands(store: Store) -> None:
    with store.writing():
        store.add_lineage(LINEAGE)
        store.add_lineage(LINEAGE.__class__(child="s2", parent="s9", kind="fork", at=NOON + 1))
    assert store.lineage("s2") == LINEAGE
    assert store.lineage("s1") is None


def test_those_that_continue_a_session_come_in_the_order_in_which_they_began(store: Store) -> None:
    began = [
        Lineage(child, "s1", kind, NOON + at) for child, kind, at in (("b", "fork", 2), ("c", "clear", 1))
    ]
    with store.writing():
        for each in (*began, Lineage("a", "s1", "fork", NOON + 2), Lineage("d", "b", "fork", NOON)):
            store.add_lineage(each)
    assert [each.child for each in store.continued_by("s1")] == ["c", "a", "b"]
    assert store.continued_by("s1")[0] == began[1]
    assert store.continued_by("nobody") == []


def test_the_receipts_of_one_window_come_newest_first(store: Store) -> None:
    a, b = receipt("a", created_at=NOON, window=1), receipt("b", created_at=NOON + 1, window=1)
    with store.writing():
        for row in (a, b, receipt("c", window=0), receipt("d", session="s2", window=1)):
            store.add_receipt(row)
    assert store.receipts_in_window("s1", 1, ALL) == [b, a]
    assert store.receipts_in_window("s1", 1, 1) == [b]
    assert store.receipts_in_window("s1", 2, ALL) == []


def test_receipts_come_newest_first_and_of_all_sessions_for_an_empty_key(store: Store) -> None:
    rows = [receipt("a", created_at=NOON), receipt("b", created_at=NOON + 1), receipt("c", session="s2")]
    with store.writing():
        for row in rows:
            store.add_receipt(row)
    a, b, c = rows
    assert store.receipts("s1", ALL) == [b, a]
    assert store.receipts("s1", 1) == [b]
    assert store.receipts("", ALL) == [b, c, a]
    assert store.receipts("", 2) == [b, c]
    assert store.receipts("nobody", ALL) == []


def test_a_known_id_is_refused(store: Store) -> None:
    with store.writing():
        store.add_receipt(RECEIPT)
        store.add_checkpoint(CHECKPOINT)
    with pytest.raises(StoreError), store.writing():
        store.add_receipt(RECEIPT)
    with pytest.raises(StoreError), store.writing():
        store.add_checkpoint(checkpoint("c1", digest="other"))
    assert store.checkpoints(ALL) == [CHECKPOINT]


def test_what_was_skipped_is_counted_by_reason(store: Store) -> None:
    assert store.skipped() == {}
    with store.writing():
        store.count_skipped("no JSON", 2)
        store.count_skipped("unknown type", 1)
        store.count_skipped("no JSON", 3)
    assert store.skipped() == {"no JSON": 5, "unknown type": 1}


def test_a_new_store_is_sound(store: Store) -> None:
    with store.writing():
        store.put_session(SESSION)
        store.add_event(PROMPT)
        store.add_document(document("d1", "parser"))
    assert store.check() == ""


# Any text at all


@pytest.mark.parametrize(
    "text",
    ["", " ", "naïve – 日本語 – 👩‍🚀", "line\nline\r\n\ttab", "nul \0 inside", "quote ' \" ; -- %", "{}[]"],
)
def test_any_text_is_kept_as_it_is(store: Store, text: str) -> None:
    told = session(f"key {text}", transcript=text, model=text, pending_queries=(text, text))
    with store.writing():
        store.put_session(told)
        store.add_event(prompt(f"r {text}", session=told.key, text=text, parent=text))
        store.put_cursor(text, text)
        store.add_checkpoint(checkpoint(text, digest=text, words=text, memory_queries=(text,)))
        store.add_receipt(receipt(text, text=text))
        store.count_skipped(text, 1)
    assert store.session(told.key) == told
    assert store.events(told.key, ALL) == [prompt(f"r {text}", session=told.key, text=text, parent=text)]
    assert store.cursor(text) == text
    assert store.checkpoints(ALL) == [checkpoint(text, digest=text, words=text, memory_queries=(text,))]
    assert store.receipts("", ALL) == [receipt(text, text=text)]
    assert store.skipped() == {text: 1}


def test_half_a_character_is_kept_as_a_replacement_character(store: Store) -> None:
    half, whole = "a\ud83d", "a\ufffd"
    with store.writing():
        store.put_session(session(half, project=PROJECT))
        assert store.add_event(prompt(half, session=half, text=half)) is Novelty.NEW
        assert store.add_event(prompt(half, session=half, text=half)) is Novelty.KNOWN
        store.put_cursor(half, half)
        store.add_checkpoint(checkpoint(half, session=half, digest=half))
        store.add_receipt(receipt(half, session=half, text=half))
        store.add_lineage(LINEAGE.__class__(half, half, half, NOON))
        store.add_document(document(half, half))
        store.count_skipped(half, 1)
    assert store.session(half) == session(whole)
    assert store.events(half, ALL) == [prompt(whole, session=whole, text=whole)]
    assert store.cursor(half) == whole
    assert store.checkpoints_of_session(half, ALL) == [checkpoint(whole, session=whole, digest=whole)]
    assert store.receipts(half, ALL) == [receipt(whole, session=whole, text=whole)]
    assert store.lineage(half) == LINEAGE.__class__(whole, whole, whole, NOON)
    assert [hit.id for hit in store.search([half], SHOP, ALL)] == [whole]
    assert store.skipped() == {whole: 1}
