"""What the letters of our plugin in OpenCode say, what it is answered, and what it is set up with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.core.events.event import (
    CompactionImminent,
    ModelChanged,
    Prompt,
    SessionEnded,
    SessionStarted,
    ToolCalled,
    TurnEnded,
)
from holdfast.core.events.install_request import WantedBlock, WantedMember
from holdfast.harnesses import get
from holdfast.harnesses.base import Ask, Envelope, HookEvent, Plugged, Tooled
from holdfast.skills import shipped

OPENCODE = get("opencode")
HOME = Path("/home/you")
COMMAND = "/usr/bin/python3 -c 'hook' opencode"
RELAY = ("/usr/bin/python3", "-I", "-S", "/home/you/.holdfast/bin/relay.py", "opencode", "-")


def hook_event(event: str, **fields: object) -> HookEvent:
    payload = {
        "hook_event_name": event,
        "session_id": "s1",
        "cwd": "/p",
        "transcript_path": "/p/x.db",
        **fields,
    }
    understood = OPENCODE.parse_hook(json.dumps(payload).encode(), Envelope("e1", "opencode", 7))
    assert isinstance(understood, HookEvent)
    return understood


@pytest.mark.parametrize(
    ("event", "fields", "ask", "told"),
    [
        ("SessionStart", {"source": "startup"}, Ask.START, [SessionStarted]),
        ("SessionStart", {"source": "resume"}, Ask.START, [SessionStarted]),
        ("Request", {}, Ask.REQUEST, []),
        ("PreCompact", {}, Ask.COMPACTION, [CompactionImminent]),
        ("PreToolUse", {"tool_name": "holdfast_recall", "tool_use_id": "c1"}, Ask.NOTHING, [ToolCalled]),
        ("PreToolUse", {"tool_name": "bash", "tool_use_id": "c1"}, Ask.NOTHING, []),
        ("PreToolUse", {"tool_name": "holdfast_recall"}, Ask.NOTHING, []),
        ("Stop", {}, Ask.NOTHING, [TurnEnded]),
        ("SessionEnd", {"reason": "exit"}, Ask.NOTHING, [SessionEnded]),
        ("Novelty", {}, Ask.NOTHING, []),
    ],
)
def test_each_hook_event_asks_and_tells(
    event: str, fields: dict[str, object], ask: Ask, told: list[type]
) -> None:
    understood = hook_event(event, **fields)
    assert (understood.ask, [type(each) for each in understood.events]) == (ask, told)
    assert (understood.cwd, understood.transcript) == ("/p", "/p/x.db")


def test_a_prompt_stands_in_for_what_the_database_will_show() -> None:
    understood = hook_event("UserPromptSubmit", prompt=" Fix it.\n")
    assert understood.ask is Ask.PROMPT
    assert [each.text for each in understood.stand_ins if isinstance(each, Prompt)] == ["Fix it."]


@pytest.mark.parametrize(
    ("limit", "compacted_at"),
    [
        ({"context": 100_000, "output": 8_000}, 92_000),
        ({"context": 200_000, "output": 64_000}, 168_000),
        ({"context": 200_000}, 168_000),
        ({"context": 400_000, "input": 272_000, "output": 128_000}, 252_000),
    ],
)
def test_a_request_says_how_much_the_model_holds(limit: dict[str, int], compacted_at: int) -> None:
    (told,) = hook_event("Request", model="large", limit=limit).events
    assert isinstance(told, ModelChanged)
    assert told.model == "large"
    assert OPENCODE.auto_compact(HOME, {}).limit(told.window) == compacted_at


@pytest.mark.parametrize("limit", [None, 7, "x", {}, {"context": 0, "output": 9}, {"context": "1"}])
def test_a_limit_that_says_nothing_is_passed_over(limit: object) -> None:
    assert hook_event("Request", model="large", limit=limit).events == ()


def test_a_call_of_our_tools_is_known_by_the_id_that_the_database_has() -> None:
    (called,) = hook_event("PreToolUse", tool_name="holdfast_session_digest", tool_use_id="call_9").events
    assert isinstance(called, ToolCalled)
    assert (called.record, called.call, called.tool) == ("call_9", "call_9", "holdfast_session_digest")


@pytest.mark.parametrize(
    ("event", "carried"),
    [
        ("SessionStart", True),
        ("UserPromptSubmit", True),
        ("Request", True),
        ("PreCompact", True),
        ("Stop", False),
    ],
)
def test_an_answer_is_carried_where_the_plugin_can_put_it(event: str, *, carried: bool) -> None:
    assert (b"the brief" in OPENCODE.render_reply(hook_event(event), "the brief")) is carried


@pytest.mark.parametrize(
    ("words", "shared"),
    [
        (["opencode"], False),
        (["opencode", "run", "serve", "it"], False),
        (["opencode", "serve", "--port", "0"], True),
        (["opencode", "--print-logs", "web"], True),
        (["/usr/bin/opencode", "acp"], True),
    ],
)
def test_as_a_server_it_is_at_home_to_many_sessions(words: list[str], *, shared: bool) -> None:
    assert OPENCODE.is_shared(words) is shared


class TestSetup:
    def test_the_plugin_is_named_with_the_command_that_it_falls_back_on(self) -> None:
        (entry,) = OPENCODE.hook_entries(COMMAND, HOME)
        assert (entry.file, entry.path) == (HOME / ".config/opencode/opencode.json", ("plugin",))
        assert entry.value == [
            "file:///home/you/.config/opencode/holdfast/plugin.js",
            {"command": COMMAND},
        ]

    def test_the_plugin_is_told_where_its_home_is(self) -> None:
        assert isinstance(OPENCODE, Plugged)
        copies = OPENCODE.plugin_files(Path('/srv/o"dd/.holdfast'), HOME)
        folder = HOME / ".config/opencode/holdfast"
        assert [copy.file for copy in copies] == [folder / "plugin.js", folder / "post.js"]
        assert b'const HOME = "/srv/o\\"dd/.holdfast" //' in copies[0].content
        assert not [copy for copy in copies if b"const HOME = null" in copy.content]

    def test_tools_instructions_and_a_skill(self) -> None:
        assert isinstance(OPENCODE, Tooled)
        member, block = OPENCODE.tool_entries(RELAY, HOME)
        assert isinstance(member, WantedMember)
        assert (member.path, member.value["command"]) == (("mcp", "holdfast"), [*RELAY])
        assert isinstance(block, WantedBlock)
        assert block.file == HOME / ".config/opencode/AGENTS.md"
        copies = OPENCODE.guidance(HOME, shipped())
        assert HOME / ".config/opencode/skills/holdfast/SKILL.md" in [copy.file for copy in copies]

    @pytest.mark.parametrize(
        ("there", "chosen"),
        [
            ((), "opencode.json"),
            (("opencode.jsonc",), "opencode.jsonc"),
            (("opencode.json",), "opencode.json"),
            (("opencode.json", "opencode.jsonc"), "opencode.json"),
        ],
    )
    def test_the_settings_that_a_person_keeps_are_used(
        self, there: tuple[str, ...], chosen: str, tmp_path: Path
    ) -> None:
        folder = tmp_path / ".config" / "opencode"
        folder.mkdir(parents=True)
        for name in there:
            (folder / name).write_text("{}")
        (entry,) = OPENCODE.hook_entries(COMMAND, tmp_path)
        assert Path(entry.file).name == chosen
