"""What each record of a Gemini CLI chat tells, and what it does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.core.events.event import (
    Action,
    AssistantText,
    BriefSeen,
    Compacted,
    CompactionSign,
    Event,
    LeftRunning,
    ModelChanged,
    Origin,
    Prompt,
    Replied,
    SubagentStarted,
    SubagentStopped,
    Todo,
    TodosChanged,
    ToolCalled,
    ToolReturned,
    Usage,
)
from holdfast.core.evidence.commands.exit_meaning import REFUSED
from holdfast.core.text.untrusted import fence
from holdfast.harnesses import reader
from holdfast.harnesses.base import Batch
from tests.harnesses import gemini_records as made
from tests.harnesses.gemini_records import AT, CWD, SESSION, Json, answer, call, hooked, part, ran, user

GEMINI = reader("gemini")


def read(folder: Path, *records: Json, name: str = "chats/session-x.jsonl") -> Batch:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(made.jsonl(records))
    return GEMINI.read_transcript(path, SESSION, "", 1 << 20)


def parse(folder: Path, *records: Json) -> list[Event]:
    """The events, but for those that every answer brings along."""
    batch = read(folder, *records)
    assert batch.skipped == ()
    return [event for event in batch.events if not isinstance(event, Usage | ModelChanged)]


@pytest.mark.parametrize(
    ("record", "prompt"),
    [
        (user("Fix it."), "Fix it."),
        (user(f"{hooked(fence('ours'))}\n\nFix it.", hooked("theirs")), "Fix it."),
        (user("Fix @a.py\n--- Content from referenced files ---\ncode"), "Fix @a.py"),
        (user("Fix @a.py", "the file's text", displayContent=[part("Fix @a.py")]), "Fix @a.py"),
        (user("Please continue."), ""),
        (made.context(), ""),
        (user(hooked("only a hook")), ""),
        (user("Here is the user's editor context as a JSON object. This is for your information only."), ""),
        (made.message("user", "r1", [{"functionResponse": {"response": {"output": "x"}}}]), ""),
    ],
)
def test_a_prompt_is_what_a_person_typed(tmp_path: Path, record: Json, prompt: str) -> None:
    found = [event for event in parse(tmp_path, record) if isinstance(event, Prompt)]
    assert [event.text for event in found] == ([prompt] if prompt else [])
    assert all((event.at, event.origin) == (AT, Origin.HUMAN) for event in found)


def test_our_own_words_are_known_again_though_their_brackets_are_escaped(tmp_path: Path) -> None:
    brief = fence("what was kept")
    (prompt, seen) = parse(tmp_path, user(f"{hooked(brief)}\n\nGo on."))
    assert isinstance(prompt, Prompt)
    assert isinstance(seen, BriefSeen)
    assert seen.text == brief
    output = f"<untrusted_context>\nOutput: hi\n</untrusted_context>\n\n{hooked(brief)}"
    behind = parse(tmp_path, answer("", toolCalls=[call("run_shell_command", output, command="echo hi")]))
    assert [type(event) for event in behind] == [ToolCalled, BriefSeen, ToolReturned]
    assert [event.text for event in behind if isinstance(event, ToolReturned)] == ["hi"]


@pytest.mark.parametrize(
    ("one", "action", "subject", "outcome"),
    [
        (ran("pytest", "1 passed"), Action.RUN, "pytest", (True, 0, "1 passed")),
        (ran("pytest", "no\nExit Code: 9", 1), Action.RUN, "pytest", (False, 1, "no\nExit Code: 9")),
        (ran("echo it", "Exit Code: 3"), Action.RUN, "echo it", (True, 0, "Exit Code: 3")),
        (
            call("run_shell_command", "Output: a.py", command="ls", dir_path="src"),
            Action.RUN,
            "cd src && ls",
            (True, 0, "a.py"),
        ),
        (ran("false", "", 1), Action.RUN, "false", (False, 1, "")),
        (call("read_file", "code", file_path="/p/a.py"), Action.READ, "/p/a.py", (True, None, "code")),
        (call("write_file", "ok", file_path="/p/a", content="x"), Action.WRITE, "/p/a", (True, None, "ok")),
        (call("replace", "No", status="error", file_path="/p/a"), Action.EDIT, "/p/a", (False, None, "No")),
        (call("grep_search", "2 hits", pattern="foo"), Action.SEARCH, "foo", (True, None, "2 hits")),
        (call("mcp_x_y", "?", query="q"), Action.OTHER, "q", (True, None, "?")),
    ],
)
def test_a_call_says_what_it_works_on_and_how_it_ended(
    tmp_path: Path, one: Json, action: Action, subject: str, outcome: tuple[bool, int | None, str]
) -> None:
    asked, ended = parse(tmp_path, answer("", toolCalls=[one]))
    assert isinstance(asked, ToolCalled)
    assert (asked.action, asked.subject, asked.call) == (action, subject, "c1")
    assert isinstance(ended, ToolReturned)
    assert (ended.ok, ended.exit_status, ended.text) == outcome
    assert ended.call == "c1"


def test_a_call_that_has_not_ended_tells_no_end(tmp_path: Path) -> None:
    begun = {**ran("sleep 9", ""), "status": "executing", "result": None}
    assert [type(event) for event in parse(tmp_path, answer("", toolCalls=[begun]))] == [ToolCalled]


def test_to_dos_and_subagents_are_read_as_such(tmp_path: Path) -> None:
    todos = call("write_todos", "ok", todos=made.TODOS)
    spawned = call("invoke_agent", "found", id="c2", agent_name="scout", prompt="look")
    listed, asked, started, ended, stopped = parse(tmp_path, answer("", toolCalls=[todos, spawned]))
    assert isinstance(listed, TodosChanged)
    assert listed.todos == (Todo("round", "completed"), Todo("test", "pending"))
    assert isinstance(asked, ToolCalled)
    assert asked.action is Action.DELEGATE
    assert isinstance(started, SubagentStarted)
    assert started.task == "scout"
    assert isinstance(ended, ToolReturned)
    assert isinstance(stopped, SubagentStopped)
    assert (stopped.subagent, stopped.text) == ("c2", "found")


def test_a_command_that_was_moved_to_the_background_has_not_ended(tmp_path: Path) -> None:
    said = "Command moved to background (PID: 4711). Output hidden. Press Ctrl+B to view."
    served = call("run_shell_command", said, command="npm start", is_background=True)
    asked, left = parse(tmp_path, answer("", toolCalls=[served]))
    assert isinstance(asked, ToolCalled)
    assert isinstance(left, LeftRunning)
    assert (left.call, left.handle) == ("c1", "PID 4711")


def test_a_message_that_is_written_again_is_the_same(tmp_path: Path) -> None:
    records = [answer("Done."), answer("Done."), answer("Done.", toolCalls=[ran("ls", "a")])]
    ids = {(type(event), event.record) for event in parse(tmp_path, *records)}
    assert len(ids) == 3
    assert [e.text for e in parse(tmp_path, *records) if isinstance(e, AssistantText)] == ["Done."] * 3


def test_a_compaction_is_read_from_the_list_that_replaces_what_was_said(tmp_path: Path) -> None:
    found = parse(tmp_path, made.header(), made.patch(made.context()), user("Fix it."), made.compacted())
    (cut,) = (event for event in found if isinstance(event, Compacted))
    assert (cut.sign, cut.summary) == (CompactionSign.BOUNDARY, "<state_snapshot>half done</state_snapshot>")


def test_a_compaction_that_a_resumed_session_lists_again_is_the_same(tmp_path: Path) -> None:
    records = [made.compacted(), made.header(), made.patch(made.context()), made.compacted()]
    assert {event.record for event in parse(tmp_path, *records)} == {"sum1"}


def test_a_list_without_a_summary_is_no_compaction(tmp_path: Path) -> None:
    resumed = made.patch(made.context(), user("Fix it."), answer("Got it."))
    assert parse(tmp_path, resumed) == []


def test_the_directory_is_read_from_the_first_message(tmp_path: Path) -> None:
    assert read(tmp_path, made.header(), made.patch(made.context())).cwd == CWD
    assert read(tmp_path, made.header()).cwd == ""


def test_tokens_and_model_come_with_an_answer(tmp_path: Path) -> None:
    first, second = answer("a", id="g1"), answer("b", id="g2")
    events = read(tmp_path, first, second).events
    models = [event.model for event in events if isinstance(event, ModelChanged)]
    assert models == ["model-x"]
    usage = next(event for event in events if isinstance(event, Usage))
    assert (usage.input, usage.cache_read, usage.output, usage.model) == (1000, 200, 35, "model-x")


def test_a_subagents_chat_is_its_own_and_is_found_beside_the_session_s(tmp_path: Path) -> None:
    chat = tmp_path / "chats" / "session-x.jsonl"
    read(tmp_path, made.header())
    below = f"chats/{SESSION}/agent-7.jsonl"
    batch = read(tmp_path, made.header("agent-7", "subagent"), user("look"), answer("found"), name=below)
    assert GEMINI.subagent_transcripts(chat) == (tmp_path / below,)
    assert GEMINI.session_of(tmp_path / below) == ""
    assert [*GEMINI.transcripts(tmp_path)] == [chat]
    assert {event.agent for event in batch.events} == {"agent-7"}
    assert not [event for event in batch.events if isinstance(event, Prompt | ModelChanged)]


@pytest.mark.parametrize(
    ("output", "answered"),
    [
        ('{"answers":{"1":"yes","0":"SQLite"}}', [("Which database?", "SQLite"), ("Sure?", "yes")]),
        ('{"answers":{}}', []),
        ("User dismissed ask_user dialog without answering.", []),
    ],
)
def test_what_a_person_answers_is_read_as_theirs(
    tmp_path: Path, output: str, answered: list[tuple[str, str]]
) -> None:
    questions = [{"question": "Which database?", "header": "Store"}, {"question": "Sure?"}]
    events = parse(tmp_path, answer("", toolCalls=[call("ask_user", output, questions=questions)]))
    replies = [event for event in events if isinstance(event, Replied)]
    assert [(event.question, event.text) for event in replies] == answered
    assert all(event.origin is Origin.HUMAN for event in replies)


@pytest.mark.parametrize(
    ("status", "said", "text"),
    [
        ("cancelled", "[Operation Cancelled] Reason: User denied execution.", REFUSED),
        ("cancelled", "[Operation Cancelled] Reason: User cancelled operation", None),
        ("error", "[Operation Cancelled] Reason: User denied execution.", None),
    ],
)
def test_what_the_user_refused_is_read_as_refused(
    tmp_path: Path, status: str, said: str, text: str | None
) -> None:
    refused = call("run_shell_command", said, status=status, command="npm install")
    events = parse(tmp_path, answer("", toolCalls=[refused]))
    (ended,) = (event for event in events if isinstance(event, ToolReturned))
    assert (ended.ok, ended.text) == (False, text or said)
