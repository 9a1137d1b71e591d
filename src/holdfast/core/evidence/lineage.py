"""Lineage: what a session that continues another one inherits of its evidence.

It inherits what still holds: goal, prompts, notes, open to-dos and failures that nothing has resolved, each
marked with the session that it came from. From then on the rules for its own evidence apply to them, and
whoever continues this session inherits them again. Which session continues which is `engine.briefing`'s work.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Final, TypeVar

from holdfast.core.events.event import Todo
from holdfast.core.evidence.kinds import KINDS, Ending, Merge, Section
from holdfast.core.evidence.notes import Notes, is_done, with_notes
from holdfast.core.evidence.prose import reader
from holdfast.core.evidence.trail import (
    COMMANDS_KEPT,
    PROMPTS_KEPT,
    CommandRun,
    Note,
    NoteSource,
    Trail,
    Utterance,
    fast_replace,
    open_todos,
)

ANCESTORS_KEPT: Final = 50
_OUTLIVES_A_GOAL: Final = frozenset({Section.RULES, Section.DECISIONS, Section.WHERE})
"""The sections whose notes stay when the user starts something new."""

_Inheritable = TypeVar("_Inheritable", Utterance, Note, CommandRun, Todo)


def inherit(own: Trail, predecessor: Trail, key: str) -> Trail:
    """The trail with what still holds of the session with this key, which it continues.

    The same session is inherited once. A request of its own that the session has already replaces the goal
    and the open work.
    """
    if key in own.inherits:
        return own
    handed_on = _handed_on(predecessor, key)
    if _has_own_request(own):
        handed_on = started_anew(handed_on)
    return _joined(handed_on, own)


def take_over(own: Trail, predecessor: Trail, key: str) -> Trail:
    """The same where the user asked for exactly that work, so that no earlier prompt replaces it."""
    return inherit(fast_replace(disinherited(own, {key}), goal=None), predecessor, key)


def started_anew(trail: Trail) -> Trail:
    """The trail when its session begins with a request of its own: of what it inherited, rules stay."""
    notes = (
        replace(note, turn=note.turn - trail.turns)
        for note in trail.notes
        if not note.inherited or KINDS[note.kind].section in _OUTLIVES_A_GOAL
    )
    return fast_replace(without_inherited(trail), notes=tuple(notes), turns=0, inherits=trail.inherits)


def inherited_part(trail: Trail) -> Trail:
    """Only what the session inherited: a fork has its own copy of the rest."""
    first, goal = trail.first_prompt, trail.goal
    return fast_replace(
        trail,
        first_prompt=first if first and first.inherited else None,
        goal=goal if goal and goal.inherited else None,
        prompts=_marked(trail.prompts),
        notes=_marked(trail.notes),
        commands=_marked(trail.commands),
        todos=_marked(trail.todos),
    )


def without_inherited(trail: Trail) -> Trail:
    """The trail with nothing but the session's own evidence; the same value if it inherited nothing."""
    return _reduced(trail, lambda key: not key) if trail.inherits else trail


def disinherited(trail: Trail, keys: Collection[str]) -> Trail:
    """The trail without what it inherited from these sessions."""
    return _reduced(trail, lambda key: key not in keys)


def _reduced(trail: Trail, stays: Callable[[str], bool]) -> Trail:
    """The trail with what is from sessions that stay; its own evidence has the empty key."""
    prompts = tuple(prompt for prompt in trail.prompts if stays(prompt.inherited))
    first, goal = trail.first_prompt, trail.goal
    return fast_replace(
        trail,
        first_prompt=first if first is None or stays(first.inherited) else next(iter(prompts), None),
        goal=goal if goal is None or stays(goal.inherited) else None,
        prompts=prompts,
        notes=tuple(note for note in trail.notes if stays(note.inherited)),
        commands=tuple(run for run in trail.commands if stays(run.inherited)),
        todos=tuple(todo for todo in trail.todos if stays(todo.inherited)),
        inherits=tuple(filter(stays, trail.inherits)),
    )


def without_done(todos: tuple[Todo, ...], done: list[str]) -> tuple[Todo, ...]:
    """The to-dos without inherited ones that are reported as done: no tool can tick them off."""
    if not done or not any(todo.inherited for todo in todos):
        return todos
    return tuple(todo for todo in todos if not todo.inherited or not is_done(todo.text, done))


