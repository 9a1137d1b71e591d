"""The plugin for OpenClaw has tests in its own language, run by node's runner where there is one."""

from __future__ import annotations

from pathlib import Path

from holdfast.harnesses import openclaw
from tests.harnesses import plugin_files

TESTS = Path(__file__).with_name("openclaw_plugin.test.mjs")


@plugin_files.needs_node
def test_the_plugin_only_carries_and_never_harms(tmp_path: Path) -> None:
    plugin_files.run(TESTS, openclaw, "index.js", tmp_path)
