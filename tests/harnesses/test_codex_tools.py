"""What Codex's tools do, and how they end."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.core.events.event import (
    Action,
    Event,
    LeftRunning,
    Origin,
    Replied,
    SubagentStarted,
    Todo,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.harnesses import reader
from tests.harnesses.codex_records import (
    CWD,
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
    turn,
    written,
)

FAR = 1 << 30
LIMIT = 8_000


def parse(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = reader("codex").read_transcript(written(folder, jsonl(records)), "s1", "", FAR)
    assert batch.skipped == ()
    return batch.events


def one_call(folder: Path, *records: Json) -> ToolCalled:
    (found,) = (one for one in parse(folder, *records) if isinstance(one, ToolCalled))
    return found


@pytest.mark.parametrize(
    ("one", "command"),
    [
        (call("exec_command", cmd="ls -l"), "ls -l"),
        (call("shell_command", command="ls -l", workdir="/x y"), "cd '/x y' && ls -l"),
        (call("exec_command", cmd="ls -l", workdir="."), "ls -l"),
        (call("shell", command=["bash", "-lc", "ls -l | wc"]), "ls -l | wc"),
        (call("shell", command=["/usr/bin/zsh", "-c", "ls"]), "ls"),
        (call("shell", command=["powershell.exe", "-NoProfile", "-Command", "dir"]), "dir"),
        (call("shell", command=["git", "commit", "-m", "a b"]), "git commit -m 'a b'"),
        (call("shell", command="ls"), "ls"),
        (call("container.exec", cmd=["bash", "-lc", "ls"]), "ls"),
        (item("local_shell_call", call_id="c", action={"type": "exec", "command": ["sh", "-c", "ls"]}), "ls"),
        (item("local_shell_call", id="l1", action={"command": ["ls", "-l"]}), "ls -l"),
        (completed("CommandExecution", "exec-1", command=["/bin/bash", "-lc", "ls"], exit_code=0), "ls"),
        (event("exec_command_end", call_id="c9", command=["bash", "-lc", "ls"], exit_code=0), "ls"),
        # A command that does more than to apply a patch is a command.
        (call("exec_command", cmd="apply_patch --help"), "apply_patch --help"),
        (call("exec_command", cmd="grep '*** Begin Patch' x"), "grep '*** Begin Patch' x"),
    ],
)
def test_a_command_is_read_as_a_person_would_type_it(tmp_path: Path, one: Json, command: str) -> None:
    asked = one_call(tmp_path, one)
    assert (asked.action, asked.subject, asked.origin) == (Action.RUN, command, Origin.ASSISTANT)


PATCH = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** Add File: b.py\n+c\n*** End Patch"


@pytest.mark.parametrize(
    "one",
    [
        patch_call(PATCH),
        call("apply_patch", input=PATCH),
        call("shell", command=["apply_patch", PATCH]),
        call("shell", command=["bash", "-lc", f"apply_patch <<'EOF'\n{PATCH}\nEOF\n"], workdir=CWD),
        call("exec_command", cmd=f"apply_patch <<'PATCH'\n{PATCH}\nPATCH", workdir="."),
        call("exec_command", cmd=f"apply_patch '{PATCH}'"),
    ],
)
def test_a_patch_is_an_edit_of_its_first_file_with_the_whole_patch(tmp_path: Path, one: Json) -> None:
    asked = one_call(tmp_path, turn(), one)
    assert (asked.tool, asked.action, asked.subject) == ("apply_patch", Action.EDIT, "src/a.py")
    assert asked.detail == PATCH


@pytest.mark.parametrize(
    ("one", "first"),
    [
        (call("shell", command=["apply_patch", PATCH], workdir="/other/tree"), "/other/tree/src/a.py"),
        (call("exec_command", cmd=f"cd lib && apply_patch <<'X'\n{PATCH}\nX"), "lib/src/a.py"),
    ],
)
def test_a_patch_for_another_directory_names_its_files_there(tmp_path: Path, one: Json, first: str) -> None:
    asked = one_call(tmp_path, turn(), one)
    assert asked.subject == first
    assert f"*** Add File: {first.removesuffix('src/a.py')}b.py\n" in asked.detail


def test_a_command_around_a_patch_stays_a_command(tmp_path: Path) -> None:
    command = f"apply_patch <<'X'\n{PATCH}\nX\nmake test"
    asked = one_call(tmp_path, call("exec_command", cmd=command))
    assert (asked.action, asked.subject) == (Action.RUN, command)


@pytest.mark.parametrize("files", [1, 3, 19, 60])
def test_a_long_patch_is_cut_without_losing_a_file(tmp_path: Path, files: int) -> None:
    sections = "".join(
        f"*** Update File: src/f{number}.py\n@@\n" + "+x = 1\n" * 2_000 for number in range(files)
    )
    asked = one_call(tmp_path, patch_call(f"*** Begin Patch\n{sections}*** End Patch"))
    assert len(asked.detail) <= LIMIT
    assert all(f"*** Update File: src/f{number}.py" in asked.detail for number in range(files))
    assert asked.subject == "src/f0.py"


def test_a_change_that_only_an_event_tells_reads_like_a_patch(tmp_path: Path) -> None:
    changes = {
        f"{CWD}/new.py": {"type": "add", "content": "x = 1\ny = 2\n"},
        f"{CWD}/a.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-a\n+b", "move_path": f"{CWD}/b.py"},
        f"{CWD}/old.py": {"type": "delete", "content": "z"},
    }
    done = completed("FileChange", "exec-1", changes=changes, status="completed", stdout="Success.")
    asked, end = parse(tmp_path, done)
    assert isinstance(asked, ToolCalled)
    assert isinstance(end, ToolReturned)
    assert (asked.action, asked.subject) == (Action.EDIT, f"{CWD}/new.py")
    assert asked.detail.split("\n") == [
        f"*** Add File: {CWD}/new.py",
        "+x = 1",
        "+y = 2",
        f"*** Update File: {CWD}/a.py",
        f"*** Move to: {CWD}/b.py",
        "@@ -1 +1 @@",
        "-a",
        "+b",
        f"*** Delete File: {CWD}/old.py",
    ]
    assert (end.call, end.ok, end.text) == ("exec-1", True, "Success.")


MCP = {"server": "github", "tool": "get_issue", "arguments": {"query": "parser"}}


@pytest.mark.parametrize(
    ("one", "tool", "action", "subject"),
    [
        (call("view_image", path="/x/a.png"), "view_image", Action.READ, "/x/a.png"),
        (call("read_file", file_path="/x/a.py"), "read_file", Action.READ, "/x/a.py"),
        (call("grep_files", pattern="def ", path="src"), "grep_files", Action.SEARCH, "def "),
        (call("list_dir", dir_path="src"), "list_dir", Action.SEARCH, "src"),
        (call("spawn_agent", message="Look\naround"), "spawn_agent", Action.DELEGATE, "Look around"),
        (call("write_stdin", session_id=7, chars="y\n"), "write_stdin", Action.OTHER, "y"),
        (call("something_new", query="x"), "something_new", Action.OTHER, "x"),
        (
            item("function_call", name="_get", namespace="mcp__github", arguments="{}", call_id="c"),
            "mcp__github__get",
            Action.OTHER,
            "",
        ),
        (item("custom_tool_call", name="exec", input="await x()", call_id="c"), "exec", Action.OTHER, ""),
        (item("web_search_call", action={"type": "search", "query": "q"}), "web_search", Action.OTHER, "q"),
        (item("web_search_call", action={"queries": ["q", "r"]}), "web_search", Action.OTHER, "q"),
        (item("web_search_call", id="ws_1"), "web_search", Action.OTHER, ""),
        (
            event("mcp_tool_call_end", call_id="c", invocation=MCP),
            "mcp__github__get_issue",
            Action.OTHER,
            "parser",
        ),
        (completed("McpToolCall", "c", **MCP), "mcp__github__get_issue", Action.OTHER, "parser"),
        # Arguments that nobody can read are kept as they are.
        (
            item("function_call", name="exec_command", arguments='{"cmd', call_id="c"),
            "exec_command",
            Action.OTHER,
            "",
        ),
        (item("function_call", name=None, arguments=None), "", Action.OTHER, ""),
    ],
)
def test_each_tool_does_what_it_does(
    tmp_path: Path, one: Json, tool: str, action: Action, subject: str
) -> None:
    asked = one_call(tmp_path, one)
    assert (asked.tool, asked.action, asked.subject) == (tool, action, subject)


def test_free_text_for_another_tool_is_its_detail(tmp_path: Path) -> None:
    asked = one_call(tmp_path, item("custom_tool_call", name="exec", input="await x()", call_id="c"))
    assert asked.detail == "await x()"


def test_a_plan_is_a_list_of_todos_and_no_call(tmp_path: Path) -> None:
    plan = [{"step": "Read", "status": "completed"}, {"step": "Write", "status": "pending"}, {}, 7]
    (event_,) = parse(tmp_path, call("update_plan", plan=plan, explanation="so"), output("Plan updated"))
    assert isinstance(event_, TodosChanged)
    assert event_.todos == (Todo("Read", "completed"), Todo("Write", "pending"))


@pytest.mark.parametrize(
    ("answer", "agents"),
    [
        ('{"agent_id":"a7","nickname":"Ada"}', ["a7"]),
        ('{"task_name":"/lead/look"}', ["/lead/look"]),
        ("done", ["call_1"]),
        ("failed to spawn", []),
    ],
)
def test_a_subagent_is_known_by_the_id_it_was_given(tmp_path: Path, answer: str, agents: list[str]) -> None:
    events = parse(tmp_path, call("spawn_agent", message="Look\naround"), output(answer))
    started = [one for one in events if isinstance(one, SubagentStarted)]
    assert [one.subagent for one in started] == agents
    assert all(one.task == "Look around" for one in started)


QUESTIONS = [
    {"id": "db", "header": "Store", "question": "Which database?", "options": [{"label": "SQLite"}]},
    {"id": "more", "header": "More", "question": "Anything else?"},
    {"question": "without an id"},
    "odd",
]


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ('{"answers":{"db":{"answers":["SQLite","no server"]}}}', [("Which database?", "SQLite, no server")]),
        (
            '{"answers":{"more":{"answers":["be quick"]},"db":{"answers":["SQLite"]}}}',
            [("Which database?", "SQLite"), ("Anything else?", "be quick")],
        ),
        ('{"answers":{"db":{"answers":[]}}}', []),
        ('{"answers":{"db":"SQLite","more":[]}}', []),
        ("request_user_input was cancelled before receiving a response", []),
    ],
)
def test_what_a_person_answers_is_read_as_theirs(
    tmp_path: Path, said: str, answered: list[tuple[str, str]]
) -> None:
    events = parse(tmp_path, call("request_user_input", questions=QUESTIONS), output(said))
    replies = [one for one in events if isinstance(one, Replied)]
    assert [(one.question, one.text) for one in replies] == answered
    assert all(one.origin is Origin.HUMAN for one in replies)
    assert len({one.record for one in events}) == len(events)


def ends(folder: Path, *records: Json) -> list[ToolReturned]:
    return [one for one in parse(folder, *records) if isinstance(one, ToolReturned)]


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


def test_an_end_that_is_read_twice_is_one_event(tmp_path: Path) -> None:
    item_end = output(ran("no", 1))
    report = completed("CommandExecution", "call_1", command=["x"], exit_code=1)
    assert len(parse(tmp_path, RUN, item_end, report)) == 2
    assert len(parse(tmp_path, RUN, report, item_end)) == 2
    assert len(parse(tmp_path, report, item_end)) == 2


def test_an_output_that_nobody_asked_for_tells_nothing(tmp_path: Path) -> None:
    assert parse(tmp_path, output(ran("x"), "call_9")) == ()
    assert parse(tmp_path, event("exec_command_end", exit_code=0)) == ()


def test_a_command_in_the_background_ends_when_its_process_does(tmp_path: Path) -> None:
    started = (call("exec_command", "c1", cmd="make"), output(running(7), "c1"))
    waited = (call("write_stdin", "c2", session_id=7, chars=""), output(running(7), "c2"))
    ended = (call("write_stdin", "c3", session_id=7), output(ran("2 failed", 2), "c3"))
    asked, left, end = parse(tmp_path, *started, *waited, *ended)
    assert isinstance(asked, ToolCalled)
    assert isinstance(left, LeftRunning)
    assert (left.call, left.handle) == ("c1", "session 7")
    assert isinstance(end, ToolReturned)
    assert (asked.call, asked.subject) == ("c1", "make")
    assert (end.call, end.ok, end.exit_status, end.text) == ("c1", False, 2, "2 failed")
    assert ends(tmp_path, *started, *waited) == []


def test_a_process_whose_end_an_event_reported_does_not_end_again(tmp_path: Path) -> None:
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
    events = parse(
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
    assert parse(tmp_path, by_hand)[0].origin is Origin.HUMAN


def test_a_long_output_keeps_its_beginning_and_its_end(tmp_path: Path) -> None:
    (end,) = ends(tmp_path, RUN, output(ran("first\n" + "x" * 50_000 + "\nlast")))
    assert len(end.text) <= LIMIT
    assert end.text.startswith("first")
    assert end.text.endswith("last")
