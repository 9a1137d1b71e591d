"""What doctor says of a harness that makes memory files findable by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.engine.connections import check_search
from holdfast.harnesses import get, names
from holdfast.harnesses.base import Harness, Searching

SEARCHING = next(get(name) for name in names() if isinstance(get(name), Searching))


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    (folder / "memory").mkdir(parents=True)
    (folder / "MEMORY.md").write_text("Ann likes tabs.\n")
    (folder / "memory" / "2026-03-01.md").write_text("We met.\n")
    return folder


def test_a_harness_that_searches_nothing_has_no_finding(project: Path) -> None:
    other: Harness = next(get(name) for name in names() if not isinstance(get(name), Searching))
    assert check_search(other, project.parent, project) is None


def test_files_that_both_look_at_are_named(project: Path) -> None:
    settings = project.parent / ".openclaw" / "openclaw.json"
    settings.parent.mkdir()
    settings.write_text(f"{{agents: {{defaults: {{workspace: {str(project)!r}, }}}}}} // mine")
    found = check_search(SEARCHING, project.parent, project)
    assert found is not None
    assert found.ok
    assert f"{project / 'MEMORY.md'} and 1 more, as `holdfast recall` does" in found.detail


@pytest.mark.parametrize("settings", ["{}", "{memory: {search: {enabled: false}}}"])
def test_where_they_look_at_different_files_that_is_said(settings: str, project: Path) -> None:
    folder = project.parent / ".openclaw"
    folder.mkdir()
    (folder / "openclaw.json").write_text(settings)
    found = check_search(SEARCHING, project.parent, project)
    assert found is not None
    assert "different files" in found.detail
