"""The plugin's own tests are in JavaScript, and run with node's runner where there is a node."""

from __future__ import annotations

import os
import shutil
import subprocess
from importlib import resources
from pathlib import Path

import pytest

from holdfast.harnesses import opencode

TESTS = Path(__file__).with_name("opencode_plugin.test.mjs")
NODE = shutil.which("node")


def has_a_runner() -> bool:
    """Whether there is a node, and it is not too old to run tests by itself."""
    if NODE is None:
        return False
    told = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=False).stdout
    return told.startswith("v") and int(told[1:].partition(".")[0]) >= 20


@pytest.mark.skipif(not has_a_runner(), reason="there is no node, or it is older than 20")
def test_the_plugin_carries_and_never_harms(tmp_path: Path) -> None:
    assert NODE is not None
    # A file of this ending is a module to node, whatever lies beside it.
    plugin = tmp_path / "plugin.mjs"
    plugin.write_bytes(resources.files(opencode).joinpath("plugin", "holdfast.js").read_bytes())
    done = subprocess.run(
        [NODE, "--test", "--test-reporter=spec", str(TESTS)],
        env={"PATH": os.environ["PATH"], "PLUGIN": str(plugin), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
