"""Each of Claude Code's letters says what it says, and only those that wait for a brief are answered."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import (
    AssistantText,
    Compacted,
    CompactionImminent,
    CompactionSign,
    Event,
    Origin,
    Prompt,
    SessionEnded,
    SessionStarted,
    Skipped,
    Source,
    SubagentStarted,
    SubagentStopped,
    ToolReturned,
    TurnEnded,
)
from holdfast.core.text.untrusted import fence
from holdfast.harnesses import get
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.record_events import Common
from tests.harnesses.claude_code_records import AT, SESSION, payload
from tests.tables import every_row

CLAUDE_CODE = get("claude-code")
ENVELOPE = Envelope("e1", "claude-code", AT)
SUMMARY = "<analysis>thinking aloud</analysis>\n<summary>\n1. Fix the parser\n</summary>"


def hook_event(raw: bytes, envelope: Envelope = ENVELOPE) -> HookEvent:
    understood = CLAUDE_CODE.parse_hook(raw, envelope)
    assert isinstance(understood, HookEvent)
    return understood


def common(record: str, origin: Origin = Origin.HARNESS) -> Common:
    return {"session": SESSION, "record": record, "at": AT, "origin": origin, "agent": "main", "parent": ""}


@every_row(
    ("raw", "ask", "events"),
    [
        (
            payload("SessionStart", source="startup"),
            Ask.START,
            (SessionStarted(**common("start:e1"), source=Source.STARTUP),),
        ),
        (
            payload("SessionStart", source="resume", model="model-x"),
            Ask.START,
            (SessionStarted(**common("start:e1"), source=Source.RESUME, model="model-x"),),
        ),
        (
            payload("SessionStart", source="compact", model="model-x"),
            Ask.START,
            (
                SessionStarted(**common("start:e1"), source=Source.COMPACT, model="model-x"),
                Compacted(**common("compacted:e1"), sign=CompactionSign.START),
            ),
        ),
        (
            payload("SessionStart", source="something new"),
            Ask.START,
            (SessionStarted(**common("start:e1"), source=Source.STARTUP),),
        ),
        (payload("Stop", stop_hook_active=False), Ask.STOP, (TurnEnded(**common("stop:e1")),)),
        (
            payload("PreCompact", trigger="manual", custom_instructions="keep the ids"),
            Ask.COMPACTION,
            (CompactionImminent(**common("imminent:e1"), trigger="manual", instructions="keep the ids"),),
        ),
        (
            payload("PreCompact", trigger="auto", custom_instructions=None, sessionContext="half done"),
            Ask.COMPACTION,
            (CompactionImminent(**common("imminent:e1"), trigger="auto", session_context="half done"),),
        ),
        (
            payload("PostCompact", trigger="auto", compact_summary=SUMMARY),
            Ask.NOTHING,
            (Compacted(**common("compacted:e1"), sign=CompactionSign.HOOK, summary="1. Fix the parser"),),
        ),
        (
            payload("SessionEnd", reason="clear"),
            Ask.NOTHING,
            (SessionEnded(**common("end:e1"), reason="clear"),),
        ),
        (payload("SessionEnd"), Ask.NOTHING, (SessionEnded(**common("end:e1"), reason="other"),)),
        (payload("UserPromptSubmit", prompt="Fix it", prompt_id="t1"), Ask.PROMPT, ()),
        (
            payload("SubagentStop", agent_id="a1", agent_type="", last_assistant_message=SUMMARY),
            Ask.NOTHING,
            (),
        ),
        (payload("Notification", message="waiting"), Ask.NOTHING, ()),
        (payload("AnEventOfNextYear", anything=[1]), Ask.NOTHING, ()),
    ],
)
def test_each_hook_event_asks_and_tells(raw: bytes, ask: Ask, events: tuple[Event, ...]) -> None:
    understood = hook_event(raw)
    assert (understood.ask, understood.events) == (ask, events)


@pytest.mark.parametrize(
    ("raw", "stand_ins"),
    [
        (
            payload("UserPromptSubmit", prompt="Fix it", prompt_id="t1"),
            (Prompt(**common("hook:e1", Origin.HUMAN), text="Fix it", turn="t1"),),
        ),
        (
            payload("UserPromptSubmit", prompt="Fix it"),
            (Prompt(**common("hook:e1", Origin.HUMAN), text="Fix it"),),
        ),
        (
            payload("UserPromptSubmit", prompt="<task-notification>\n…</task-notification>", prompt_id="t1"),
            (),
        ),
        (payload("UserPromptSubmit", prompt=f"  {fence('ours')} "), ()),
        (payload("UserPromptSubmit", prompt=["not", "a", "text"]), ()),
        (
            payload("Stop", last_assistant_message=f"Done. {fence('ours')}"),
            (AssistantText(**common("hook:e1", Origin.ASSISTANT), text="Done."),),
        ),
        (
            payload("SubagentStart", agent_id="a1", agent_type="Explore"),
            (SubagentStarted(**common("agent:e1", Origin.ASSISTANT), subagent="a1", task="Explore"),),
        ),
        (
            payload("SubagentStop", agent_id="a1", agent_type="Explore", last_assistant_message="Found it"),
            (SubagentStopped(**common("agent-end:e1", Origin.TOOL), subagent="a1", text="Found it"),),
        ),
        (payload("SubagentStop", agent_id="a1", agent_type="", last_assistant_message=SUMMARY), ()),
    ],
)
def test_what_the_transcript_tells_too_only_stands_in(raw: bytes, stand_ins: tuple[Event, ...]) -> None:
    assert hook_event(raw).stand_ins == stand_ins


def test_two_hook_events_with_the_same_prompt_are_two_prompts() -> None:
    raw = payload("UserPromptSubmit", prompt="continue", prompt_id="t1")
    first, second = (hook_event(raw, Envelope(name, "claude-code", AT)) for name in ("e1", "e2"))
    assert first.stand_ins[0].record != second.stand_ins[0].record


@pytest.mark.parametrize("name", ["session_id", "sessionId", "session_key", "sessionKey"])
def test_the_session_is_found_under_each_of_its_names(name: str) -> None:
    assert hook_event(json.dumps({name: "k1", "hook_event_name": "Stop"}).encode()).session == "k1"


@pytest.mark.parametrize("name", ["previousSessionKey", "previous_session_key"])
def test_a_predecessor_that_is_named_is_kept(name: str) -> None:
    understood = hook_event(payload("SessionStart", source="startup", **{name: "k0"}))
    assert understood.previous == "k0"
    assert [event.previous for event in understood.events if isinstance(event, SessionStarted)] == ["k0"]


def test_a_predecessor_in_the_envelope_counts_where_the_hook_event_names_none() -> None:
    envelope = Envelope("e1", "claude-code", AT, previous="k0")
    assert hook_event(payload("SessionStart", source="startup"), envelope).previous == "k0"
    assert (
        hook_event(payload("SessionStart", source="startup", previousSessionKey="k9"), envelope).previous
        == "k9"
    )


def test_the_project_directory_counts_before_the_one_the_agent_walked_into() -> None:
    moved = Envelope("e1", "claude-code", AT, environment={"CLAUDE_PROJECT_DIR": "/home/you/proj"})
    assert hook_event(payload("Stop"), moved).cwd == "/home/you/proj"
    assert hook_event(payload("Stop")).cwd == "/home/you/proj/src"


@pytest.mark.parametrize("path", [None, "", 7])
def test_a_hook_event_without_a_transcript_names_none(path: object) -> None:
    assert hook_event(payload("UserPromptSubmit", prompt="Fix it", transcript_path=path)).transcript == ""


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"{",
        b"\xff\xfe\x00",
        b"[]",
        b'{"hook_event_name":"Stop"}',
        b'{"session_id":5}',
        b'{"a":' * 50_000,
    ],
)
def test_a_hook_event_that_cannot_be_read_is_skipped(raw: bytes) -> None:
    assert isinstance(CLAUDE_CODE.parse_hook(raw, ENVELOPE), Skipped)


@given(st.binary(max_size=200))
def test_any_bytes_are_heard_or_skipped(raw: bytes) -> None:
    assert isinstance(CLAUDE_CODE.parse_hook(raw, ENVELOPE), HookEvent | Skipped)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9), lambda inner: st.lists(inner, max_size=3)
)
_FIELDS = ("source", "prompt", "prompt_id", "trigger", "compact_summary", "reason", "agent_id", "agent_type")


@given(
    event=st.sampled_from(["SessionStart", "UserPromptSubmit", "PreCompact", "PostCompact", "SubagentStop"]),
    fields=st.dictionaries(st.sampled_from(_FIELDS), _JSON),
)
def test_fields_of_any_kind_are_heard(event: str, fields: dict[str, object]) -> None:
    assert hook_event(payload(event, **fields)).session == SESSION


@pytest.mark.parametrize(
    ("raw", "event"),
    [
        (payload("SessionStart", source="compact"), "SessionStart"),
        (payload("UserPromptSubmit", prompt="x"), "UserPromptSubmit"),
    ],
)
def test_a_brief_goes_back_as_context_for_the_model(raw: bytes, event: str) -> None:
    reply = CLAUDE_CODE.render_reply(hook_event(raw), 'the "brief" – ä')
    assert json.loads(reply) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": 'the "brief" – ä'}
    }
    assert CLAUDE_CODE.render_reply(hook_event(raw), "") == b""


def test_a_compaction_is_answered_in_plain_text() -> None:
    assert (
        CLAUDE_CODE.render_reply(hook_event(payload("PreCompact", trigger="auto")), "keep this")
        == b"keep this"
    )


@pytest.mark.parametrize("event", ["PostCompact", "SessionEnd", "Notification"])
def test_what_would_be_rejected_is_not_answered(event: str) -> None:
    assert CLAUDE_CODE.render_reply(hook_event(payload(event)), "brief") == b""


def test_the_hook_carries_no_secret_and_waits_for_no_answer_that_never_comes() -> None:
    assert not [name for name in CLAUDE_CODE.hook_variables if "KEY" in name or "TOKEN" in name]
    for event in CLAUDE_CODE.rarely_answered:
        assert hook_event(payload(event)).ask in (Ask.NOTHING, Ask.STOP)


def test_a_batch_of_tools_tells_what_they_gave_back() -> None:
    calls = [
        {"tool_name": "Bash", "tool_use_id": "t1", "tool_response": "x" * 9_000},
        {"tool_use_id": "t2"},
        5,
    ]
    batch = hook_event(payload("PostToolBatch", tool_calls=calls))
    assert batch.ask is Ask.TOOLS
    outputs = [event for event in batch.stand_ins if isinstance(event, ToolReturned)]
    assert [(event.call, event.size) for event in outputs] == [("t1", 9_000), ("t2", 0), ("", 0)]
    assert len(outputs[0].text) <= 8_000
    reply = json.loads(CLAUDE_CODE.render_reply(batch, "write it down"))
    assert reply["hookSpecificOutput"]["hookEventName"] == "PostToolBatch"


def test_a_subagents_tools_are_not_asked_about() -> None:
    assert hook_event(payload("PostToolBatch", agent_id="a1", tool_calls=[])).ask is Ask.NOTHING
