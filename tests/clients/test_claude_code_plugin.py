"""The plugin of the repository's marketplace, in the real Claude Code, with and without setup."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from holdfast.harnesses.plugin_folder import MISSING
from tests.clients.claude import Claude, Json, Result
from tests.clients.model_server import ModelServer, call, say
from tests.clients.person import LIMIT_S
from tests.clients.product import TITLE, Product, installed_package

ROOT = Path(__file__).parents[2]
RULE = "Never touch the generated files below api/."
WORDS = "The importer is done, the report is not."
REMEMBERED = "The staging database is reset every night."
IN_FULL = ("--output-format", "stream-json", "--verbose")
TOOLS = ("--allowedTools", "mcp__plugin_holdfast_holdfast__*")


@pytest.fixture
def plugin(claude: Claude) -> Path:
    """The marketplace, a copy of the repository's, from which the plugin was installed."""
    marketplace = claude.home / "marketplace"
    shutil.copytree(ROOT / ".claude-plugin", marketplace / ".claude-plugin")
    shutil.copytree(ROOT / "plugin", marketplace / "plugin")
    told(claude, "plugin", "marketplace", "add", str(marketplace))
    told(claude, "plugin", "install", "holdfast@holdfast")
    return marketplace


@pytest.fixture
def package(claude: Claude) -> Iterator[Product]:
    with installed_package(claude) as product:
        yield product


def told(claude: Claude, *words: str) -> str:
    return claude.printed([str(claude.binary), *words])


@pytest.mark.parametrize("folder", [".", "plugin"])
def test_it_is_valid_for_the_client(claude: Claude, folder: str) -> None:
    started = claude.started(
        [str(claude.binary), "plugin", "validate", str(ROOT / folder)], None, subprocess.DEVNULL
    )
    out, _ = started.communicate(timeout=LIMIT_S)
    assert started.returncode == 0, out
    assert "Validation passed" in out
    assert "MISSING)" not in out.replace("(ICON_MISSING)", "")


def test_a_session_survives_its_compaction(
    claude: Claude, server: ModelServer, package: Product, plugin: Path
) -> None:
    digest = call("mcp__plugin_holdfast_holdfast__session_digest", summary=WORDS)
    server.script(digest, say("saved"), say("ok"))
    session = claude.prompt(f"Port the importer. {RULE}", *TOOLS).session
    claude.prompt("/compact", *TOOLS, resume=session)
    claude.prompt("Go on.", *TOOLS, resume=session)
    text = server.last().text
    brief = text[text.rindex(TITLE) :]
    assert RULE in brief
    assert WORDS in brief
    assert package.json("sessions")[0]["session_key"] == session
    assert json.loads((claude.home / ".claude" / "settings.json").read_text()).keys() == {
        "extraKnownMarketplaces",
        "enabledPlugins",
    }


def test_its_skills_and_its_commands_are_known(
    claude: Claude, server: ModelServer, package: Product, plugin: Path
) -> None:
    server.script(say("kept"))
    claude.prompt(f"/holdfast:remember {REMEMBERED}")
    request = server.last().text
    assert f"with this text, word for word: {REMEMBERED}" in request
    assert "holdfast:holdfast-recall" in request


def test_beside_setup_nothing_happens_twice(
    claude: Claude, server: ModelServer, package: Product, plugin: Path
) -> None:
    package.run("setup", "claude-code", "--yes")
    digest = call("mcp__holdfast__session_digest", summary=WORDS)
    twice = call("mcp__plugin_holdfast_holdfast__session_digest", summary="not to be kept")
    server.script(digest, twice, say("saved"), say("ok"))
    allowed = ("--allowedTools", "mcp__holdfast__*", "mcp__plugin_holdfast_holdfast__*")
    session = claude.prompt(f"Port the importer. {RULE}", *allowed).session
    claude.prompt("/compact", *allowed, resume=session)
    last = lines_of(claude.prompt("Go on.", *IN_FULL, "--include-hook-events", *allowed, resume=session))
    request = server.last().text
    assert request.count(TITLE) == 1
    assert WORDS in request
    assert "not to be kept" not in request[request.rindex(TITLE) :]
    prompts = [
        line["stdout"] for line in last if line.get("hook_event") == "UserPromptSubmit" and "stdout" in line
    ]
    assert len(prompts) == 2, "setup's hook and the plugin's were both called"
    assert len([stdout for stdout in prompts if stdout]) <= 1
    assert len(package.json("sessions")) == 1


def test_without_the_package_it_says_so_once_and_harms_nobody(
    claude: Claude, server: ModelServer, plugin: Path
) -> None:
    server.script(say("ok"), say("ok"))
    assert [missing_messages(lines_of(claude.prompt("Say ok.", *IN_FULL))) for _ in range(2)] == [1, 0]
    assert MISSING not in server.last().text
    assert not (claude.home / ".holdfast").exists()


def lines_of(done: Result) -> list[Json]:
    """Everything that a run printed, which was answered as it should be, with no tool server that failed."""
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[-1]["result"] == "ok"
    (init,) = [line for line in lines if line.get("subtype") == "init"]
    assert {server["status"] for server in init["mcp_servers"]} <= {"connected", "pending"}
    return lines


def missing_messages(lines: Sequence[Json]) -> int:
    """How many hooks say to the user that Holdfast is missing, and nothing else."""
    outputs = [str(line.get("stdout", "")) for line in lines if line.get("subtype") == "hook_response"]
    said = [json.loads(output) for output in outputs if output]
    assert {json.dumps(one) for one in said} <= {json.dumps({"systemMessage": MISSING})}
    return len(said)


def test_it_leaves_no_trace_when_it_is_taken_away(
    claude: Claude, server: ModelServer, package: Product, plugin: Path
) -> None:
    told(claude, "plugin", "uninstall", "holdfast@holdfast")
    server.script(say("ok"))
    claude.prompt(f"Port the importer. {RULE}")
    assert package.json("sessions") == []
