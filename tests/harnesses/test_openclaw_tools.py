"""What the tools of pi and OpenClaw did and how they ended, told in our words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

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
from holdfast.core.text.untrusted import fence
from holdfast.harnesses import reader
from holdfast.harnesses.fields import TEXT_LIMIT
from tests.harnesses.openclaw_records import (
    Json,
    assistant,
    bash_execution,
    image,
    jsonl,
    nested_tool,
    text,
    tool_call,
    tool_result,
    written,
)


def parse(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = reader("openclaw").read_transcript(written(folder, jsonl(records)), "s1", "", 1 << 20)
    assert batch.skipped == ()
    return batch.events


@pytest.mark.parametrize(
    ("tool", "given", "action", "subject", "detail"),
    [
        ("bash", {"command": "make test", "timeout": 5}, Action.RUN, "make test", ""),
        ("exec", {"command": "ls", "workdir": "/p"}, Action.RUN, "cd /p && ls", ""),
        ("read", {"path": "src/a.py", "offset": 5}, Action.READ, "src/a.py", ""),
        ("write", {"path": "a.py", "content": "x = 1"}, Action.WRITE, "a.py", "x = 1"),
        ("edit", {"path": "a.py", "oldText": "a", "newText": "b"}, Action.EDIT, "a.py", "b"),
        (
            "edit",
            {"path": "a.py", "edits": [{"newText": "b"}, {"newText": "c"}]},
            Action.EDIT,
            "a.py",
            "b\nc",
        ),
        ("edit", {"file_path": "a.py", "new_string": "b"}, Action.EDIT, "a.py", "b"),
        ("grep", {"pattern": "def f", "path": "src"}, Action.SEARCH, "def f", "src"),
        ("find", {"pattern": "*.py"}, Action.SEARCH, "*.py", ""),
        ("ls", {"path": "/p"}, Action.SEARCH, "/p", ""),
        ("web_search", {"query": "sqlite wal"}, Action.SEARCH, "sqlite wal", ""),
        ("web_fetch", {"url": "https://example.org"}, Action.SEARCH, "https://example.org", ""),
        ("memory_search", {"query": "tea"}, Action.SEARCH, "tea", ""),
        ("db__query", {"sql": "select 1"}, Action.OTHER, "", '{"sql":"select 1"}'),
        ("a_tool_of_next_year", {"path": "/p"}, Action.OTHER, "/p", '{"path":"/p"}'),
        ("bash", {"command": 5}, Action.RUN, "", ""),
        ("read", {}, Action.READ, "", ""),
    ],
)
def test_each_tool_is_an_action_on_a_subject(
    tmp_path: Path, tool: str, given: dict[str, Any], action: Action, subject: str, detail: str
) -> None:
    (call,) = parse(tmp_path, assistant(tool_call(tool, "c1", **given)))
    assert isinstance(call, ToolCalled)
    assert (call.call, call.tool, call.action) == ("c1", tool, action)
    assert (call.subject, call.detail, call.origin) == (subject, detail, Origin.ASSISTANT)


def test_a_patch_keeps_every_file_that_it_names(tmp_path: Path) -> None:
    files = "".join(f"*** Update File: src/module_{number}.py\n+x\n" for number in range(120))
    (call,) = parse(tmp_path, assistant(tool_call("apply_patch", input=f"*** Begin Patch\n{files}")))
    assert isinstance(call, ToolCalled)
    assert call.action is Action.EDIT
    assert "module_0.py" in call.detail
    assert "module_119.py" in call.detail


def test_a_plan_is_read_as_to_dos(tmp_path: Path) -> None:
    plan = [{"step": "Fix", "status": "completed"}, {"step": "Test", "status": "pending"}, "odd", {}]
    (event,) = parse(tmp_path, assistant(tool_call("update_plan", plan=plan)))
    assert isinstance(event, TodosChanged)
    assert event.todos == (Todo("Fix", "completed"), Todo("Test", "pending"))


def test_a_spawned_session_is_a_subagent_and_its_acceptance_is_no_end(tmp_path: Path) -> None:
    spawn = assistant(tool_call("sessions_spawn", "c1", task="Look around", label="scout"))
    accepted = tool_result("sessions_spawn", "{}", "c1", details={"status": "accepted"})
    call, agent = parse(tmp_path, spawn, accepted)
    assert isinstance(call, ToolCalled)
    assert (call.action, call.subject, call.detail) == (Action.DELEGATE, "scout", "Look around")
    assert isinstance(agent, SubagentStarted)
    assert (agent.subagent, agent.task) == ("c1", "scout")


@pytest.mark.parametrize(
    ("result", "ok", "exit_status"),
    [
        (tool_result("bash", "done"), True, 0),
        (tool_result("bash", "boom\n\nCommand exited with code 2", isError=True, details={}), False, 2),
        (tool_result("bash", "Command aborted", isError=True), False, None),
        (tool_result("bash", "ok", details={"exitCode": 0}), True, 0),
        (tool_result("exec", "boom", details={"status": "completed", "exitCode": 1}), False, 1),
        (tool_result("exec", "boom\n\n(Command exited with code 1)"), False, 1),
        (tool_result("exec", "killed", details={"status": "failed", "exitCode": None}), False, None),
        (tool_result("exec", "done"), True, None),
        (tool_result("exec", "done", details={"exitCode": True}), True, None),
        (tool_result("exec", "done", details={"exitCode": 10**30}), True, None),
        (tool_result("exec", "done", details=[{"id": "x"}]), True, None),
        (tool_result("exec", "done", details="odd"), True, None),
        (tool_result("read", "prints: Command exited with code 3"), True, None),
        (tool_result("edit", "Could not find the exact text", isError=True), False, None),
        (tool_result("write", "ok", isError=None), True, None),
    ],
)
def test_an_outcome_is_read_from_details_or_from_the_last_line(
    tmp_path: Path, result: Json, *, ok: bool, exit_status: int | None
) -> None:
    (event,) = parse(tmp_path, result)
    assert isinstance(event, ToolReturned)
    assert (event.call, event.ok, event.exit_status, event.origin) == ("c1", ok, exit_status, Origin.TOOL)


def test_the_line_that_tells_the_status_is_not_part_of_the_output(tmp_path: Path) -> None:
    failed = tool_result("bash", "E: no such table\n\nCommand exited with code 2", isError=True)
    printed = tool_result("read", "log:\nCommand exited with code 2")
    ends = [event.text for event in parse(tmp_path, failed, printed) if isinstance(event, ToolReturned)]
    assert ends == ["E: no such table", "log:\nCommand exited with code 2"]


def test_a_command_that_goes_on_in_the_background_has_not_ended(tmp_path: Path) -> None:
    assert parse(tmp_path, tool_result("exec", "still running", details={"status": "running"})) == ()
    details = {"status": "running", "sessionId": "calm-reef", "pid": 7}
    (left,) = parse(tmp_path, tool_result("exec", "still running", details=details))
    assert isinstance(left, LeftRunning)
    assert (left.call, left.handle) == ("c1", "session calm-reef")


@pytest.mark.parametrize(
    ("said", "details", "ended"),
    [
        ("ok", {"status": "completed", "sessionId": "calm-reef", "exitCode": 0}, [(True, 0)]),
        ("no", {"status": "failed", "sessionId": "calm-reef", "exitCode": 2}, [(False, 2)]),
        ("Termination requested for session calm-reef.", {"status": "completed"}, [(False, None)]),
        ("Removed session calm-reef (termination requested).", {"status": "completed"}, [(False, None)]),
        ("No running or recent sessions.", {"status": "completed", "sessions": []}, []),
    ],
)
def test_a_command_in_the_background_is_over_when_a_look_at_it_says_so(
    tmp_path: Path, said: str, details: Json, ended: list[tuple[bool, int | None]]
) -> None:
    looked = parse(tmp_path, tool_result("process", said, details=details))
    found = [event for event in looked if isinstance(event, ToolReturned) and event.handle]
    assert [(event.ok, event.exit_status) for event in found] == ended
    assert all((event.call, event.handle) == ("", "session calm-reef") for event in found)
    printed = parse(tmp_path, tool_result("exec", said, details={"status": "completed"}))
    assert not [event for event in printed if isinstance(event, ToolReturned) and event.handle]


@pytest.mark.parametrize("output", ["M a.py", [text("M a.py"), image()], [image(), text("M a.py")]])
def test_a_result_s_text_is_a_text_or_blocks_of_it(tmp_path: Path, output: object) -> None:
    result = tool_result("bash", output)
    if isinstance(output, str):
        result["message"]["content"] = output
    (event,) = parse(tmp_path, result)
    assert isinstance(event, ToolReturned)
    assert event.text == "M a.py"


def test_a_long_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    (event,) = parse(tmp_path, tool_result("bash", "first " + "x" * 50_000 + " last"))
    assert isinstance(event, ToolReturned)
    assert len(event.text) <= TEXT_LIMIT
    assert event.text.startswith("first")
    assert event.text.endswith("last")


@pytest.mark.parametrize(
    ("execution", "ok", "exit_status"),
    [
        (bash_execution("ls", "a.py\n", 0), True, 0),
        (bash_execution("make", "boom", 2), False, 2),
        (bash_execution("sleep 9", "", None, cancelled=True), False, None),
    ],
)
def test_a_command_that_a_person_ran_is_a_call_of_theirs_and_its_end(
    tmp_path: Path, execution: Json, *, ok: bool, exit_status: int | None
) -> None:
    call, end = parse(tmp_path, execution)
    assert isinstance(call, ToolCalled)
    assert (call.origin, call.action, call.subject) == (
        Origin.HUMAN,
        Action.RUN,
        execution["message"]["command"],
    )
    assert isinstance(end, ToolReturned)
    assert (end.call, end.ok, end.exit_status) == (call.call, ok, exit_status)
    assert call.record != end.record


def test_an_empty_command_tells_nothing(tmp_path: Path) -> None:
    assert parse(tmp_path, bash_execution(" ", "", 0)) == ()


def test_a_call_inside_another_tool_is_read_with_its_end(tmp_path: Path) -> None:
    result = {"content": [text("boom")], "details": {"exitCode": 1}}
    call, end = parse(tmp_path, nested_tool("exec", {"command": "make"}, result))
    assert isinstance(call, ToolCalled)
    assert (call.call, call.tool, call.action, call.subject) == ("in:1", "exec", Action.RUN, "make")
    assert isinstance(end, ToolReturned)
    assert (end.call, end.ok, end.exit_status, end.text) == ("in:1", False, 1, "boom")


def test_a_call_inside_another_tool_of_which_nothing_is_known_tells_nothing(tmp_path: Path) -> None:
    assert parse(tmp_path, nested_tool("", {}, {})) == ()


@pytest.mark.parametrize(
    "one",
    [
        assistant(tool_call("bash", command=f"echo {fence('secret recall')}")),
        assistant(tool_call("write", path="a.md", content=f"x {fence('secret recall')}")),
        tool_result("bash", f"cat: {fence('secret recall')}"),
        bash_execution("cat a", f"a {fence('secret recall')}", 0),
        nested_tool("exec", {"command": "cat"}, {"content": f"a {fence('secret recall')}"}),
    ],
)
def test_what_we_injected_is_never_read_as_a_tool_s(tmp_path: Path, one: Json) -> None:
    events = parse(tmp_path, one)
    assert events
    assert "secret recall" not in repr(events)
