"""Tools: what Codex's own tools do, how they ended, and the patches that an agent passes to them.

Only this module knows the names of its tools, their inputs and the form of their results. The core decides
whether an outcome matters.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from holdfast.core.events.event import (
    Action,
    Event,
    LeftRunning,
    Origin,
    SubagentStarted,
    Todo,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.evidence.commands.exit_meaning import REFUSED
from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.codex.records import Call, Item, RecordContext, fields_in, object_in, texts
from holdfast.harnesses.fields import TEXT_LIMIT, capped, entering, items, mapping, status_of, text
from holdfast.harnesses.record_events import Frame, answers, questions_in

_ACTIONS: Final[Mapping[str, Action]] = {
    "shell": Action.RUN,
    "shell_command": Action.RUN,
    "exec_command": Action.RUN,
    "local_shell": Action.RUN,
    "container.exec": Action.RUN,
    "apply_patch": Action.EDIT,
    "view_image": Action.READ,
    "read_file": Action.READ,
    "list_dir": Action.SEARCH,
    "grep_files": Action.SEARCH,
    "spawn_agent": Action.DELEGATE,
    "request_user_input": Action.ASK,
}
_SUBJECTS: Final[Mapping[Action, tuple[str, ...]]] = {
    Action.READ: ("path", "file_path"),
    Action.SEARCH: ("pattern", "path", "dir_path"),
    Action.OTHER: ("path", "file_path", "command", "query", "url", "pattern"),
}
_SHELLS = frozenset({"bash", "sh", "zsh", "dash", "ksh", "fish", "pwsh", "powershell", "cmd"})
_TASK_LIMIT = 200
_REFUSED = re.compile(r"(?:(?:exec command|patch) )?rejected by user", re.IGNORECASE)


class _ToolRequest(msgspec.Struct, frozen=True):
    """What a tool call asks for."""

    tool: str
    action: Action
    subject: str
    detail: str = ""


def events_of_call(item: Item, frame: Frame, reached: RecordContext) -> Iterator[Event]:
    """What the agent asked for."""
    call = item.call or frame.record
    arguments = fields_in(item.action if item.type.endswith("shell_call") else item.arguments)
    if item.name == "update_plan":
        yield TodosChanged(**frame.common(Origin.ASSISTANT, call), todos=_todos(arguments.get("plan")))
        return
    if item.type == "web_search_call":  # its answer goes to the model alone
        yield _tool_called(call, _web_search(item), frame, Origin.ASSISTANT)
        return
    if item.name == "write_stdin":
        reached.polled(call, _process(arguments))
        if not text(arguments, "chars"):
            return
    request = _request(item, arguments, reached)
    yield _tool_called(call, request, frame, Origin.ASSISTANT)
    task = request.subject if request.action is Action.DELEGATE else ""
    reached.opened(call, Call(request.action, task, _questions(request, arguments)))


def events_of_result(item: Item, frame: Frame, reached: RecordContext) -> Iterator[Event]:
    """What an output says about its call, or about the process that the call was waiting for."""
    call = item.call
    open_call = reached.open.get(call)
    process = reached.polls.pop(call, "")
    started_by = reached.running.get(process, "")
    action = Action.RUN if started_by else open_call.action if open_call else Action.OTHER
    outcome = outcome_of_output(item.output, action)
    if started_by and not outcome.process:
        del reached.running[process]
        yield from _ended(started_by, outcome, frame, reached)
        outcome = Outcome(ok=True)
    if outcome.process and open_call is not None and open_call.action is Action.RUN:
        reached.outlived(outcome.process, call)
        common = frame.common(Origin.TOOL, f"{call}/running")
        yield LeftRunning(**common, call=call, handle=f"session {outcome.process}")
    else:
        yield from _ended(call, outcome, frame, reached)


def events_of_report(
    kind: str, fields: Mapping[str, object], frame: Frame, reached: RecordContext
) -> Iterator[Event]:
    """What an event says about a call that ended; if no item started the call, its start is reported too."""
    call = text(fields, "call_id", "id")
    source = text(fields, "source")
    # Input to a running process is reported as if the process ran again.
    if not call or call in reached.ended or source == "unified_exec_interaction":
        return
    if call not in reached.open:
        request = _request_in_report(kind, fields)
        by = Origin.HUMAN if source.startswith("user") else Origin.ASSISTANT
        yield _tool_called(call, request, frame, by)
        reached.opened(call, Call(request.action))
    yield from _ended(call, outcome_of_report(fields), frame, reached)


def command_line(command: object) -> str:
    """The command as the user would type it, without the shell around it."""
    words = [word for word in items(command) if isinstance(word, str)]
    if not words:
        return command if isinstance(command, str) else ""
    shell = words[0].replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")
    if shell in _SHELLS and len(words) > 2 and words[-2].startswith(("-", "/")):
        return words[-1]
    return shlex.join(words)


def _tool_called(call: str, request: _ToolRequest, frame: Frame, by: Origin) -> ToolCalled:
    detail = without_injected_text(request.detail)
    is_patch = request.action is Action.EDIT
    return ToolCalled(
        **frame.common(by, call),
        call=call,
        tool=request.tool,
        action=request.action,
        subject=capped(without_injected_text(request.subject), TEXT_LIMIT),
        detail=shortened_patch(detail) if is_patch else capped(detail),
    )


def _ended(call: str, outcome: Outcome, frame: Frame, reached: RecordContext) -> Iterator[Event]:
    open_call = reached.closed(call) if call in reached.open else None
    if open_call is None:
        return
    if open_call.questions:
        answers_by_id = mapping(object_in(outcome.text).get("answers"))
        pairs = (
            (text, mapping(answers_by_id.get(id)).get("answers")) for id, text in open_call.questions.items()
        )
        yield from answers(call, pairs, Frame(frame.session, call, frame.at, frame.agent, frame.parent))
    yield ToolReturned(
        **frame.common(Origin.TOOL, f"{call}/end"),
        call=call,
        ok=outcome.ok,
        exit_status=outcome.exit_status,
        text=REFUSED if _REFUSED.fullmatch(outcome.text) else outcome.text,
    )
    if open_call.action is Action.DELEGATE and outcome.ok:
        agent = text(object_in(outcome.text), "agent_id", "agent_path", "task_name")
        started = frame.common(Origin.ASSISTANT, f"{call}/agent")
        yield SubagentStarted(**started, subagent=agent or call, task=open_call.task)


def _questions(request: _ToolRequest, arguments: Mapping[str, object]) -> dict[str, str]:
    """The questions for the user, by the ids of their answers."""
    rows = map(mapping, items(arguments.get("questions")) if request.action is Action.ASK else ())
    return {text(row, "id"): capped(text(row, "question")) for row in rows if text(row, "id")}


def _request(item: Item, arguments: Mapping[str, object], reached: RecordContext) -> _ToolRequest:
    free_text = item.input
    tool = _name(item)
    action = Action.RUN if item.type == "local_shell_call" else _ACTIONS.get(tool, Action.OTHER)
    match action:
        case Action.RUN if arguments:
            return _run(tool, arguments, reached)
        case Action.EDIT:
            patch = free_text if isinstance(free_text, str) else text(arguments, "input", "patch")
            return _edit(tool, patch)
        case Action.DELEGATE:
            task = text(arguments, "message", "task", "prompt")
            return _ToolRequest(tool, action, shortened(one_line(task), _TASK_LIMIT), task)
        case Action.OTHER if item.name == "write_stdin":
            return _ToolRequest(tool, action, text(arguments, "chars").strip())
        case Action.READ | Action.SEARCH:
            return _ToolRequest(tool, action, text(arguments, *_SUBJECTS[action]))
        case Action.ASK:
            return _ToolRequest(tool, action, "", questions_in(arguments))
        case _:
            detail = free_text if isinstance(free_text, str) else item.arguments
            subject = text(arguments, *_SUBJECTS[Action.OTHER])
            return _ToolRequest(tool, Action.OTHER, subject, detail if isinstance(detail, str) else "")


def _run(tool: str, arguments: Mapping[str, object], reached: RecordContext) -> _ToolRequest:
    command = command_line(arguments.get("command", arguments.get("cmd")))
    words = items(arguments.get("command"))
    patch = patch_in(command)
    if len(words) == 2 and words[0] in ("apply_patch", "applypatch") and isinstance(words[1], str):
        patch = words[1]
    folder = text(arguments, "workdir", "working_directory")
    elsewhere = "" if folder == reached.cwd else folder
    if patch:
        return _edit("apply_patch", patch_under(elsewhere, patch))
    return _ToolRequest(tool, Action.RUN, entering(elsewhere, command))


def _process(arguments: Mapping[str, object]) -> str:
    number = arguments.get("session_id")
    return str(number) if isinstance(number, int | str) else ""


def _edit(tool: str, patch: str) -> _ToolRequest:
    return _ToolRequest(tool, Action.EDIT, first_file(patch), patch)


def _web_search(item: Item) -> _ToolRequest:
    fields = fields_in(item.action)
    queries = [query for query in items(fields.get("queries")) if isinstance(query, str)]
    subject = text(fields, "query", "url", "pattern") or next(iter(queries), "")
    return _ToolRequest("web_search", Action.OTHER, subject)


def _request_in_report(kind: str, fields: Mapping[str, object]) -> _ToolRequest:
    match kind:
        case "exec_command_end" | "CommandExecution":
            return _ToolRequest("exec_command", Action.RUN, command_line(fields.get("command")))
        case "patch_apply_end" | "FileChange":
            return _edit("apply_patch", patch_of(mapping(fields.get("changes"))))
        case _:
            invoked = mapping(fields.get("invocation")) or fields
            tool = f"mcp__{text(invoked, 'server')}__{text(invoked, 'tool')}"
            arguments = mapping(invoked.get("arguments"))
            return _ToolRequest(tool, Action.OTHER, text(arguments, *_SUBJECTS[Action.OTHER]))


def _name(item: Item) -> str:
    name = item.name or ("local_shell" if item.type == "local_shell_call" else "")
    if item.namespace and item.namespace.startswith("mcp__"):
        return f"{item.namespace}__{name.lstrip('_')}"
    return name


def _todos(plan: object) -> tuple[Todo, ...]:
    rows = map(mapping, items(plan))
    return tuple(
        Todo(without_injected_text(text(row, "step")), text(row, "status"))
        for row in rows
        if text(row, "step")
    )


_HEADER = re.compile(
    r"\A(?:(?:Chunk ID|Wall time|Original token count|Total output lines|Exit code|Process exited"
    r"|Process running|Warning: truncated output)\b[^\n]*(?:\n|\Z))+(?:Output:(?:\n|\Z))?"
)
_EXIT = re.compile(r"^(?:Exit code:|Process exited with code) *(-?\d{1,10})\b", re.MULTILINE)
_RUNNING = re.compile(r"^Process running with session ID (\w{1,20})\b", re.MULTILINE)
_DENIED = re.compile(r"\A[^\n]{0,120}\bexit code:? (\d{1,5}), stdout:")
# In place of an output, in the first line, if a command or a patch did not run at all.
_REFUSAL_WORDS = re.compile(
    r"\A[^\n]{0,200}?\b(?:failed|failure|invalid|rejected|denied|aborted|error|unsupported|timed out)\b",
    re.IGNORECASE,
)
_BROKEN = re.compile(
    r"\A(?:unsupported (?:custom tool )?call|aborted|failed to|tool call error|err:)", re.IGNORECASE
)


class Outcome(msgspec.Struct, frozen=True):
    """How a call ended and its output; `process` is the number of a process that is still running."""

    ok: bool
    exit_status: int | None = None
    text: str = ""
    process: str = ""


def outcome_of_output(output: object, action: Action) -> Outcome:
    """What a call's output says: a text, a list of blocks, or an object with a flag."""
    if isinstance(output, str):
        return _of_text(output, action)
    fields = mapping(output)
    content = fields.get("content", fields.get("output")) if fields else output
    outcome = _of_text("\n".join(filter(None, texts(content))), action)
    success = fields.get("success")
    if isinstance(success, bool) and outcome.exit_status is None:
        return Outcome(success, None, outcome.text, outcome.process)
    return outcome


