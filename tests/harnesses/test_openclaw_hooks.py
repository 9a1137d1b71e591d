"""What the letters of our plugin in OpenClaw say, what it is answered, and what it is set up with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast.core.events.event import (
    Compacted,
    CompactionImminent,
    ModelChanged,
    Prompt,
    SessionEnded,
    SessionStarted,
    Source,
    ToolCalled,
    TurnEnded,
)
from holdfast.core.events.install_request import WantedBlock, WantedMember
from holdfast.harnesses import get
from holdfast.harnesses.base import Ask, Envelope, HookEvent, Plugged, Searching, Tooled
from holdfast.skills import shipped
from tests.tables import every_row

OPENCLAW = get("openclaw")
HOME = Path("/home/you")
COMMAND = "/usr/bin/python3 -c 'hook' openclaw"
RELAY = ("/usr/bin/python3", "-I", "-S", "/home/you/.holdfast/bin/relay.py", "openclaw", "-")
ROW = "/home/you/.openclaw/agents/main/agent/openclaw-agent.sqlite/s1"


def hook_event(event: str, /, **fields: object) -> HookEvent:
    return heard_by("e1", event, fields)


def heard_by(payload: str, event: str, fields: dict[str, object]) -> HookEvent:
    told = {"hook_event_name": event, "session_id": "s1", "cwd": "/p", "transcript_path": ROW, **fields}
    understood = OPENCLAW.parse_hook(json.dumps(told).encode(), Envelope(payload, "openclaw", 7))
    assert isinstance(understood, HookEvent)
    return understood


@every_row(
    ("event", "fields", "ask", "told"),
    [
        ("SessionStart", {"source": "startup"}, Ask.START, [SessionStarted]),
        ("SessionStart", {"source": "compact"}, Ask.START, [SessionStarted, Compacted]),
        ("Request", {}, Ask.REQUEST, []),
        ("PreCompact", {}, Ask.COMPACTION, [CompactionImminent]),
        ("PreToolUse", {"tool_name": "holdfast__recall", "tool_use_id": "c1"}, Ask.NOTHING, [ToolCalled]),
        ("PreToolUse", {"tool_name": "exec", "tool_use_id": "c1"}, Ask.NOTHING, []),
        ("PreToolUse", {"tool_name": "holdfast__recall"}, Ask.NOTHING, []),
        ("Stop", {}, Ask.NOTHING, [TurnEnded]),
        ("Stop", {"model": "large", "window": 60_000}, Ask.NOTHING, [TurnEnded, ModelChanged]),
        ("Stop", {"model": "large", "window": "60k"}, Ask.NOTHING, [TurnEnded]),
        ("SessionEnd", {"reason": "clear"}, Ask.NOTHING, [SessionEnded]),
        ("Novelty", {}, Ask.NOTHING, []),
    ],
)
def test_each_hook_event_asks_and_tells(
    event: str, fields: dict[str, object], ask: Ask, told: list[type]
) -> None:
    understood = hook_event(event, **fields)
    assert (understood.ask, [type(each) for each in understood.events]) == (ask, told)
    assert (understood.cwd, understood.transcript) == ("/p", ROW)


def test_a_prompt_stands_in_for_what_the_database_will_show_without_what_a_channel_put_around_it() -> None:
    understood = hook_event("UserPromptSubmit", prompt="[Telegram Ann id:7 2026-03-01T10:00Z] Fix it.\n")
    assert understood.ask is Ask.PROMPT
    assert [each.text for each in understood.stand_ins if isinstance(each, Prompt)] == ["Fix it."]


def test_what_nobody_typed_is_no_prompt() -> None:
    assert hook_event("UserPromptSubmit", prompt="Pre-compaction memory flush. Store…").stand_ins == ()


def test_a_compaction_that_is_announced_twice_is_one() -> None:
    once, again, other = (
        heard_by(payload, "PreCompact", {"prompt_id": size}).events[0].record
        for payload, size in (("e1", "6-50000"), ("e2", "6-50000"), ("e3", "4-48000"))
    )
    assert once == again != other


def test_a_session_that_goes_on_under_its_own_name_says_whom_it_continues() -> None:
    understood = hook_event("SessionStart", source="clear", previousSessionKey="s1")
    assert (understood.source, understood.previous) == (Source.CLEAR, "s1")


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
    assert (b"the brief" in OPENCLAW.render_reply(hook_event(event), "the brief")) is carried


def test_its_gateway_is_at_home_to_many_sessions() -> None:
    assert OPENCLAW.is_shared(["node", "openclaw.mjs", "gateway", "run"])


# ---------------------------------------------------------------- setup


def written(home: Path, settings: str) -> Path:
    folder = home / ".openclaw"
    folder.mkdir()
    (folder / "openclaw.json").write_text(settings)
    return folder


def test_the_plugin_is_loaded_and_may_see_prompts_and_falls_back_on_the_command() -> None:
    member, path = OPENCLAW.hook_entries(COMMAND, HOME)
    assert isinstance(member, WantedMember)
    assert (member.file, member.path) == (
        HOME / ".openclaw/openclaw.json",
        ("plugins", "entries", "holdfast"),
    )
    assert member.value == {
        "enabled": True,
        "hooks": {"allowConversationAccess": True},
        "config": {"command": COMMAND},
    }
    assert (path.path, path.value) == (("plugins", "load", "paths"), "/home/you/.openclaw/holdfast")


def test_the_plugin_is_told_where_its_home_is() -> None:
    assert isinstance(OPENCLAW, Plugged)
    copies = {copy.file: copy.content for copy in OPENCLAW.plugin_files(Path('/srv/o"dd/.holdfast'), HOME)}
    folder = HOME / ".openclaw" / "holdfast"
    assert {*copies} == {
        folder / name for name in ("index.js", "post.js", "package.json", "openclaw.plugin.json")
    }
    assert b'const HOME = "/srv/o\\"dd/.holdfast" //' in copies[folder / "index.js"]
    assert json.loads(copies[folder / "openclaw.plugin.json"])["id"] == "holdfast"


def test_tools_come_with_a_word_where_an_agent_has_instructions(tmp_path: Path) -> None:
    assert isinstance(OPENCLAW, Tooled)
    told = "{agents: {defaults: {workspace: '~/work'}, entries: {a: {workspace: '/nowhere'}}}} // mine"
    folder = written(tmp_path, told)
    (tmp_path / "work").mkdir()
    assert [type(one) for one in OPENCLAW.tool_entries(RELAY, tmp_path)] == [WantedMember]
    (tmp_path / "work" / "AGENTS.md").write_text("# Mine\n")
    member, block = OPENCLAW.tool_entries(RELAY, tmp_path)
    assert isinstance(member, WantedMember)
    assert (member.path, member.value["args"]) == (("mcp", "servers", "holdfast"), [*RELAY[1:]])
    assert isinstance(block, WantedBlock)
    assert block.file == tmp_path / "work" / "AGENTS.md"
    copies = OPENCLAW.guidance(tmp_path, shipped())
    assert folder / "skills" / "holdfast-recall" / "SKILL.md" in [copy.file for copy in copies]


def test_its_settings_or_its_program_show_that_it_is_there(tmp_path: Path) -> None:
    assert not OPENCLAW.present(tmp_path, search_path="")
    program = tmp_path / "bin" / "openclaw"
    program.parent.mkdir()
    program.touch(0o755)
    assert OPENCLAW.present(tmp_path, search_path=str(program.parent))
    written(tmp_path, "{}")
    assert OPENCLAW.present(tmp_path, search_path="")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ("{}", ""),
        ("no settings at all", ""),
        ("{plugins: {allow: ['holdfast', 'x']}}", ""),
        ("{plugins: {allow: [], deny: ['x']}}", ""),
        ("{plugins: {allow: ['x'],},}", "`plugins.allow` names others, but not `holdfast`"),
        ("{plugins: {deny: ['holdfast']}}", "`plugins.deny` names `holdfast`"),
        ("{plugins: {enabled: false}} // all of them", "its plugins are switched off"),
    ],
)
def test_what_keeps_it_from_loading_the_plugin_is_said(settings: str, reason: str, tmp_path: Path) -> None:
    written(tmp_path, settings)
    blocker = OPENCLAW.setup_blocker(tmp_path, COMMAND)
    assert (blocker.reason if blocker else "") == reason
    assert blocker is None or str(tmp_path / ".openclaw" / "openclaw.json") in blocker.remedy


@pytest.mark.parametrize(
    ("settings", "searched"),
    [
        ("{}", [".openclaw/workspace/MEMORY.md", ".openclaw/workspace/memory"]),
        ("{agents: {defaults: {workspace: '~/w'}}}", ["w/MEMORY.md", "w/memory"]),
        ("{agents: {defaults: {workspace: '~/w', memorySearch: {enabled: false}}}}", []),
        ("{memorySearch: {enabled: false}}", []),
        ("{memory: {search: {enabled: false}}}", []),
        ("{plugins: {slots: {memory: 'none'}}}", []),
        (
            "{agents: {list: [{workspace: '~/a'}]}, memory: {search: {extraPaths: ['~/n', {path: '~/m'}]}}}",
            ["a/MEMORY.md", "a/memory", "n", "m"],
        ),
    ],
)
def test_what_its_own_search_looks_at_is_known(settings: str, searched: list[str], tmp_path: Path) -> None:
    assert isinstance(OPENCLAW, Searching)
    written(tmp_path, settings)
    assert [*OPENCLAW.memory_search_paths(tmp_path)] == [tmp_path / name for name in searched]
