"""The package of the repository, in the real OpenCode: the promises of setup are kept without it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.harnesses.plugin_folder import MISSING
from tests.clients.model_server import ModelServer, call, say
from tests.clients.opencode import OpenCode
from tests.clients.product import TITLE, Product, installed_package

PACKAGE = Path(__file__).parents[2] / "extensions" / "opencode"
RULE = "Never touch the generated files below api/."
WORDS = "Half of the parser is done, see PARSE-8."


@pytest.fixture
def plugin(opencode: OpenCode) -> Path:
    """The package as npm packs and unpacks it, named in the settings by its path."""
    npm = shutil.which("npm")
    assert npm is not None
    packed = opencode.home / "packed"
    packed.mkdir()
    opencode.printed([npm, "pack", "--silent", "--pack-destination", str(packed), str(PACKAGE)])
    (archive,) = packed.iterdir()
    opencode.printed(["tar", "-xzf", str(archive), "-C", str(packed)])
    folder = packed / "package"
    text = opencode.settings.read_text(encoding="utf-8")
    opencode.settings.write_text(text.replace("{\n", f'{{\n  "plugin": ["{folder}"],\n', 1), encoding="utf-8")
    return folder


@pytest.fixture
def package(opencode: OpenCode) -> Iterator[Product]:
    with installed_package(opencode) as product:
        yield product


def after_compaction(opencode: OpenCode, server: ModelServer) -> str:
    """The first request after a compaction before which the agent wrote down where it was."""
    with opencode.serve() as served:
        session = served.session(opencode.project)
        server.script(call("holdfast_session_digest", summary=WORDS), say("kept"), session=session.id)
        session.prompt(f"Port the importer. {RULE}")
        session.compact()
        server.script(say("ok"), session=session.id)
        session.prompt("Go on.")
        return server.last(session.id).text


def test_a_session_survives_its_compaction(
    opencode: OpenCode, server: ModelServer, package: Product, plugin: Path
) -> None:
    text = after_compaction(opencode, server)
    assert text.count(TITLE) == 1
    assert RULE in text.partition(TITLE)[2]
    assert "PARSE-8" in text.partition(TITLE)[2]
    assert "holdfast-recall" in text
    assert len(package.json("sessions")) == 1


def test_beside_setup_nothing_happens_twice(
    opencode: OpenCode, server: ModelServer, package: Product, plugin: Path
) -> None:
    package.run("setup", "opencode", "--yes")
    text = after_compaction(opencode, server)
    assert text.count(TITLE) == 1
    assert "PARSE-8" in text.partition(TITLE)[2]
    assert len(package.json("sessions")) == 1


def test_without_the_package_nothing_is_harmed(opencode: OpenCode, server: ModelServer, plugin: Path) -> None:
    server.script(say("ok"))
    done = opencode.prompt("Say ok.")
    assert done.code == 0, done.stderr
    assert "ok" in done.stdout
    assert MISSING not in server.last().text
    assert (plugin / "holdfast-is-missing").is_dir()
    assert not (opencode.home / ".holdfast").exists()
