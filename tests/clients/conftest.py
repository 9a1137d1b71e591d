"""What the real-client tests start from: a model server, the pinned clients, and a person who uses them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients import install
from tests.clients.claude import Claude
from tests.clients.codex import Codex, Json, models_of
from tests.clients.gemini import Gemini
from tests.clients.gemini_api import GeminiContent
from tests.clients.install import Client
from tests.clients.model_server import AnthropicMessages, ModelServer
from tests.clients.opencode import OpenCode
from tests.clients.opencode_api import OpenCodeMessages
from tests.clients.product import Product
from tests.clients.responses import OpenAIResponses


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer(AnthropicMessages(), OpenAIResponses(), GeminiContent(), OpenCodeMessages()) as running:
        yield running


@pytest.fixture(scope="session")
def claude_binary() -> Path:
    return _binary(install.CLAUDE_CODE)


@pytest.fixture(scope="session")
def codex_binary() -> Path:
    return _binary(install.CODEX)


@pytest.fixture(scope="session")
def mcp_checks() -> Path:
    """The Node.js beside which the programs are installed that check a server of MCP."""
    return _binary(install.MCP_CHECKS)


@pytest.fixture(scope="session")
def pi_node() -> Path:
    """The Node.js beside which pi is installed."""
    return _binary(install.PI)


@pytest.fixture(scope="session")
def gemini_binary() -> Path:
    return _binary(install.GEMINI)


@pytest.fixture(scope="session")
def opencode_binary() -> Path:
    return _binary(install.OPENCODE)


@pytest.fixture(scope="session")
def openclaw_binary() -> Path:
    return _binary(install.OPENCLAW)


@pytest.fixture(scope="session")
def codex_models(codex_binary: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Json]:
    return models_of(codex_binary, tmp_path_factory.mktemp("models"))


@pytest.fixture
def claude(claude_binary: Path, tmp_path: Path, server: ModelServer) -> Claude:
    """A person with an empty home and a project that is a git repository with one commit."""
    person = Claude(claude_binary, tmp_path, server)
    person.make_repository()
    return person


@pytest.fixture
def codex(codex_binary: Path, codex_models: list[Json], tmp_path: Path, server: ModelServer) -> Codex:
    """The same with Codex."""
    person = Codex(codex_binary, tmp_path, server, codex_models)
    person.make_repository()
    return person


@pytest.fixture
def gemini(gemini_binary: Path, tmp_path: Path, server: ModelServer) -> Gemini:
    """The same with Gemini CLI."""
    person = Gemini(gemini_binary, tmp_path, server)
    person.make_repository()
    return person


@pytest.fixture
def opencode(opencode_binary: Path, tmp_path: Path, server: ModelServer) -> OpenCode:
    """The same with OpenCode."""
    person = OpenCode(opencode_binary, tmp_path, server)
    person.make_repository()
    return person


@pytest.fixture
def product(claude: Claude) -> Iterator[Product]:
    """Holdfast, set up for that person's Claude Code."""
    yield from _set_up(Product(claude), "claude-code")


@pytest.fixture
def product_for_codex(codex: Codex) -> Iterator[Product]:
    """Holdfast, set up for that person's Codex, and its hooks reviewed by them."""
    for installed in _set_up(Product(codex), "codex"):
        codex.review_hooks()
        yield installed


def _set_up(installed: Product, harness: str) -> Iterator[Product]:
    installed.run("setup", harness, "--yes")
    try:
        yield installed
    finally:
        installed.end()


def _binary(client: Client) -> Path:
    binary = client.installed()
    if binary is not None:
        return binary
    missing = f"{client.title} {client.version} is not installed; run `python3 tests/clients/install.py`"
    # Where every client is required, a run must not pass without one.
    if os.environ.get("HOLDFAST_ALL_CLIENTS"):
        pytest.fail(missing)
    pytest.skip(missing)
