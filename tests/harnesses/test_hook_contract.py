"""The contract of a harness that can be set up, kept by each: any letter is heard or skipped, and answered.

What its letters mean is tested in files of its own.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Skipped
from holdfast.harnesses import get, names
from holdfast.harnesses.base import Ask, Envelope, HookEvent

EVENTS = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "PostCompact", "SessionEnd", "Interrupt")
FIELDS = ("source", "prompt", "trigger", "reason", "agent_id", "transcript_path", "cwd", "turn_id", "model")
COMMAND = "/usr/bin/python3 -c 'hook'"
every_harness = pytest.mark.parametrize("name", names())
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9), lambda inner: st.lists(inner, max_size=3)
)


def hook_event(name: str, **fields: object) -> HookEvent:
    payload = json.dumps({"session_id": "s1", "cwd": "/p", **fields}).encode()
    understood = get(name).parse_hook(payload, Envelope("e1", name, 1))
    assert isinstance(understood, HookEvent)
    return understood


@every_harness
@given(raw=st.binary(max_size=200))
def test_any_bytes_are_heard_or_skipped(name: str, raw: bytes) -> None:
    assert isinstance(get(name).parse_hook(raw, Envelope("e1", name, 1)), HookEvent | Skipped)


@every_harness
@given(event=st.sampled_from(EVENTS), fields=st.dictionaries(st.sampled_from(FIELDS), anything))
def test_fields_of_any_kind_are_heard(name: str, event: str, fields: dict[str, object]) -> None:
    assert hook_event(name, hook_event_name=event, **fields).session == "s1"


@every_harness
@pytest.mark.parametrize("source", ["startup", "resume", "clear", "compact", "fork"])
def test_a_start_asks_for_a_brief_and_carries_it_back(name: str, source: str) -> None:
    start = hook_event(name, hook_event_name="SessionStart", source=source)
    assert start.source == source
    if start.ask is Ask.NOTHING:
        # A harness that drops what is said then: its first prompt asks.
        assert get(name).render_reply(start, "the “brief”") == b""
        return
    assert start.ask is Ask.START
    assert json.dumps("the “brief”", ensure_ascii=False).encode() in get(name).render_reply(
        start, "the “brief”"
    )


@every_harness
@pytest.mark.parametrize("event", EVENTS)
def test_an_empty_brief_is_no_answer(name: str, event: str) -> None:
    assert get(name).render_reply(hook_event(name, hook_event_name=event), "") == b""


@every_harness
def test_nobody_waits_for_an_answer_to_a_quiet_event(name: str) -> None:
    harness = get(name)
    wanted = {entry.path[-1] for entry in harness.hook_entries(COMMAND, Path("/home/you"))}
    assert wanted >= set(harness.rarely_answered)
    for event in harness.rarely_answered:
        quiet = hook_event(name, hook_event_name=event)
        # An agent that stops may be asked to go on, if there is anything to ask and it is said at once.
        assert quiet.ask in (Ask.NOTHING, Ask.STOP)
        assert bool(harness.render_reply(quiet, "brief")) is (quiet.ask is Ask.STOP)


@pytest.mark.parametrize("name", [name for name in names() if "Stop" in get(name).rarely_answered])
def test_an_agent_that_was_kept_from_stopping_may_stop_then(name: str) -> None:
    harness = get(name)
    again = hook_event(name, hook_event_name="Stop", stop_hook_active=True)
    assert again.ask is Ask.NOTHING
    assert harness.render_reply(again, "go on") == b""
    once = hook_event(name, hook_event_name="Stop", stop_hook_active=False)
    assert once.ask is Ask.STOP
    assert b"go on" in harness.render_reply(once, "go on")
    assert harness.render_reply(once, "") == b""


@every_harness
def test_no_variable_with_a_secret_is_carried(name: str) -> None:
    assert not [one for one in get(name).hook_variables if "KEY" in one or "TOKEN" in one]


@every_harness
def test_what_is_wanted_is_in_the_users_home_and_known_by_its_command(name: str) -> None:
    entries = get(name).hook_entries(COMMAND, Path("/home/you"))
    assert entries
    for entry in entries:
        assert Path(entry.file).is_relative_to("/home/you")
        assert entry.identity in json.dumps(entry.value)


@every_harness
@given(answer=st.text(max_size=50))
def test_an_answer_is_never_smaller_to_a_harness_than_half_its_characters(name: str, answer: str) -> None:
    assert get(name).answer_size(answer) >= len(answer) // 2
    assert get(name).answer_size(answer + "x") > get(name).answer_size(answer)
