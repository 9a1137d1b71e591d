"""Each of Gemini CLI's letters says what it says; a question before a model call is no compaction."""

from __future__ import annotations

import json
from pathlib import Path, PurePath

import pytest

from holdfast.core.events.event import (
    AssistantText,
    CompactionImminent,
    Event,
    Origin,
    Prompt,
    SessionEnded,
    SessionStarted,
    Source,
    TurnEnded,
)
from holdfast.core.events.install_request import WantedBlock, WantedMember
from holdfast.core.text.untrusted import fence
from holdfast.harnesses import get
from holdfast.harnesses.base import Ask, Envelope, HookEvent, Tooled
from holdfast.harnesses.record_events import Common
from tests.harnesses.gemini_records import AT, CWD, SESSION, hooked

GEMINI = get("gemini")
COMMAND = "python -c 'hook' gemini"
RELAY = ("/usr/bin/python3", "-I", "-S", "/home/you/.holdfast/bin/relay.py", "gemini", "-")


def payload(event: str, **fields: object) -> bytes:
    path = f"/home/you/.gemini/tmp/proj/chats/session-{SESSION}.jsonl"
    common = {"session_id": SESSION, "transcript_path": path, "cwd": CWD, "hook_event_name": event}
    return json.dumps({**common, **fields}).encode()


def hook_event(raw: bytes) -> HookEvent:
    understood = GEMINI.parse_hook(raw, Envelope("e1", "gemini", AT))
    assert isinstance(understood, HookEvent)
    return understood


def common(record: str, origin: Origin = Origin.HARNESS) -> Common:
    return {"session": SESSION, "record": record, "at": AT, "origin": origin, "agent": "main", "parent": ""}


@pytest.mark.parametrize(
    ("raw", "ask", "events"),
    [
        *(
            (
                payload("SessionStart", source=source),
                ask,
                (SessionStarted(**common("start:e1"), source=Source(source)),),
            )
            for source, ask in (("startup", Ask.START), ("resume", Ask.START), ("clear", Ask.NOTHING))
        ),
        (payload("BeforeAgent", prompt="Fix it."), Ask.PROMPT, ()),
        (payload("AfterTool", tool_name="glob", tool_response={}), Ask.TOOLS, ()),
        (payload("AfterAgent", prompt_response="Done."), Ask.NOTHING, (TurnEnded(**common("stop:e1")),)),
        (
            payload("SessionEnd", reason="exit"),
            Ask.NOTHING,
            (SessionEnded(**common("end:e1"), reason="exit"),),
        ),
        (payload("PreCompress", trigger="auto"), Ask.NOTHING, ()),
        (
            payload("PreCompress", trigger="manual"),
            Ask.NOTHING,
            (CompactionImminent(**common("imminent:e1"), trigger="manual"),),
        ),
        (payload("BeforeModel", llm_request={}), Ask.NOTHING, ()),
    ],
)
def test_each_hook_event_asks_and_tells(raw: bytes, ask: Ask, events: tuple[Event, ...]) -> None:
    understood = hook_event(raw)
    assert (understood.ask, understood.events, understood.cwd) == (ask, events, CWD)


@pytest.mark.parametrize(
    ("raw", "stand_ins"),
    [
        (
            payload("BeforeAgent", prompt=f"{hooked(fence('ours'))}\n\nFix it."),
            (Prompt(**common("hook:e1", Origin.HUMAN), text="Fix it."),),
        ),
        (payload("BeforeAgent", prompt=hooked("theirs")), ()),
        (
            payload("AfterAgent", prompt_response="Done."),
            (AssistantText(**common("hook:e1", Origin.ASSISTANT), text="Done."),),
        ),
    ],
)
def test_what_the_chat_tells_too_only_stands_in(raw: bytes, stand_ins: tuple[Event, ...]) -> None:
    assert hook_event(raw).stand_ins == stand_ins


@pytest.mark.parametrize(
    ("event", "fields"),
    [("SessionStart", {"source": "startup"}), ("BeforeAgent", {"prompt": "x"}), ("AfterTool", {})],
)
def test_a_brief_goes_back_under_the_name_of_what_was_asked(event: str, fields: dict[str, object]) -> None:
    reply = GEMINI.render_reply(hook_event(payload(event, **fields)), "the brief")
    assert json.loads(reply) == {
        "hookSpecificOutput": {"hookEventName": event, "additionalContext": "the brief"}
    }


def test_each_event_has_one_hook_with_its_timeout_in_milliseconds() -> None:
    entries = GEMINI.hook_entries(COMMAND, Path("/home/you"))
    hook = {"type": "command", "name": "holdfast", "command": COMMAND, "timeout": 5_000}
    events = ("SessionStart", "BeforeAgent", "AfterTool", "AfterAgent", "SessionEnd")
    assert {one.path: one.value for one in entries} == {
        ("hooks", event): {"hooks": [hook]} for event in events
    }
    assert {one.file for one in entries} == {PurePath("/home/you/.gemini/settings.json")}


def test_the_tools_are_a_server_in_the_settings_and_a_word_in_the_instructions() -> None:
    assert isinstance(GEMINI, Tooled)
    server, block = GEMINI.tool_entries(RELAY, Path("/home/you"))
    assert isinstance(server, WantedMember)
    assert (server.path, server.identity) == (("mcpServers", "holdfast"), RELAY[3])
    assert server.value == {"command": RELAY[0], "args": [*RELAY[1:]]}
    assert isinstance(block, WantedBlock)
    assert block.file == PurePath("/home/you/.gemini/GEMINI.md")


def test_its_folder_or_its_program_shows_that_it_is_there(tmp_path: Path) -> None:
    assert not GEMINI.present(tmp_path, search_path="")
    (tmp_path / ".gemini").mkdir()
    assert GEMINI.present(tmp_path, search_path="")


@pytest.mark.parametrize(
    ("settings", "share"),
    [(None, 0.5), ('{"model": {"compressionThreshold": 0.7}}', 0.7), ('{"model": 1}', 0.5), ("{", 0.5)],
)
def test_it_compacts_at_the_share_that_its_settings_say(
    tmp_path: Path, settings: str | None, share: float
) -> None:
    if settings is not None:
        (tmp_path / ".gemini").mkdir()
        (tmp_path / ".gemini" / "settings.json").write_text(settings)
    assert GEMINI.auto_compact(tmp_path, {}).share == share
