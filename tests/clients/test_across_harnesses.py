"""Work that begins in one real harness and goes on in another, in the same worktree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.codex import Codex, Json
from tests.clients.model_server import ModelServer, call, say
from tests.clients.product import TITLE, Product

RULE = "Never touch legacy.py, it is frozen until the audit."
FAILING = "python3 -c 'raise SystemExit(\"TotalsMismatch: 41 != 42\")'"
DECISION = "I decided to round half up in totals.py."
FACTS = (RULE, "TotalsMismatch", DECISION)


@pytest.fixture
def codex(
    claude: Claude, codex_binary: Path, codex_models: list[Json], tmp_path: Path, server: ModelServer
) -> Codex:
    """The same person's Codex: the home and the project are those of `claude`."""
    person = Codex(codex_binary, tmp_path, server, codex_models)
    assert (person.home, person.project) == (claude.home, claude.project)
    return person


@pytest.fixture
def product(claude: Claude, codex: Codex) -> Iterator[Product]:
    """Holdfast, set up for whatever it finds."""
    (claude.home / ".claude").mkdir(exist_ok=True)
    installed = Product(claude)
    installed.run("setup", "--yes")
    codex.review_hooks()
    try:
        yield installed
    finally:
        installed.end()


def brief_in(server: ModelServer) -> str:
    return server.last().text.partition(TITLE)[2]


def test_what_claude_code_began_codex_continues(
    claude: Claude, codex: Codex, server: ModelServer, product: Product
) -> None:
    server.script(call("Bash", command=FAILING, description="Check"), say(DECISION))
    began = claude.prompt(f"Fix the totals. {RULE}", "--allowedTools", "Bash").session
    server.script(say("ok"))
    went_on = codex.prompt("Where were we?").session
    brief = brief_in(server)
    assert f"Holdfast's record of Claude Code session {began[:8]}" in brief
    assert all(fact in brief for fact in FACTS), brief
    rows = {row["session_key"]: row for row in product.json("sessions")}
    assert rows[went_on]["parent"] == began


def test_what_codex_began_claude_code_continues(
    claude: Claude, codex: Codex, server: ModelServer, product: Product
) -> None:
    server.script(call("exec_command", cmd=FAILING), say(DECISION))
    began = codex.prompt(f"Fix the totals. {RULE}").session
    server.script(say("ok"))
    claude.prompt("Where were we?")
    brief = brief_in(server)
    assert f"Holdfast's record of Codex session {began[:8]}" in brief
    assert all(fact in brief for fact in FACTS), brief
