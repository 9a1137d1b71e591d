"""Update: from 0.1.0 to this version, with one command, while someone works with it."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast import hook, relay, skills
from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer, call, say
from tests.clients.product import TITLE, wait_until
from tests.install.newcomer import Installed, Newcomer, Shelf

RULE = "Never touch legacy.py, it is frozen until the audit."
MEMORY = "The staging database is called heron."
SETTINGS = '{\n\t"permissions": {"allow": []}\n}\n'
UPDATES = [
    (("uv", "tool", "install", "holdfast"), ("uv", "tool", "upgrade", "holdfast")),
    (("pipx", "install", "holdfast"), ("pipx", "upgrade", "holdfast")),
]


def install_old(newcomer: Newcomer, shelf: Shelf, old_wheel: Path, install: Sequence[str]) -> None:
    """Install 0.1.0 and connect Claude Code, which has settings already."""
    settings = newcomer.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text(SETTINGS)
    shelf.publish(old_wheel)
    newcomer.gets(*install)
    assert newcomer.gets("holdfast", "--version") == "holdfast 0.1.0\n"
    newcomer.gets("holdfast", "setup", "claude-code", "--yes")


def assert_renewed(newcomer: Newcomer, product: Installed) -> None:
    assert (product.home / "bin" / "hook.py").read_bytes() == Path(hook.__file__).read_bytes()
    assert (product.home / "bin" / "relay.py").read_bytes() == Path(relay.__file__).read_bytes()
    folder = newcomer.home / ".claude" / "skills"
    shipped = {skill.name for skill in skills.shipped()}
    assert {path.name for path in folder.iterdir()} == shipped
    findings = json.loads(product.types("doctor", "--json").stdout)
    assert [row for row in findings if not row["ok"]] == []


@pytest.mark.parametrize(("install", "update"), UPDATES, ids=["uv", "pipx"])
def test_a_running_daemon_hands_over_and_renews_what_setup_wrote(
    newcomer: Newcomer,
    product: Installed,
    shelf: Shelf,
    old_wheel: Path,
    new_wheel: Path,
    install: Sequence[str],
    update: Sequence[str],
) -> None:
    install_old(newcomer, shelf, old_wheel, install)
    newcomer.gets("holdfast", "up")
    newcomer.gets("holdfast", "remember", MEMORY)
    pid = product.daemon()
    shelf.publish(new_wheel)
    newcomer.gets(*update)
    # Nobody types a command: the daemon sees the new version, and the new one renews what the old one wrote.
    wait_until(lambda: "renewed what setup wrote" in product.log(), limit=60.0)
    assert product.daemon() == pid
    assert [hit["text"] for hit in product.json("recall", "staging database", "--project", ".")] == [MEMORY]
    assert_renewed(newcomer, product)
    product.run("unsetup", "--yes")
    assert (newcomer.home / ".claude" / "settings.json").read_text() == SETTINGS


def test_the_first_command_renews_and_says_so_where_no_daemon_runs(
    newcomer: Newcomer, product: Installed, shelf: Shelf, old_wheel: Path, new_wheel: Path
) -> None:
    install_old(newcomer, shelf, old_wheel, UPDATES[0][0])
    shelf.publish(new_wheel)
    newcomer.gets(*UPDATES[0][1])
    done = product.types("sessions", "--json")
    assert done.stderr.startswith(f"note: Holdfast is now {holdfast.__version__}; ")
    assert product.types("sessions", "--json").stderr == ""
    assert_renewed(newcomer, product)


def test_no_hook_event_is_lost_or_counted_twice_while_daemons_change(
    newcomer: Newcomer, product: Installed, shelf: Shelf, old_wheel: Path, new_wheel: Path
) -> None:
    install_old(newcomer, shelf, old_wheel, UPDATES[0][0])
    newcomer.gets("holdfast", "up")
    shelf.publish(new_wheel)
    command, updated = newcomer.hook_command(), threading.Event()
    ends: list[subprocess.CompletedProcess[str]] = []

    def work() -> None:
        number = 0
        while not updated.is_set() or number % 10:
            number += 1
            fields = {"session_id": "s1", "prompt_id": f"p{number}", "prompt": f"Do step {number}."}
            ends.append(newcomer.fires(command, hook_event_name="UserPromptSubmit", **fields))

    harness = threading.Thread(target=work)
    harness.start()
    try:
        wait_until(lambda: len(ends) >= 5)
        newcomer.gets(*UPDATES[0][1])
        wait_until(lambda: "renewed what setup wrote" in product.log(), limit=60.0)
        reached = len(ends)
        wait_until(lambda: len(ends) >= reached + 5)
    finally:
        updated.set()
        harness.join()
    assert {(done.returncode, done.stderr) for done in ends} == {(0, "")}
    assert product.prompts() == len(ends)


def test_claude_code_goes_on_across_the_update_with_its_tools_and_its_brief(
    newcomer: Newcomer,
    product: Installed,
    shelf: Shelf,
    server: ModelServer,
    claude_binary: Path,
    old_wheel: Path,
    new_wheel: Path,
) -> None:
    install_old(newcomer, shelf, old_wheel, UPDATES[0][0])
    claude = Claude(claude_binary, newcomer.home.parent, server, env=newcomer.env)
    server.script(call("Bash", command="echo 41", description="Count"), say("The total is 41."))
    with claude.start_stream("--allowedTools", "Bash,mcp__holdfast__*") as stream:
        stream.ask(f"Fix the totals. {RULE}")
        shelf.publish(new_wheel)
        newcomer.gets(*UPDATES[0][1])
        wait_until(lambda: "renewed what setup wrote" in product.log(), limit=60.0)
        # The relay of 0.1.0 still runs, and speaks with the new daemon.
        server.script(call("mcp__holdfast__remember", text=MEMORY), say("kept"), say("ok"))
        stream.ask("Remember how the database is called.")
        assert not _refused(server.last().body), server.last().text[-2_000:]
        stream.ask("/compact")
        stream.ask("Go on.")
        text = server.last().text
        stream.close()
    assert RULE in text[text.index(TITLE) :]
    assert MEMORY in product.run("recall", "database")


def test_a_hook_that_someone_took_out_stays_out(
    newcomer: Newcomer, product: Installed, shelf: Shelf, old_wheel: Path, new_wheel: Path
) -> None:
    install_old(newcomer, shelf, old_wheel, UPDATES[0][0])
    settings = newcomer.home / ".claude" / "settings.json"
    edited = json.loads(settings.read_text())
    del edited["hooks"]["Stop"]
    settings.write_text(json.dumps(edited, indent=2))
    skill = newcomer.home / ".claude" / "skills" / "pickup"
    (skill / "SKILL.md").unlink()
    shelf.publish(new_wheel)
    newcomer.gets(*UPDATES[0][1])
    product.run("sessions")
    assert "Stop" not in json.loads(settings.read_text())["hooks"]
    assert not (skill / "SKILL.md").exists()
    assert (product.home / "bin" / "hook.py").read_bytes() == Path(hook.__file__).read_bytes()


def _refused(body: dict[str, Any]) -> bool:
    """Whether the last tool call of a request ended with an error."""
    blocks = [block for message in body["messages"] for block in message["content"]]
    results = [block for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"]
    return bool(results[-1].get("is_error"))
