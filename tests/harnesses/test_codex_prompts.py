"""Only what a person typed is a prompt of a Codex session, and each prompt is told once."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.core.events.event import AssistantText, BriefSeen, Event, Origin, Prompt, SubagentStopped
from holdfast.core.text.untrusted import fence
from holdfast.harnesses import reader
from tests.harnesses.codex_records import (
    Json,
    call,
    completed,
    event,
    item,
    jsonl,
    message,
    meta,
    output,
    ran,
    record,
    turn,
    written,
)

FAR = 1 << 30


def told(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = reader("codex").read_transcript(written(folder, jsonl(records)), "s1", "", FAR)
    assert batch.skipped == ()
    return batch.events


def prompts(folder: Path, *records: Json) -> list[str]:
    return [one.text for one in told(folder, *records) if isinstance(one, Prompt)]


IDE = "# Context from my IDE setup:\n\n## Active file: a.py\n\n## Open tabs:\n- a.py: src/a.py\n"


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (message("user", "Fix it"), "Fix it"),
        (message("user", "Fix it", kinds=["user.text"]), "Fix it"),
        (message("user", "Fix it", kinds=["unknown"]), "Fix it"),
        (event("user_message", message="Fix it", images=[]), "Fix it"),
        (event("user_message", message="Fix it", kind="plain"), "Fix it"),
        (completed("UserMessage", "x", content=[{"type": "text", "text": "Fix it"}]), "Fix it"),
        (
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Fix it"}]},
            "Fix it",
        ),
        (item("message", role="user", content="Fix it"), "Fix it"),
        (message("user", f"{IDE}\n## My request for Codex:\nFix it\n"), "Fix it"),
        (message("user", "# Files mentioned by the user:\n…\n## My request for Codex:\nFix it"), "Fix it"),
        (message("user", "<image name=[Image #1]>", "</image>", "Like this"), "Like this"),
        # Where Codex says who wrote it, the words themselves are not suspected.
        (
            message("user", "<turn_aborted> is what I see", kinds=["user.text"]),
            "<turn_aborted> is what I see",
        ),
        (message("user", "<skill>x</skill>", "Use it", kinds=["host_skills.x", "user.text"]), "Use it"),
    ],
)
def test_what_a_person_typed_is_a_prompt(tmp_path: Path, one: Json, text: str) -> None:
    assert prompts(tmp_path, one) == [text]


@pytest.mark.parametrize(
    "one",
    [
        message("user", "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>"),
        message("user", "<ENVIRONMENT_CONTEXT>…</ENVIRONMENT_CONTEXT>"),
        message("user", "<user_instructions>\n\nBe kind\n\n</user_instructions>"),
        message("user", "# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nBe kind\n</INSTRUCTIONS>"),
        message("user", "<turn_aborted>\nThe user interrupted…\n</turn_aborted>"),
        message("user", '<hook_prompt hook_run_id="stop:1">Go on</hook_prompt>', kinds=["unknown"]),
        message("user", "<user_shell_command><command>ls</command></user_shell_command>"),
        message("user", "<skill>\n<name>x</name>\n</skill>"),
        message("user", "Another language model started to solve this problem and produced a summary"),
        message("user", "Be kind", kinds=["agents_md.instructions"]),
        message("user", "…", kinds=["environments.environment_context"]),
        message("user", IDE),
        message("user", "", "  "),
        message("developer", "Be kind"),
        message("system", "Be kind"),
        message("critic", "Be kind"),
        event("user_message", message="<environment_context>…", kind="environment_context"),
        event("user_message"),
        event("turn_aborted", reason="interrupted"),
        event("agent_reasoning", text="Hm"),
        completed("HookPrompt", "x", fragments=[{"text": "Go on"}]),
        item("message", role="user", content=[{"type": "input_image", "image_url": "data:…"}]),
        item("message", role="user"),
        item("reasoning", content=[{"text": "Hm"}]),
        item("ghost_commit"),
    ],
)
def test_what_nobody_typed_or_said_tells_nothing(tmp_path: Path, one: Json) -> None:
    assert told(tmp_path, one) == ()


ITEM, EVENT = message("user", "Go on"), event("user_message", message="Go  on\n")
WHOLE = completed("UserMessage", "x", content=[{"type": "text", "text": "Go on"}])


@pytest.mark.parametrize(
    ("records", "times"),
    [
        ((ITEM, EVENT), 1),
        ((EVENT, ITEM), 1),
        ((ITEM, WHOLE), 1),
        ((EVENT, WHOLE, ITEM), 1),
        ((ITEM, ITEM), 2),
        ((ITEM, EVENT, ITEM, EVENT), 2),
        ((ITEM, ITEM, EVENT, EVENT), 2),
        ((EVENT, EVENT), 2),
        ((ITEM, message("user", "Stop"), event("user_message", message="Stop"), EVENT), 1),
    ],
)
def test_one_prompt_that_is_written_several_times_is_told_once(
    tmp_path: Path, records: tuple[Json, ...], times: int
) -> None:
    told_once = [" ".join(text.split()) for text in prompts(tmp_path, *records)]
    assert told_once.count("Go on") == times


def test_what_the_agent_said_is_told_once(tmp_path: Path) -> None:
    events = told(
        tmp_path,
        event("agent_message", message="Looking"),
        message("assistant", "Looking", id="msg_1"),
        completed("AgentMessage", "msg_2", content=[{"type": "Text", "text": "Done"}]),
        message("assistant", "Done", id="msg_2"),
        message("assistant", "  "),
    )
    assert [(one.text, one.origin) for one in events if isinstance(one, AssistantText)] == [
        ("Looking", Origin.ASSISTANT),
        ("Done", Origin.ASSISTANT),
    ]
    assert len(events) == 2


def test_the_same_words_of_the_user_and_of_the_agent_are_two_things(tmp_path: Path) -> None:
    events = told(tmp_path, message("user", "ok"), event("agent_message", message="ok"))
    assert [type(one) for one in events] == [Prompt, AssistantText]


def test_a_prompt_belongs_to_its_turn(tmp_path: Path) -> None:
    events = told(
        tmp_path,
        event("task_started", turn_id="turn-1"),
        message("user", "one"),
        turn(turn_id="turn-2"),
        message("user", "two"),
        message("user", "three", kinds=["user.text"]),
        completed("UserMessage", "x", content="four"),
    )
    turns = [(one.text, one.turn) for one in events if isinstance(one, Prompt)]
    assert turns == [("one", "turn-1"), ("two", "turn-2"), ("three", "turn-9"), ("four", "turn-1")]


def test_a_summary_is_not_what_the_agent_said(tmp_path: Path) -> None:
    summary = {**message("assistant", "Handing over"), "metadata": {"compaction_output": True}}
    said = {**message("assistant", "Done"), "metadata": {"client_authored": False}}
    events = told(tmp_path, summary, said)
    assert [one.text for one in events if isinstance(one, AssistantText)] == ["Done"]


@pytest.mark.parametrize(
    "records",
    [
        (message("user", f"Go on. {fence('secret recall')}"),),
        (message("user", f"Go on. {fence('secret recall')}", kinds=["user.text"]),),
        (event("user_message", message=f"Go on. {fence('secret recall')}"),),
        (message("assistant", f"As I recall: {fence('secret recall')} so."),),
        (call("exec_command", cmd="cat x"), output(ran(f"x {fence('secret recall')}"))),
        (call("exec_command", cmd=f"echo '{fence('secret recall')}'"),),
        (call("other", query=f"{fence('secret recall')}"),),
        (call("update_plan", plan=[{"step": fence("secret recall"), "status": "pending"}]),),
        (record("compacted", {"message": f"It said {fence('secret recall')}"}),),
    ],
)
def test_what_we_injected_is_never_told_as_somebody_else_s(tmp_path: Path, records: tuple[Json, ...]) -> None:
    events = told(tmp_path, *records)
    assert events
    assert all(one.origin is not Origin.OURS for one in events)
    assert "secret recall" not in repr(events)


def test_our_words_in_what_a_hook_added_show_that_the_brief_arrived(tmp_path: Path) -> None:
    added = message("developer", fence("half done"), kinds=["hooks.additional_context"], id="msg_7")
    (seen,) = told(tmp_path, added, message("developer", "somebody else's"))
    assert isinstance(seen, BriefSeen)
    assert (seen.record, seen.origin) == ("msg_7", Origin.OURS)
    assert "half done" in seen.text


@pytest.mark.parametrize(
    ("notification", "stopped"),
    [
        ('{"agent_path":"a7","status":{"completed":"All green"}}', [("a7", "All green")]),
        ('{"agent_id":"a7","status":{"errored":"No model"}}', [("a7", "No model")]),
        ('{"agent_id":"a7","status":"shutdown"}', [("a7", "shutdown")]),
        ('{"agent_id":"a7","status":"running"}', []),
        ('{"status":{"completed":"All green"}}', []),
        ("{}", []),
        ("not JSON", []),
    ],
)
def test_a_notification_says_how_a_subagent_ended(
    tmp_path: Path, notification: str, stopped: list[tuple[str, str]]
) -> None:
    text = f"<subagent_notification>\n{notification}\n</subagent_notification>"
    events = told(tmp_path, message("user", text, kinds=["multi_agent.subagent_notification"]))
    assert [(one.subagent, one.text) for one in events if isinstance(one, SubagentStopped)] == stopped
    assert len(events) == len(stopped)


def test_nobody_types_into_a_subagent(tmp_path: Path) -> None:
    spawned = meta("a7", parent_thread_id="p1", thread_source="subagent")
    events = told(tmp_path, spawned, turn(), message("user", "Look around"), message("assistant", "Looking"))
    assert [(type(one), one.agent) for one in events] == [(AssistantText, "a7")]
