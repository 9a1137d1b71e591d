"""Tools: what the tools of OpenCode do, and how they ended.

Their names, their arguments and the shapes of their results are known here only. Whether an outcome matters
is the core's business.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from holdfast.core.events.event import (
    Action,
    Event,
    Origin,
    SubagentStarted,
    SubagentStopped,
    Todo,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.events.fence import is_own_tool, without_ours
from holdfast.core.evidence.commands.exit_meaning import REFUSED
from holdfast.harnesses import replies
from holdfast.harnesses.fields import capped, entering, items, mapping, text, value_of
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.opencode.records import Part, State

_ACTIONS: Final[Mapping[str, Action]] = {
    "bash": Action.RUN,
    "read": Action.READ,
    "write": Action.WRITE,
    "edit": Action.EDIT,
    "multiedit": Action.EDIT,
    "apply_patch": Action.EDIT,
    "patch": Action.EDIT,
    "glob": Action.SEARCH,
    "grep": Action.SEARCH,
    "list": Action.SEARCH,
    "webfetch": Action.SEARCH,
    "websearch": Action.SEARCH,
    "codesearch": Action.SEARCH,
    "task": Action.DELEGATE,
    "question": Action.ASK,
}
_SUBJECTS: Final[Mapping[Action, tuple[str, ...]]] = {
    Action.RUN: ("command",),
    Action.READ: ("filePath",),
    Action.WRITE: ("filePath",),
    Action.EDIT: ("filePath",),
    Action.SEARCH: ("pattern", "query", "url", "path"),
    Action.DELEGATE: ("description", "subagent_type"),
    Action.ASK: (),
    Action.OTHER: ("filePath", "command", "query", "path"),
}
_TODOS: Final = "todowrite"
_REFUSED: Final = re.compile(
    r"\AThe user rejected permission to use this specific tool call"
    r"(?: with the following feedback: (?P<words>.*))?",
    re.DOTALL,
)
_ASKED: Final = frozenset({"running", "completed", "error"})
"""Before these a call's arguments are still being written."""
_ENDED: Final = frozenset({"completed", "error"})
_TASK_LIMIT: Final = 200
_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: *(\S[^\r\n]*)", re.MULTILINE)
_RESULT: Final = re.compile(r"<task_result>\s*(.*?)\s*</task_result>", re.DOTALL)


def called(id: str, part: Part, frame: Frame) -> Iterator[Event]:
    """What the agent asked for and, where it is known already, how that ended."""
    state, tool = part.state, part.tool or ""
    if state is None or not tool or state.status not in _ASKED:
        return
    # Not every model gives its calls ids of their own; only of our tools' calls another letter tells, too.
    id = part.call if part.call and is_own_tool(tool) else id
    given = mapping(value_of(state.input))
    at = (state.time.start if state.time else None) or frame.at
    own = Frame(frame.session, id, at, frame.agent, frame.parent)
    if tool == _TODOS:
        yield TodosChanged(**own.told(Origin.ASSISTANT), todos=todos_in(given.get("todos")))
        return
    action = _ACTIONS.get(tool, Action.OTHER)
    yield asked(tool, given, own)
    if action is Action.DELEGATE:
        yield from _delegated(state, given, own)
    if state.status in _ENDED:
        end = (state.time.end if state.time else None) or at
        ended = Frame(frame.session, id, end, frame.agent, frame.parent)
        yield from _replied(state, tool, given, ended)
        yield from _returned(state, action, ended)


def asked(tool: str, given: Mapping[str, object], own: Frame) -> ToolCalled:
    """The call of a tool, under its own id."""
    action = _ACTIONS.get(tool, Action.OTHER)
    return ToolCalled(
        **own.told(Origin.ASSISTANT),
        call=own.record,
        tool=tool,
        action=action,
        subject=without_ours(_subject(action, given)),
        detail=capped(without_ours(_detail(action, given))),
    )


def todos_in(rows: object) -> tuple[Todo, ...]:
    """The list of what is to be done, as a call gives it."""
    found = map(mapping, items(rows))
    return tuple(Todo(text(row, "content"), text(row, "status")) for row in found if text(row, "content"))


def _subject(action: Action, given: Mapping[str, object]) -> str:
    patch = text(given, "patchText")
    if patch:
        found = _PATCHED.search(patch)
        return found[1].strip() if found else ""
    subject = text(given, *_SUBJECTS[action])
    return entering(text(given, "workdir"), subject) if action is Action.RUN else subject


def _detail(action: Action, given: Mapping[str, object]) -> str:
    match action:
        case Action.WRITE:
            return text(given, "content")
        case Action.EDIT:
            return text(given, "patchText", "newString")
        case Action.SEARCH:
            return text(given, "path") if text(given, "pattern", "query", "url") else ""
        case Action.DELEGATE:
            return text(given, "prompt")
        case Action.ASK:
            return replies.questions_in(given)
        case Action.OTHER:
            return msgspec.json.encode(given).decode() if given else ""
        case _:
            return ""


def _delegated(state: State, given: Mapping[str, object], own: Frame) -> Iterator[Event]:
    """A subagent is a session of its own, which the call names as soon as it is there."""
    subagent = text(mapping(value_of(state.metadata)), "sessionId")
    if not subagent:
        return
    task = capped(without_ours(text(given, "description", "prompt")), _TASK_LIMIT)
    yield SubagentStarted(**own.part(Origin.ASSISTANT, "agent"), subagent=subagent, task=task)
    if state.status in _ENDED:
        said = _RESULT.search(_output(state))
        words = capped(without_ours(said[1])) if said else ""
        yield SubagentStopped(**own.part(Origin.TOOL, "agent-end"), subagent=subagent, text=words)


def _replied(state: State, tool: str, given: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """What a person answered, or said on refusing one of OpenCode's own tools; others may claim that."""
    if _ACTIONS.get(tool) is Action.ASK:
        asked = (text(mapping(one), "question") for one in items(given.get("questions")))
        chosen = items(mapping(value_of(state.metadata)).get("answers"))
        yield from replies.answers(frame.record, zip(asked, chosen, strict=False), frame)
    elif tool in _ACTIONS and (refused := _REFUSED.match(state.error or "")):
        yield from replies.reply(frame.record, refused["words"] or "", frame)


def _returned(state: State, action: Action, frame: Frame) -> Iterator[Event]:
    told = without_ours(_output(state)).strip()
    said = "" if told == "(no output)" else REFUSED if _REFUSED.match(state.error or "") else told
    exit_status = mapping(value_of(state.metadata)).get("exit")
    # A command that fails is an ordinary end to OpenCode; only its exit status tells.
    exit_code = exit_status if action is Action.RUN and type(exit_status) is int else None
    kept = capped(said)
    yield ToolReturned(
        **frame.part(Origin.TOOL, "end"),
        call=frame.record,
        ok=state.status == "completed" and not exit_code,
        exit_status=exit_code,
        text=kept,
        size=len(said) if len(said) != len(kept) else 0,
    )


def _output(state: State) -> str:
    whole = value_of(state.output)
    return whole if isinstance(whole, str) else state.error or ""
