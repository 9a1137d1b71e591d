"""Tools: what the tools of pi and OpenClaw do, and how they ended.

Only this module knows their names, their arguments and the form of their results. The core decides whether an
outcome matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

import msgspec

from holdfast.core.events.event import (
    Action,
    Event,
    LeftRunning,
    Origin,
    Skipped,
    SubagentStarted,
    Todo,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.evidence.commands.exit_meaning import STOPPED
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.fields import (
    NOTHING,
    capped,
    decoded,
    entering,
    items,
    mapping,
    status_of,
    text,
    value_of,
)
from holdfast.harnesses.openclaw.records import DETAILS, Block, Details, Message
from holdfast.harnesses.record_events import Frame

_ACTIONS: Final[Mapping[str, Action]] = {
    "bash": Action.RUN,
    "exec": Action.RUN,
    "shell": Action.RUN,
    "shell_exec": Action.RUN,
    "run_terminal": Action.RUN,
    "read": Action.READ,
    "read_file": Action.READ,
    "memory_get": Action.READ,
    "write": Action.WRITE,
    "write_file": Action.WRITE,
    "edit": Action.EDIT,
    "edit_file": Action.EDIT,
    "apply_patch": Action.EDIT,
    "grep": Action.SEARCH,
    "find": Action.SEARCH,
    "ls": Action.SEARCH,
    "glob": Action.SEARCH,
    "web_search": Action.SEARCH,
    "web_fetch": Action.SEARCH,
    "memory_search": Action.SEARCH,
    "sessions_spawn": Action.DELEGATE,
}
_FILE_ARGUMENTS: Final = ("path", "file_path", "filePath", "filename", "file", "target_file")
_NEW_TEXT: Final = ("newText", "new_string", "new_str", "content", "file_text", "insert_text", "input")
_WORD: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_WRITING: Final = frozenset({"write", "create", "save"})
_EDITING: Final = frozenset({"edit", "append", "insert", "replace", "update", "patch", "memory"})
_SUBJECTS: Final[Mapping[Action, tuple[str, ...]]] = {
    Action.RUN: ("command",),
    Action.READ: _FILE_ARGUMENTS,
    Action.WRITE: _FILE_ARGUMENTS,
    Action.EDIT: _FILE_ARGUMENTS,
    Action.SEARCH: ("pattern", "query", "url", "path"),
    Action.DELEGATE: ("label", "task"),
    Action.OTHER: ("path", "file_path", "command", "query", "url"),
}
NESTED = "openclaw.nested-tool.v1"
"""The kind of message that reports a call made by another tool."""
_PLAN = "update_plan"
_ALWAYS_SAYS = "bash"
"""pi's own shell: it reports every failing exit status, so a command without one exited with 0."""
_GOES_ON = frozenset({"running", "accepted"})
_FAILED = frozenset({"failed", "error", "killed"})
_BACKGROUND = "process"
"""The tool that manages commands in the background."""
_STOPPED = re.compile(r"(?:Termination requested for|Removed) session ([\w-]{1,80})")
_EXITED = "Command exited with code"
_EXIT = re.compile(rf"\(?{_EXITED} (-?\d{{1,10}})\.?\)?\s*\Z")


def called(block: Block, frame: Frame) -> Iterator[Event]:
    """What the agent asked for."""
    arguments = mapping(value_of(block.arguments))
    tool, call = block.name or "", block.id or ""
    if tool == _PLAN:
        yield TodosChanged(**frame.common(Origin.ASSISTANT), todos=_todos(arguments.get("plan")))
        return
    tool_called = _tool_called(tool, call, arguments, frame)
    yield tool_called
    if tool_called.action is Action.DELEGATE:
        task = without_injected_text(text(arguments, "label", "task"))
        yield SubagentStarted(**frame.part(Origin.ASSISTANT, "agent"), subagent=call, task=task)


def returned(message: Message, frame: Frame) -> Iterator[Event]:
    """How a call ended. A call that runs on in the background has not ended."""
    details = _details(message.details)
    if details.status in _GOES_ON:
        if details.process:
            common = frame.part(Origin.TOOL, "running")
            yield LeftRunning(**common, call=message.call or "", handle=_handle(details.process))
        return
    output = without_injected_text(content_text(message.content))
    exit_status = _exit_status(message.tool or "", output, details, is_error=message.is_error is True)
    failed = message.is_error is True or details.status in _FAILED
    stored_text = capped(_without_status(output) if exit_status else output)
    ended = ToolReturned(
        **frame.common(Origin.TOOL),
        call=message.call or "",
        ok=not failed and not exit_status,
        exit_status=exit_status,
        text=stored_text,
        size=len(output) if len(output) != len(stored_text) else 0,
    )
    yield ended
    if message.tool == _BACKGROUND:
        yield from _background_end(ended, output, details, frame)


def _background_end(ended: ToolReturned, output: str, details: Details, frame: Frame) -> Iterator[Event]:
    """The end of a background command that a call has observed or caused."""
    background_end = replace(ended, **frame.part(Origin.TOOL, "background"), call="", size=0)
    if details.process:
        yield replace(background_end, handle=_handle(details.process))
    elif stopped := _STOPPED.match(output):
        yield replace(background_end, handle=_handle(stopped[1]), ok=False, text=STOPPED)


