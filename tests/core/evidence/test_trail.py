"""The trail's to-dos, and the fast copy of a trail."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.events.event import Origin, Todo, TodosChanged
from holdfast.core.events.world import Project
from holdfast.core.evidence.follow import follow
from holdfast.core.evidence.trail import (
    STEPS_FORGOTTEN,
    STEPS_LEFT,
    TODOS_KEPT,
    Trail,
    Utterance,
    fast_replace,
    open_todos,
    with_todo,
)
from holdfast.core.session.session import begin
from tests.core.scenes import KEY, NOON, prompt, said

ONE, TWO = Todo("Write", "pending", "1"), Todo("Test", "in_progress", "2")


@pytest.mark.parametrize(
    ("entry", "after"),
    [
        (Todo("Ship", "", "3"), (ONE, TWO, Todo("Ship", "pending", "3"))),
        (Todo("Ship", "in_progress", "3"), (ONE, TWO, Todo("Ship", "in_progress", "3"))),
        (Todo("", "completed", "1"), (Todo("Write", "completed", "1"), TWO)),
        (Todo("Write well", "", "1"), (Todo("Write well", "pending", "1"), TWO)),
        (Todo("", "deleted", "1"), (TWO,)),
        (Todo("", "deleted", "9"), (ONE, TWO)),
        (Todo("", "completed", "9"), (ONE, TWO)),
    ],
)
def test_one_entry_changes_and_the_others_stay(entry: Todo, after: tuple[Todo, ...]) -> None:
    assert with_todo((ONE, TWO), entry) == after


def test_a_long_list_forgets_first_what_was_completed_first() -> None:
    done = tuple(Todo(f"old {number}", "completed", f"d{number}") for number in range(3))
    todos = (*(Todo(f"open {number}", "pending", f"o{number}") for number in range(TODOS_KEPT - 3)), *done)
    for number in range(3):
        todos = with_todo(todos, Todo(f"new {number}", "", f"n{number}"))
    assert len(todos) == TODOS_KEPT
    assert not set(done) & set(todos)


# ---------------------------------------------------------------- how long a list is kept

DONE = Todo("Read", "completed", "0")


def kept(steps: int, goal: int) -> Trail:
    """A list that was changed at noon, at step 5; the goal came so much later, and so many steps followed."""
    asked = Utterance("Write the reader", NOON + goal)
    return Trail(goal=asked, todos=(DONE, ONE, TWO), planned_at=NOON, planned_step=5, steps=5 + steps)


@pytest.mark.parametrize(
    ("trail", "left"),
    [
        (kept(steps=STEPS_LEFT, goal=1), (ONE, TWO)),
        (kept(steps=STEPS_LEFT + 1, goal=1), ()),
        (kept(steps=STEPS_LEFT + 1, goal=-1), (ONE, TWO)),
        (kept(steps=STEPS_FORGOTTEN, goal=-1), (ONE, TWO)),
        (kept(steps=STEPS_FORGOTTEN + 1, goal=-1), ()),
        (Trail(todos=(DONE, ONE), steps=900), (ONE,)),
    ],
)
def test_a_list_that_was_left_alone_is_not_what_is_worked_on(trail: Trail, left: tuple[Todo, ...]) -> None:
    assert open_todos(trail) == left


def test_only_what_changes_the_list_makes_it_new() -> None:
    listed = TodosChanged(session=KEY, record="t1", at=NOON, origin=Origin.ASSISTANT, todos=(ONE,))
    trail = Trail()
    for event in (prompt("Write it", "p1"), said("I begin.", "a1"), listed, said("Half is there.", "a2")):
        trail = follow(trail, event)
    assert (trail.planned_at, trail.planned_step) == (NOON, 1)
    again = TodosChanged(session=KEY, record="t2", at=NOON + 1, origin=Origin.ASSISTANT, todos=(ONE,))
    assert follow(trail, again).planned_step == 1
    changed = TodosChanged(session=KEY, record="t3", at=NOON + 2, origin=Origin.ASSISTANT, todos=(ONE, TWO))
    assert follow(trail, changed).planned_step == 2


SESSION = begin("s1", "any", Project("/proj", "/proj", "", "", "/proj"), 1_000)


def test_a_renewed_session_differs_in_the_given_fields_alone() -> None:
    after = fast_replace(SESSION, prompt_count=2, trail=Trail(steps=3))
    assert after == replace(SESSION, prompt_count=2, trail=Trail(steps=3))
    assert SESSION.prompt_count == 0


def test_a_renewed_trail_differs_in_the_given_fields_alone() -> None:
    trail, goal = Trail(steps=3), Utterance("make it faster", 1_000)
    assert fast_replace(trail, goal=goal) == replace(trail, goal=goal)
    assert trail.goal is None
