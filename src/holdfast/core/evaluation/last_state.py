"""Last state: how things stood at a cut, for measuring whether a brief says so.

What failed last, what was changed last, what is open, and which files are no more. By rules of its own, apart
from the evidence that a brief is written from.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from holdfast.core.evaluation.facts import facts_in, holds
from holdfast.core.events.event import (
    Action,
    Event,
    Todo,
    TodoChanged,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.evidence.commands.purpose import Purpose, aim
from holdfast.core.evidence.todos import COMPLETED, with_entry
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass

COMMAND_TOLD = 40
"""So many characters of a command are enough to know it again."""
_WENT_THERE = re.compile(r"^\s*cd \S+\s*&&\s*")
_PAGED = re.compile(r"\s*(?:2>&1)?(?:\s*\|\s*(?:head|tail)\b[^|;&\n]*)?$")
"""How much of an output was to be shown is no part of what failed."""
_SEGMENT = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_NO_MORE = re.compile(r"\b(?:deleted?|gone|moved|no longer|removed?|renamed?)\b|→|->", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LastState:
    """How things stood at a cut; empty where there was nothing of the kind."""

    failing: str
    """The last command that failed and has not passed since, but for one that only looked."""
    edited: str
    """The file that was changed last."""
    todos: tuple[str, ...]
    """What was open."""

    def held(self, brief: str) -> tuple[bool, ...]:
        """For each thing that there was, whether a brief has it."""
        told = one_line(brief)
        command = one_line(_PAGED.sub("", _WENT_THERE.sub("", self.failing)))
        return (
            *((command[:COMMAND_TOLD] in told or holds(told, command),) if self.failing else ()),
            *((_name(self.edited) in told,) if self.edited else ()),
            *(holds(told, todo) for todo in self.todos),
        )


def last_state(events: Iterable[Event]) -> LastState:
    """How things stand after these events."""
    failing: dict[str, None] = {}
    edited, todos, calls = "", tuple[Todo, ...](), dict[str, ToolCalled]()
    for event in events:
        match event:
            case ToolCalled(agent="main", call=call):
                calls[call] = event
            case ToolReturned(agent="main", call=call, ok=ok) if call in calls:
                asked = calls.pop(call)
                if asked.action is Action.RUN:
                    failing.pop(asked.subject, None)
                    # A look-up that read or found nothing leaves nothing undone: nobody has to know of it.
                    failing |= {} if ok or aim(asked.subject) is Purpose.LOOK else {asked.subject: None}
                elif ok and asked.action in (Action.WRITE, Action.EDIT):
                    edited = asked.subject
            case TodosChanged(agent="main"):
                todos = event.todos
            case TodoChanged(agent="main", todo=todo):
                todos = with_entry(todos, todo)
            case _:
                pass
    still_open = tuple(todo.text for todo in todos if todo.status != COMPLETED)
    return LastState(next(reversed(failing), ""), edited, still_open)


def gone(events: Iterable[Event]) -> frozenset[str]:
    """The names of the files that were deleted or renamed, and did not come back."""
    lost: set[str] = set()
    calls: dict[str, ToolCalled] = {}
    for event in events:
        if isinstance(event, ToolCalled):
            calls[event.call] = event
        elif isinstance(event, ToolReturned) and event.ok and event.call in calls:
            lost = _lost_after(lost, calls.pop(event.call))
    return frozenset(lost)


def offered_as_present(brief: str, name: str) -> bool:
    """Whether a brief names a file without saying that it is no more."""
    return any(name in facts_in(line) and not _NO_MORE.search(line) for line in brief.splitlines())


def _lost_after(lost: set[str], asked: ToolCalled) -> set[str]:
    """The names of the files that are gone after one more call."""
    match asked.action:
        case Action.DELETE:
            return lost | {_name(asked.subject)}
        case Action.READ | Action.WRITE | Action.EDIT:
            return lost - {_name(asked.subject)}
        case Action.RUN:
            for segment in _SEGMENT.split(asked.subject):
                lost = _lost_in_shell(lost, segment.removeprefix("git ").split())
            return lost
        case _:
            return lost


def _lost_in_shell(lost: set[str], words: Sequence[str]) -> set[str]:
    names = [_name(word.strip("\"'")) for word in words[1:] if not word.startswith("-")]
    if words[:1] == ["rm"]:
        return lost.union(filter(_is_file, names))
    # What moves into a directory keeps the name that a brief knows it by.
    if words[:1] == ["mv"] and len(names) == 2 and all(map(_is_file, names)):
        return (lost | {names[0]}) - {names[1]}
    return lost


def _is_file(name: str) -> bool:
    return name in facts_in(name)


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
