"""Downgrade: a version that meets the store of a later one refuses in one sentence and harms nothing."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tests.clients.product import wait_until
from tests.install.newcomer import SILENT, Installed, Newcomer, Shelf

MEMORY = "The staging database is called heron."
REFUSAL = "was written by a later version"


@pytest.fixture(autouse=True)
def connected(newcomer: Newcomer, product: Installed, shelf: Shelf, new_wheel: Path) -> None:
    """This version is installed, connected, and holds a memory; no daemon runs."""
    shelf.publish(new_wheel)
    newcomer.gets("uv", "tool", "install", "holdfast")
    product.run("setup", "claude-code", "--yes")
    product.run("remember", MEMORY)
    product.run("down")


def test_the_version_before_refuses_and_the_way_back_loses_nothing(
    newcomer: Newcomer, product: Installed, shelf: Shelf, old_wheel: Path, new_wheel: Path
) -> None:
    store = (product.home / "store.db").read_bytes()
    newcomer.gets("uv", "tool", "install", "--force", str(old_wheel))
    refused = product.types("sessions")
    assert refused.returncode == 1
    assert refused.stderr.startswith("error: the store at ")
    assert REFUSAL in refused.stderr
    assert "hint: upgrade with `uv tool upgrade holdfast`" in refused.stderr
    for number in range(3):
        assert newcomer.fires_prompt(number) == SILENT
    wait_until(lambda: product.daemon() == 0)
    assert (product.home / "store.db").read_bytes() == store
    newcomer.gets("uv", "tool", "install", "--force", str(new_wheel))
    product.run("up")
    assert MEMORY in product.run("recall", "staging database", "--project", ".")
    assert product.prompts() == 3


def test_this_version_refuses_a_later_store_and_hooks_do_not_start_daemons_again_and_again(
    newcomer: Newcomer, product: Installed
) -> None:
    with sqlite3.connect(product.home / "store.db") as store:
        (version,) = store.execute("pragma user_version").fetchone()
        store.execute("pragma user_version = 9999")
    for number in range(5):
        assert newcomer.fires_prompt(number) == SILENT
    wait_until(lambda: product.daemon() == 0)
    assert product.log().count(REFUSAL) == 1
    for command in ("up", "sessions"):
        refused = product.types(command)
        assert refused.returncode == 1
        assert REFUSAL in refused.stderr
        assert "hint: upgrade with `uv tool upgrade holdfast`" in refused.stderr
    with sqlite3.connect(product.home / "store.db") as store:
        store.execute(f"pragma user_version = {version}")
    product.run("up")
    assert product.prompts() == 5