def outcome_of_report(fields: Mapping[str, object]) -> Outcome:
    """What an event says about a call that ended."""
    exit_status = status_of(fields.get("exit_code"))
    result = mapping(fields.get("result"))
    answer = mapping(result.get("Ok", result))
    ok = exit_status == 0 if exit_status is not None else fields.get("status") not in _FAILED
    if fields.get("success") is False or answer.get("isError") is True or result.get("Err") is not None:
        ok = False
    streams = "\n".join(filter(None, (text(fields, "stdout"), text(fields, "stderr"))))
    output = text(fields, "aggregated_output") or streams or "\n".join(texts(answer.get("content")))
    output = output or text(result, "Err") or text(mapping(fields.get("error")), "message")
    return Outcome(ok, exit_status, _stored_text(output))


_FAILED = ("failed", "declined", "error", "canceled", "cancelled", "interrupted")


def _of_text(whole: str, action: Action) -> Outcome:
    wrapped = object_in(whole)
    exit_status = status_of(mapping(wrapped.get("metadata")).get("exit_code")) if wrapped else None
    if exit_status is not None:
        return Outcome(exit_status == 0, exit_status, _stored_text(text(wrapped, "output")))
    header = _HEADER.match(whole)
    if header is None:
        return _without_header(whole, action)
    output = _stored_text(whole[header.end() :])
    if exit_match := _EXIT.search(header[0]):
        exit_status = status_of(int(exit_match[1]))
        return Outcome(not exit_status, exit_status, output)
    running = _RUNNING.search(header[0])
    return Outcome(ok=True, text=output, process=running[1] if running else "")


