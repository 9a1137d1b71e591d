"""The plugin for OpenClaw has tests in its own language, run by node's runner where there is one."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TESTS = Path(__file__).with_name("openclaw_plugin.test.mjs")


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_the_plugin_only_carries_and_never_harms() -> None:
    done = subprocess.run(["node", "--test", TESTS], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
