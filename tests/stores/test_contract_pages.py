"""What every store must do: give what it keeps page by page, whatever comes meanwhile, and count it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.agent_log.records import Record
from holdfast.core.brief.brief_input import Reason
from holdfast.core.memory.memory import MemoryScope
from holdfast.core.session.score import SessionScore, Start
from holdfast.core.session.session import Phase
from holdfast.stores.base import (
    EVERYWHERE,
    START,
    Activity,
    Captured,
    DailyCheckpoints,
    PageMark,
    RowHead,
    RowKind,
    Store,
    StoreCounts,
    Within,
)
from holdfast.stores.sqlite import open_in_memory
from tests.depth import examples
from tests.stores.contract import (
    MINUTE,
    NOON,
    PROJECT,
    checkpoint,
    document,
    ended,
    memory,
    prompt,
    receipt,
    session,
)

DAY = 86_400_000
OTHER = replace(PROJECT, project_id="other", path="~/other", normalized="/home/you/other")


def score(key: str, at: int) -> SessionScore:
    return SessionScore(key, "claude-code", "shop", at, Start.COLD)


def fill(store: Store) -> None:
    """Five of each, of which the third and the fourth are of the same moment."""
    times = [NOON, NOON + MINUTE, NOON + 2 * MINUTE, NOON + 2 * MINUTE, NOON + 3 * MINUTE]
    with store.writing():
        for number, at in enumerate(times):
            store.put_session(session(f"s{number}", last_event_at=at))
            store.add_checkpoint(checkpoint(f"c{number}", created_at=at))
            store.add_receipt(receipt(f"b{number}", window=number, created_at=at))
            store.put_memory(memory(f"m{number}", text=f"Number {number}.", created_at=at))
            store.add_event(prompt(f"r{number}", session="s0", at=at))
            store.put_score(score(f"s{number}", at))


PAGES: dict[str, Callable[[Store, PageMark, int], Sequence[Any]]] = {
    "checkpoints": lambda store, behind, limit: store.page_of_checkpoints(behind, limit),
    "of a project": lambda store, behind, limit: store.page_of_project_checkpoints("shop", behind, limit),
    "of a session": lambda store, behind, limit: store.page_of_session_checkpoints("s1", behind, limit),
    "sessions": lambda store, behind, limit: store.page_of_sessions("", behind, limit),
    "sessions of a project": lambda store, behind, limit: store.page_of_sessions("shop", behind, limit),
    "events": lambda store, behind, limit: store.page_of_events("s0", behind, limit),
    "receipts": lambda store, behind, limit: store.page_of_receipts("", behind, limit),
    "receipts of a session": lambda store, behind, limit: store.page_of_receipts("s1", behind, limit),
    "memories": lambda store, behind, limit: store.page_of_memories(EVERYWHERE, behind, limit),
    "scores": lambda store, behind, limit: store.page_of_scores(behind, limit),
}


def mark_of(row: object) -> PageMark:
    times = ("created_at", "last_event_at", "scored_at", "at")
    ids = ("id", "key", "record", "session")
    at = next(getattr(row, name) for name in times if hasattr(row, name))
    return PageMark(at, next(getattr(row, name) for name in ids if hasattr(row, name)))


@pytest.mark.parametrize("kind", PAGES)
@pytest.mark.parametrize("limit", [1, 2, 3, 5, 9])
def test_page_after_page_gives_each_once_the_newest_first(store: Store, kind: str, limit: int) -> None:
    fill(store)
    seen: list[PageMark] = []
    behind = START
    while page := PAGES[kind](store, behind, limit):
        assert len(page) <= limit
        seen += [mark_of(row) for row in page]
        behind = seen[-1]
    assert [(one.at, one.id[-1]) for one in seen] == [
        (NOON + 3 * MINUTE, "4"),
        (NOON + 2 * MINUTE, "3"),
        (NOON + 2 * MINUTE, "2"),
        (NOON + MINUTE, "1"),
        (NOON, "0"),
    ]


def test_what_comes_meanwhile_shifts_nothing(store: Store) -> None:
    fill(store)
    first = store.page_of_checkpoints(START, 2)
    with store.writing():
        store.add_checkpoint(checkpoint("c9", created_at=NOON + 9 * MINUTE))
    behind = PageMark(first[-1].created_at, first[-1].id)
    assert [each.id for each in store.page_of_checkpoints(behind, 9)] == ["c2", "c1", "c0"]


def test_a_page_is_of_what_was_asked_for_alone(store: Store) -> None:
    fill(store)
    with store.writing():
        store.put_session(session("t", project=OTHER, last_event_at=NOON))
        store.add_checkpoint(checkpoint("d", session="t", project_id="other"))
        store.add_receipt(receipt("e", session="t"))
        store.put_memory(memory("n", project_id="other"))
        store.put_memory(memory("u", project_id="", scope=MemoryScope.USER, superseded_by="n"))
        store.add_event(prompt("x", session="t"))
    assert [each.id for each in store.page_of_project_checkpoints("other", START, 9)] == ["d"]
    assert [each.id for each in store.page_of_session_checkpoints("t", START, 9)] == ["d"]
    assert [each.key for each in store.page_of_sessions("other", START, 9)] == ["t"]
    assert [each.id for each in store.page_of_receipts("t", START, 9)] == ["e"]
    assert [each.record for each in store.page_of_events("t", START, 9)] == ["x"]
    assert [each.id for each in store.page_of_memories(Within(("other", "")), START, 9)] == ["u", "n"]


def test_sessions_are_filtered_by_harness_and_time(store: Store) -> None:
    with store.writing():
        for number, harness in enumerate(("codex", "claude-code", "codex", "codex")):
            store.put_session(session(f"s{number}", harness=harness, last_event_at=NOON + number * MINUTE))

    def keys(**filters: Any) -> list[str]:  # noqa: ANN401
        return [each.key for each in store.page_of_sessions("", START, 9, **filters)]

    assert keys(harness="codex") == ["s3", "s2", "s0"]
    assert keys(since=NOON + MINUTE) == ["s3", "s2", "s1"]
    assert keys(harness="codex", since=NOON + MINUTE) == ["s3", "s2"]
    assert keys(harness="pi") == []
    second = store.page_of_sessions("shop", PageMark(NOON + 2 * MINUTE, "s2"), 9, "codex")
    assert [each.key for each in second] == ["s0"]


def test_a_record_of_a_log_is_no_event(store: Store) -> None:
    with store.writing():
        store.put_session(session("s1"))
        store.add_to_log("s1", [Record("r1", "", "message", NOON, "{}")])
    assert store.page_of_events("s1", START, 9) == []


def test_one_is_found_by_its_id(store: Store) -> None:
    fill(store)
    assert store.checkpoint("c2") == checkpoint("c2", created_at=NOON + 2 * MINUTE)
    assert store.receipt("b1") == receipt("b1", created_at=NOON + MINUTE)
    assert store.checkpoint("b1") is None
    assert store.receipt("c2") is None


def test_projects_are_named_as_their_latest_session_names_them(store: Store) -> None:
    assert store.projects() == []
    moved = replace(PROJECT, path="~/moved")
    with store.writing():
        store.put_session(session("s1", last_event_at=NOON))
        store.put_session(session("s2", last_event_at=NOON + MINUTE, project=moved))
        store.put_session(session("s3", project=OTHER))
    assert store.projects() == [OTHER, moved]


def test_a_project_is_known_by_the_real_path_of_its_checkpoints(store: Store) -> None:
    with store.writing():
        store.add_checkpoint(checkpoint("c1", project_id="old"))
        store.add_checkpoint(checkpoint("c2", project_id="new", created_at=NOON + MINUTE))
    assert store.project_at("/home/you/shop") == "new"
    assert store.project_at("/home/you") == ""


def test_heads_are_the_latest_of_each_kind(store: Store) -> None:
    fill(store)
    assert store.heads(1) == [
        RowHead("session", "s4", "s4", NOON + 3 * MINUTE),
        RowHead("checkpoint", "c4", "s1", NOON + 3 * MINUTE),
        RowHead("brief", "b4", "s1", NOON + 3 * MINUTE),
        RowHead("memory", "m4", "", NOON + 3 * MINUTE),
    ]
    assert len(store.heads(9)) == 20


def test_ids_are_found_by_how_they_begin_and_by_their_neighbours(store: Store) -> None:
    fill(store)
    assert store.ids_beginning(RowKind.SESSION, "s", 2) == ["s0", "s1"]
    assert store.ids_beginning(RowKind.CHECKPOINT, "c4", 9) == ["c4"]
    assert store.ids_beginning(RowKind.BRIEF, "x", 9) == store.ids_beginning(RowKind.MEMORY, "M", 9) == []
    assert store.ids_around(RowKind.MEMORY, "m1") == ("m0", "m2")
    assert store.ids_around(RowKind.BRIEF, "b0")[0] == store.ids_around(RowKind.SESSION, "s4")[1] == ""


def test_everything_is_counted(store: Store) -> None:
    assert store.counts() == StoreCounts(0, 0, 0, 0, 0, 0, 0)
    fill(store)
    with store.writing():
        store.put_session(ended("s9"))
        store.add_document(document("d1", "A text."))
    assert store.counts() == StoreCounts(
        sessions=6, live=5, events=5, checkpoints=5, receipts=5, memories=5, documents=1
    )


def test_what_was_captured_is_reported_by_harness(store: Store) -> None:
    with store.writing():
        store.put_session(session("s1", last_event_at=NOON))
        store.put_session(session("s2", last_event_at=NOON + MINUTE, phase=Phase.ORPHANED))
        store.put_session(session("s3", harness="codex"))
        store.add_receipt(receipt("first", session="s1", created_at=NOON))
        store.add_receipt(receipt("second", session="s2", created_at=NOON + 2 * MINUTE))
    assert store.captured() == [
        Captured("claude-code", 2, 1, NOON + MINUTE, NOON + 2 * MINUTE),
        Captured("codex", 1, 1, NOON, 0),
    ]


def test_what_was_taken_is_reported_by_day(store: Store) -> None:
    with store.writing():
        store.add_checkpoint(checkpoint("c1", created_at=NOON - 3 * DAY))
        store.add_checkpoint(checkpoint("c2", created_at=NOON - DAY))
        store.add_checkpoint(checkpoint("c3", created_at=NOON))
        store.add_checkpoint(checkpoint("c4", created_at=NOON))
    assert store.taken_since(NOON - 2 * DAY) == [
        DailyCheckpoints("2025-12-31", 1),
        DailyCheckpoints("2026-01-01", 2),
    ]
    assert store.taken_since(NOON) == [DailyCheckpoints("2026-01-01", 2)]
    assert store.taken_since(NOON + 1) == []


IDS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=3)


@settings(max_examples=examples(50), deadline=None)
@given(rows=st.dictionaries(IDS, st.integers(0, 3)), limit=st.integers(1, 4))
def test_whatever_the_ids_each_is_given_once(rows: dict[str, int], limit: int) -> None:
    store = open_in_memory()
    with store.writing():
        for id, at in rows.items():
            store.put_memory(memory(id, created_at=at))
    seen: list[str] = []
    behind = START
    while page := store.page_of_memories(EVERYWHERE, behind, limit):
        seen += [each.id for each in page]
        behind = mark_of(page[-1])
    assert sorted(seen) == sorted(rows)


def test_what_happened_is_counted_by_stretches_of_time(store: Store) -> None:
    fill(store)
    with store.writing():
        store.add_receipt(receipt("start", reason=Reason.STARTUP, created_at=NOON + MINUTE))
        store.add_receipt(receipt("summary", reason=Reason.SUMMARY, created_at=NOON + MINUTE))
        # The brief of the first window got lost, and was given again.
        store.add_receipt(receipt("late", window=0, reason=Reason.LATE, created_at=NOON + MINUTE))
    days = store.activity([NOON, NOON + 2 * MINUTE, NOON + 9 * MINUTE])
    assert days == [Activity(2, 2, 2, 1, 2), Activity(3, 3, 3, 0, 3)]
    assert store.activity([NOON]) == []


def test_the_briefs_that_a_session_gave_to_others_are_listed(store: Store) -> None:
    with store.writing():
        store.put_session(session("s1"))
        store.put_session(session("s2"))
        store.add_receipt(receipt("own", session="s1", predecessor="s1"))
        store.add_receipt(receipt("first", session="s2", predecessor="s1"))
        store.add_receipt(receipt("second", session="s2", predecessor="s1", created_at=NOON + 1))
    assert [each.id for each in store.receipts_made_from("s1", 9)] == ["second", "first"]
    assert [each.id for each in store.receipts_made_from("s1", 1)] == ["second"]
