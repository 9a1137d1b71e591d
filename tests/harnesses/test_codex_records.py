"""The records of a Codex rollout, and what in them the user typed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.core.events.event import (
    AssistantText,
    BriefSeen,
    Event,
    Origin,
    Prompt,
    Skipped,
    SubagentStopped,
)
from holdfast.core.text.untrusted import fence
from holdfast.harnesses import reader
from holdfast.harnesses.codex.records import (
    ITEM,
    RECORD,
    Item,
    ItemRecord,
    Metadata,
    Record,
    ReportRecord,
    is_silent,
    record_in,
)
from holdfast.harnesses.codex.transcript import read_transcript
from holdfast.harnesses.fields import decoded
from tests.harnesses import codex_records as codex
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

ANYTHING = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.text(max_size=3))
NAMES = st.sampled_from(
    ["type", "id", "role", "content", "name", "namespace", "arguments", "input", "call_id", "output", "more"]
)
BESIDE = st.sampled_from(["timestamp", "ordinal", "metadata", "more"])


def apart(line: bytes) -> tuple[Record, Item] | Skipped:
    """The envelope, and then the item in it."""
    record = decoded(RECORD, line)
    if isinstance(record, Skipped):
        return record
    item = decoded(ITEM, record.payload)
    return item if isinstance(item, Skipped) else (record, item)


@given(item=st.dictionaries(NAMES, ANYTHING), beside=st.dictionaries(BESIDE, ANYTHING))
@example(item={"type": "message"}, beside={"more": ["longer than any envelope is"] * 8})
def test_an_item_decoded_with_its_envelope_is_the_item_decoded_apart(
    item: dict[str, Any], beside: dict[str, Any]
) -> None:
    line = json.dumps({**beside, "type": "response_item", "payload": item}).encode()
    together, expected = record_in(line), apart(line)
    if isinstance(together, ItemRecord):
        assert not isinstance(expected, Skipped)
        record, item_apart = expected
        assert (together.timestamp, together.ordinal) == (record.timestamp, record.ordinal)
        assert together.metadata == record.metadata
        assert together.payload == item_apart
    elif isinstance(together, Skipped):
        assert together == expected
    else:
        # Behind a long envelope, or where it cannot be read, the item is decoded apart here too.
        assert isinstance(together, Record)
        later = decoded(ITEM, together.payload)
        assert later == (expected if isinstance(expected, Skipped) else expected[1])


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (codex.output("done"), ItemRecord),
        (codex.message("user", "Fix it."), ItemRecord),
        (codex.event("user_message", message='a "response_item"'), ReportRecord),
        (codex.event("token_count", info=None), ReportRecord),
        (codex.event("agent_message", message=5), Record),
        (codex.event("task_started"), Record),
        (codex.turn(), Record),
        ({"type": "response_item", "payload": {"type": "message", "role": 5}}, Record),
        ({"type": "response_item", "payload": None}, Record),
        ({"type": "response_item", "timestamp": 5, "payload": {}}, Skipped),
        ({"type": 5, "payload": "response_item"}, Skipped),
    ],
)
def test_only_what_is_as_expected_comes_with_its_envelope(line: codex.Json, kind: type[object]) -> None:
    assert type(record_in(codex.jsonl([line]))) is kind


REPORTS = st.sampled_from(["token_count", "agent_message", "user_message"])
TOKENS = st.dictionaries(st.sampled_from(["input_tokens", "output_tokens", "total_tokens"]), ANYTHING)
INFO = ANYTHING | st.fixed_dictionaries({"last_token_usage": TOKENS | st.none()})


@given(
    kind=REPORTS,
    fields=st.fixed_dictionaries({}, optional={"info": INFO, "message": ANYTHING, "turn_id": ANYTHING}),
)
def test_a_report_decoded_with_its_envelope_tells_what_one_decoded_apart_tells(
    kind: str, fields: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "rollout.jsonl"
    path.write_bytes(codex.jsonl([codex.event(kind, **fields)]))
    together = read_transcript(path, "s", "", 1 << 20)
    # What stands before the kind hides it, so that the envelope is decoded alone.
    path.write_bytes(codex.jsonl([codex.record("event_msg", {"more": 1, "type": kind, **fields})]))
    apart = read_transcript(path, "s", "", 1 << 20)
    assert (together.events, together.skipped) == (apart.events, apart.skipped)


def test_what_is_noted_beside_an_item_comes_with_it() -> None:
    record = record_in(
        codex.jsonl([codex.message("assistant", "So far: …") | {"metadata": {"compaction_output": True}}])
    )
    assert isinstance(record, ItemRecord)
    assert record.metadata == Metadata(is_compaction_output=True)


@pytest.mark.parametrize(
    "record",
    [
        codex.item("reasoning", summary=[], encrypted_content="…"),
        codex.event("agent_reasoning", text="Hm."),
        codex.record("world_state", {"type": "files"}),
    ],
)
def test_a_line_that_tells_nothing_is_known_by_its_beginning(record: codex.Json) -> None:
    assert is_silent(codex.jsonl([record]))


@pytest.mark.parametrize(
    "record",
    [codex.message("assistant", '"payload":{"type":"reasoning"'), codex.output('{"type": "world_state"}')],
)
def test_what_a_text_says_about_records_silences_none(record: codex.Json) -> None:
    assert not is_silent(codex.jsonl([record]))


FAR = 1 << 30


def parse(folder: Path, *records: Json) -> tuple[Event, ...]:
    batch = reader("codex").read_transcript(written(folder, jsonl(records)), "s1", "", FAR)
    assert batch.skipped == ()
    return batch.events


def prompts(folder: Path, *records: Json) -> list[str]:
    return [one.text for one in parse(folder, *records) if isinstance(one, Prompt)]


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
    assert parse(tmp_path, one) == ()


ITEM_PROMPT, EVENT_PROMPT = message("user", "Go on"), event("user_message", message="Go  on\n")
WHOLE = completed("UserMessage", "x", content=[{"type": "text", "text": "Go on"}])


@pytest.mark.parametrize(
    ("records", "times"),
    [
        ((ITEM_PROMPT, EVENT_PROMPT), 1),
        ((EVENT_PROMPT, ITEM_PROMPT), 1),
        ((ITEM_PROMPT, WHOLE), 1),
        ((EVENT_PROMPT, WHOLE, ITEM_PROMPT), 1),
        ((ITEM_PROMPT, ITEM_PROMPT), 2),
        ((ITEM_PROMPT, EVENT_PROMPT, ITEM_PROMPT, EVENT_PROMPT), 2),
        ((ITEM_PROMPT, ITEM_PROMPT, EVENT_PROMPT, EVENT_PROMPT), 2),
        ((EVENT_PROMPT, EVENT_PROMPT), 2),
        ((ITEM_PROMPT, message("user", "Stop"), event("user_message", message="Stop"), EVENT_PROMPT), 1),
    ],
)
def test_one_prompt_that_is_written_several_times_is_read_once(
    tmp_path: Path, records: tuple[Json, ...], times: int
) -> None:
    told_once = [" ".join(text.split()) for text in prompts(tmp_path, *records)]
    assert told_once.count("Go on") == times


def test_what_the_agent_said_is_read_once(tmp_path: Path) -> None:
    events = parse(
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
    events = parse(tmp_path, message("user", "ok"), event("agent_message", message="ok"))
    assert [type(one) for one in events] == [Prompt, AssistantText]


def test_a_prompt_belongs_to_its_turn(tmp_path: Path) -> None:
    events = parse(
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
    events = parse(tmp_path, summary, said)
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
def test_what_we_injected_is_never_read_as_somebody_else_s(tmp_path: Path, records: tuple[Json, ...]) -> None:
    events = parse(tmp_path, *records)
    assert events
    assert all(one.origin is not Origin.HOLDFAST for one in events)
    assert "secret recall" not in repr(events)


def test_our_words_in_what_a_hook_added_show_that_the_brief_arrived(tmp_path: Path) -> None:
    added = message("developer", fence("half done"), kinds=["hooks.additional_context"], id="msg_7")
    (seen,) = parse(tmp_path, added, message("developer", "somebody else's"))
    assert isinstance(seen, BriefSeen)
    assert (seen.record, seen.origin) == ("msg_7", Origin.HOLDFAST)
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
    events = parse(tmp_path, message("user", text, kinds=["multi_agent.subagent_notification"]))
    assert [(one.subagent, one.text) for one in events if isinstance(one, SubagentStopped)] == stopped
    assert len(events) == len(stopped)


def test_nobody_types_into_a_subagent(tmp_path: Path) -> None:
    spawned = meta("a7", parent_thread_id="p1", thread_source="subagent")
    events = parse(tmp_path, spawned, turn(), message("user", "Look around"), message("assistant", "Looking"))
    assert [(type(one), one.agent) for one in events] == [(AssistantText, "a7")]
