"""What a session's events amount to."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events import Action, Event, Origin, Todo, TodosChanged
from holdfast.core.evidence import (
    COMMANDS_KEPT,
    FILES_KEPT,
    PROMPTS_KEPT,
    CommandRun,
    FileTouch,
    Trail,
    follow,
)
from tests.core.scenes import KEY, NOON, called, prompt, returned, said


def trail(*events: Event) -> Trail:
    found = Trail()
    for event in events:
        found = follow(found, event)
    return found


def test_a_file_is_known_by_the_strongest_thing_done_to_it() -> None:
    found = trail(
        called("1", Action.WRITE, "a.py"),
        returned("1"),
        called("2", Action.READ, "a.py"),
        returned("2", at=NOON + 5),
    )
    assert found.files == (FileTouch("a.py", Action.WRITE, 1, NOON + 5),)


def test_only_edits_count_as_edits() -> None:
    found = trail(
        called("1", Action.READ, "a.py"),
        returned("1"),
        called("2", Action.EDIT, "a.py"),
        returned("2"),
        called("3", Action.READ, "a.py"),
        returned("3"),
        called("4", Action.EDIT, "a.py"),
        returned("4"),
    )
    assert found.files == (FileTouch("a.py", Action.EDIT, 2, NOON),)


def test_an_edit_that_failed_touched_nothing() -> None:
    assert trail(called("1", Action.EDIT, "a.py"), returned("1", ok=False)).files == ()


def test_a_file_that_was_only_read_is_not_said_to_be_edited() -> None:
    assert trail(called("1", Action.READ, "a.py"), returned("1")).files[0].action is Action.READ


def test_a_subagents_files_are_kept_apart() -> None:
    found = trail(called("1", Action.EDIT, "a.py", agent="a1"), returned("1"))
    assert found.files == ()
    assert found.subagent_files == (FileTouch("a.py", Action.EDIT, 1, NOON),)


def test_the_latest_outcome_of_a_command_wins() -> None:
    found = trail(
        called("1", Action.RUN, "make test"),
        returned("1", ok=False, exit_status=2, text="make: *** [test] Error 2"),
        called("2", Action.RUN, "make test"),
        returned("2", exit_status=0, at=NOON + 9),
    )
    assert found.commands == (CommandRun("make test", NOON + 9, ok=True, exit_status=0),)


def test_a_failure_keeps_the_line_that_says_why() -> None:
    text = "Exit code 1\nrunning 3 tests\nE   AssertionError: 3 != 4\n1 failed, 2 passed"
    found = trail(called("1", Action.RUN, "pytest"), returned("1", ok=False, exit_status=1, text=text))
    assert found.commands[0].reason == "E AssertionError: 3 != 4"


def test_a_command_that_never_returned_is_still_known() -> None:
    assert trail(called("1", Action.RUN, "make serve")).commands == (CommandRun("make serve", NOON),)


def test_the_newest_todo_list_stands() -> None:
    first = TodosChanged(
        session=KEY, record="1", at=NOON, origin=Origin.ASSISTANT, todos=(Todo("a", "pending"),)
    )
    second = replace(first, record="2", todos=(Todo("a", "completed"), Todo("b", "pending")))
    assert trail(first, second).todos == second.todos


def test_the_first_prompt_outlives_all_others() -> None:
    found = trail(*(prompt(f"prompt {n}", f"p{n}") for n in range(PROMPTS_KEPT + 5)))
    assert found.first_prompt is not None
    assert found.first_prompt.text == "prompt 0"
    assert len(found.prompts) == PROMPTS_KEPT


def test_the_last_statements_are_kept() -> None:
    found = trail(*(said(f"statement {n}", f"a{n}") for n in range(9)), said("   ", "a9"))
    assert [one.text for one in found.statements] == [f"statement {n}" for n in range(3, 9)]


def test_over_the_cap_files_that_were_only_read_go_first() -> None:
    edits = [(called(f"e{n}", Action.EDIT, f"edited{n}.py"), returned(f"e{n}")) for n in range(5)]
    reads = [(called(f"r{n}", Action.READ, f"read{n}.py"), returned(f"r{n}")) for n in range(FILES_KEPT + 5)]
    found = trail(*(event for pair in [*edits, *reads] for event in pair))
    assert len(found.files) == FILES_KEPT
    assert {f"edited{n}.py" for n in range(5)} <= {touch.path for touch in found.files}


@given(st.lists(st.sampled_from(["ls", "make", "pytest -q", "git status"]), max_size=80))
def test_a_trail_stays_small_whatever_happens(commands: list[str]) -> None:
    found = Trail()
    for number, command in enumerate(commands):
        found = follow(found, called(str(number), Action.RUN, f"{command} {number}"))
    assert len(found.commands) <= COMMANDS_KEPT


@given(st.integers(0, 5))
def test_seeing_events_again_changes_nothing(times: int) -> None:
    events = (prompt("do it", "p1"), called("1", Action.RUN, "make"), returned("1"), said("done", "a1"))
    once = trail(*events)
    found = once
    for _ in range(times):
        found = follow(found, events[0])
        found = follow(found, events[2])
        found = follow(found, events[3])
    assert found == once
