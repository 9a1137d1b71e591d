"""Context: the window that a leaf stands in, told so that no call is ever without its result."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given

from holdfast.core.agent_log.context import (
    BRANCH,
    FLUSH,
    NO_OUTPUT,
    NO_RESULT,
    SUMMARY,
    UNKNOWN_BEFORE,
    AgentTurn,
    Image,
    Result,
    Text,
    ToolCall,
    Turn,
    UserTurn,
    turns_of,
    window_of,
    without_past,
)
from holdfast.core.agent_log.records import Log, Record, new_record, path_to
from tests.core.logs import LOGS, NOON, answered, asked, chain, compacted, message, returned

FIRST_TURNS = chain(("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "four"))


def texts_in_turns(records: Sequence[Record]) -> list[str]:
    """Every text of the turns, in their order."""
    return [part.text for turn in turns_of(records) for part in turn.parts if isinstance(part, Text)]


def test_without_a_compaction_all_is_shown() -> None:
    assert turns_of(FIRST_TURNS) == (
        UserTurn((Text("one"),)),
        AgentTurn((Text("two"),)),
        UserTurn((Text("three"),)),
        AgentTurn((Text("four"),)),
    )
    assert window_of(FIRST_TURNS).whole


def test_nothing_is_shown_of_nothing() -> None:
    assert turns_of(()) == ()


# Compactions and resets


def test_a_summary_stands_for_what_came_before_the_first_kept_record() -> None:
    log = [*FIRST_TURNS, compacted("c", "3", "so far", "2"), asked("5", "c", "five")]
    assert texts_in_turns(log) == [SUMMARY.format("so far"), "three", "four", "five"]


def test_only_the_last_compaction_counts() -> None:
    log = [
        *FIRST_TURNS,
        compacted("c1", "3", "first", "2"),
        asked("5", "c1", "five"),
        compacted("c2", "5", "second", "3"),
        asked("6", "c2", "six"),
    ]
    assert texts_in_turns(log) == [SUMMARY.format("second"), "four", "five", "six"]


@pytest.mark.parametrize("first_kept", ["", "c", "gone"])
def test_a_compaction_that_keeps_nothing_is_followed_by_what_came_after(first_kept: str) -> None:
    log = [*FIRST_TURNS, compacted("c", "3", "so far", first_kept), asked("5", "c", "five")]
    assert texts_in_turns(log) == [SUMMARY.format("so far"), "five"]


def test_a_compaction_on_another_branch_does_not_count() -> None:
    log = [*FIRST_TURNS, compacted("c", "1", "elsewhere", "0"), asked("5", "3", "five")]
    assert texts_in_turns(path_to(log)) == ["one", "two", "three", "four", "five"]
    assert texts_in_turns(path_to(log, "c")) == [SUMMARY.format("elsewhere"), "one", "two"]


def test_ids_are_never_compared() -> None:
    log = [asked("z", "", "old"), asked("a", "z", "kept"), compacted("0", "a", "so far", "a")]
    assert texts_in_turns(log) == [SUMMARY.format("so far"), "kept"]


def test_a_compaction_that_cannot_be_read_compacts_nothing() -> None:
    log = [*FIRST_TURNS, new_record("compaction", "c", "3", NOON, {"summary": 5})]
    assert texts_in_turns(log) == ["one", "two", "three", "four"]


def test_after_a_reset_the_conversation_begins_anew() -> None:
    reset = new_record("reset", "r", "c", NOON, {"reason": "new"})
    log = [*FIRST_TURNS, compacted("c", "3", "so far", "2"), reset, asked("5", "r", "five")]
    assert texts_in_turns(log) == ["five"]
    again = [*log, compacted("c2", "5", "after", "0"), asked("6", "c2", "six")]
    assert texts_in_turns(again) == [SUMMARY.format("after"), "six"]


def test_what_is_kept_never_begins_between_a_call_and_its_result() -> None:
    log = [
        asked("1", "", "go"),
        answered("2", "1", "looking", "a", "b"),
        returned("3", "2", "a", "A"),
        returned("4", "3", "b", "B"),
        compacted("c", "4", "so far", "4"),
    ]
    summary, kept = turns_of(log)
    assert summary == UserTurn((Text(SUMMARY.format("so far")),))
    assert kept == AgentTurn(
        (Text("looking"), ToolCall("a", "bash", '{"n":"a"}'), ToolCall("b", "bash", '{"n":"b"}')),
        (Result("a", (Text("A"),), ok=True), Result("b", (Text("B"),), ok=True)),
    )


# Whether enough of a long log is here


@pytest.mark.parametrize(
    ("log", "whole"),
    [
        ([asked("2", "1", "x")], False),
        ([asked("2", "1", "x"), compacted("c", "2", "s", "2")], True),
        ([asked("2", "1", "x"), compacted("c", "2", "s", "1")], False),
        ([asked("2", "1", "x"), compacted("c", "2", "s", "c")], True),
        ([returned("2", "1", "a", "A"), compacted("c", "2", "s", "2")], False),
        ([asked("2", "1", "x"), new_record("reset", "r", "2", NOON, {})], True),
    ],
)
def test_a_window_knows_whether_something_before_could_belong_to_it(log: list[Record], whole: bool) -> None:  # noqa: FBT001 - a column of the table
    assert window_of(log).whole is whole


# Calls and results


def test_a_call_that_never_returned_says_so() -> None:
    log = [asked("1", "", "go"), answered("2", "1", "", "a"), asked("3", "2", "well?")]
    assert turns_of(log)[1] == AgentTurn(
        (ToolCall("a", "bash", '{"n":"a"}'),), (Result("a", (Text(NO_RESULT),), ok=False),)
    )


def test_a_result_that_comes_late_stands_with_its_call() -> None:
    log = [
        asked("1", "", "go"),
        answered("2", "1", "", "a"),
        asked("3", "2", "and hurry"),
        returned("4", "3", "a", "A", isError=True),
    ]
    _, answer, hurry = turns_of(log)
    assert isinstance(answer, AgentTurn)
    assert answer.results == (Result("a", (Text("A"),), ok=False),)
    assert hurry == UserTurn((Text("and hurry"),))


def test_a_result_without_a_call_is_not_shown() -> None:
    assert texts_in_turns([asked("1", "", "go"), returned("2", "1", "gone", "A")]) == ["go"]


def test_a_result_that_comes_twice_is_shown_once() -> None:
    log = [
        asked("1", "", "go"),
        answered("2", "1", "", "a"),
        returned("3", "2", "a", ""),
        returned("4", "3", "a", "later"),
    ]
    answer = turns_of(log)[1]
    assert isinstance(answer, AgentTurn)
    assert answer.results == (Result("a", (Text(NO_OUTPUT),), ok=True),)


def test_the_same_call_id_in_two_answers_is_two_calls() -> None:
    log = [
        asked("1", "", "go"),
        answered("2", "1", "", "a"),
        returned("3", "2", "a", "first"),
        answered("4", "3", "", "a"),
        returned("5", "4", "a", "second"),
    ]
    results = [turn.results[0] for turn in turns_of(log) if isinstance(turn, AgentTurn)]
    assert results == [Result("a", (Text("first"),), ok=True), Result("a_2", (Text("second"),), ok=True)]


def test_the_calls_of_an_answer_that_was_cut_off_were_never_made() -> None:
    log = [asked("1", "", "go"), answered("2", "1", "I will", "a", stopReason="aborted")]
    assert turns_of(log)[1] == AgentTurn((Text("I will"),))


# What else stands in a log


def test_what_is_not_said_to_the_model_is_not_shown() -> None:
    silent = [
        new_record(
            kind, kind, "1", NOON, {"content": "x", "summary": "x", "customType": "x", "checkpoint": {}}
        )
        for kind in ("custom", "checkpoint", "model_change", "thinking_level_change", "surprise")
    ]
    hidden = message("2", "1", "bashExecution", None, command="ls", output="x", excludeFromContext=True)
    assert texts_in_turns([asked("1", "", "hi"), *silent, hidden, message("3", "1", "system", "rules")]) == [
        "hi"
    ]


def test_what_stands_for_a_person_is_shown_in_their_role() -> None:
    log = [
        message("1", "", "bashExecution", None, command="make", output="done\n", exitCode=2),
        new_record("custom_message", "2", "1", NOON, {"customType": "x", "content": "from a program"}),
        new_record("branch_summary", "3", "2", NOON, {"summary": "tried it"}),
        message("4", "3", "user", [{"type": "image", "data": "AA", "mimeType": "image/png"}]),
    ]
    assert turns_of(log) == (
        UserTurn((Text("Ran `make` (exit 2):\n\ndone"),)),
        UserTurn((Text("from a program"),)),
        UserTurn((Text(BRANCH.format("tried it")),)),
        UserTurn((Image("image/png", "AA"),)),
    )


def test_a_conversation_that_begins_with_an_answer_says_that_something_is_missing() -> None:
    assert texts_in_turns([answered("1", "", "hello")]) == [UNKNOWN_BEFORE, "hello"]


def test_an_edit_changes_what_is_shown_and_the_last_one_counts() -> None:
    def edit(id: str, target: str, replacement: object) -> Record:
        return new_record("context_edit", id, "3", NOON, {"targetId": target, "replacement": replacement})

    log = [
        *FIRST_TURNS,
        edit("e1", "0", {"content": "ONE"}),
        edit("e2", "1", {"content": "TWO"}),
        edit("e3", "1", None),
        edit("e4", "2", {"content": [{"type": "text", "text": "THREE"}]}),
    ]
    assert texts_in_turns(log) == ["ONE", "THREE", "four"]


def test_an_agent_that_had_nothing_to_say_is_not_quoted_and_our_question_goes_with_it() -> None:
    question = new_record("custom_message", "q", "3", NOON, {"customType": FLUSH, "content": "Write it down"})
    assert texts_in_turns(
        [*FIRST_TURNS, question, answered("5", "q", " NO_REPLY\n"), asked("6", "5", "on")]
    ) == [*("one", "two", "three", "four", "on")]
    assert texts_in_turns([*FIRST_TURNS, question, answered("5", "q", "Noted.")])[-2:] == [
        "Write it down",
        "Noted.",
    ]


@given(LOGS)
def test_any_log_gives_turns_in_which_every_call_has_its_result(log: Log) -> None:
    turns: tuple[Turn, ...] = turns_of(path_to(log.records))
    assert not turns or isinstance(turns[0], UserTurn)
    ids: list[str] = []
    for turn in turns:
        assert turn.parts
        if isinstance(turn, AgentTurn):
            calls = [part.id for part in turn.parts if isinstance(part, ToolCall)]
            assert [result.call for result in turn.results] == calls
            assert all(result.parts for result in turn.results)
            ids += calls
    assert len(set(ids)) == len(ids)


@given(LOGS)
def test_what_is_past_is_not_missed(log: Log) -> None:
    path = path_to(log.records)
    rest = without_past(path)
    assert turns_of(rest) == turns_of(path)
    assert path[len(path) - len(rest) :] == rest
    assert without_past(rest) == rest


@given(LOGS)
def test_a_record_more_only_adds_to_what_was_shown_within_a_window(log: Log) -> None:
    """So that a provider's prompt cache holds: what was sent before is the beginning of what is sent now."""
    path = path_to(log.records)
    before = turns_of(path)
    after = turns_of([*path, asked("new", path[-1].id if path else "", "more")])
    assert after[: len(before)] == before
    assert after[len(before) :] == (UserTurn((Text("more"),)),)
