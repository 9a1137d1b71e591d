"""Tools: what the tools of pi and OpenClaw do, and how they ended.

Their names, their arguments and the shapes of their results are known here only. Whether an outcome matters
is the core's business.
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
from holdfast.core.events.fence import without_ours
from holdfast.core.evidence.commands.exit_meaning import STOPPED
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
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.openclaw.records import DETAILS, Block, Details, Message

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
"""The kind of message that tells of a call which another tool made."""
_PLAN = "update_plan"
_PATCH = "apply_patch"
_ALWAYS_SAYS = "bash"
"""pi's own shell: it says with what a command failed, so that one of which it says nothing ended with 0."""
_GOES_ON = frozenset({"running", "accepted"})
_FAILED = frozenset({"failed", "error", "killed"})
_BACKGROUND = "process"
"""The tool that looks after commands in the background."""
_STOPPED = re.compile(r"(?:Termination requested for|Removed) session ([\w-]{1,80})")
_EXITED = "Command exited with code"
_EXIT = re.compile(rf"\(?{_EXITED} (-?\d{{1,10}})\.?\)?\s*\Z")


def called(block: Block, frame: Frame) -> Iterator[Event]:
    """What the agent asked for."""
    given = mapping(value_of(block.arguments))
    tool, call = block.name or "", block.id or ""
    if tool == _PLAN:
        yield TodosChanged(**frame.told(Origin.ASSISTANT), todos=_todos(given.get("plan")))
        return
    asked = _asked(tool, call, given, frame)
    yield asked
    if asked.action is Action.DELEGATE:
        task = without_ours(text(given, "label", "task"))
        yield SubagentStarted(**frame.part(Origin.ASSISTANT, "agent"), subagent=call, task=task)


def returned(message: Message, frame: Frame) -> Iterator[Event]:
    """How a call ended. One that goes on in the background has not ended."""
    details = _details(message.details)
    if details.status in _GOES_ON:
        if details.process:
            own = frame.part(Origin.TOOL, "running")
            yield LeftRunning(**own, call=message.call or "", handle=_handle(details.process))
        return
    output = without_ours(content_text(message.content))
    exit_status = _exit_status(message.tool or "", output, details, is_error=message.is_error is True)
    failed = message.is_error is True or details.status in _FAILED
    kept = capped(_without_status(output) if exit_status else output)
    ended = ToolReturned(
        **frame.told(Origin.TOOL),
        call=message.call or "",
        ok=not failed and not exit_status,
        exit_status=exit_status,
        text=kept,
        size=len(output) if len(output) != len(kept) else 0,
    )
    yield ended
    if message.tool == _BACKGROUND:
        yield from _looked_at(ended, output, details, frame)


def _looked_at(ended: ToolReturned, output: str, details: Details, frame: Frame) -> Iterator[Event]:
    """The end of a command in the background that a call has found there, or has brought about."""
    found = replace(ended, **frame.part(Origin.TOOL, "background"), call="", size=0)
    if details.process:
        yield replace(found, handle=_handle(details.process))
    elif stopped := _STOPPED.match(output):
        yield replace(found, handle=_handle(stopped[1]), ok=False, text=STOPPED)


def _handle(process: str) -> str:
    return f"session {process}"


def ran(message: Message, frame: Frame) -> Iterator[Event]:
    """A command that a person ran beside the conversation, and how it ended."""
    command = without_ours(message.command or "")
    if not command.strip():
        return
    exit_status = status_of(message.exit_code)
    yield ToolCalled(
        **frame.told(Origin.HUMAN), call=frame.record, tool="bash", action=Action.RUN, subject=command
    )
    yield ToolReturned(
        **frame.part(Origin.TOOL, "end"),
        call=frame.record,
        ok=not message.cancelled and not exit_status,
        exit_status=exit_status,
        text=capped(without_ours(message.output or "")),
    )


def nested(message: Message, frame: Frame) -> Iterator[Event]:
    """A call that another tool made, and how it ended: one record tells both."""
    details = mapping(value_of(message.details))
    tool, call = text(details, "toolName"), text(details, "toolCallId") or frame.record
    if not tool:
        return
    result = mapping(details.get("result"))
    output = without_ours(_joined(result.get("content")))
    is_error = details.get("isError") is True
    ended = Details(exit_code=status_of(mapping(result.get("details")).get("exitCode")))
    exit_status = _exit_status(tool, output, ended, is_error=is_error)
    yield _asked(tool, call, mapping(details.get("input")), frame)
    yield ToolReturned(
        **frame.part(Origin.TOOL, "end"),
        call=call,
        ok=not is_error and not exit_status,
        exit_status=exit_status,
        text=capped(_without_status(output) if exit_status else output),
    )


def content_text(content: str | list[Block] | None) -> str:
    """The text of a message, or of its blocks; thinking and images are passed over."""
    if isinstance(content, str):
        return content
    return "\n".join([block.text for block in content or () if block.type == "text" and block.text])


def _action(tool: str, given: Mapping[str, object]) -> Action:
    """What a tool does, by its name; of one that nobody knows, by the words of its name and its arguments.

    Agents that keep their log in this format bring tools of their own.
    """
    known = _ACTIONS.get(tool.lower())
    if known is not None or not text(given, *_FILE_ARGUMENTS):
        return known or Action.OTHER
    if text(given, "command") == "view":
        return Action.READ
    words = frozenset(word.lower() for word in _WORD.findall(tool))
    if not words.isdisjoint(_WRITING):
        return Action.WRITE
    return Action.OTHER if words.isdisjoint(_EDITING) else Action.EDIT


def _asked(tool: str, call: str, given: Mapping[str, object], frame: Frame) -> ToolCalled:
    action = _action(tool, given)
    return ToolCalled(
        **frame.told(Origin.ASSISTANT),
        call=call,
        tool=tool,
        action=action,
        subject=without_ours(_subject(action, given)),
        detail=capped(without_ours(_detail(action, given))),
    )


def _subject(action: Action, given: Mapping[str, object]) -> str:
    subject = text(given, *_SUBJECTS[action])
    return entering(text(given, "workdir"), subject) if action is Action.RUN else subject


def _detail(action: Action, given: Mapping[str, object]) -> str:
    match action:
        case Action.SEARCH:
            return text(given, "path") if text(given, "pattern", "query", "url") else ""
        case Action.DELEGATE:
            return text(given, "task")
        case Action.WRITE:
            return text(given, "content", "file_text", "text")
        case Action.EDIT:
            edits = [given, *map(mapping, items(given.get("edits")))]
            news = (text(edit, *_NEW_TEXT) for edit in edits)
            return "\n".join(filter(None, news))
        case Action.OTHER:
            return msgspec.json.encode(given).decode() if given else ""
        case _:
            return ""


def _todos(plan: object) -> tuple[Todo, ...]:
    rows = map(mapping, items(plan))
    return tuple(Todo(text(row, "step"), text(row, "status")) for row in rows if text(row, "step"))


def _exit_status(tool: str, output: str, details: Details, *, is_error: bool) -> int | None:
    given = status_of(details.exit_code)
    if given is not None or _ACTIONS.get(tool) is not Action.RUN:
        return given
    end = output[-200:]
    found = _EXIT.search(end) if _EXITED in end else None
    if found:
        return int(found[1])
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
    found = decoded(DETAILS, raw)
    return Details() if isinstance(found, Skipped) else found