def map_texts(trail: Trail, change: Callable[[str], str]) -> Trail:
    """The trail with every text changed that can be inherited."""

    def changed(utterance: Utterance) -> Utterance:
        return replace(utterance, text=change(utterance.text))

    return fast_replace(
        trail,
        first_prompt=changed(trail.first_prompt) if trail.first_prompt else None,
        goal=changed(trail.goal) if trail.goal else None,
        prompts=tuple(map(changed, trail.prompts)),
        notes=tuple(
            replace(note, text=change(note.text), heading=change(note.heading)) for note in trail.notes
        ),
        commands=tuple(
            replace(run, command=change(run.command), reason=change(run.reason)) for run in trail.commands
        ),
        todos=tuple(replace(todo, text=change(todo.text)) for todo in trail.todos),
    )


def _has_own_request(trail: Trail) -> bool:
    """Whether the user has asked this session for something, and not only to go on."""
    return trail.goal is not None and not trail.goal.inherited and not reader.goes_on(trail.goal.text)


def _handed_on(predecessor: Trail, key: str) -> Trail:
    """What a session hands on, marked; its last message is now the end of a turn."""
    last = predecessor.statements[-1].record if predecessor.statements else ""
    failed = (run for run in predecessor.commands if run.ok is False)
    requests = (prompt for prompt in predecessor.prompts if not reader.is_generic(prompt.text))
    return Trail(
        first_prompt=_of(predecessor.first_prompt, key) if predecessor.first_prompt else None,
        goal=_of(predecessor.goal, key) if predecessor.goal else None,
        prompts=tuple(_of(prompt, key) for prompt in requests),
        notes=tuple(_closed(_of(note, key), last) for note in predecessor.notes),
        commands=tuple(_of(run, key) for run in failed),
        todos=tuple(_of(todo, key) for todo in open_todos(predecessor)),
        planned_at=predecessor.planned_at,
        planned_step=predecessor.planned_step,
        turns=predecessor.turns,
        steps=predecessor.steps,
        inherits=(*predecessor.inherits, key),
    )


def _of(item: _Inheritable, key: str) -> _Inheritable:
    """The item, marked with the session in which it was said first."""
    return item if item.inherited else replace(item, inherited=key)


def _closed(note: Note, last: str) -> Note:
    ends_turn = note.record == last and note.source is NoteSource.MESSAGE
    return replace(note, source=NoteSource.CLOSING) if ends_turn else note


def _later(own: Trail, steps: int, turns: int) -> Trail:
    """The trail of a session whose clocks go on from where its predecessor's stopped."""
    return fast_replace(
        own,
        notes=tuple(replace(note, step=note.step + steps, turn=note.turn + turns) for note in own.notes),
        files=tuple(replace(touch, step=touch.step + steps) for touch in own.files),
        commands=tuple(replace(run, step=run.step + steps) for run in own.commands),
        mentions=tuple(replace(mention, step=mention.step + steps) for mention in own.mentions),
        planned_step=own.planned_step + steps,
        steps=own.steps + steps,
        turns=own.turns + turns,
    )


def _marked(items: tuple[_Inheritable, ...]) -> tuple[_Inheritable, ...]:
    return tuple(item for item in items if item.inherited)


def _joined(inherited: Trail, own: Trail) -> Trail:
    """The inherited evidence, followed by the session's own, which replaces it by the usual rules."""
    own = _later(own, inherited.steps, inherited.turns)
    known = {run.command for run in own.commands}
    failed = (run for run in inherited.commands if run.command not in known)
    prompts = (prompt for prompt in inherited.prompts if prompt not in own.prompts)
    joined = fast_replace(
        own,
        first_prompt=inherited.first_prompt or own.first_prompt,
        goal=own.goal if _has_own_request(own) else inherited.goal or own.goal,
        prompts=(*prompts, *own.prompts)[-PROMPTS_KEPT:],
        notes=with_notes(_not_replaced(inherited.notes, own), own.notes),
        commands=(*failed, *own.commands)[-COMMANDS_KEPT:],
        inherits=tuple(dict.fromkeys((*own.inherits, *inherited.inherits)))[-ANCESTORS_KEPT:],
    )
    if own.todos or not inherited.todos:
        return joined
    return fast_replace(
        joined,
        todos=inherited.todos,
        planned_at=inherited.planned_at,
        planned_step=inherited.planned_step,
    )


def _not_replaced(inherited: Notes, own: Trail) -> Notes:
    """The inherited notes that the session has neither repeated nor replaced, nor answered."""
    repeated = {(note.kind, note.text) for note in own.notes}
    replaced = {note.kind for note in own.notes if KINDS[note.kind].merge is Merge.NEWEST_REPLACES}
    if own.prompts:
        replaced |= {row.kind for row in KINDS.values() if row.ends is Ending.USER_WRITES}
    return tuple(
        note for note in inherited if note.kind not in replaced and (note.kind, note.text) not in repeated
    )