def _handle(process: str) -> str:
    return f"session {process}"


def ran(message: Message, frame: Frame) -> Iterator[Event]:
    """A command that the user ran beside the conversation, and how it ended."""
    command = without_injected_text(message.command or "")
    if not command.strip():
        return
    exit_status = status_of(message.exit_code)
    yield ToolCalled(
        **frame.common(Origin.HUMAN), call=frame.record, tool="bash", action=Action.RUN, subject=command
    )
    yield ToolReturned(
        **frame.part(Origin.TOOL, "end"),
        call=frame.record,
        ok=not message.cancelled and not exit_status,
        exit_status=exit_status,
        text=capped(without_injected_text(message.output or "")),
    )


def nested(message: Message, frame: Frame) -> Iterator[Event]:
    """A call that another tool made, and how it ended, from one record."""
    details = mapping(value_of(message.details))
    tool, call = text(details, "toolName"), text(details, "toolCallId") or frame.record
    if not tool:
        return
    result = mapping(details.get("result"))
    output = without_injected_text(_joined(result.get("content")))
    is_error = details.get("isError") is True
    ended = Details(exit_code=status_of(mapping(result.get("details")).get("exitCode")))
    exit_status = _exit_status(tool, output, ended, is_error=is_error)
    yield _tool_called(tool, call, mapping(details.get("input")), frame)
    yield ToolReturned(
        **frame.part(Origin.TOOL, "end"),
        call=call,
        ok=not is_error and not exit_status,
        exit_status=exit_status,
        text=capped(_without_status(output) if exit_status else output),
    )


def content_text(content: str | list[Block] | None) -> str:
    """The text of a message, or of its blocks, without thinking and images."""
    if isinstance(content, str):
        return content
    return "\n".join([block.text for block in content or () if block.type == "text" and block.text])


def _action(tool: str, arguments: Mapping[str, object]) -> Action:
    """What a tool does, by its name; for an unknown tool, by the words in its name and its arguments.

    Agents that write their log in this format have their own tools.
    """
    action = _ACTIONS.get(tool.lower())
    if action is not None or not text(arguments, *_FILE_ARGUMENTS):
        return action or Action.OTHER
    if text(arguments, "command") == "view":
        return Action.READ
    words = frozenset(word.lower() for word in _WORD.findall(tool))
    if not words.isdisjoint(_WRITING):
        return Action.WRITE
    return Action.OTHER if words.isdisjoint(_EDITING) else Action.EDIT


def _tool_called(tool: str, call: str, arguments: Mapping[str, object], frame: Frame) -> ToolCalled:
    action = _action(tool, arguments)
    return ToolCalled(
        **frame.common(Origin.ASSISTANT),
        call=call,
        tool=tool,
        action=action,
        subject=without_injected_text(_subject(action, arguments)),
        detail=capped(without_injected_text(_detail(action, arguments))),
    )


def _subject(action: Action, arguments: Mapping[str, object]) -> str:
    subject = text(arguments, *_SUBJECTS[action])
    return entering(text(arguments, "workdir"), subject) if action is Action.RUN else subject


def _detail(action: Action, arguments: Mapping[str, object]) -> str:
    match action:
        case Action.SEARCH:
            return text(arguments, "path") if text(arguments, "pattern", "query", "url") else ""
        case Action.DELEGATE:
            return text(arguments, "task")
        case Action.WRITE:
            return text(arguments, "content", "file_text", "text")
        case Action.EDIT:
            edits = [arguments, *map(mapping, items(arguments.get("edits")))]
            news = (text(edit, *_NEW_TEXT) for edit in edits)
            return "\n".join(filter(None, news))
        case Action.OTHER:
            return msgspec.json.encode(arguments).decode() if arguments else ""
        case _:
            return ""


def _todos(plan: object) -> tuple[Todo, ...]:
    rows = map(mapping, items(plan))
    return tuple(Todo(text(row, "step"), text(row, "status")) for row in rows if text(row, "step"))


def _exit_status(tool: str, output: str, details: Details, *, is_error: bool) -> int | None:
    reported_status = status_of(details.exit_code)
    if reported_status is not None or _ACTIONS.get(tool) is not Action.RUN:
        return reported_status
    end = output[-200:]
    status_match = _EXIT.search(end) if _EXITED in end else None
    if status_match:
        return int(status_match[1])
    return 0 if tool == _ALWAYS_SAYS and not is_error else None


def _without_status(output: str) -> str:
    """What the command itself printed: its last line is then the reason why it failed."""
    return _EXIT.sub("", output).rstrip()


def _joined(content: object) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(filter(None, (text(mapping(block), "text") for block in items(content))))


def _details(raw: msgspec.Raw) -> Details:
    if raw is NOTHING:
        return Details()
    details = decoded(DETAILS, raw)
    return Details() if isinstance(details, Skipped) else details