def _without_header(whole: str, action: Action) -> Outcome:
    denied = _DENIED.match(whole)
    if denied:
        return Outcome(ok=False, exit_status=int(denied[1]), text=_stored_text(whole))
    refusal = _REFUSAL_WORDS if action in (Action.RUN, Action.EDIT) else _BROKEN
    return Outcome(not refusal.match(whole), None, _stored_text(whole))


def _stored_text(output: str) -> str:
    return capped(without_injected_text(output))


_BEGIN, _END = "*** Begin Patch", "\n*** End Patch"
# A patch in a shell: only a change of directory before it, only its end marker after it.
_BEFORE = re.compile(r"\s*(?:cd (?P<folder>[^\s&;|]+) *&& *)?(?:apply_?patch)\b[^\n]*\n?\Z")
_BEHIND = re.compile(r"\s*+(?:\w++|['\"])?[\s)]*+\Z")
_FIRST = re.compile(r"^\*\*\* (?:Add|Update|Delete) File: *(\S[^\r\n]*)", re.MULTILINE)
_PATCH_HEADER = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): *\S[^\r\n]*", re.MULTILINE)
_SECTION = re.compile(r"^(?=\*\*\* (?:Add|Update|Delete) File:)", re.MULTILINE)
_RELATIVE = re.compile(
    r"^(\*\*\* (?:(?:Add|Update|Delete) File|Move to): *)(?![/~\s]|[A-Za-z]:)", re.MULTILINE
)
_SHARE_AT_LEAST = 400


