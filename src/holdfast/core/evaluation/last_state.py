"""Last state: the state of the work at a cut, for measuring whether a brief contains it.

That is the last failure, the last changed file, the open to-dos, and the deleted files. The rules are
independent of the evidence that a brief is made from.
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
from holdfast.core.evidence.commands.purpose import Purpose, purpose_of
from holdfast.core.evidence.trail import COMPLETED, with_todo
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass

COMMAND_CHARS = 40
"""How many characters of a command are enough to recognise it."""
_WENT_THERE = re.compile(r"^\s*cd \S+\s*&&\s*")
_PAGED = re.compile(r"\s*(?:2>&1)?(?:\s*\|\s*(?:head|tail)\b[^|;&\n]*)?$")
"""A pipe that only limits the output is not part of the failed command."""
_SEGMENT = re.compile(r"\s*(?:&&|\|\||;|\n)\s*")
_NO_MORE = re.compile(r"\b(?:deleted?|gone|moved|no longer|removed?|renamed?)\b|→|->", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class LastState:
    """The state of the work at a cut; fields are empty if there was nothing of the kind."""

    failing: str
    """The last command that failed and has not passed since, except one that only reads or searches."""
    edited: str
    """The file that was changed last."""
    todos: tuple[str, ...]
    """The open to-dos."""

    def held(self, brief: str) -> tuple[bool, ...]:
        """For each part of the state, whether a brief contains it."""
        text = one_line(brief)
        command = one_line(_PAGED.sub("", _WENT_THERE.sub("", self.failing)))
        return (
            *((command[:COMMAND_CHARS] in text or holds(text, command),) if self.failing else ()),
            *((_name(self.edited) in text,) if self.edited else ()),
            *(holds(text, todo) for todo in self.todos),
        )


def last_state(events: Iterable[Event]) -> LastState:
    """The state of the work after these events."""
    failing: dict[str, None] = {}
    edited, todos, calls = "", tuple[Todo, ...](), dict[str, ToolCalled]()
    for event in events:
        match event:
            case ToolCalled(agent="main", call=call):
                calls[call] = event
            case ToolReturned(agent="main", call=call, ok=ok) if call in calls:
                tool_call = calls.pop(call)
                if tool_call.action is Action.RUN:
                    failing.pop(tool_call.subject, None)
                    # A search without a result leaves nothing undone, so a brief need not mention it.
                    failing |= (
                        {}
                        if ok or purpose_of(tool_call.subject) is Purpose.LOOK
                        else {tool_call.subject: None}
                    )
                elif ok and tool_call.action in (Action.WRITE, Action.EDIT):
                    edited = tool_call.subject
            case TodosChanged(agent="main"):
                todos = event.todos
            case TodoChanged(agent="main", todo=todo):
                todos = with_todo(todos, todo)
            case _:
                pass
    still_open = tuple(todo.text for todo in todos if todo.status != COMPLETED)
    return LastState(next(reversed(failing), ""), edited, still_open)


def gone(events: Iterable[Event]) -> frozenset[str]:
    """The names of files that were deleted or renamed, and not created again."""
    deleted: set[str] = set()
    calls: dict[str, ToolCalled] = {}
    for event in events:
        if isinstance(event, ToolCalled):
            calls[event.call] = event
        elif isinstance(event, ToolReturned) and event.ok and event.call in calls:
            deleted = _deleted_after(deleted, calls.pop(event.call))
    return frozenset(deleted)


def offered_as_present(brief: str, name: str) -> bool:
    """Whether a brief names a deleted file without saying that it is gone."""
    return any(name in facts_in(line) and not _NO_MORE.search(line) for line in brief.splitlines())


def _deleted_after(deleted: set[str], call: ToolCalled) -> set[str]:
    """The names of deleted files after one more call."""
    match call.action:
        case Action.DELETE:
            return deleted | {_name(call.subject)}
        case Action.READ | Action.WRITE | Action.EDIT:
            return deleted - {_name(call.subject)}
        case Action.RUN:
            for segment in _SEGMENT.split(call.subject):
                deleted = _deleted_in_shell(deleted, segment.removeprefix("git ").split())
            return deleted
        case _:
            return deleted


def _deleted_in_shell(deleted: set[str], words: Sequence[str]) -> set[str]:
    names = [_name(word.strip("\"'")) for word in words[1:] if not word.startswith("-")]
    if words[:1] == ["rm"]:
        return deleted.union(filter(_is_file, names))
    # A file that is moved into a directory keeps its name.
    if words[:1] == ["mv"] and len(names) == 2 and all(map(_is_file, names)):
        return (deleted | {names[0]}) - {names[1]}
    return deleted


def _is_file(name: str) -> bool:
    return name in facts_in(name)


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
