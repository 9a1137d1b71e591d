"""First steps: someone with an empty home tries Holdfast, installs it, and works with Claude Code."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

import holdfast
from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer, call, say
from tests.clients.product import TITLE
from tests.install.newcomer import Installed, Newcomer, Shelf, held_files
from tests.install.prepare import TREE

RULE = "Never touch legacy.py, it is frozen until the audit."
SETTINGS = '{\n\t"permissions": {"allow": []}\n}\n'
INSTALLERS = [("uv", "tool", "install", "holdfast"), ("pipx", "install", "holdfast")]
UNINSTALLERS = [("uv", "tool", "uninstall", "holdfast"), ("pipx", "uninstall", "holdfast")]


@pytest.fixture(autouse=True)
def published(shelf: Shelf, new_wheel: Path) -> None:
    shelf.publish(new_wheel)


def test_the_demo_needs_no_installation_and_leaves_nothing(newcomer: Newcomer) -> None:
    shown = newcomer.gets("uvx", "holdfast", "demo")
    assert "back" in shown
    # Nothing is installed yet, so `holdfast setup` comes second.
    assert shown.index("uv tool install holdfast") < shown.index("holdfast setup")
    assert not (newcomer.home / ".holdfast").exists()
    assert not any(newcomer.project.iterdir())


def test_the_demo_runs_from_a_wheel(newcomer: Newcomer, new_wheel: Path) -> None:
    assert "back" in newcomer.gets("uvx", "--from", str(new_wheel), "holdfast", "demo")


@pytest.mark.parametrize(("install", "uninstall"), [*zip(INSTALLERS, UNINSTALLERS, strict=True)])
def test_installing_and_uninstalling_leaves_the_home_as_it_was(
    newcomer: Newcomer, product: Installed, install: Sequence[str], uninstall: Sequence[str]
) -> None:
    claude = newcomer.home / ".claude"
    claude.mkdir()
    (claude / "settings.json").write_text(SETTINGS)
    newcomer.gets(*install)
    assert newcomer.gets("holdfast", "--version").startswith("holdfast ")
    assert "back" in newcomer.gets("holdfast", "demo")
    product.run("setup", "--yes")
    assert (claude / "settings.json").read_text() != SETTINGS
    product.run("unsetup", "--yes")
    assert held_files(claude) == {"settings.json": SETTINGS.encode()}
    product.run("down")
    newcomer.gets(*uninstall)
    assert not newcomer.has("holdfast")


def test_setup_from_a_cache_says_that_it_may_be_emptied(newcomer: Newcomer, product: Installed) -> None:
    done = newcomer.types("uvx", "holdfast", "setup", "claude-code", "--yes")
    assert done.returncode == 0, done.stderr
    assert "`uv tool install holdfast`" in done.stderr


def test_claude_code_gets_its_work_back_after_a_compaction(
    newcomer: Newcomer, product: Installed, server: ModelServer, claude_binary: Path
) -> None:
    newcomer.gets("uv", "tool", "install", "holdfast")
    claude = Claude(claude_binary, newcomer.home.parent, server, env=newcomer.env)
    claude.prompt("Hello.")
    product.run("setup", "--yes")
    server.script(call("Bash", command="echo 41", description="Count"), say("The total is 41."))
    session = claude.prompt(f"Fix the totals. {RULE}", "--allowedTools", "Bash").session
    claude.compact(session)
    server.script(say("ok"))
    assert claude.prompt("Go on.", resume=session).code == 0
    text = server.last().text
    assert RULE in text[text.index(TITLE) :]
    findings = json.loads(product.types("doctor", "--json").stdout)
    assert [row for row in findings if not row["ok"]] == []


def from_a_clone() -> list[str]:
    """The commands that the first pages name for someone with a clone, while nothing is on an index."""
    pages = ((TREE / page).read_text(encoding="utf-8") for page in ("README.md", "docs/start.md"))
    lines = (
        line for page in pages for line in re.findall(r"`((?:uv|uvx|pipx) [^`]*?[ ]\.(?: [^`]*)?)`", page)
    )
    return sorted(set(lines))


def test_the_first_pages_name_commands_for_a_clone() -> None:
    assert from_a_clone() == ["pipx install .", "uv tool install .", "uvx --from . holdfast demo"]


@pytest.mark.parametrize("line", from_a_clone())
def test_what_the_first_pages_say_can_be_typed_in_a_clone(newcomer: Newcomer, line: str) -> None:
    shown = newcomer.gets("sh", "-c", f"cd {TREE} && {line}")
    if "install" in line:
        assert newcomer.gets("holdfast", "--version").split()[1] == holdfast.__version__
    else:
        assert "back" in shown
