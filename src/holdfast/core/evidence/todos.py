"""To-dos: the agent's list, reported as a whole or one entry at a time, and which entries are open."""

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
"""After this many steps without a change, a list older than the current goal is not being worked on."""
STEPS_FORGOTTEN: Final = 480
"""After this many steps without a change, a list is abandoned, whatever the goal."""


def still_open(trail: Trail) -> tuple[Todo, ...]:
    """The open entries of a list that the agent still uses; old sessions do not say when it changed."""
    unchanged_for = trail.steps - trail.planned_step if trail.planned_at else 0
    has_newer_goal = trail.goal is not None and trail.goal.at > trail.planned_at
    if unchanged_for > (STEPS_LEFT if has_newer_goal else STEPS_FORGOTTEN):
        return ()
    return tuple(todo for todo in trail.todos if todo.status != COMPLETED)


def with_entry(todos: tuple[Todo, ...], entry: Todo) -> tuple[Todo, ...]:
    """The list with one entry added, changed or removed; an unknown entry without text is ignored."""
    before = next((todo for todo in todos if todo.id == entry.id), None)
    if entry.status == _DELETED:
        return tuple(todo for todo in todos if todo is not before)
    if before is None:
        added = replace(entry, status=entry.status or PENDING)
        return _capped((*todos, added)) if entry.text else todos
    after = replace(before, text=entry.text or before.text, status=entry.status or before.status)
    return tuple(after if todo is before else todo for todo in todos)


def _capped(todos: tuple[Todo, ...]) -> tuple[Todo, ...]:
    """At most `TODOS_KEPT` entries; the oldest completed one is dropped first."""
    if len(todos) <= TODOS_KEPT:
        return todos
    victim = next((todo for todo in todos if todo.status == COMPLETED), todos[0])
    return tuple(todo for todo in todos if todo is not victim)
