"""What the real-client tests start from: a model server, the pinned client, and a person who uses both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients import install
from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer
from tests.clients.product import Product


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as running:
        yield running


@pytest.fixture(scope="session")
def claude_binary() -> Path:
    binary = install.installed()
    if binary is None:
        # Not a skip: a run that was to keep promises with the real client must not pass without it.
        pytest.fail(f"Claude Code {install.VERSION} is not installed; run `python3 tests/clients/install.py`")
    return binary


@pytest.fixture
def claude(claude_binary: Path, tmp_path: Path, server: ModelServer) -> Claude:
    """A person with an empty home and a project that is a git repository with one commit."""
    person = Claude(claude_binary, tmp_path, server)
    person.make_repository()
    return person


@pytest.fixture
def product(claude: Claude) -> Iterator[Product]:
    """Holdfast, set up for that person's Claude Code."""
    installed = Product(claude)
    installed.run("setup", "claude-code", "--yes")
    try:
        yield installed
    finally:
        installed.end()
