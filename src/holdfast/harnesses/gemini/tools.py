"""Tools: what the tools of Gemini CLI do, and how they ended.

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
    BriefSeen,
    Event,
    LeftRunning,
    Origin,
    SubagentStarted,
    Todo,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.events.fence import is_own_tool, without_ours
from holdfast.core.evidence.commands.exit_meaning import REFUSED
from holdfast.harnesses.fields import capped, entering, items, mapping, milliseconds, text, value_of
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.gemini.prompts import brief_in, without_hooks
from holdfast.harnesses.gemini.records import ToolCall
from holdfast.harnesses.replies import answers, questions_in

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
# What stands behind the output of a command, line by line; only there is it Gemini CLI's own word.
_TAIL: Final = re.compile(
    r"^(?:Error: \(none\)\n?)?(?:Exit Code: (?P<exit>-?\d{1,10})\n?)?(?:Signal: [^\n]*\n?)?"
    r"(?:Background PIDs: [^\n]*\n?)?(?:Process Group PGID: [^\n]*\n?)?\Z",
    re.MULTILINE,
)


def called(call: ToolCall, frame: Frame) -> Iterator[Event]:
    """What the agent asked for and, where it is known already, how that ended."""
    given, tool, id = mapping(value_of(call.args)), call.name or "", call.id or ""
    if not tool or not id:
        return
    own = Frame(frame.session, id, frame.at, frame.agent, frame.parent)
    if tool == _TODOS:
        yield TodosChanged(**own.told(Origin.ASSISTANT), todos=_todos(given.get("todos")))
        return
    action = _ACTIONS.get(tool, Action.OTHER)
    subject = without_ours(_subject(action, given))
    detail = capped(without_ours(_detail(action, given)))
    yield ToolCalled(
        **own.told(Origin.ASSISTANT), call=id, tool=tool, action=action, subject=subject, detail=detail
    )
    if action is Action.DELEGATE:
        yield SubagentStarted(**own.part(Origin.ASSISTANT, "agent"), subagent=id, task=subject)
    if call.status in _ENDED:
        at = (milliseconds(call.timestamp) if call.timestamp else 0) or frame.at
        ended = Frame(frame.session, id, at, frame.agent, frame.parent)
        if action is Action.ASK:
            yield from answers(id, _answered(call, given), ended)
        yield from _returned(call, action, ended)


def _subject(action: Action, given: Mapping[str, object]) -> str:
    subject = text(given, *_SUBJECTS[action])
    return entering(text(given, "dir_path", "directory"), subject) if action is Action.RUN else subject


def _answered(call: ToolCall, given: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    """Each question with its answer, which goes by the question's number."""
    found = mapping(mapping(value_of(_output(call).encode())).get("answers"))
    for number, asked in enumerate(map(mapping, items(given.get("questions")))):
        yield text(asked, "question"), found.get(str(number))


def _returned(call: ToolCall, action: Action, frame: Frame) -> Iterator[Event]:
    whole = _output(call)
    brief = brief_in(whole)
    # What our own tools gave back is in a fence too, but nobody was briefed by it.
    if brief and not is_own_tool(call.name or ""):
        yield BriefSeen(**frame.part(Origin.OURS, "brief"), text=brief)
    said, exit_status = without_hooks(whole).strip(), None
    if action is Action.RUN and (left := _LEFT.match(_INSIDE.sub("", said))):
        own = frame.part(Origin.TOOL, "running")
        yield LeftRunning(**own, call=frame.record, handle=f"PID {left[1]}")
        return
    if action is Action.RUN:
        said, exit_status = _ran(said)
    ok = call.status == "success" and not exit_status
    if action is Action.RUN and ok:
        # It says with what a command failed, so that one of which it says nothing ended with 0.
        exit_status = 0
    kept = REFUSED if call.status == "cancelled" and _REFUSED.fullmatch(said) else capped(said)
    yield ToolReturned(
        **frame.part(Origin.TOOL, "end"),
        call=frame.record,
        ok=ok,
        exit_status=exit_status,
        text=kept,
        size=len(said) if len(said) != len(kept) else 0,
    )


def _output(call: ToolCall) -> str:
    answers = (mapping(mapping(part).get("functionResponse")) for part in items(value_of(call.result)))
    given = (mapping(answer.get("response")) for answer in answers)
    return "\n".join(filter(None, (text(one, "output", "error") for one in given)))


def _ran(said: str) -> tuple[str, int | None]:
    """What a command printed, and with what it ended where that is said."""
    said = _INSIDE.sub("", said)
    tail = _TAIL.search(said)
    exit_status = int(tail["exit"]) if tail and tail["exit"] else None
    printed = (said[: tail.start()] if tail else said).strip().removeprefix("Output:").strip()
    return "" if printed == "(empty)" else printed, exit_status


def _detail(action: Action, given: Mapping[str, object]) -> str:
    match action:
        case Action.WRITE:
            return text(given, "content")
        case Action.EDIT:
            return text(given, "new_string")
        case Action.SEARCH:
            return text(given, "dir_path", "path") if text(given, "pattern", "query", "prompt") else ""
        case Action.DELEGATE:
            return text(given, "prompt")
        case Action.ASK:
            return questions_in(given)
        case Action.OTHER:
            return msgspec.json.encode(given).decode() if given else ""
        case _:
            return ""


def _todos(rows: object) -> tuple[Todo, ...]:
    found = map(mapping, items(rows))
    return tuple(
        Todo(text(row, "description"), text(row, "status")) for row in found if text(row, "description")
    )
