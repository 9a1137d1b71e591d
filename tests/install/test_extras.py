"""Extras: what is missing is named in a sentence, with the command that installs it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.install.newcomer import Installed, Newcomer, Shelf
from tests.install.prepare import TREE

INSTALLERS = {"uv": ("uv", "tool", "install", "holdfast"), "pipx": ("pipx", "install", "holdfast")}


@pytest.fixture(autouse=True)
def published(shelf: Shelf, new_wheel: Path) -> None:
    shelf.publish(new_wheel)


@pytest.fixture
def passphrase(newcomer: Newcomer) -> Path:
    file = newcomer.home / "passphrase"
    file.touch(0o600)
    file.write_text("nine walruses mend a lighthouse\n", encoding="utf-8")
    return file


@pytest.mark.parametrize("program", [*INSTALLERS])
def test_what_is_missing_is_installed_by_the_command_that_the_hint_names(
    newcomer: Newcomer, product: Installed, passphrase: Path, program: str
) -> None:
    newcomer.gets(*INSTALLERS[program])
    product.run("remember", "The staging database is called heron.")
    backup = ("backup", str(newcomer.home / "saved"), "--passphrase-file", str(passphrase))
    refused = product.types(*backup)
    assert refused.returncode == 1
    (command,) = (one for one in re.findall(r"`([^`]+)`", refused.stderr) if one.startswith(program))
    newcomer.gets("sh", "-c", command)
    product.run(*backup)
    assert (newcomer.home / "saved").stat().st_size > 0


@pytest.mark.parametrize("program", [*INSTALLERS])
def test_the_recipe_adds_encryption_to_what_is_installed_already(
    newcomer: Newcomer, product: Installed, passphrase: Path, program: str
) -> None:
    recipes = (TREE / "docs" / "recipes.md").read_text(encoding="utf-8")
    (uv, pipx) = re.findall(
        r"^(uv tool install 'holdfast\[backup\]'.*?)\s+# or: (.*)$", recipes, re.MULTILINE
    )[0]
    newcomer.gets(*INSTALLERS[program])
    product.run("remember", "The staging database is called heron.")
    newcomer.gets("sh", "-c", {"uv": uv, "pipx": pipx}[program])
    product.run("backup", str(newcomer.home / "saved"), "--passphrase-file", str(passphrase))
