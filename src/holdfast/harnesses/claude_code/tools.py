"""Tools: what Claude Code's own tools do, how they ended, and what the user replied to them.

Only this module knows the names of its tools, their inputs and the form of their results. The core decides
whether an outcome matters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from holdfast.core.events.event import (
    Action,
    Event,
    LeftRunning,
    Origin,
    SubagentStarted,
    SubagentStopped,
    Todo,
    TodoChanged,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.core.evidence.commands.exit_meaning import REFUSED, STOPPED
from holdfast.core.text.untrusted import without_injected_text
from holdfast.harnesses.claude_code.records import Block, Message, Record
from holdfast.harnesses.fields import capped, items, mapping, status_of, text, value_of
from holdfast.harnesses.record_events import Frame, answers, questions_in, reply

_ACTIONS: Final[Mapping[str, Action]] = {
    "Bash": Action.RUN,
    "PowerShell": Action.RUN,
    "Read": Action.READ,
    "NotebookRead": Action.READ,
    "Write": Action.WRITE,
    "Edit": Action.EDIT,
    "MultiEdit": Action.EDIT,
    "NotebookEdit": Action.EDIT,
    "Grep": Action.SEARCH,
    "Glob": Action.SEARCH,
    "LS": Action.SEARCH,
    "WebSearch": Action.SEARCH,
    "WebFetch": Action.SEARCH,
    "Task": Action.DELEGATE,
    "Agent": Action.DELEGATE,
    "AskUserQuestion": Action.ASK,
    "ExitPlanMode": Action.ASK,
}
_SUBJECTS: Final[Mapping[Action, tuple[str, ...]]] = {
    Action.RUN: ("command",),
    Action.READ: ("file_path", "notebook_path", "path"),
    Action.WRITE: ("file_path",),
    Action.EDIT: ("file_path", "notebook_path"),
    Action.SEARCH: ("pattern", "query", "url", "path"),
    Action.DELEGATE: ("description", "prompt"),
    Action.ASK: (),
    Action.OTHER: ("file_path", "path", "command", "query", "url"),
}
_TASKS: Final = frozenset({"TaskCreate", "TaskUpdate", "TaskGet", "TaskList"})
_AWAITED: Final = _TASKS | {name for name, action in _ACTIONS.items() if action is Action.ASK}
NOTIFICATION = "<task-notification>"
"""How a text begins that reports the end of something in the background."""
_EXIT = re.compile(r"\AExit code (\d{1,5})\b")
_FINISHED = re.compile(r"exit code (\d{1,5})\)?\s*\Z")
_REPORT_END = re.compile(r"\s*^agentId: \w{1,80} \([^\n]*\)\s*(?:<usage>[^<]*</usage>\s*)?\Z", re.MULTILINE)
"""What Claude Code adds to a subagent's report: how to resume it, and what it cost."""
_NOTIFIED = re.compile(
    r"<(?P<name>tool-use-id|task-id|status|summary|result)>(?P<value>.*?)</(?P=name)>", re.DOTALL
)


def events_of_call(block: Block, frame: Frame) -> Iterator[Event]:
    """What the agent asked for."""
    tool, call = block.name or "", block.id or ""
    arguments = mapping(value_of(block.input))
    if tool == "TodoWrite":
        yield TodosChanged(**frame.common(Origin.ASSISTANT), todos=_todos(arguments.get("todos")))
        return
    if tool in _TASKS:
        # The result says what became of it, and only the result has the id of a new task.
        if subject := text(arguments, "subject") if text(arguments, "taskId") else "":
            todo = Todo(without_injected_text(subject), "", text(arguments, "taskId"))
            yield TodoChanged(**frame.common(Origin.ASSISTANT), todo=todo)
        return
    action = _ACTIONS.get(tool, Action.OTHER)
    subject = text(arguments, *_SUBJECTS[action])
    detail = _detail(action, arguments, block.input)
    yield ToolCalled(
        **frame.common(Origin.ASSISTANT),
        call=call,
        tool=tool,
        action=action,
        subject=without_injected_text(subject),
        detail=capped(without_injected_text(detail)),
    )
    if action is Action.DELEGATE:
        task = without_injected_text(text(arguments, "description", "prompt"))
        yield SubagentStarted(**frame.part(Origin.ASSISTANT, "agent"), subagent=call, task=task)


def awaited(message: Message | None) -> tuple[str, ...]:
    """The calls of a message whose results are more than output: questions to the user, and task changes."""
    content = message.content if message else None
    blocks = content if isinstance(content, list) else ()
    return tuple(block.id for block in blocks if block.id and block.name in _AWAITED)


_ERROR_TAGS: Final = ("<tool_use_error>", "</tool_use_error>")
"""What stands around the words of an error that Claude Code itself reports."""


def _unwrapped(result_text: str) -> str:
    """A tool's result without the tags around an error."""
    before, after = _ERROR_TAGS
    is_wrapped = result_text.startswith(before) and result_text.endswith(after)
    return result_text.removeprefix(before).removesuffix(after) if is_wrapped else result_text


