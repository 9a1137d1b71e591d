"""The plugin for OpenCode has tests in its own language, run by node's runner where there is one."""

from __future__ import annotations

from pathlib import Path

from holdfast.harnesses import opencode
from tests.harnesses import plugin_files

TESTS = Path(__file__).with_name("opencode_plugin.test.mjs")


@plugin_files.needs_node
def test_the_plugin_carries_and_never_harms(tmp_path: Path) -> None:
    plugin_files.run(TESTS, opencode, "plugin.js", tmp_path)
