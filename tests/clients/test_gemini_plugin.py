"""The extension of the repository, in the real Gemini CLI: the promises of setup are kept without it."""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.harnesses.plugin_folder import MISSING
from tests.clients.gemini import Gemini
from tests.clients.model_server import ModelServer, call, say
from tests.clients.product import TITLE, Product, installed_package

EXTENSION = Path(__file__).parents[2] / "extensions" / "gemini"
RULE = "Never touch the generated files below api/."
WORDS = "Half of the parser is done, see PARSE-8."


@pytest.fixture
def extension(gemini: Gemini) -> Path:
    gemini.printed([str(gemini.binary), "extensions", "install", str(EXTENSION), "--consent"])
    return gemini.home / ".gemini" / "extensions" / "holdfast"


@pytest.fixture
def package(gemini: Gemini) -> Iterator[Product]:
    with installed_package(gemini) as product:
        yield product


def next_start(gemini: Gemini, server: ModelServer) -> str:
    """The first request of a session that follows one in which the agent wrote down where it was."""
    server.script(call("mcp_holdfast_session_digest", summary=WORDS), say("kept"))
    gemini.prompt(f"Port the importer. {RULE}")
    server.script(say("ok"))
    assert gemini.prompt("Where were we?").code == 0
    return html.unescape(server.last().text)


def test_the_next_session_is_given_the_work(
    gemini: Gemini, server: ModelServer, package: Product, extension: Path
) -> None:
    text = next_start(gemini, server)
    assert text.count(TITLE) == 1
    assert RULE in text.partition(TITLE)[2]
    assert "PARSE-8" in text.partition(TITLE)[2]
    assert "holdfast-recall" in text
    assert "Your work is kept when the context window dies." in text
    assert {row["project"] for row in package.json("sessions")} == {str(gemini.project)}


def test_beside_setup_nothing_happens_twice(
    gemini: Gemini, server: ModelServer, package: Product, extension: Path
) -> None:
    package.run("setup", "gemini", "--yes")
    text = next_start(gemini, server)
    assert text.count(TITLE) == 1
    assert "PARSE-8" in text.partition(TITLE)[2]
    assert len(package.json("sessions")) == 2


def test_without_the_package_it_says_so_once_and_harms_nobody(
    gemini: Gemini, server: ModelServer, extension: Path
) -> None:
    server.script(say("ok"), say("ok"))
    done = [gemini.prompt("Say ok.") for _ in range(2)]
    assert [(one.code, one.stdout.strip().endswith("ok")) for one in done] == [(0, True), (0, True)]
    assert [MISSING in one.stdout + one.stderr for one in done] == [True, False]
    assert MISSING not in server.last().text
    assert not (gemini.home / ".holdfast").exists()