def events_of_result(block: Block, record: Record, frame: Frame, *, awaited: bool) -> Iterator[Event]:
    """How a call ended and, if its result is `awaited`, what it says about tasks and what the user answered.

    A call that runs on in the background has not ended: a notification will say how it does.
    """
    call, ok = block.tool_use_id or "", not block.is_error
    outcome = mapping(value_of(record.result))
    result_text = without_injected_text(content_text(block.content))
    if is_in_background(outcome):
        yield from command_left_running(call, outcome, frame)
        return
    if block.is_error and (words := refusal(result_text, record)) is not None:
        yield from reply(call, words, frame)
        yield ToolReturned(
            **frame.common(Origin.TOOL), call=call, ok=False, text=REFUSED, size=len(result_text)
        )
        return
    if awaited:
        yield from events_of_reply(call, result_text, outcome, frame)
        yield from _task(outcome, frame)
    output = _output(outcome)
    stored_text = capped(_unwrapped(result_text) if output is None else without_injected_text(output))
    yield ToolReturned(
        **frame.common(Origin.TOOL),
        call=call,
        ok=ok and outcome.get("interrupted") is not True,
        exit_status=_exit_status(block, result_text, outcome),
        text=stored_text,
        # The size of what the model was sent: it may be more than is stored, or less than was printed.
        size=len(result_text) if len(result_text) != len(stored_text) else 0,
    )
    # Older versions do not say the status.
    if outcome.get("status", "completed") == "completed" and "totalDurationMs" in outcome:
        report = capped(_REPORT_END.sub("", result_text))
        yield SubagentStopped(**frame.part(Origin.TOOL, "agent"), subagent=call, text=report)
    yield from _edited_in_shell(call, outcome, frame)
    yield from end_of_background(outcome, frame)


def events_of_notification(notification: str, frame: Frame) -> Iterator[Event]:
    """How something in the background ended."""
    # The first tag of each name is the harness's own; a result may quote anything.
    values = {
        match["name"]: match["value"].strip() for match in reversed([*_NOTIFIED.finditer(notification)])
    }
    call, summary, status = values.get("tool-use-id", ""), values.get("summary", ""), values.get("status", "")
    # Older versions, such as 2.1.39, give only its id.
    handle = "" if call else values.get("task-id", "")
    if not (call or handle) or status not in ("completed", "failed", "killed"):
        return
    result_text = capped(without_injected_text(values.get("result", "") or summary))
    if summary.startswith("Agent "):
        yield SubagentStopped(**frame.part(Origin.TOOL, "agent"), subagent=call or handle, text=result_text)
    status_match = _FINISHED.search(summary)
    exit_status = int(status_match[1]) if status_match else None
    yield ToolReturned(
        **frame.common(Origin.TOOL),
        call=call,
        ok=status == "completed" and not exit_status,
        exit_status=exit_status,
        text=STOPPED if status == "killed" else result_text,
        handle=handle,
    )


def content_text(content: msgspec.Raw) -> str:
    """The text of a content that is a text, or a list of texts or blocks, without images."""
    value = value_of(content)
    if isinstance(value, str):
        return value
    texts = (part if isinstance(part, str) else text(mapping(part), "text") for part in items(value))
    return "\n".join(part_text for part_text in texts if part_text)


def _todos(value: object) -> tuple[Todo, ...]:
    rows = map(mapping, items(value))
    return tuple(Todo(text(row, "content"), text(row, "status")) for row in rows if text(row, "content"))


