"""To-dos: the list that an agent keeps, told as a whole or one entry at a time, and what of it is open."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from holdfast.core.events.event import Todo
from holdfast.core.evidence.trail import TODOS_KEPT, Trail

COMPLETED: Final = "completed"
IN_PROGRESS: Final = "in_progress"
PENDING: Final = "pending"
_DELETED: Final = "deleted"


STEPS_LEFT: Final = 240
"""A list that was left alone for so long, while something else was asked for, is not what is worked on."""
STEPS_FORGOTTEN: Final = 480
"""One that was left alone for this long is not kept any more, whatever is asked for."""


def still_open(trail: Trail) -> tuple[Todo, ...]:
    """What is left to do of a list that the agent still keeps; sessions of old do not say since when."""
    left_alone = trail.steps - trail.planned_step if trail.planned_at else 0
    asked_since = trail.goal is not None and trail.goal.at > trail.planned_at
    if left_alone > (STEPS_LEFT if asked_since else STEPS_FORGOTTEN):
        return ()
    return tuple(todo for todo in trail.todos if todo.status != COMPLETED)


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
