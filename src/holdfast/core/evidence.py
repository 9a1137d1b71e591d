"""Evidence: what a session's events amount to, derived by rule.

A trail is small and bounded, updated record by record, and says what was asked, which files and commands
were in play, how they ended and what was said last. Judging what of it an agent needs is `brief`'s work.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from holdfast.core.events import (
    MAIN,
    Action,
    AssistantText,
    Event,
    Origin,
    Prompt,
    Todo,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.text import first_line_of_failure, shortened

PROMPTS_KEPT = 12
STATEMENTS_KEPT = 6
FILES_KEPT = 60
COMMANDS_KEPT = 24
CALLS_KEPT = 64
TEXT_KEPT = 1_200
LETTER = "letter:"
"""How the record ids of letters begin."""


@dataclass(frozen=True, slots=True)
class Said:
    """Something that was said, and when."""

    text: str
    at: int
    record: str = ""
    turn: str = ""


@dataclass(frozen=True, slots=True)
class FileTouch:
    """A file, the strongest thing that was done to it and how often, and when it was last touched."""

    path: str
    action: Action
    times: int
    at: int


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command and its latest outcome; `ok` is None while it runs."""

    command: str
    at: int
    ok: bool | None = None
    exit_status: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Trail:
    """A session's evidence, oldest first in every row."""

    first_prompt: Said | None = None
    prompts: tuple[Said, ...] = ()
    statements: tuple[Said, ...] = ()
    files: tuple[FileTouch, ...] = ()
    commands: tuple[CommandRun, ...] = ()
    todos: tuple[Todo, ...] = ()
    open_calls: tuple[ToolCalled, ...] = ()
    subagent_files: tuple[FileTouch, ...] = ()

    def is_empty(self) -> bool:
        """Whether nothing worth keeping has happened."""
        return not (self.prompts or self.statements or self.files or self.commands or self.todos)


def follow(trail: Trail, event: Event) -> Trail:
    """The trail after one more event. Seeing the same event again gives the same trail."""
    if event.origin is Origin.OURS:
        return trail
    match event:
        case ToolCalled():
            return _called(trail, event)
        case ToolReturned():
            return _returned(trail, event)
        case Prompt(agent="main", origin=Origin.HUMAN):
            return _prompted(trail, event)
        case AssistantText(agent="main", text=text) if text.strip():
            return _stated(trail, Said(shortened(text, TEXT_KEPT), event.at, event.record))
        case TodosChanged(agent="main", todos=todos):
            return replace(trail, todos=todos)
        case _:
            return trail


def twin(trail: Trail, event: Prompt) -> Said | None:
    """What a letter told of this same prompt before the transcript showed it, or the other way round."""
    text = shortened(event.text, TEXT_KEPT)
    for said in trail.prompts:
        alike = said.text == text and (said.turn == event.turn or not said.turn or not event.turn)
        if alike and (
            said.record == event.record or told_by_letter(said.record) != told_by_letter(event.record)
        ):
            return said
    return None


def told_by_letter(record: str) -> bool:
    """Whether a record id is a letter's, not a transcript's."""
    return record.startswith(LETTER)


def swapped(trail: Trail, before: Said, event: Prompt) -> Trail:
    """The trail in which the transcript's record of a prompt stands in place of the letter's."""
    after = replace(before, record=event.record, turn=event.turn or before.turn)
    first = after if trail.first_prompt == before else trail.first_prompt
    prompts = tuple(after if said is before else said for said in trail.prompts)
    return replace(trail, first_prompt=first, prompts=prompts)


def _prompted(trail: Trail, event: Prompt) -> Trail:
    said = Said(shortened(event.text, TEXT_KEPT), event.at, event.record, event.turn)
    others = tuple(prompt for prompt in trail.prompts if prompt.record != event.record)
    first = trail.first_prompt
    if first is None or first.record == event.record:
        first = said
    return replace(trail, first_prompt=first, prompts=(*others, said)[-PROMPTS_KEPT:])


def _stated(trail: Trail, said: Said) -> Trail:
    others = tuple(other for other in trail.statements if other.record != said.record)
    return replace(trail, statements=(*others, said)[-STATEMENTS_KEPT:])


def _called(trail: Trail, event: ToolCalled) -> Trail:
    if any(call.call == event.call for call in trail.open_calls):
        return trail
    if event.action is Action.RUN and event.agent == MAIN:
        trail = _ran(trail, CommandRun(event.subject, event.at))
    return replace(trail, open_calls=(*trail.open_calls, replace(event, detail=""))[-CALLS_KEPT:])


def _returned(trail: Trail, event: ToolReturned) -> Trail:
    call = next((call for call in trail.open_calls if call.call == event.call), None)
    if call is None:
        return trail
    trail = replace(trail, open_calls=tuple(other for other in trail.open_calls if other is not call))
    if call.action is Action.RUN and call.agent == MAIN:
        reason = "" if event.ok else first_line_of_failure(event.text)
        return _ran(trail, CommandRun(call.subject, event.at, event.ok, event.exit_status, reason))
    if event.ok and call.subject and call.action in _STRENGTH:
        return _touched(trail, call, event.at)
    return trail


def _ran(trail: Trail, run: CommandRun) -> Trail:
    others = tuple(other for other in trail.commands if other.command != run.command)
    return replace(trail, commands=(*others, run)[-COMMANDS_KEPT:])


_STRENGTH: Final = {Action.READ: 0, Action.EDIT: 1, Action.WRITE: 2, Action.DELETE: 3}


def _touched(trail: Trail, call: ToolCalled, at: int) -> Trail:
    row = trail.files if call.agent == MAIN else trail.subagent_files
    before = next((touch for touch in row if touch.path == call.subject), None)
    action, times = call.action, 1
    if before is not None and _STRENGTH[before.action] >= _STRENGTH[action]:
        times = before.times + (before.action is action)
        action = before.action
    touch = FileTouch(call.subject, action, times, at)
    kept = _capped((*(other for other in row if other is not before), touch))
    return replace(trail, files=kept) if call.agent == MAIN else replace(trail, subagent_files=kept)


def _capped(row: tuple[FileTouch, ...]) -> tuple[FileTouch, ...]:
    """Over the cap, the file that was only read longest ago goes first."""
    if len(row) <= FILES_KEPT:
        return row
    victim = next((touch for touch in row if touch.action is Action.READ), row[0])
    return tuple(touch for touch in row if touch is not victim)
