"""Harnesses are found by name, and each keeps the contract that the others rely on."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import harnesses
from holdfast.errors import HarnessUnknown


def test_every_registered_harness_is_found_under_its_own_name() -> None:
    assert "claude-code" in harnesses.names()
    assert [harnesses.get(name).name for name in harnesses.names()] == [*harnesses.names()]


@pytest.mark.parametrize("name", ["", "claude_code", "Claude Code", "../core", "base", "fields"])
def test_an_unknown_harness_is_refused_with_the_names_there_are(name: str) -> None:
    with pytest.raises(HarnessUnknown) as refused:
        harnesses.get(name)
    assert "claude-code" in refused.value.hint


@pytest.mark.parametrize("name", harnesses.names())
def test_transcripts_are_only_looked_for_under_the_harness_s_own_folders(name: str, tmp_path: Path) -> None:
    roots = harnesses.get(name).transcript_roots(tmp_path, {})
    assert roots
    assert all(root.is_relative_to(tmp_path) and root != tmp_path for root in roots)


def test_a_moved_configuration_folder_is_one_more_root(tmp_path: Path) -> None:
    roots = harnesses.get("claude-code").transcript_roots(tmp_path, {"CLAUDE_CONFIG_DIR": "/srv/claude"})
    assert roots == (tmp_path / ".claude" / "projects", Path("/srv/claude/projects"))
