"""Each of Codex's letters says what it says, and only a start and a prompt are answered."""

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
    TurnEnded,
)
from holdfast.core.text.untrusted import fence
from holdfast.harnesses import get
from holdfast.harnesses.base import Ask, Envelope, HookEvent
from holdfast.harnesses.record_events import Common
from tests.harnesses.codex_records import AT, CHILD, CWD, THREAD, hook_body, rollout_path
from tests.tables import every_row

CODEX = get("codex")
ENVELOPE = Envelope("e1", "codex", AT)


def hook_event(raw: bytes) -> HookEvent:
    understood = CODEX.parse_hook(raw, ENVELOPE)
    assert isinstance(understood, HookEvent)
    return understood


def common(record: str, origin: Origin = Origin.HARNESS) -> Common:
    return {"session": THREAD, "record": record, "at": AT, "origin": origin, "agent": "main", "parent": ""}


@every_row(
    ("raw", "ask", "events"),
    [
        *(
            (
                hook_body("SessionStart", source=source, model="model-x", permission_mode="default"),
                Ask.START,
                (SessionStarted(**common("start:e1"), source=Source(source), model="model-x"),),
            )
            for source in ("startup", "resume", "clear", "fork")
        ),
        (
            hook_body("SessionStart", source="compact", model="model-x"),
            Ask.START,
            (
                SessionStarted(**common("start:e1"), source=Source.COMPACT, model="model-x"),
                Compacted(**common("compacted:e1"), sign=CompactionSign.START),
            ),
        ),
        (hook_body("UserPromptSubmit", prompt="Fix it", turn_id="t1"), Ask.PROMPT, ()),
        (hook_body("Stop", stop_hook_active=False), Ask.STOP, (TurnEnded(**common("stop:e1")),)),
        (hook_body("Interrupt", turn_id="t1"), Ask.NOTHING, (TurnEnded(**common("stop:e1")),)),
        (
            hook_body("PreCompact", trigger="manual"),
            Ask.NOTHING,
            (CompactionImminent(**common("imminent:e1"), trigger="manual"),),
        ),
        (
            hook_body("PostCompact", trigger="auto"),
            Ask.NOTHING,
            (Compacted(**common("compacted:e1"), sign=CompactionSign.HOOK),),
        ),
        (
            hook_body("SessionEnd", reason="other"),
            Ask.NOTHING,
            (SessionEnded(**common("end:e1"), reason="other"),),
        ),
        (hook_body("PostToolUse", tool_name="Bash"), Ask.NOTHING, ()),
    ],
)
def test_each_hook_event_asks_and_tells(raw: bytes, ask: Ask, events: tuple[Event, ...]) -> None:
    understood = hook_event(raw)
    assert (understood.ask, understood.events) == (ask, events)
    assert (understood.cwd, understood.transcript) == (CWD, str(rollout_path(THREAD)))


@pytest.mark.parametrize(
    ("raw", "stand_ins"),
    [
        (
            hook_body("UserPromptSubmit", prompt="Fix it", turn_id="t1"),
            (Prompt(**common("hook:e1", Origin.HUMAN), text="Fix it", turn="t1"),),
        ),
        (hook_body("UserPromptSubmit", prompt="<environment_context>\n…</environment_context>"), ()),
        (hook_body("UserPromptSubmit", prompt=f" {fence('ours')} "), ()),
        (
            hook_body("Stop", last_assistant_message=f"Done. {fence('ours')}"),
            (AssistantText(**common("hook:e1", Origin.ASSISTANT), text="Done."),),
        ),
    ],
)
def test_what_the_rollout_tells_too_only_stands_in(raw: bytes, stand_ins: tuple[Event, ...]) -> None:
    assert hook_event(raw).stand_ins == stand_ins


def test_a_session_that_is_not_written_down_names_no_rollout_path() -> None:
    understood = hook_event(hook_body("UserPromptSubmit", prompt="Fix it", transcript_path=None))
    assert (understood.transcript, len(understood.stand_ins)) == ("", 1)


@pytest.mark.parametrize(
    "raw",
    [
        hook_body("UserPromptSubmit", prompt="child task", agent_id=CHILD, agent_type="default"),
        hook_body("UserPromptSubmit", prompt="child task", transcript_path=str(rollout_path(CHILD))),
        hook_body("PreCompact", trigger="auto", agent_id=CHILD, transcript_path=str(rollout_path(CHILD))),
        hook_body("SessionStart", source="compact", transcript_path=str(rollout_path(CHILD))),
        hook_body("SubagentStop", agent_id=CHILD, last_assistant_message="Found it"),
    ],
)
def test_a_subagents_hook_event_only_triggers_a_read_of_the_session_that_started_it(raw: bytes) -> None:
    understood = hook_event(raw)
    assert understood.session == THREAD
    assert (understood.ask, understood.events, understood.stand_ins) == (Ask.NOTHING, (), ())
    assert understood.transcript == ""


@pytest.mark.parametrize("raw", [b"", b"[]", b'{"hook_event_name":"Stop"}'])
def test_a_hook_event_that_cannot_be_read_is_skipped(raw: bytes) -> None:
    assert isinstance(CODEX.parse_hook(raw, ENVELOPE), Skipped)


def test_nothing_but_the_context_goes_back_for_codex_refuses_what_it_does_not_know() -> None:
    reply = CODEX.render_reply(hook_event(hook_body("SessionStart", source="compact")), "the brief")
    assert json.loads(reply) == {
        "hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "the brief"}
    }
    assert CODEX.render_reply(hook_event(hook_body("PreCompact", trigger="auto")), "keep this") == b""


@given(st.text())
def test_the_size_of_an_answer_is_counted_in_bytes(answer: str) -> None:
    assert CODEX.answer_size(answer) == len(answer.encode(errors="replace"))


@pytest.mark.parametrize(
    ("command", "shared"),
    [
        (("codex",), False),
        (("/usr/bin/codex", "exec", "fix the app-server please"), False),
        (("/home/you/.codex/packages/bin/codex", "app-server", "--listen", "unix://"), True),
        ((), False),
    ],
)
def test_the_background_process_is_known_by_its_words(command: tuple[str, ...], *, shared: bool) -> None:
    assert CODEX.is_shared(command) is shared
