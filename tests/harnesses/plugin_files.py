"""The run of a plugin's tests, which are in its own language, with its files laid out as setup does it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

from holdfast.harnesses.setup_entries import POST

NODE = shutil.which("node")


def has_a_runner() -> bool:
    """Whether there is a node, and it is not too old to run tests by itself."""
    if NODE is None:
        return False
    told = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=False).stdout
    return told.startswith("v") and int(told[1:].partition(".")[0]) >= 20


needs_node = pytest.mark.skipif(not has_a_runner(), reason="there is no node, or it is older than 20")


def run(tests: Path, harness: ModuleType, main: str, folder: Path) -> None:
    """Run tests that find the plugin where PLUGIN says, its files in one folder, and told of no home."""
    for file in (*(Path(str(harness.__file__)).parent / "plugin").iterdir(), POST):
        shutil.copy(file, folder)
    described = folder / "package.json"
    if not described.exists():
        # To node a file of this ending is a module only where this says so; other runtimes look into it.
        described.write_text('{"type": "module"}')
    assert NODE is not None
    done = subprocess.run(
        [NODE, "--test", "--test-reporter=spec", str(tests)],
        env={"PATH": os.environ["PATH"], "PLUGIN": str(folder / main), "TMPDIR": str(folder)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
