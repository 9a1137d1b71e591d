"""The page about the tools says what they are, and nothing that they are not."""

from __future__ import annotations

import json
import re
from pathlib import Path

from holdfast import skills
from holdfast.engine.recording import memorize
from holdfast.engine.tools import session_tools, table
from holdfast.settings import Daemon

PAGE = (Path(__file__).parents[4] / "docs" / "mcp.md").read_text(encoding="utf-8")
OF_TOOLS, _, OF_SETUP = PAGE.partition("## What setup installs")


def rows(text: str) -> dict[str, str]:
    """The rows of a table whose first column is a name."""
    return dict(re.findall(r"^\| `([\w-]+)` \| (.*) \|$", text, re.MULTILINE))


def test_every_tool_has_a_row_with_all_that_it_takes() -> None:
    told = rows(OF_TOOLS)
    assert tuple(told) == table.names()
    for tool in table.tools_for_mcp():
        assert all(f"`{name}`" in told[tool["name"]] for name in tool["inputSchema"]["properties"])


def test_every_skill_has_a_row() -> None:
    assert set(rows(OF_SETUP)) == {skill.name for skill in skills.shipped()}


def test_the_numbers_are_right() -> None:
    said = int(re.findall(r"cost about (\d+) tokens", PAGE)[0])
    assert abs(said - table.token_cost()) < 60
    for number in (session_tools.LONGEST, memorize.LONGEST, table.WHOLE_CHARS):
        assert f"{number:,}" in PAGE
    assert f"at most {table.MOST_HITS} hits" in PAGE
    assert f"http://127.0.0.1:{Daemon().http_port}/mcp" in PAGE


def test_its_examples_are_json() -> None:
    examples = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)
    assert len(examples) == 2
    assert all(json.loads(example)["mcpServers"]["holdfast"] for example in examples)
