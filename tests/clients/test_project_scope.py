"""Real harnesses that were set up in one project alone: sessions there are kept and told, others not."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.codex import Codex
from tests.clients.model_server import ModelServer, call, say
from tests.clients.person import Person
from tests.clients.product import TITLE, Product

RULE = "Never touch legacy.py, it is frozen until the audit."


@pytest.fixture
def other(tmp_path: Path) -> Path:
    """Another project of the same person."""
    made = tmp_path / "other"
    made.mkdir()
    return made


def set_up(person: Person, harness: str) -> Iterator[Product]:
    installed = Product(person)
    installed.run("setup", "--project", harness, "--yes")
    try:
        yield installed
    finally:
        installed.end()


class TestClaudeCode:
    @pytest.fixture
    def product(self, claude: Claude) -> Iterator[Product]:
        yield from set_up(claude, "claude-code")

    def test_is_shown_there_and_nowhere_else(
        self, claude: Claude, server: ModelServer, product: Product, other: Path
    ) -> None:
        server.script(call("mcp__holdfast__session_digest", summary="Half is done, see PARSE-8."), say("ok"))
        done = claude.prompt(f"Fix the totals. {RULE}", "--allowedTools", "mcp__holdfast__*")
        kept = [row["digest"] for row in product.checkpoints(done.session) if row["trigger"] == "agent"]
        assert kept == ["Half is done, see PARSE-8."]
        server.script(say("ok"))
        claude.prompt("Where were we?")
        assert RULE in server.last().text.partition(TITLE)[2]
        server.script(say("ok"))
        claude.prompt("Hello.", cwd=other)
        assert TITLE not in server.last().text
        assert len(product.json("sessions")) == 2
        assert claude.git("status", "--porcelain") == ""
        product.run("unsetup", "--project", "--yes")
        assert not (claude.project / ".claude").exists()
        assert not (claude.project / ".mcp.json").exists()


class TestCodex:
    @pytest.fixture
    def product(self, codex: Codex) -> Iterator[Product]:
        yield from set_up(codex, "codex")

    def trust(self, product: Product) -> tuple[bool, str]:
        (found,) = (one for one in product.findings() if one["check"] == "trust of codex")
        return found["ok"], found["detail"]

    def test_is_shown_there_and_nowhere_else_once_the_project_is_trusted(
        self, codex: Codex, server: ModelServer, product: Product, other: Path
    ) -> None:
        assert self.trust(product)[1].startswith(f"it does not trust {codex.project}")
        with codex.config.open("a", encoding="utf-8") as config:
            config.write(f'\n[projects."{codex.project}"]\ntrust_level = "trusted"\n')
        assert "7 of Holdfast's hooks wait for a review" in self.trust(product)[1]
        codex.review_hooks()
        assert self.trust(product) == (True, "its hooks may run")
        server.script(say("ok"))
        codex.prompt(f"Fix the totals. {RULE}")
        server.script(say("ok"))
        codex.prompt("Where were we?")
        assert RULE in server.last().text.partition(TITLE)[2]
        server.script(say("ok"))
        codex.prompt("Hello.", cwd=other)
        assert TITLE not in server.last().text
        assert len(product.json("sessions")) == 2
        product.run("unsetup", "--project", "--yes")
        assert not (codex.project / ".codex").exists()
        assert codex.git("status", "--porcelain") == ""
