"""Tools: what Codex's own tools do, and how they ended.

Its tools' names and their inputs are known here only; the shapes of their results are in `outcomes`, those
of a patch in `patches`. Whether an outcome matters is the core's business.
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
from holdfast.core.events.fence import without_ours
from holdfast.core.evidence.commands.exit_meaning import REFUSED
from holdfast.core.text.strings import one_line, shortened
from holdfast.harnesses.codex import outcomes, patches
from holdfast.harnesses.codex.outcomes import Outcome
from holdfast.harnesses.codex.reached import Call, RecordContext
from holdfast.harnesses.codex.records import Item, fields_in, object_in
from holdfast.harnesses.fields import TEXT_LIMIT, capped, entering, items, mapping, text
from holdfast.harnesses.frame import Frame
from holdfast.harnesses.replies import answers, questions_in

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


class _Asked(msgspec.Struct, frozen=True):
    """What a call asks for, in our own words."""

    tool: str
    action: Action
    subject: str
    detail: str = ""


def called(item: Item, frame: Frame, reached: RecordContext) -> Iterator[Event]:
    """What the agent asked for."""
    call = item.call or frame.record
    given = fields_in(item.action if item.type.endswith("shell_call") else item.arguments)
    if item.name == "update_plan":
        yield TodosChanged(**frame.told(Origin.ASSISTANT, call), todos=_todos(given.get("plan")))
        return
    if item.type == "web_search_call":  # its answer goes to the model alone
        yield _told(call, _searched(item), frame, Origin.ASSISTANT)
        return
    if item.name == "write_stdin":
        reached.polled(call, _process(given))
        if not text(given, "chars"):
            return
    asked = _asked(item, given, reached)
    yield _told(call, asked, frame, Origin.ASSISTANT)
    task = asked.subject if asked.action is Action.DELEGATE else ""
    reached.opened(call, Call(asked.action, task, _questions(asked, given)))


def returned(item: Item, frame: Frame, reached: RecordContext) -> Iterator[Event]:
    """What an output says about its call, or about the process that the call was waiting for."""
    call = item.call
    known = reached.open.get(call)
    process = reached.polls.pop(call, "")
    started_by = reached.running.get(process, "")
    action = Action.RUN if started_by else known.action if known else Action.OTHER
    outcome = outcomes.of_output(item.output, action)
    if started_by and not outcome.process:
        del reached.running[process]
        yield from _ended(started_by, outcome, frame, reached)
        outcome = Outcome(ok=True)
    if outcome.process and known is not None and known.action is Action.RUN:
        reached.outlived(outcome.process, call)
        own = frame.told(Origin.TOOL, f"{call}/running")
        yield LeftRunning(**own, call=call, handle=f"session {outcome.process}")
    else:
        yield from _ended(call, outcome, frame, reached)


def reported(
    kind: str, fields: Mapping[str, object], frame: Frame, reached: RecordContext
) -> Iterator[Event]:
    """What an event says about a call that ended; one that no item asked for is told from its start."""
    call = text(fields, "call_id", "id")
    source = text(fields, "source")
    # Input to a running process is reported as the process itself once more.
    if not call or call in reached.ended or source == "unified_exec_interaction":
        return
    if call not in reached.open:
        asked = _asked_in_report(kind, fields)
        by = Origin.HUMAN if source.startswith("user") else Origin.ASSISTANT
        yield _told(call, asked, frame, by)
        reached.opened(call, Call(asked.action))
    yield from _ended(call, outcomes.of_report(fields), frame, reached)


def command_line(command: object) -> str:
    """The command that a person would type, without the shell that was put around it."""
    words = [word for word in items(command) if isinstance(word, str)]
    if not words:
        return command if isinstance(command, str) else ""
    shell = words[0].replace("\\", "/").rsplit("/", 1)[-1].lower().removesuffix(".exe")
    if shell in _SHELLS and len(words) > 2 and words[-2].startswith(("-", "/")):
        return words[-1]
    return shlex.join(words)


def _told(call: str, asked: _Asked, frame: Frame, by: Origin) -> ToolCalled:
    detail = without_ours(asked.detail)
    is_patch = asked.action is Action.EDIT
    return ToolCalled(
        **frame.told(by, call),
        call=call,
        tool=asked.tool,
        action=asked.action,
        subject=capped(without_ours(asked.subject), TEXT_LIMIT),
        detail=patches.shortened_patch(detail) if is_patch else capped(detail),
    )


def _ended(call: str, outcome: Outcome, frame: Frame, reached: RecordContext) -> Iterator[Event]:
    known = reached.closed(call) if call in reached.open else None
    if known is None:
        return
    if known.questions:
        given = mapping(object_in(outcome.text).get("answers"))
        asked = ((text, mapping(given.get(id)).get("answers")) for id, text in known.questions.items())
        yield from answers(call, asked, Frame(frame.session, call, frame.at, frame.agent, frame.parent))
    yield ToolReturned(
        **frame.told(Origin.TOOL, f"{call}/end"),
        call=call,
        ok=outcome.ok,
        exit_status=outcome.exit_status,
        text=REFUSED if _REFUSED.fullmatch(outcome.text) else outcome.text,
    )
    if known.action is Action.DELEGATE and outcome.ok:
        agent = text(object_in(outcome.text), "agent_id", "agent_path", "task_name")
        started = frame.told(Origin.ASSISTANT, f"{call}/agent")
        yield SubagentStarted(**started, subagent=agent or call, task=known.task)


def _questions(asked: _Asked, given: Mapping[str, object]) -> dict[str, str]:
    """What a person is asked, by the ids that the answers will go by."""
    rows = map(mapping, items(given.get("questions")) if asked.action is Action.ASK else ())
    return {text(one, "id"): capped(text(one, "question")) for one in rows if text(one, "id")}


def _asked(item: Item, given: Mapping[str, object], reached: RecordContext) -> _Asked:
    free_text = item.input
    tool = _name(item)
    action = Action.RUN if item.type == "local_shell_call" else _ACTIONS.get(tool, Action.OTHER)
    match action:
        case Action.RUN if given:
            return _run(tool, given, reached)
        case Action.EDIT:
            patch = free_text if isinstance(free_text, str) else text(given, "input", "patch")
            return _edit(tool, patch)
        case Action.DELEGATE:
            task = text(given, "message", "task", "prompt")
            return _Asked(tool, action, shortened(one_line(task), _TASK_LIMIT), task)
        case Action.OTHER if item.name == "write_stdin":
            return _Asked(tool, action, text(given, "chars").strip())
        case Action.READ | Action.SEARCH:
            return _Asked(tool, action, text(given, *_SUBJECTS[action]))
        case Action.ASK:
            return _Asked(tool, action, "", questions_in(given))
        case _:
            detail = free_text if isinstance(free_text, str) else item.arguments
            subject = text(given, *_SUBJECTS[Action.OTHER])
            return _Asked(tool, Action.OTHER, subject, detail if isinstance(detail, str) else "")


def _run(tool: str, given: Mapping[str, object], reached: RecordContext) -> _Asked:
    command = command_line(given.get("command", given.get("cmd")))
    words = items(given.get("command"))
    patch = patches.patch_in(command)
    if len(words) == 2 and words[0] in ("apply_patch", "applypatch") and isinstance(words[1], str):
        patch = words[1]
    folder = text(given, "workdir", "working_directory")
    elsewhere = "" if folder == reached.cwd else folder
    if patch:
        return _edit("apply_patch", patches.under(elsewhere, patch))
    return _Asked(tool, Action.RUN, entering(elsewhere, command))


def _process(given: Mapping[str, object]) -> str:
    number = given.get("session_id")
    return str(number) if isinstance(number, int | str) else ""


def _edit(tool: str, patch: str) -> _Asked:
    return _Asked(tool, Action.EDIT, patches.first_file(patch), patch)


def _searched(item: Item) -> _Asked:
    given = fields_in(item.action)
    queries = [query for query in items(given.get("queries")) if isinstance(query, str)]
    subject = text(given, "query", "url", "pattern") or next(iter(queries), "")
    return _Asked("web_search", Action.OTHER, subject)


def _asked_in_report(kind: str, fields: Mapping[str, object]) -> _Asked:
    match kind:
        case "exec_command_end" | "CommandExecution":
            return _Asked("exec_command", Action.RUN, command_line(fields.get("command")))
        case "patch_apply_end" | "FileChange":
            return _edit("apply_patch", patches.patch_of(mapping(fields.get("changes"))))
        case _:
            invoked = mapping(fields.get("invocation")) or fields
            tool = f"mcp__{text(invoked, 'server')}__{text(invoked, 'tool')}"
            given = mapping(invoked.get("arguments"))
            return _Asked(tool, Action.OTHER, text(given, *_SUBJECTS[Action.OTHER]))


def _name(item: Item) -> str:
    name = item.name or ("local_shell" if item.type == "local_shell_call" else "")
    if item.namespace and item.namespace.startswith("mcp__"):
        return f"{item.namespace}__{name.lstrip('_')}"
    return name


def _todos(plan: object) -> tuple[Todo, ...]:
    rows = map(mapping, items(plan))
    return tuple(
        Todo(without_ours(text(row, "step")), text(row, "status")) for row in rows if text(row, "step")
    )
