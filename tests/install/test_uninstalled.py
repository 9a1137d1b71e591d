"""Uninstalled without `holdfast unsetup`, or moved: harnesses work on, and the next command mends it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from holdfast import hook
from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer, say
from tests.clients.product import wait_until
from tests.install.newcomer import BASE_PYTHON, SILENT, Installed, Newcomer, Shelf

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    },
}


@pytest.fixture(autouse=True)
def connected(newcomer: Newcomer, product: Installed, shelf: Shelf, new_wheel: Path) -> None:
    """This version is installed and connected; no daemon runs."""
    shelf.publish(new_wheel)
    newcomer.gets("uv", "tool", "install", "holdfast")
    product.run("setup", "claude-code", "--yes")


def test_without_the_package_hooks_and_status_line_are_silent_and_tools_are_refused(
    newcomer: Newcomer, product: Installed
) -> None:
    newcomer.gets("uv", "tool", "uninstall", "holdfast")
    assert newcomer.fires_prompt(1) == SILENT
    line = newcomer.fires(newcomer.status_command(), session_id="s1")
    assert (line.returncode, line.stdout, line.stderr) == SILENT
    relay = newcomer.types(*newcomer.relay_command(), stdin=json.dumps(INITIALIZE) + "\n")
    assert (relay.returncode, relay.stderr) == (0, "")
    assert "the Holdfast daemon cannot be reached" in json.loads(relay.stdout)["error"]["message"]


def test_without_package_and_home_everything_is_silent(newcomer: Newcomer, product: Installed) -> None:
    newcomer.gets("uv", "tool", "uninstall", "holdfast")
    shutil.rmtree(product.home)
    assert newcomer.fires_prompt(1) == SILENT
    line = newcomer.fires(newcomer.status_command(), session_id="s1")
    assert (line.returncode, line.stdout, line.stderr) == SILENT
    relay = newcomer.types(*newcomer.relay_command(), stdin=json.dumps(INITIALIZE) + "\n")
    assert (relay.returncode, relay.stdout, relay.stderr) == SILENT
    assert not product.home.exists()


@pytest.mark.parametrize("home_stays", [True, False])
def test_claude_code_works_as_if_holdfast_had_never_been_there(
    newcomer: Newcomer, product: Installed, server: ModelServer, claude_binary: Path, *, home_stays: bool
) -> None:
    newcomer.gets("uv", "tool", "uninstall", "holdfast")
    if not home_stays:
        shutil.rmtree(product.home)
    claude = Claude(claude_binary, newcomer.home.parent, server, env=newcomer.env)
    server.script(say("It is done."))
    result = claude.prompt("Fix the totals.")
    assert (result.code, result.text, result.stderr) == (0, "It is done.", "")


def test_what_setup_wrote_can_be_removed_without_installing_again(
    newcomer: Newcomer, product: Installed
) -> None:
    newcomer.gets("uv", "tool", "uninstall", "holdfast")
    newcomer.gets("uvx", "holdfast", "unsetup", "--yes")
    assert not (newcomer.home / ".claude" / "settings.json").exists()
    assert not (product.home / "bin").exists()


def test_a_moved_installation_is_told_and_mended_by_the_next_command(
    newcomer: Newcomer, product: Installed
) -> None:
    note = product.home / "bin" / "interpreter"
    interpreter = note.read_text()
    newcomer.gets("uv", "tool", "uninstall", "holdfast")
    assert newcomer.fires_prompt(1) == SILENT
    newcomer.gets("pipx", "install", "holdfast")
    done = product.types("sessions")
    assert f"note: the Python at `{interpreter.strip()}`, which ran Holdfast, is gone" in done.stderr
    assert note.read_text() != interpreter
    assert newcomer.fires_prompt(2) == SILENT
    wait_until(lambda: product.prompts() == 2)
    assert [row for row in product.findings() if not row["ok"]] == []
    # Doctor names it too, where it comes first.
    product.run("down")
    note.write_text(interpreter)
    (problem,) = [row for row in product.findings() if not row["ok"]]
    assert problem["check"] == "interpreter for claude-code"
    assert problem["detail"] == f"no Python at `{interpreter.strip()}`"
    assert problem["fix"] == "run `holdfast setup` again"


def test_hooks_whose_python_is_gone_are_silent_and_get_the_one_that_is_there(
    newcomer: Newcomer, product: Installed
) -> None:
    # Python was upgraded, and the environment made anew: the command lines name a Python of the past.
    gone = f"{BASE_PYTHON}-of-the-past"
    settings, manifest = newcomer.home / ".claude" / "settings.json", product.home / "manifest.json"
    for file in (settings, manifest, product.home / "bin" / "version"):
        file.write_text(file.read_text().replace(BASE_PYTHON, gone))
    assert gone in newcomer.hook_command()
    assert newcomer.fires_prompt(1) == SILENT
    assert "note: Holdfast's Python is another one now" in product.types("sessions").stderr
    assert gone not in newcomer.hook_command()
    assert gone not in newcomer.status_command()
    assert newcomer.fires_prompt(2) == SILENT
    wait_until(lambda: product.prompts() == 1)


def test_the_spool_of_an_uninstalled_holdfast_is_bounded_and_what_went_is_told(
    newcomer: Newcomer, product: Installed
) -> None:
    newcomer.gets("uv", "tool", "uninstall", "holdfast")
    assert newcomer.fires_prompt(1) == SILENT
    spool = product.home / "spool"
    (first,) = spool.glob(f"*{hook.SPOOLED}")
    for number in range(hook.SPOOL_FILES):
        shutil.copy(first, spool / f"1{number:09}-1{hook.SPOOLED}")
    assert newcomer.fires_prompt(2) == SILENT
    assert len([*spool.glob(f"*{hook.SPOOLED}")]) == hook.SPOOL_FILES
    newcomer.gets("uv", "tool", "install", "holdfast")
    (problem,) = [row for row in product.findings() if row["check"] == "spool"]
    assert not problem["ok"]
    assert "2 dropped" in problem["detail"]
