"""The list of to-dos, told one entry at a time."""

from __future__ import annotations

import pytest

from holdfast.core.events import Todo
from holdfast.core.todos import with_entry
from holdfast.core.trail import TODOS_KEPT

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
    assert with_entry((ONE, TWO), entry) == after


def test_a_long_list_forgets_first_what_was_completed_first() -> None:
    done = tuple(Todo(f"old {number}", "completed", f"d{number}") for number in range(3))
    todos = (*(Todo(f"open {number}", "pending", f"o{number}") for number in range(TODOS_KEPT - 3)), *done)
    for number in range(3):
        todos = with_entry(todos, Todo(f"new {number}", "", f"n{number}"))
    assert len(todos) == TODOS_KEPT
    assert not set(done) & set(todos)
