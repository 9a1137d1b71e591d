"""A Holdfast home in which setup has put the hook, and a harness that uses it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import hook
from tests.hook.harness import Harness


@pytest.fixture
def home() -> Iterator[Path]:
    # Not `tmp_path`: a socket's path has room for about a hundred characters.
    with tempfile.TemporaryDirectory(prefix="holdfast-") as directory:
        home = Path(directory, "home")
        (home / "bin").mkdir(parents=True)
        shutil.copyfile(hook.__file__, home / "bin/hook.py")
        yield home


@pytest.fixture
def harness(home: Path) -> Harness:
    return Harness(home)
