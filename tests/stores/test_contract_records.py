"""What every store promises of what past sessions said, and of how they went."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.events.event import Origin, Usage
from holdfast.core.session.score import SessionScore, Start
from holdfast.stores.base import RecordsKept, SearchDocument, Store
from tests.stores.contract import ALL, NOON, SHOP, document, ended, prompt, session

USAGE = Usage(session="s1", record="u1", at=NOON, origin=Origin.HARNESS, input=1, output=1)
SCORE = SessionScore("s1", "some-harness", "shop", NOON, Start.RECOVERED, 60, 9, 5, 12, 3, 40, 2, 1)


def passage(
    id: str, text: str = "parser", *, of: str = "s1", at: int = NOON, place: int = 0
) -> SearchDocument:
    return document(id, text, session=of, at=at, place=place)


def found(store: Store) -> list[str]:
    return sorted(hit.id for hit in store.search(["parser"], SHOP, ALL))


def test_a_session_waits_to_be_indexed_from_its_first_word_on(store: Store) -> None:
    with store.writing():
        for key, at in (("s1", NOON), ("s2", NOON - 1)):
            store.put_session(session(key))
            store.add_event(prompt("r1", session=key, at=at))
            store.add_event(prompt("r2", session=key, at=at + 9))
    assert store.unindexed(NOON + 1, ALL) == ["s2", "s1"]
    assert store.unindexed(NOON + 1, 1) == ["s2"]
    assert store.unindexed(NOON, ALL) == ["s2"]
    with store.writing():
        store.mark_indexed("s2")
    assert store.unindexed(NOON + 1, ALL) == ["s1"]
    with store.writing():
        store.add_event(prompt("r3", session="s2", at=NOON + 5))
    assert store.unindexed(NOON + 9, ALL) == ["s1", "s2"]


def test_what_is_known_or_nobody_said_does_not_have_a_session_indexed(store: Store) -> None:
    with store.writing():
        store.put_session(session("s1"))
        store.add_event(prompt("r1"))
        store.mark_indexed("s1")
    with store.writing():
        store.add_event(prompt("r1"))
        store.add_event(USAGE)
        store.add_event(prompt("r2", agent="subagent"))
    assert store.unindexed(NOON + 1, ALL) == []


def test_events_are_reported_in_the_order_in_which_they_came_from_one_of_them_on(store: Store) -> None:
    with store.writing():
        store.put_session(session("s1"))
        for number, at in enumerate((NOON, NOON + 5, NOON - 5, NOON)):
            store.add_event(prompt(f"r{number}", at=at))
        store.put_session(session("s2"))
        store.add_event(prompt("r1", session="s2"))
    assert [each.record for each in store.events_from("s1", "", ALL)] == ["r0", "r1", "r2", "r3"]
    assert [each.record for each in store.events_from("s1", "r1", 2)] == ["r1", "r2"]
    assert [each.record for each in store.events_from("s1", "gone", 1)] == ["r0"]
    assert store.events_from("s3", "r1", ALL) == []


def test_a_revised_event_keeps_its_place(store: Store) -> None:
    with store.writing():
        store.put_session(session("s1"))
        store.add_event(prompt("r1"))
        store.add_event(prompt("r2"))
        store.add_event(prompt("r1", text="Fix the lexer", revision=1))
    assert [each.record for each in store.events_from("s1", "", ALL)] == ["r1", "r2"]


def test_the_passages_of_a_session_go_from_a_place_on(store: Store) -> None:
    with store.writing():
        for place in range(3):
            store.add_document(passage(f"p{place}", place=place))
        store.add_document(passage("other", of="s2", place=9))
        store.add_document(replace(passage("words", place=2), kind="digest"))
        assert store.drop_records("s1", 1) == 2
    assert found(store) == ["other", "p0", "words"]


def test_what_a_session_said_outlives_it(store: Store) -> None:
    with store.writing():
        store.put_session(ended("s1"))
        store.add_event(prompt("r1"))
        store.put_score(SCORE)
        store.put_cursor("index/s1", "r1")
        store.add_recalls("s1", ["d1"], NOON)
        store.add_document(passage("said"))
        store.add_document(replace(passage("words"), kind="digest"))
        store.add_document(replace(passage("other"), kind="other"))
    with store.writing():
        assert store.prune_sessions(NOON + 1, NOON + 1) == 1
    assert found(store) == ["said", "words"]
    assert store.unindexed(NOON + 1, ALL) == []
    assert store.scores(ALL) == []
    assert store.cursor("index/s1") == ""
    assert store.recalls("s1") == []
    assert store.keys() == ["s1"]
    assert store.keys_before(NOON + 1) == ["s1"]
    assert store.keys_before(NOON) == []


def test_how_much_is_kept_is_counted_in_bytes(store: Store) -> None:
    assert store.records_kept() == RecordsKept(0, 0, 0)
    with store.writing():
        store.add_document(passage("p1", "für", at=NOON))
        store.add_document(replace(passage("p2", "for", at=NOON - 1), kind="digest"))
        store.add_document(replace(passage("p3", "not counted"), kind="memory"))
    assert store.records_kept() == RecordsKept(2, 7, NOON - 1)


@pytest.mark.parametrize(
    ("before", "most_bytes", "limit", "left"),
    [
        (0, 999, 9, ["p0", "p1", "p2", "p3"]),
        (NOON + 2, 999, 9, ["p2", "p3"]),
        (0, 20, 9, ["p2", "p3"]),
        (0, 19, 9, ["p3"]),
        (0, 0, 9, []),
        (NOON + 1, 10, 9, ["p3"]),
        (NOON + 9, 999, 1, ["p1", "p2", "p3"]),
        (NOON + 1, 10, 2, ["p2", "p3"]),
        (0, 0, 3, ["p3"]),
    ],
)
def test_the_oldest_passages_go_first(
    store: Store, before: int, most_bytes: int, limit: int, left: list[str]
) -> None:
    with store.writing():
        for age in range(4):
            store.add_document(passage(f"p{age}", "parser ten", at=NOON + age))
        store.add_document(replace(passage("memory", at=NOON - 9), kind="memory"))
    with store.writing():
        assert store.prune_records(before, most_bytes, limit) == 4 - len(left)
    assert found(store) == ["memory", *left]


def test_a_score_is_kept_until_the_session_is_scored_again(store: Store) -> None:
    later = replace(SCORE, session="s2", start=Start.COLD, scored_at=NOON + 1)
    with store.writing():
        for key in ("s1", "s2"):
            store.put_session(session(key))
        store.put_score(SCORE)
        store.put_score(later)
    assert store.scores(ALL) == [later, SCORE]
    assert store.scores(1) == [later]
    with store.writing():
        store.put_score(replace(SCORE, needed=99))
    assert store.scores(ALL) == [later, replace(SCORE, needed=99)]


def test_what_an_agent_was_told_is_noted_once(store: Store) -> None:
    with store.writing():
        store.put_session(session("s1"))
        store.add_recalls("s1", ["d2", "d1"], NOON)
        store.add_recalls("s1", ["d1", "d3"], NOON + 1)
        store.add_recalls("s2", ["d9"], NOON)
        store.add_recalls("s1", [], NOON)
    assert store.recalls("s1") == [("d1", NOON), ("d2", NOON), ("d3", NOON + 1)]
    assert store.recalls("s3") == []
    with store.writing():
        store.forget(["s1"], NOON)
    assert store.recalls("s1") == []


def test_what_is_forgotten_has_no_score_and_waits_for_nothing(store: Store) -> None:
    with store.writing():
        store.put_session(session("s1"))
        store.add_event(prompt("r1"))
        store.put_score(SCORE)
        store.add_document(passage("said"))
    with store.writing():
        store.forget(["s1"], NOON)
    assert (store.scores(ALL), store.unindexed(NOON + 1, ALL), found(store)) == ([], [], [])
