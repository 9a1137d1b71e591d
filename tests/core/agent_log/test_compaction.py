"""Compaction: full when the reserve is touched, a checkpoint before a model, no call without its result."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.agent_log.compaction import (
    CompactionPolicy,
    FromCheckpoint,
    FromModel,
    checkpoint_text,
    compaction_record,
    compaction_without_model,
    covered_by,
    improved_compaction_record,
    is_full,
    old_checkpoint,
    plan,
)
from holdfast.core.agent_log.context import SUMMARY, AgentTurn, Image, Text, Turn, turns_of, window_of
from holdfast.core.agent_log.record_bodies import Compaction, Rolling, body
from holdfast.core.agent_log.records import Log, Record, new_record, path_to
from holdfast.core.agent_log.summary import ByRule, Written
from tests.core.logs import LOGS, NOON, answered, asked, compacted, returned

WINDOW = 100_000
FEW = CompactionPolicy(keep_percent=0, keep_messages=2)


def checkpoint(id: str, parent: str, tokens: int, summary: str = "so far") -> Record:
    said = {"summary": summary, "tokensAtCheckpoint": tokens, "topics": ["sum up"], "keyDecisions": ["go"]}
    return new_record("checkpoint", id, parent, NOON, {"checkpoint": said})


def turns(count: int, start: int = 0, parent: str = "") -> list[Record]:
    """So many questions, each with its answer: `q0`, `a0`, `q1`, …"""
    records: list[Record] = []
    for number in range(start, start + count):
        records.append(asked(f"q{number}", records[-1].id if records else parent, f"question {number}"))
        records.append(answered(f"a{number}", f"q{number}", f"answer {number}"))
    return records


def texts(path: Sequence[Record]) -> list[str]:
    return [part.text for turn in turns_of(path) for part in turn.parts if isinstance(part, Text)]


@pytest.mark.parametrize(
    ("total", "window", "full"),
    [(95_999, 100_000, False), (96_000, 100_000, True), (120_000, 100_000, True), (0, 100_000, False)],
)
def test_a_window_is_full_when_only_the_reserve_is_left(total: int, window: int, full: bool) -> None:  # noqa: FBT001 - a column
    assert is_full(total, window, CompactionPolicy()) is full


def test_of_a_small_window_half_may_be_used() -> None:
    assert not is_full(1_999, 4_000, CompactionPolicy())
    assert is_full(2_000, 4_000, CompactionPolicy())


def test_a_checkpoint_that_covers_more_than_half_stands_for_the_rest() -> None:
    path = [*turns(4), checkpoint("c", "a3", 60_001), *turns(2, 4, "c")]
    chosen = plan(path, 100_000, WINDOW, FEW)
    assert isinstance(chosen, FromCheckpoint)
    assert chosen.first_kept == "q4"
    assert chosen.summary == "so far\n\nTopics:\n- sum up\n\nKey decisions:\n- go"


@pytest.mark.parametrize(
    ("path", "policy"),
    [
        ([*turns(4), checkpoint("c", "a3", 50_000), *turns(2, 4, "c")], FEW),
        ([*turns(4), checkpoint("c", "a3", 60_000)], CompactionPolicy(prefer_checkpoint=False)),
        (
            [*turns(9), checkpoint("c", "a8", 90_000), compacted("x", "c", "old", "q8"), *turns(4, 9, "x")],
            FEW,
        ),
        ([*turns(4), new_record("checkpoint", "c", "a3", NOON, {"checkpoint": "?"}), *turns(2, 4, "c")], FEW),
        (turns(6), FEW),
    ],
    ids=["only half", "not preferred", "of the window before", "unreadable", "none"],
)
def test_otherwise_somebody_has_to_sum_up(path: list[Record], policy: CompactionPolicy) -> None:
    assert isinstance(plan(path, 100_000, WINDOW, policy), FromModel)


def test_what_a_checkpoint_does_not_cover_stays_whatever_the_policy() -> None:
    path = [*turns(3), checkpoint("c", "a2", 60_000), *turns(9, 3, "c")]
    chosen = plan(path, 100_000, WINDOW, FEW)
    assert chosen.first_kept == "q3"


def test_a_checkpoint_between_a_call_and_its_result_keeps_the_call() -> None:
    path = [
        *turns(3),
        asked("q", "a2", "look"),
        answered("x", "q", "", "call"),
        checkpoint("c", "x", 90_000),
        returned("r", "c", "call", "seen"),
    ]
    chosen = plan(path, 100_000, WINDOW, FEW)
    assert chosen.first_kept == "x"
    assert isinstance(chosen, FromCheckpoint)


@pytest.mark.parametrize(
    ("count", "policy", "first_kept"),
    [
        (50, CompactionPolicy(keep_percent=20, keep_messages=6), "q40"),
        (10, CompactionPolicy(keep_percent=20, keep_messages=6), "q7"),
        (10, CompactionPolicy(keep_percent=20, keep_messages=7), "a6"),
        (10, CompactionPolicy(keep_percent=0, keep_messages=0), "a9"),
    ],
)
def test_messages_stay_by_percentage_and_at_least_so_many(
    count: int, policy: CompactionPolicy, first_kept: str
) -> None:
    chosen = plan(turns(count), 100_000, WINDOW, policy)
    assert chosen.first_kept == first_kept


def test_fewer_stay_where_they_fill_more_than_half_of_the_window() -> None:
    large = [
        asked("q", "a8", "look"),
        answered("x", "q", "", "call"),
        returned("r", "x", "call", "z" * 10_000),
        answered("end", "r", "done"),
    ]
    chosen = plan([*turns(9), *large], 100_000, WINDOW, CompactionPolicy(keep_percent=50))
    assert chosen.first_kept == "end"


@pytest.mark.parametrize(("size", "first_kept"), [(10_000, "q"), (200_000, "")])
def test_the_last_turn_stays_unless_it_fills_the_window_alone(size: int, first_kept: str) -> None:
    path = [*turns(20), asked("q", "a19", "z" * size)]
    total = 100_000 if size > 100_000 else 120_000
    chosen = plan(path, total, WINDOW, FEW)
    assert chosen.first_kept == first_kept


def test_where_nothing_can_be_cut_nothing_stays() -> None:
    path = [asked("q", "", "z" * 10_000)]
    chosen = plan(path, 100_000, WINDOW, FEW)
    assert chosen == FromModel(tuple(path), "", "")
    record = compaction_record("c", path[-1], NOON, chosen.first_kept, ByRule("all of it"), 100_000)
    assert texts([*path, record]) == [SUMMARY.format("all of it")]


def test_a_second_compaction_goes_on_from_the_first() -> None:
    path = [*turns(5), compacted("x", "a4", "first summary", "q4"), *turns(5, 5, "x")]
    chosen = plan(path, 100_000, WINDOW, FEW)
    assert isinstance(chosen, FromModel)
    assert chosen.earlier == "first summary"
    assert [record.id for record in chosen.covered][:3] == ["q4", "a4", "q5"]


def test_the_record_says_all_that_other_readers_need() -> None:
    path = [*turns(4), checkpoint("c", "a3", 90_000), *turns(1, 4, "c")]
    chosen = plan(path, 100_000, WINDOW, FEW)
    record = compaction_record("1_ab", path[-1], NOON, chosen.first_kept, ByRule("so far"), 100_000)
    assert json.loads(record.line) == {
        "type": "compaction",
        "id": "1_ab",
        "parentId": "a4",
        "timestamp": "2026-01-01T12:00:00.000Z",
        "summary": "so far",
        "firstKeptEntryId": "q4",
        "tokensBefore": 100_000,
        "fromCheckpoint": True,
    }


def test_the_record_says_why_no_model_wrote_it() -> None:
    last = turns(6)[-1]
    bodies = [
        json.loads(compaction_record("c", last, NOON, "q5", summary, 9).line)
        for summary in (ByRule("s", "timed out"), ByRule("s"), Written("s", "small"))
    ]
    assert [each["fromCheckpoint"] for each in bodies] == [True, True, False]
    assert [each.get("details") for each in bodies] == [{"noModel": "timed out"}, None, None]


def test_a_summary_that_is_owed_takes_the_place_of_the_one_that_stood_in() -> None:
    before = turns(6)
    chosen = plan(before, 100_000, WINDOW, FEW)
    owed = compaction_record("c", before[-1], NOON, chosen.first_kept, ByRule("by rule", "timed out"), 9)
    path = [*before, owed, *turns(1, 6, "c")]
    assert compaction_without_model(path) == owed
    assert covered_by(owed, before) == chosen
    better = improved_compaction_record("c2", path[-1], NOON, owed, Written("by a model", "small"))
    assert texts([*path, better]) == [SUMMARY.format("by a model"), *texts(path)[1:]]
    assert compaction_without_model([*path, better]) is None


def test_nothing_is_owed_where_no_model_was_to_write() -> None:
    by_rule = compaction_record("c", turns(6)[-1], NOON, "q5", ByRule("s"), 9)
    theirs = compacted("c", "a5", "s", "q5", details=["anything"])
    assert (
        compaction_without_model([*turns(6), by_rule])
        is compaction_without_model([*turns(6), theirs])
        is compaction_without_model(turns(6))
        is None
    )


def test_a_checkpoint_that_was_written_later_covers_only_what_it_says() -> None:
    said = {"summary": "so far", "tokensAtCheckpoint": 60_000, "upToEntryId": "a2"}
    late = new_record("checkpoint", "c", "a4", NOON, {"checkpoint": said})
    chosen = plan([*turns(5), late, *turns(1, 5, "c")], 100_000, WINDOW, FEW)
    assert (type(chosen), chosen.first_kept) == (FromCheckpoint, "q3")


def test_the_old_checkpoint_is_the_last_of_this_window() -> None:
    path = [*turns(1), checkpoint("c1", "a0", 9, "one"), checkpoint("c2", "c1", 10, "two")]
    assert old_checkpoint(path).startswith("two")
    assert old_checkpoint([*path, compacted("x", "c2", "s", "x")]) == ""


def test_a_checkpoint_does_not_say_twice_what_its_summary_says() -> None:
    assert (
        checkpoint_text(Rolling("We go.", topics=["Rust"], decisions=["We go."]))
        == "We go.\n\nTopics:\n- Rust"
    )


def results(turns: Sequence[Turn]) -> list[tuple[tuple[Text | Image, ...], ...]]:
    """What came back to each answer; what never came back says so."""
    return [tuple(each.parts for each in turn.results) for turn in turns if isinstance(turn, AgentTurn)]


@given(LOGS, st.integers(0, 60), st.integers(0, 10))
def test_no_compaction_of_any_log_parts_a_call_from_its_result(log: Log, percent: int, least: int) -> None:
    path = path_to(log.records)
    if not path:
        return
    before = turns_of(path)
    chosen = plan(path, 100_000, WINDOW, CompactionPolicy(keep_percent=percent, keep_messages=least))
    record = compaction_record("new", path[-1], NOON, chosen.first_kept, ByRule("sum"), 100_000)
    after = turns_of([*path, record])
    told_before, told_after = results(before), results(after)
    assert told_after == told_before[len(told_before) - len(told_after) :]


@given(LOGS)
def test_a_plan_covers_what_it_does_not_keep(log: Log) -> None:
    path = path_to(log.records)
    if not path:
        return
    records = window_of(path).records
    chosen = plan(path, 100_000, WINDOW, CompactionPolicy())
    if isinstance(chosen, FromModel):
        rest = records[len(chosen.covered) :]
        assert (*chosen.covered, *rest) == records
        assert (rest[0].id if rest else "") == chosen.first_kept
    compaction = body(compaction_record("new", path[-1], NOON, chosen.first_kept, ByRule("sum"), 7))
    assert isinstance(compaction, Compaction)
    assert compaction.first_kept == (chosen.first_kept or "new")
