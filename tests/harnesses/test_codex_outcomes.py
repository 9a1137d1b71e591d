"""How a call to one of Codex's tools ended is told once, whatever shape says it."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.core.events.event import Event, LeftRunning, Origin, ToolCalled, ToolReturned
from holdfast.harnesses import reader
from tests.harnesses.codex_records import (
    Json,
    call,
    completed,
    event,
    item,
    jsonl,
    output,
    patch_call,
    ran,
    running,
    written,
)

FAR = 1 << 30
LIMIT = 8_000


def told(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = reader("codex").read_transcript(written(folder, jsonl(records)), "s1", "", FAR)
    assert batch.skipped == ()
    return batch.events


def ends(folder: Path, *records: Json) -> list[ToolReturned]:
    return [one for one in told(folder, *records) if isinstance(one, ToolReturned)]


RUN = call("exec_command", cmd="x")
SHELL = call("shell", command=["bash", "-lc", "x"])
EDIT = patch_call("*** Begin Patch\n*** Add File: a.py\n+b\n*** End Patch")
LOCAL = item("local_shell_call", call_id="call_1", action={"command": ["x"]})
OTHER = call("mcp__a__b")
CUSTOM = "custom_tool_call_output"


@pytest.mark.parametrize(
    ("asked", "one", "ok", "status", "text"),
    [
        (RUN, output(ran("fine\n")), True, 0, "fine\n"),
        (
            RUN,
            output(ran("Process exited with code 0\nno\n", 2)),
            False,
            2,
            "Process exited with code 0\nno\n",
        ),
        (RUN, output(ran("", 130)), False, 130, ""),
        (
            SHELL,
            output('{"output":"fine","metadata":{"exit_code":0,"duration_seconds":0.1}}'),
            True,
            0,
            "fine",
        ),
        (SHELL, output('{"output":"no","metadata":{"exit_code":1}}'), False, 1, "no"),
        (RUN, output("Exit code: 0\nWall time: 1 seconds\nOutput:\nfine"), True, 0, "fine"),
        (
            RUN,
            output("Exit code: 3\nWall time: 1 seconds\nTotal output lines: 9\nOutput:\nno"),
            False,
            3,
            "no",
        ),
        (
            SHELL,
            output(
                "failed in sandbox with execution error: sandbox denied, exit code: 2, stdout: , stderr: no"
            ),
            False,
            2,
            "failed in sandbox with execution error: sandbox denied, exit code: 2, stdout: , stderr: no",
        ),
        (RUN, output("execution error: No such file"), False, None, "execution error: No such file"),
        (RUN, output("exec_command failed: rejected"), False, None, "exec_command failed: rejected"),
        (RUN, output("aborted by user after 3.1s"), False, None, "aborted by user after 3.1s"),
        (RUN, output("fine"), True, None, "fine"),
        (RUN, output({"content": "fine", "success": True}), True, None, "fine"),
        (RUN, output({"content": "no", "success": False}), False, None, "no"),
        (RUN, output({"content": ran("no", 4), "success": True}), False, 4, "no"),
        (RUN, output([{"type": "input_text", "text": ran("fine")}]), True, 0, "fine"),
        (RUN, output(None), True, None, ""),
        (
            LOCAL,
            output('{"output":"no","metadata":{"exit_code":1}}', kind="local_shell_call_output"),
            False,
            1,
            "no",
        ),
        (LOCAL, item("local_shell_call_output", id="call_1", output=ran("fine")), True, 0, "fine"),
        (EDIT, output("Exit code: 0\nOutput:\nSuccess.", kind=CUSTOM), True, 0, "Success."),
        (EDIT, output('{"output":"Success.","metadata":{"exit_code":0}}', kind=CUSTOM), True, 0, "Success."),
        (EDIT, output("Success. Updated:\nM a", kind=CUSTOM), True, None, "Success. Updated:\nM a"),
        (
            EDIT,
            output("apply_patch verification failed: no", kind=CUSTOM),
            False,
            None,
            "apply_patch verification failed: no",
        ),
        (EDIT, output("patch rejected by user", kind=CUSTOM), False, None, "the user refused it"),
        (RUN, output("exec command rejected by user"), False, None, "the user refused it"),
        (OTHER, output("Wall time: 1.5 seconds\nOutput:\n{}"), True, None, "{}"),
        (OTHER, output("An error is what it found"), True, None, "An error is what it found"),
        (OTHER, output("unsupported call: mcp__a__b"), False, None, "unsupported call: mcp__a__b"),
        (
            RUN,
            event("exec_command_end", call_id="call_1", exit_code=1, stdout="a", stderr="b"),
            False,
            1,
            "a\nb",
        ),
        (RUN, event("exec_command_end", call_id="call_1", exit_code=0, aggregated_output="a"), True, 0, "a"),
        (RUN, completed("CommandExecution", "call_1", status="failed", exit_code=1), False, 1, ""),
        (RUN, completed("CommandExecution", "call_1", status="declined"), False, None, ""),
        (RUN, completed("CommandExecution", "call_1", exit_code=2**80), True, None, ""),
        (EDIT, event("patch_apply_end", call_id="call_1", success=True, stdout="ok"), True, None, "ok"),
        (EDIT, event("patch_apply_end", call_id="call_1", success=False, stderr="no"), False, None, "no"),
        (EDIT, completed("FileChange", "call_1", status="failed", stderr="no"), False, None, "no"),
        (
            OTHER,
            event("mcp_tool_call_end", call_id="call_1", result={"Ok": {"content": [{"text": "fine"}]}}),
            True,
            None,
            "fine",
        ),
        (
            OTHER,
            event("mcp_tool_call_end", call_id="call_1", result={"Ok": {"content": [], "isError": True}}),
            False,
            None,
            "",
        ),
        (OTHER, event("mcp_tool_call_end", call_id="call_1", result={"Err": "no"}), False, None, "no"),
        (
            OTHER,
            completed("McpToolCall", "call_1", status="failed", error={"message": "no"}),
            False,
            None,
            "no",
        ),
    ],
)
def test_each_shape_of_an_end_is_understood(
    tmp_path: Path, asked: Json, one: Json, *, ok: bool, status: int | None, text: str
) -> None:
    (end,) = ends(tmp_path, asked, one)
    assert (end.call, end.ok, end.exit_status, end.text, end.origin) == (
        "call_1",
        ok,
        status,
        text,
        Origin.TOOL,
    )


def test_an_end_that_is_told_twice_is_one_event(tmp_path: Path) -> None:
    item_end = output(ran("no", 1))
    report = completed("CommandExecution", "call_1", command=["x"], exit_code=1)
    assert len(told(tmp_path, RUN, item_end, report)) == 2
    assert len(told(tmp_path, RUN, report, item_end)) == 2
    assert len(told(tmp_path, report, item_end)) == 2


def test_an_output_that_nobody_asked_for_tells_nothing(tmp_path: Path) -> None:
    assert told(tmp_path, output(ran("x"), "call_9")) == ()
    assert told(tmp_path, event("exec_command_end", exit_code=0)) == ()


def test_a_command_in_the_background_ends_when_its_process_does(tmp_path: Path) -> None:
    started = (call("exec_command", "c1", cmd="make"), output(running(7), "c1"))
    waited = (call("write_stdin", "c2", session_id=7, chars=""), output(running(7), "c2"))
    ended = (call("write_stdin", "c3", session_id=7), output(ran("2 failed", 2), "c3"))
    asked, left, end = told(tmp_path, *started, *waited, *ended)
    assert isinstance(asked, ToolCalled)
    assert isinstance(left, LeftRunning)
    assert (left.call, left.handle) == ("c1", "session 7")
    assert isinstance(end, ToolReturned)
    assert (asked.call, asked.subject) == ("c1", "make")
    assert (end.call, end.ok, end.exit_status, end.text) == ("c1", False, 2, "2 failed")
    assert ends(tmp_path, *started, *waited) == []


def test_a_process_whose_end_an_event_told_does_not_end_again(tmp_path: Path) -> None:
    (end,) = ends(
        tmp_path,
        call("exec_command", "c1", cmd="make"),
        output(running(7), "c1"),
        completed("CommandExecution", "c1", exit_code=0, aggregated_output="fine"),
        call("write_stdin", "c2", session_id=7, chars=""),
        completed("CommandExecution", "c2", command=["make"], source="unified_exec_interaction", exit_code=0),
        output(ran("fine"), "c2"),
    )
    assert (end.call, end.text) == ("c1", "fine")


def test_what_is_typed_into_a_process_is_a_call_of_its_own(tmp_path: Path) -> None:
    events = told(
        tmp_path,
        call("exec_command", "c1", cmd="python"),
        output(running(7), "c1"),
        call("write_stdin", "c2", session_id=7, chars="exit(3)\n"),
        output(ran("", 3), "c2"),
    )
    assert [(type(one), one.record) for one in events] == [
        (ToolCalled, "c1"),
        (LeftRunning, "c1/running"),
        (ToolCalled, "c2"),
        (ToolReturned, "c1/end"),
        (ToolReturned, "c2/end"),
    ]
    assert [one.ok for one in events if isinstance(one, ToolReturned)] == [False, True]


def test_a_command_that_a_person_ran_is_theirs(tmp_path: Path) -> None:
    by_hand = event("exec_command_end", call_id="u1", command=["ls"], source="user_shell", exit_code=0)
    assert told(tmp_path, by_hand)[0].origin is Origin.HUMAN


def test_a_long_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    (end,) = ends(tmp_path, RUN, output(ran("first\n" + "x" * 50_000 + "\nlast")))
    assert len(end.text) <= LIMIT
    assert end.text.startswith("first")
    assert end.text.endswith("last")
