"""The plugin of the repository's marketplace, in the real Codex, with and without setup."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.harnesses.plugin_folder import MISSING
from tests.clients.codex import Codex
from tests.clients.model_server import ModelServer, call, say
from tests.clients.product import TITLE, Product, installed_package

ROOT = Path(__file__).parents[2]
RULE = "Never touch the generated files below api/."
DIGEST = call("mcp__holdfast__session_digest", summary="Half of the parser is done, see PARSE-8.")


@pytest.fixture
def plugin(codex: Codex) -> Path:
    """The marketplace, a copy of the repository's, from which the plugin was installed."""
    marketplace = codex.home / "marketplace"
    shutil.copytree(ROOT / ".agents" / "plugins", marketplace / ".agents" / "plugins")
    shutil.copytree(ROOT / "extensions" / "codex", marketplace / "extensions" / "codex")
    codex.install_plugin(marketplace, "holdfast@holdfast")
    return marketplace


@pytest.fixture
def package(codex: Codex) -> Iterator[Product]:
    with installed_package(codex) as product:
        yield product


def compacted(codex: Codex, server: ModelServer) -> str:
    """The first request after a compaction before which the agent wrote down where it was."""
    server.script(say("hello"))
    with codex.start_server() as app:
        session = app.begin()
        app.ask(session, f"Port the importer. {RULE}")
        app.wait_until_ready("holdfast")
        server.script(DIGEST, say("kept"), say("ok"))
        app.ask(session, "Write down where you are.")
        app.compact(session)
        app.ask(session, "Go on.")
        app.close()
    return server.last().text


def test_a_session_survives_its_compaction(
    codex: Codex, server: ModelServer, package: Product, plugin: Path
) -> None:
    codex.review_hooks()
    text = compacted(codex, server)
    assert text.count(TITLE) == 1
    assert "PARSE-8" in text.partition(TITLE)[2]
    assert RULE in text.partition(TITLE)[2]
    assert "holdfast:holdfast-recall" in text
    (row,) = package.json("sessions")
    assert Path(row["project"]) == codex.project


def test_beside_setup_nothing_happens_twice(
    codex: Codex, server: ModelServer, package: Product, plugin: Path
) -> None:
    package.run("setup", "codex", "--yes")
    codex.review_hooks()
    text = compacted(codex, server)
    assert text.count(TITLE) == 1
    assert text.partition(TITLE)[2].count("PARSE-8") == 1
    assert len(package.json("sessions")) == 1


def test_without_the_package_nothing_is_harmed(codex: Codex, server: ModelServer, plugin: Path) -> None:
    codex.review_hooks()
    server.script(say("ok"), say("ok"))
    for _ in range(2):
        done = codex.prompt("Say ok.")
        assert (done.code, done.text) == (0, "ok")
    assert MISSING not in server.last().text
    assert (codex.folder / "plugins" / "data" / "holdfast-holdfast" / "holdfast-is-missing").is_dir()
    assert not (codex.home / ".holdfast").exists()
