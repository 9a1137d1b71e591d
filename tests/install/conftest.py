"""What the tests of installation start from: the wheels, a shelf, and someone with an empty home."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clients.conftest import claude_binary, server
from tests.install.newcomer import Installed, Newcomer, Shelf
from tests.install.prepare import RELEASED, TREE, build_wheel, is_prepared, unpack_release

__all__ = ["claude_binary", "server"]


@pytest.fixture(scope="session", autouse=True)
def prepared() -> None:
    if not is_prepared():
        pytest.fail("run `make test-install`: it installs uv and pipx, and downloads packages")


@pytest.fixture(scope="session")
def new_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this tree."""
    return build_wheel(TREE, tmp_path_factory.mktemp("new"))


@pytest.fixture(scope="session")
def old_wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of 0.1.0, built from its last commit."""
    source = tmp_path_factory.mktemp("source") / "holdfast"
    if not unpack_release(source):
        missing = f"this clone has no commit {RELEASED[:12]}, the last of 0.1.0: fetch the whole history"
        # Where everything is required, a run must not pass without it.
        if os.environ.get("HOLDFAST_ALL_CLIENTS"):
            pytest.fail(missing)
        pytest.skip(missing)
    return build_wheel(source, tmp_path_factory.mktemp("old"))


@pytest.fixture(scope="session")
def uv_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("uv-cache")


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A package index with nothing of Holdfast on it yet."""
    return Shelf(tmp_path / "shelf")


@pytest.fixture
def newcomer(tmp_path: Path, shelf: Shelf, uv_cache: Path) -> Newcomer:
    return Newcomer(tmp_path, shelf, uv_cache)


@pytest.fixture
def product(newcomer: Newcomer) -> Iterator[Installed]:
    """The Holdfast that they install in the test; its daemon ends with the test."""
    installed = Installed(newcomer)
    try:
        yield installed
    finally:
        installed.end()
