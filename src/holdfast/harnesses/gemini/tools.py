"""Tools: what the tools of Gemini CLI do, and how they ended.

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
    BriefSeen,
    Event,
    LeftRunning,
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
from holdfast.harnesses.fields import capped, entering, items, mapping, milliseconds, text, value_of
from holdfast.harnesses.gemini.records import ToolCall, brief_in, without_hooks
from holdfast.harnesses.record_events import Frame, answers, questions_in

_ACTIONS: Final[Mapping[str, Action]] = {
    "run_shell_command": Action.RUN,
    "read_file": Action.READ,
    "read_many_files": Action.READ,
    "write_file": Action.WRITE,
    "replace": Action.EDIT,
    "list_directory": Action.SEARCH,
    "glob": Action.SEARCH,
    "grep_search": Action.SEARCH,
    "search_file_content": Action.SEARCH,
    "google_web_search": Action.SEARCH,
    "web_fetch": Action.SEARCH,
    "invoke_agent": Action.DELEGATE,
    "delegate_to_agent": Action.DELEGATE,
    "ask_user": Action.ASK,
}
_SUBJECTS: Final[Mapping[Action, tuple[str, ...]]] = {
    Action.RUN: ("command",),
    Action.READ: ("file_path", "absolute_path", "path"),
    Action.WRITE: ("file_path", "absolute_path", "path"),
    Action.EDIT: ("file_path", "absolute_path", "path"),
    Action.SEARCH: ("pattern", "query", "prompt", "dir_path", "path"),
    Action.DELEGATE: ("agent_name", "name", "prompt"),
    Action.ASK: (),
    Action.OTHER: ("file_path", "command", "query", "path"),
}
_TODOS: Final = "write_todos"
_REFUSED: Final = re.compile(r"\[Operation Cancelled\][^\n]*\bUser denied execution\.")
_ENDED: Final = frozenset({"success", "error", "cancelled"})
_LEFT: Final = re.compile(r"Command moved to background \(PID: (\d{1,10})\)")
_INSIDE: Final = re.compile(r"\A\s*<untrusted_context>\s*|\s*</untrusted_context>\s*\Z")
# The lines after a command's output; only there do they come from Gemini CLI itself.
_TAIL: Final = re.compile(
    r"^(?:Error: \(none\)\n?)?(?:Exit Code: (?P<exit>-?\d{1,10})\n?)?(?:Signal: [^\n]*\n?)?"
    r"(?:Background PIDs: [^\n]*\n?)?(?:Process Group PGID: [^\n]*\n?)?\Z",
    re.MULTILINE,
)


def called(call: ToolCall, frame: Frame) -> Iterator[Event]:
    """What the agent asked for and, if known already, how that ended."""
    arguments, tool, id = mapping(value_of(call.args)), call.name or "", call.id or ""
    if not tool or not id:
        return
    call_frame = Frame(frame.session, id, frame.at, frame.agent, frame.parent)
    if tool == _TODOS:
        yield TodosChanged(**call_frame.common(Origin.ASSISTANT), todos=_todos(arguments.get("todos")))
        return
    action = _ACTIONS.get(tool, Action.OTHER)
    subject = without_injected_text(_subject(action, arguments))
    detail = capped(without_injected_text(_detail(action, arguments)))
    yield ToolCalled(
        **call_frame.common(Origin.ASSISTANT),
        call=id,
        tool=tool,
        action=action,
        subject=subject,
        detail=detail,
    )
    if action is Action.DELEGATE:
        yield SubagentStarted(**call_frame.part(Origin.ASSISTANT, "agent"), subagent=id, task=subject)
    if call.status in _ENDED:
        at = (milliseconds(call.timestamp) if call.timestamp else 0) or frame.at
        ended = Frame(frame.session, id, at, frame.agent, frame.parent)
        if action is Action.ASK:
            yield from answers(id, _answered(call, arguments), ended)
        yield from _returned(call, action, ended)


def _subject(action: Action, arguments: Mapping[str, object]) -> str:
    subject = text(arguments, *_SUBJECTS[action])
    return entering(text(arguments, "dir_path", "directory"), subject) if action is Action.RUN else subject


def _answered(call: ToolCall, arguments: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Each question with its answer, found by the question's number."""
    answers_by_number = mapping(mapping(value_of(_output(call).encode())).get("answers"))
    for number, question in enumerate(map(mapping, items(arguments.get("questions")))):
        yield text(question, "question"), answers_by_number.get(str(number))


def _returned(call: ToolCall, action: Action, frame: Frame) -> Iterator[Event]:
    whole = _output(call)
    brief = brief_in(whole)
    # Results of Holdfast's own tools are fenced too, but they are not briefs.
    if brief and not is_own_tool(call.name or ""):
        yield BriefSeen(**frame.part(Origin.HOLDFAST, "brief"), text=brief)
    output, exit_status = without_hooks(whole).strip(), None
    if action is Action.RUN and (background := _LEFT.match(_INSIDE.sub("", output))):
        common = frame.part(Origin.TOOL, "running")
        yield LeftRunning(**common, call=frame.record, handle=f"PID {background[1]}")
        return
    if action is Action.RUN:
        output, exit_status = _ran(output)
    ok = call.status == "success" and not exit_status
    if action is Action.RUN and ok:
        # It reports every failing exit status, so a command without one exited with 0.
        exit_status = 0
    stored_text = REFUSED if call.status == "cancelled" and _REFUSED.fullmatch(output) else capped(output)
    yield ToolReturned(
        **frame.part(Origin.TOOL, "end"),
        call=frame.record,
        ok=ok,
        exit_status=exit_status,
        text=stored_text,
        size=len(output) if len(output) != len(stored_text) else 0,
    )
    if action is Action.DELEGATE and ok:
        yield SubagentStopped(
            **frame.part(Origin.TOOL, "agent-end"), subagent=frame.record, text=capped(output)
        )


def _output(call: ToolCall) -> str:
    answers = (mapping(mapping(part).get("functionResponse")) for part in items(value_of(call.result)))
    responses = (mapping(answer.get("response")) for answer in answers)
    return "\n".join(filter(None, (text(response, "output", "error") for response in responses)))


def _ran(output: str) -> tuple[str, int | None]:
    """What a command printed, and its exit status if reported."""
    output = _INSIDE.sub("", output)
    tail = _TAIL.search(output)
    exit_status = int(tail["exit"]) if tail and tail["exit"] else None
    printed = (output[: tail.start()] if tail else output).strip().removeprefix("Output:").strip()
    return "" if printed == "(empty)" else printed, exit_status


def _detail(action: Action, arguments: Mapping[str, object]) -> str:
    match action:
        case Action.WRITE:
            return text(arguments, "content")
        case Action.EDIT:
            return text(arguments, "new_string")
        case Action.SEARCH:
            return (
                text(arguments, "dir_path", "path") if text(arguments, "pattern", "query", "prompt") else ""
            )
        case Action.DELEGATE:
            return text(arguments, "prompt")
        case Action.ASK:
            return questions_in(arguments)
        case Action.OTHER:
            return msgspec.json.encode(arguments).decode() if arguments else ""
        case _:
            return ""


def _todos(rows: object) -> tuple[Todo, ...]:
    entries = map(mapping, items(rows))
    return tuple(
        Todo(text(row, "description"), text(row, "status")) for row in entries if text(row, "description")
    )