def patch_in(command: str) -> str:
    """The patch that a shell command applies if it does nothing else; otherwise empty."""
    begin = command.find(_BEGIN)
    end = command.find(_END, begin) + len(_END)
    if begin < 0 or end < len(_END) or not _BEHIND.match(command, end):
        return ""
    before = _BEFORE.match(command[:begin].removesuffix('"').removesuffix("'"))
    return patch_under(before["folder"] or "", command[begin:end]) if before else ""


def patch_under(folder: str, patch: str) -> str:
    """The patch with its relative paths under this folder; unchanged for an empty folder."""
    folder = folder.strip("'\"").rstrip("/")
    if folder in ("", "."):
        return patch
    return _RELATIVE.sub(lambda match: f"{match[1]}{folder}/", patch)


def first_file(patch: str) -> str:
    """The first file that the patch names."""
    header = _FIRST.search(patch)
    return header[1].strip() if header else ""


def shortened_patch(patch: str) -> str:
    """The patch within the limit: every file keeps its header, and as much of its lines as fits."""
    if len(patch) <= TEXT_LIMIT:
        return patch
    sections = _SECTION.split(patch)
    share = TEXT_LIMIT // len(sections)
    if share < _SHARE_AT_LEAST:
        headers = _PATCH_HEADER.findall(patch)
        return "\n".join(headers)[:TEXT_LIMIT]
    return "".join(capped(section, share - 1).rstrip("\n") + "\n" for section in sections if section)


def patch_of(changes: Mapping[str, object]) -> str:
    """The patch that these changes, file by file, amount to."""
    return "\n".join(_section(path, mapping(change)) for path, change in changes.items())


def _section(path: str, change: Mapping[str, object]) -> str:
    match change.get("type"):
        case "add":
            added = text(change, "content").splitlines()
            return "\n".join((f"*** Add File: {path}", *(f"+{line}" for line in added)))
        case "delete":
            return f"*** Delete File: {path}"
        case _:
            moved = text(change, "move_path")
            lines = (f"*** Update File: {path}", f"*** Move to: {moved}" if moved else "")
            return "\n".join(filter(None, (*lines, text(change, "unified_diff"))))
