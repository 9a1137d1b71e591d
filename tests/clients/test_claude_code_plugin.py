"""The plugin, in the real Claude Code: the promises of setup are kept with no word in its settings."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer, call, say
from tests.clients.person import LIMIT_S
from tests.clients.product import TITLE, Product

RULE = "Never touch the generated files below api/."
WORDS = "The importer is done, the report is not."
REMEMBERED = "The staging database is reset every night."


@pytest.fixture
def plugin(claude: Claude, product: Product) -> Path:
    product.run("unsetup", "--yes")
    folder = claude.home / "plugin"
    product.run("plugin", "claude-code", str(folder))
    assert not (claude.home / ".claude" / "settings.json").exists()
    return folder


def test_it_is_valid_for_the_client(claude: Claude, plugin: Path) -> None:
    started = claude.started(
        [str(claude.binary), "plugin", "validate", str(plugin)], None, subprocess.DEVNULL
    )
    out, _ = started.communicate(timeout=LIMIT_S)
    assert started.returncode == 0, out
    assert "Validation passed" in out
    assert "MISSING)" not in out.replace("(ICON_MISSING)", "")


def test_a_session_survives_its_compaction(
    claude: Claude, server: ModelServer, product: Product, plugin: Path
) -> None:
    tools = ("--plugin-dir", str(plugin), "--allowedTools", "mcp__plugin_holdfast_holdfast__*")
    digest = call("mcp__plugin_holdfast_holdfast__session_digest", summary=WORDS)
    server.script(digest, say("saved"), say("ok"))
    session = claude.prompt(f"Port the importer. {RULE}", *tools).session
    claude.prompt("/compact", *tools, resume=session)
    claude.prompt("Go on.", *tools, resume=session)
    brief = server.last().text[server.last().text.rindex(TITLE) :]
    assert RULE in brief
    assert WORDS in brief
    assert product.json("sessions")[0]["session_key"] == session


def test_its_skill_and_its_commands_are_known(claude: Claude, server: ModelServer, plugin: Path) -> None:
    server.script(say("kept"))
    claude.prompt(f"/holdfast:remember {REMEMBERED}", "--plugin-dir", str(plugin))
    request = server.last().text
    assert f"with this text, word for word: {REMEMBERED}" in request
    assert "holdfast:holdfast" in request


def test_it_leaves_no_trace_when_it_is_not_loaded(
    claude: Claude, server: ModelServer, product: Product, plugin: Path
) -> None:
    assert (plugin / ".mcp.json").is_file()
    server.script(say("ok"))
    claude.prompt(f"Port the importer. {RULE}")
    assert product.json("sessions") == []
