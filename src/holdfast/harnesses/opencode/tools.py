"""Tools: what the tools of OpenCode do, and how they ended.

Only this module knows their names, their arguments and the form of their results. The core decides whether an
outcome matters.
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
from holdfast.core.evidence.commands.exit_meaning import REFUSED
from holdfast.core.text.untrusted import is_own_tool, without_injected_text
from holdfast.harnesses import record_events
from holdfast.harnesses.fields import capped, entering, items, mapping, text, value_of
from holdfast.harnesses.opencode.records import Part, State
from holdfast.harnesses.record_events import Frame

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
"""The states in which a call's arguments are complete."""
_ENDED: Final = frozenset({"completed", "error"})
_TASK_LIMIT: Final = 200
_PATCHED: Final = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: *(\S[^\r\n]*)", re.MULTILINE)
_RESULT: Final = re.compile(r"<task_result>\s*(.*?)\s*</task_result>", re.DOTALL)


def called(id: str, part: Part, frame: Frame) -> Iterator[Event]:
    """What the agent asked for and, if known already, how that ended."""
    state, tool = part.state, part.tool or ""
    if state is None or not tool or state.status not in _ASKED:
        return
    # Not every model gives its calls unique ids; only calls of Holdfast's tools are in a hook event, too.
    id = part.call if part.call and is_own_tool(tool) else id
    arguments = mapping(value_of(state.input))
    at = (state.time.start if state.time else None) or frame.at
    call_frame = Frame(frame.session, id, at, frame.agent, frame.parent)
    if tool == _TODOS:
        yield TodosChanged(**call_frame.common(Origin.ASSISTANT), todos=todos_in(arguments.get("todos")))
        return
    action = _ACTIONS.get(tool, Action.OTHER)
    yield asked(tool, arguments, call_frame)
    if action is Action.DELEGATE:
        yield from _delegated(state, arguments, call_frame)
    if state.status in _ENDED:
        end = (state.time.end if state.time else None) or at
        ended = Frame(frame.session, id, end, frame.agent, frame.parent)
        yield from _replied(state, tool, arguments, ended)
        yield from _returned(state, action, ended)


def asked(tool: str, arguments: Mapping[str, object], call_frame: Frame) -> ToolCalled:
    """A tool call, under its own id."""
    action = _ACTIONS.get(tool, Action.OTHER)
    return ToolCalled(
        **call_frame.common(Origin.ASSISTANT),
        call=call_frame.record,
        tool=tool,
        action=action,
        subject=without_injected_text(_subject(action, arguments)),
        detail=capped(without_injected_text(_detail(action, arguments))),
    )


def todos_in(rows: object) -> tuple[Todo, ...]:
    """The to-do list in a call's arguments."""
    entries = map(mapping, items(rows))
    return tuple(Todo(text(row, "content"), text(row, "status")) for row in entries if text(row, "content"))


def _subject(action: Action, arguments: Mapping[str, object]) -> str:
    patch = text(arguments, "patchText")
    if patch:
        header = _PATCHED.search(patch)
        return header[1].strip() if header else ""
    subject = text(arguments, *_SUBJECTS[action])
    return entering(text(arguments, "workdir"), subject) if action is Action.RUN else subject


def _detail(action: Action, arguments: Mapping[str, object]) -> str:
    match action:
        case Action.WRITE:
            return text(arguments, "content")
        case Action.EDIT:
            return text(arguments, "patchText", "newString")
        case Action.SEARCH:
            return text(arguments, "path") if text(arguments, "pattern", "query", "url") else ""
        case Action.DELEGATE:
            return text(arguments, "prompt")
        case Action.ASK:
            return record_events.questions_in(arguments)
        case Action.OTHER:
            return msgspec.json.encode(arguments).decode() if arguments else ""
        case _:
            return ""


def _delegated(state: State, arguments: Mapping[str, object], call_frame: Frame) -> Iterator[Event]:
    """A subagent's start and end. It is a session of its own, which the call names once it exists."""
    subagent = text(mapping(value_of(state.metadata)), "sessionId")
    if not subagent:
        return
    task = capped(without_injected_text(text(arguments, "description", "prompt")), _TASK_LIMIT)
    yield SubagentStarted(**call_frame.part(Origin.ASSISTANT, "agent"), subagent=subagent, task=task)
    if state.status in _ENDED:
        result = _RESULT.search(_output(state))
        words = capped(without_injected_text(result[1])) if result else ""
        yield SubagentStopped(**call_frame.part(Origin.TOOL, "agent-end"), subagent=subagent, text=words)


def _replied(state: State, tool: str, arguments: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """The user's answer, or the reason for refusing one of OpenCode's own tools; others could fake it."""
    if _ACTIONS.get(tool) is Action.ASK:
        questions = (text(mapping(entry), "question") for entry in items(arguments.get("questions")))
        chosen = items(mapping(value_of(state.metadata)).get("answers"))
        yield from record_events.answers(frame.record, zip(questions, chosen, strict=False), frame)
    elif tool in _ACTIONS and (refused := _REFUSED.match(state.error or "")):
        yield from record_events.reply(frame.record, refused["words"] or "", frame)


def _returned(state: State, action: Action, frame: Frame) -> Iterator[Event]:
    output = without_injected_text(_output(state)).strip()
    result_text = "" if output == "(no output)" else REFUSED if _REFUSED.match(state.error or "") else output
    exit_status = mapping(value_of(state.metadata)).get("exit")
    # OpenCode reports a failed command as completed; only its exit status shows the failure.
    exit_code = exit_status if action is Action.RUN and type(exit_status) is int else None
    stored_text = capped(result_text)
    yield ToolReturned(
        **frame.part(Origin.TOOL, "end"),
        call=frame.record,
        ok=state.status == "completed" and not exit_code,
        exit_status=exit_code,
        text=stored_text,
        size=len(result_text) if len(result_text) != len(stored_text) else 0,
    )


def _output(state: State) -> str:
    whole = value_of(state.output)
    return whole if isinstance(whole, str) else state.error or ""
