"""Our skills in the real harnesses: their models are told of each, and whoever calls one is given its text.

Assertions are on the request bodies that reach the model.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

import pytest

from holdfast import skills
from tests.clients.claude import Claude
from tests.clients.codex import Codex
from tests.clients.gemini import Gemini
from tests.clients.model_server import ModelServer, call, say
from tests.clients.product import Product

SAYS = {
    skill.name: re.findall(r"^description: (.*)$", skill.content.decode(), re.MULTILINE)[0]
    for skill in skills.shipped()
}
BODY = "Call the tool `handoff` of the MCP server `holdfast`"


def assert_all_listed(text: str) -> None:
    for name, says in SAYS.items():
        assert name in text
        assert says in html.unescape(text), name


class TestClaudeCode:
    def test_the_model_is_told_of_every_skill(
        self, claude: Claude, server: ModelServer, product: Product
    ) -> None:
        server.script(say("ok"))
        claude.prompt("Hello.")
        assert_all_listed(server.last().text)

    def test_a_skill_is_a_slash_command(self, claude: Claude, server: ModelServer, product: Product) -> None:
        server.script(say("ok"))
        claude.prompt("/holdfast-handoff Finish the tax, see TAX-19")
        assert BODY in server.last().text
        assert "Finish the tax, see TAX-19" in server.last().text

    def test_the_model_calls_one_itself(self, claude: Claude, server: ModelServer, product: Product) -> None:
        server.script(call("Skill", skill="holdfast-pickup"), say("ok"))
        claude.prompt("Pick up where the other one stopped.", "--allowedTools", "Skill")
        assert "Begin with its Next Step." in server.last().text

    def test_unsetup_takes_them_away(self, claude: Claude, server: ModelServer, product: Product) -> None:
        product.run("unsetup", "--yes")
        server.script(say("ok"))
        claude.prompt("Hello.")
        assert not [says for says in SAYS.values() if says in server.last().text]


class TestCodex:
    def test_the_model_is_told_of_every_skill_and_given_the_one_that_is_named(
        self, codex: Codex, server: ModelServer, product_for_codex: Product
    ) -> None:
        server.script(say("ok"))
        codex.prompt("$holdfast-handoff Finish the tax, see TAX-19")
        assert_all_listed(server.last().text)
        assert BODY in server.last().text
        product_for_codex.run("unsetup", "--yes")
        server.script(say("ok"))
        codex.prompt("Hello.")
        assert not [says for says in SAYS.values() if says in server.last().text]


class TestGemini:
    @pytest.fixture
    def product(self, gemini: Gemini) -> Iterator[Product]:
        installed = Product(gemini)
        installed.run("setup", "gemini", "--yes")
        try:
            yield installed
        finally:
            installed.end()

    def test_the_model_is_told_of_every_skill_and_calls_one(
        self, gemini: Gemini, server: ModelServer, product: Product
    ) -> None:
        server.script(call("activate_skill", name="holdfast-handoff"), say("ok"))
        gemini.prompt("Hand over to another agent.")
        assert_all_listed(server.last().text)
        assert BODY in html.unescape(server.last().text)
