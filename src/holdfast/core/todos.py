"""To-dos: the list that an agent keeps, where a harness tells of one entry at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from holdfast.core.events import Todo
from holdfast.core.trail import TODOS_KEPT

COMPLETED: Final = "completed"
IN_PROGRESS: Final = "in_progress"
PENDING: Final = "pending"
_DELETED: Final = "deleted"


def with_entry(todos: tuple[Todo, ...], entry: Todo) -> tuple[Todo, ...]:
    """The list with one entry added, changed or taken out; one that is not known and says nothing is none."""
    before = next((todo for todo in todos if todo.id == entry.id), None)
    if entry.status == _DELETED:
        return tuple(todo for todo in todos if todo is not before)
    if before is None:
        added = replace(entry, status=entry.status or PENDING)
        return _capped((*todos, added)) if entry.text else todos
    after = replace(before, text=entry.text or before.text, status=entry.status or before.status)
    return tuple(after if todo is before else todo for todo in todos)


def _capped(todos: tuple[Todo, ...]) -> tuple[Todo, ...]:
    """Over the cap, what was completed first goes first."""
    if len(todos) <= TODOS_KEPT:
        return todos
    victim = next((todo for todo in todos if todo.status == COMPLETED), todos[0])
    return tuple(todo for todo in todos if todo is not victim)
