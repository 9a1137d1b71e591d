"""The commands that harnesses run, by hand: MCP on stdin and stdout, and the page about it."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast import skills
from holdfast.core.events import install_request
from holdfast.engine.recording import memorize
from holdfast.engine.tools import session_tools, table
from holdfast.settings import Daemon
from tests.cli.conftest import HARNESS, Person

STATE = (
    '{\n  "numStartups": 7,\n  "mcpServers": {\n    "other": {"command": "x"}\n  },\n  "projects": {}\n}\n'
)
HELLO = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


@pytest.fixture
def settled(person: Person) -> Iterator[Person]:
    """Someone whose harness has kept its state for a while, and has another server."""
    person.settings.write_text("{}")
    state_of(person).write_text(STATE)
    try:
        yield person
    finally:
        person.types("down")


def state_of(person: Person) -> Path:
    return person.settings.parent.parent / ".claude.json"


def skill_of(person: Person, name: str = "holdfast") -> Path:
    return person.settings.parent / "skills" / name / "SKILL.md"


def rules_of(person: Person) -> Path:
    return person.settings.parent / "rules" / "holdfast.md"


def everything(person: Person) -> dict[str, bytes]:
    """Every file outside the Holdfast home, and what is in it."""
    top = person.settings.parent.parent
    return {
        str(path.relative_to(top)): path.read_bytes() if path.is_file() else b"(folder)"
        for path in sorted(top.rglob("*"))
        if not path.is_relative_to(person.home)
    }


def server_of(person: Person) -> dict[str, Any]:
    server: dict[str, Any] = json.loads(state_of(person).read_text())["mcpServers"]["holdfast"]
    return server


def spoken(command: Sequence[str], person: Person, cwd: Path, *methods: str) -> list[dict[str, Any]]:
    """What a server that is started so answers to a handshake and these requests."""
    hello = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO}
    told = [hello, {"jsonrpc": "2.0", "method": "notifications/initialized"}]
    asked = [{"jsonrpc": "2.0", "id": n, "method": method} for n, method in enumerate(methods, 1)]
    done = subprocess.run(
        command,
        input="".join(json.dumps(line) + "\n" for line in [*told, *asked]),
        env=person.environment,
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_written_command_line_speaks_mcp(settled: Person, tmp_path: Path) -> None:
    assert settled.types("setup", HARNESS, "--yes").status == 0
    server = server_of(settled)
    assert server["type"] == "stdio"
    hello, tools = spoken([server["command"], *server["args"]], settled, tmp_path, "tools/list")
    assert hello["result"]["serverInfo"]["name"] == "holdfast"
    assert "session_digest" in [tool["name"] for tool in tools["result"]["tools"]]


def test_and_so_does_the_command_by_hand(settled: Person, tmp_path: Path) -> None:
    hello, tools = spoken(settled.command("mcp"), settled, tmp_path, "tools/list")
    assert hello["result"]["serverInfo"]["name"] == "holdfast"
    assert len(tools["result"]["tools"]) == 6


def test_agents_are_told_when_to_use_them(settled: Person) -> None:
    settled.types("setup", HARNESS, "--yes")
    for skill in skills.shipped():
        assert skill_of(settled, skill.name).read_bytes() == skill.content
    assert rules_of(settled).read_text() == install_request.INSTRUCTIONS


def test_setup_and_unsetup_leave_every_file_and_folder_as_it_was(settled: Person) -> None:
    before = everything(settled)
    settled.types("setup", HARNESS, "--yes")
    assert everything(settled).keys() > before.keys()
    done = settled.types("unsetup", "--yes")
    assert done.status == 0, done.err
    assert everything(settled) == before


def test_where_the_harness_wrote_its_state_anew_only_our_server_goes(settled: Person) -> None:
    settled.types("setup", HARNESS, "--yes")
    rewritten = json.loads(state_of(settled).read_text()) | {"numStartups": 8}
    state_of(settled).write_text(json.dumps(rewritten, indent=2))
    settled.types("unsetup", "--yes")
    left = json.loads(state_of(settled).read_text())
    assert left == json.loads(STATE) | {"numStartups": 8}


def test_setup_twice_is_the_same_as_once(settled: Person) -> None:
    settled.types("setup", HARNESS, "--yes")
    once = everything(settled)
    assert settled.types("setup", HARNESS, "--yes").status == 0
    assert everything(settled) == once


def test_a_dry_run_shows_the_server_and_names_the_files(settled: Person) -> None:
    before = everything(settled)
    done = settled.types("setup", HARNESS, "--dry-run")
    assert '"holdfast": {' in done.out
    assert f"{skill_of(settled)} would be created" in done.err
    assert everything(settled) == before


def test_only_the_hooks_if_nothing_else_is_wanted(settled: Person) -> None:
    before = everything(settled)
    assert settled.types("setup", HARNESS, "--no-mcp", "--yes").status == 0
    changed = {name for name, content in everything(settled).items() if before.get(name) != content}
    assert changed == {".claude/settings.json"}


def test_somebody_elses_server_of_that_name_is_left_alone(settled: Person) -> None:
    state_of(settled).write_text('{"mcpServers": {"holdfast": {"command": "mine"}}}')
    before = everything(settled)
    done = settled.types("setup", HARNESS, "--yes")
    assert done.status == 1
    assert "`mcpServers.holdfast` is there already, and it is not ours" in done.err
    assert everything(settled) == before
    assert settled.types("setup", HARNESS, "--no-mcp", "--yes").status == 0


def test_somebody_elses_skill_of_that_name_is_left_alone(settled: Person) -> None:
    skill_of(settled).parent.mkdir(parents=True)
    skill_of(settled).write_text("mine")
    done = settled.types("setup", HARNESS, "--yes")
    assert done.status == 1
    assert "is not ours" in done.err
    assert skill_of(settled).read_text() == "mine"


def test_somebody_elses_skill_by_a_common_name_stays_and_the_others_come(settled: Person) -> None:
    theirs = skill_of(settled, "session-checkpoint")
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    before = everything(settled)
    done = settled.types("setup", HARNESS, "--yes")
    assert done.status == 0, done.err
    assert f"{theirs}: left there" in done.err
    assert theirs.read_text() == "mine"
    assert skill_of(settled, "holdfast-pickup").exists()
    assert settled.types("unsetup", "--yes").status == 0
    assert everything(settled) == before


def as_an_earlier_version_left_it(person: Person, name: str, former: str) -> None:
    """Make of an installed skill one that was installed under its former name."""
    skill_of(person, name).parent.rename(skill_of(person, former).parent)
    manifest = person.home / "manifest.json"
    manifest.write_text(manifest.read_text().replace(f"/{name}", f"/{former}"))


def test_a_skill_by_its_former_name_is_renamed_and_unsetup_leaves_nothing(settled: Person) -> None:
    before = everything(settled)
    settled.types("setup", HARNESS, "--yes")
    once = everything(settled)
    as_an_earlier_version_left_it(settled, "holdfast-handoff", "handoff")
    assert settled.types("setup", HARNESS, "--yes").status == 0
    assert everything(settled) == once
    assert settled.types("unsetup", "--yes").status == 0
    assert everything(settled) == before


def test_a_skill_by_its_former_name_that_its_user_changed_stays(settled: Person) -> None:
    settled.types("setup", HARNESS, "--yes")
    as_an_earlier_version_left_it(settled, "holdfast-recall", "recall")
    skill_of(settled, "recall").write_text("changed")
    assert f"{skill_of(settled, 'recall')}: left there" in settled.types("setup", HARNESS, "--yes").err
    assert skill_of(settled, "holdfast-recall").is_file()
    assert settled.types("unsetup", "--yes").status == 0
    assert skill_of(settled, "recall").read_text() == "changed"
    assert not skill_of(settled, "holdfast-recall").exists()


def test_somebody_elses_skill_by_a_former_name_is_not_touched(settled: Person) -> None:
    theirs = skill_of(settled, "pickup")
    theirs.parent.mkdir(parents=True)
    theirs.write_text("mine")
    before = everything(settled)
    done = settled.types("setup", HARNESS, "--yes")
    assert str(theirs) not in done.err
    assert theirs.read_text() == "mine"
    assert settled.types("unsetup", "--yes").status == 0
    assert everything(settled) == before


def test_a_skill_that_its_user_changed_stays_as_it_is(settled: Person) -> None:
    settled.types("setup", HARNESS, "--yes")
    skill_of(settled).write_text("changed")
    assert settled.types("setup", HARNESS, "--yes").status == 0
    assert skill_of(settled).read_text() == "changed"
    done = settled.types("unsetup", "--yes")
    assert f"{skill_of(settled)}: left there" in done.err
    assert skill_of(settled).read_text() == "changed"
    assert not rules_of(settled).exists()


def test_no_file_of_the_harness_holds_the_token(settled: Person, tmp_path: Path) -> None:
    settled.types("setup", HARNESS, "--yes")
    spoken(settled.command("mcp"), settled, tmp_path)
    assert settled.types("dashboard", "--print").status == 0
    token = (settled.home / "http" / "token").read_bytes().strip()
    assert len(token) >= 32
    assert not [name for name, content in everything(settled).items() if token in content]


class TestDoctor:
    def test_it_reaches_them_and_says_what_they_cost(self, settled: Person) -> None:
        settled.types("setup", HARNESS, "--yes")
        found = {row["check"]: row for row in settled.types("doctor", "--json").json}[f"tools of {HARNESS}"]
        assert found["ok"] is True
        assert found["detail"].startswith("6 tools answered in ")
        tokens = int(found["detail"].split(" tokens")[0].rsplit(" ", 1)[1].replace(",", ""))
        assert 100 < tokens < 1_200

    def test_it_says_when_they_cannot_be_reached(self, settled: Person) -> None:
        settled.types("setup", HARNESS, "--yes")
        (settled.home / "bin" / "relay.py").write_text("raise SystemExit(1)\n")
        found = {row["check"]: row for row in settled.types("doctor", "--json").json}[f"tools of {HARNESS}"]
        assert found["ok"] is False
        assert "does not know session_digest" in found["detail"]

    def test_having_none_is_a_choice(self, settled: Person) -> None:
        settled.types("setup", HARNESS, "--no-mcp", "--yes")
        found = {row["check"]: row for row in settled.types("doctor", "--json").json}[f"tools of {HARNESS}"]
        assert found["ok"] is True
        assert "none" in found["detail"]


PAGE = (Path(__file__).parents[4] / "docs" / "mcp.md").read_text(encoding="utf-8")
OF_TOOLS, _, OF_SETUP = PAGE.partition("## What setup installs")


def rows(text: str) -> dict[str, str]:
    """The rows of a table whose first column is a name."""
    return dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", text, re.MULTILINE))


def test_every_tool_has_a_row_with_all_that_it_takes() -> None:
    told = rows(OF_TOOLS)
    assert tuple(told) == table.names()
    for tool in table.tools_for_mcp():
        assert all(f"`{name}`" in told[tool["name"]] for name in tool["inputSchema"]["properties"])


def test_every_skill_has_a_row() -> None:
    assert set(rows(OF_SETUP)) == {skill.name for skill in skills.shipped()}


def test_the_numbers_are_right() -> None:
    said = int(re.findall(r"cost about (\d+) tokens", PAGE)[0])
    assert abs(said - table.token_cost()) < 60
    for number in (session_tools.LONGEST, memorize.LONGEST, table.WHOLE_CHARS):
        assert f"{number:,}" in PAGE
    assert f"at most {table.MOST_HITS} hits" in PAGE
    assert f"http://127.0.0.1:{Daemon().http_port}/mcp" in PAGE


def test_its_examples_are_json() -> None:
    examples = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 2
    assert all(json.loads(example)["mcpServers"]["holdfast"] for example in examples)