def _task(outcome: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """The entry of the task list that a call created, changed or read."""
    task, change = mapping(outcome.get("task")), mapping(outcome.get("statusChange"))
    common = frame.part(Origin.ASSISTANT, "task")
    if text(task, "id") and text(task, "subject"):
        entry = Todo(without_injected_text(text(task, "subject")), text(task, "status"), text(task, "id"))
        yield TodoChanged(**common, todo=entry)
    elif text(outcome, "taskId") and text(change, "to"):
        yield TodoChanged(**common, todo=Todo("", text(change, "to"), text(outcome, "taskId")))


def _detail(action: Action, arguments: Mapping[str, object], raw: msgspec.Raw) -> str:
    match action:
        case Action.RUN:
            return text(arguments, "description")
        case Action.SEARCH:
            return text(arguments, "path", "prompt")
        case Action.DELEGATE:
            return text(arguments, "prompt")
        case Action.WRITE:
            return text(arguments, "content")
        case Action.EDIT:
            edits = [arguments, *map(mapping, items(arguments.get("edits")))]
            return "\n".join(filter(None, (text(edit, "new_string", "new_source") for edit in edits)))
        case Action.ASK:
            return questions_in(arguments) or text(arguments, "plan")
        case Action.OTHER:
            return bytes(raw).decode(errors="replace") if arguments else ""
        case _:
            return ""


def _output(outcome: Mapping[str, object]) -> str | None:
    """A command's whole output; the message to the model may hold less of it."""
    if not isinstance(outcome.get("stdout"), str):
        return None
    return "\n".join(part for part in (text(outcome, "stdout"), text(outcome, "stderr")) if part)


def _exit_status(block: Block, result_text: str, outcome: Mapping[str, object]) -> int | None:
    reported_status = status_of(outcome.get("exitCode"))
    if reported_status is not None:
        return reported_status
    if block.is_error:
        status_match = _EXIT.match(result_text)
        return int(status_match[1]) if status_match else None
    if outcome.get("interrupted") is True or "returnCodeInterpretation" in outcome:
        return None  # its exit status was not 0, but is not recorded
    # A command's result says `is_error: false`; other tools' results leave it out.
    return 0 if block.is_error is False and ("stdout" in outcome or not outcome) else None


def _edited_in_shell(call: str, outcome: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """The files that a command changed, as if a separate tool call had edited each."""
    for file in map(mapping, items(mapping(outcome.get("bashEditDiff")).get("files"))):
        if path := text(file, "filePath"):
            call_id = f"{call}:{path}"
            action = Action.WRITE if file.get("created") is True else Action.EDIT
            call_fields = frame.part(Origin.ASSISTANT, f"call/{path}")
            ended = frame.part(Origin.TOOL, f"end/{path}")
            yield ToolCalled(**call_fields, call=call_id, tool="Bash", action=action, subject=path)
            yield ToolReturned(**ended, call=call_id, ok=True)


_STOPPED: Final = frozenset({"killed", "stopped"})
_OVER: Final = frozenset({"completed", "failed", *_STOPPED})
_DONE: Final = "Successfully "
"""How a message begins that says that something was killed or stopped."""


def is_in_background(outcome: Mapping[str, object]) -> bool:
    """Whether a result only says that its call is still running."""
    return bool(text(outcome, "backgroundTaskId")) or outcome.get("status") == "async_launched"


def command_left_running(call: str, outcome: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """The id of a call that is still running."""
    if handle := text(outcome, "backgroundTaskId", "agentId"):
        yield LeftRunning(**frame.part(Origin.TOOL, "running"), call=call, handle=handle)


def end_of_background(outcome: Mapping[str, object], frame: Frame) -> Iterator[Event]:
    """How something in the background ended, if a tool's result says that it has."""
    task = mapping(outcome.get("task")) or outcome
    handle, status = text(task, "task_id", "shellId", "shell_id"), text(task, "status")
    if text(outcome, "message").startswith(_DONE):
        status = "killed"
    if not handle or status not in _OVER:
        return
    exit_status = status_of(task.get("exitCode"))
    printed = "\n".join(filter(None, (text(task, "output", "stdout"), text(task, "stderr"))))
    yield ToolReturned(
        **frame.part(Origin.TOOL, "background"),
        call="",
        handle=handle,
        ok=status == "completed" and not exit_status,
        exit_status=exit_status,
        text=STOPPED if status in _STOPPED else capped(without_injected_text(printed)),
    )


_MARKED_SINCE: Final = (2, 1, 300)
"""Between 2.1.39 and 2.1.325, where records began to say who refused and whether the text is the user's."""
_REFUSED: Final = re.compile(
    r"\A(?:The user doesn't want to (?:proceed with this tool use|take this action right now)"
    r"|Permission for this tool use was denied)\."
)
_WORDS: Final = re.compile(r"(?:[Tt]he user said|the following reason for the rejection):\s*+(.*)", re.DOTALL)
_ADVICE: Final = re.compile(r"\n\nNote: The user's next message may contain .*", re.DOTALL)
_APPROVED: Final = "User has approved your plan"
_HEADING: Final = re.compile(r"^[#\s]*+(\S.*)$", re.MULTILINE)


def refusal(result_text: str, record: Record) -> str | None:
    """What the user said when refusing a call, empty if nothing; None if the user did not refuse it.

    A tool can print the same text, so it counts only if the record confirms it.
    """
    wrapped = _REFUSED.match(result_text)
    if not _by_user(record) and not (wrapped and _version(record.version or "") < _MARKED_SINCE):
        return None
    if not wrapped:
        return result_text if record.holds_words else ""
    words = _WORDS.search(result_text)
    return _ADVICE.sub("", words[1]).strip() if words else ""


def _by_user(record: Record) -> bool:
    decided = record.decision.source if record.decision else ""
    return record.denial == "user-rejected" or decided == "user_reject"


def events_of_reply(
    call: str, result_text: str, outcome: Mapping[str, object], frame: Frame
) -> Iterator[Event]:
    """The user's answers to a call's questions, and the approval of its plan."""
    if answer_texts := mapping(outcome.get("answers")):
        questions = (text(mapping(entry), "question") for entry in items(outcome.get("questions")))
        yield from answers(call, ((question, answer_texts.get(question)) for question in questions), frame)
    elif result_text.startswith(_APPROVED) and (plan := text(outcome, "plan")):
        title, path = _HEADING.search(plan), text(outcome, "filePath")
        plan_title = title[1].strip().removeprefix("Plan: ") if title else ""
        question = f"Plan: {plan_title}{f' ({path})' if path else ''}"
        yield from reply(call, "approved", frame, question)


def _version(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in version.split(".")[:3] if number.isdecimal())
