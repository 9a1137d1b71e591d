"""Doctor on harnesses that index memory files themselves, and on files that setup installed."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.core.events.install_request import WantedCopy
from holdfast.engine.health.connections import check_files, check_hooks, check_search
from holdfast.engine.health.doctor import Mend
from holdfast.files import install
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


def test_a_harness_that_the_user_did_not_connect_is_no_problem(tmp_path: Path) -> None:
    finding = check_hooks(tmp_path / "holdfast", SEARCHING, "command", tmp_path)
    assert (finding.ok, finding.absent) == (True, True)
    assert finding.detail == f"not connected: `holdfast setup {SEARCHING.name}` connects it"


NEW, OLD, MINE = b"// of this version\n", b"// of an earlier version\n", b"// mine\n"


class TestWholeFiles:
    """A file that setup put into a harness's folder, in this version or in an earlier one."""

    @pytest.fixture
    def home(self, tmp_path: Path) -> Path:
        return tmp_path / "holdfast"

    @pytest.fixture
    def file(self, tmp_path: Path) -> Path:
        return tmp_path / "harness" / "plugin.js"

    @pytest.mark.parametrize(
        ("wrote", "present", "ok", "mend", "says"),
        [
            (NEW, NEW, True, None, "as this version has them"),
            (OLD, OLD, False, Mend.SETUP, "gone, or not of this version: "),
            (NEW, None, False, Mend.SETUP, "gone, or not of this version: "),
            (NEW, MINE, True, None, "was changed by hand, and is left alone"),
            (OLD, MINE, False, None, "was changed by hand, and Holdfast has a newer version"),
            (OLD, NEW, True, None, "as this version has them"),
            (None, OLD, False, None, "is there already, and it is not ours"),
        ],
    )
    def test_each_state_is_reported_and_mended_only_if_it_is_ours(
        self,
        home: Path,
        file: Path,
        wrote: bytes | None,
        present: bytes | None,
        *,
        ok: bool,
        mend: Mend | None,
        says: str,
    ) -> None:
        if wrote:
            install.setup((), [WantedCopy(file, wrote)], home, 0)
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(present or b"")
        if present is None:
            file.unlink()
        found = check_files(home, "x", [WantedCopy(file, NEW)], "run it")
        assert (found.ok, found.mend, bool(found.fix)) == (ok, mend, not ok)
        assert says in found.detail

    def test_a_skill_of_the_same_name_that_is_somebody_elses_is_no_finding(
        self, home: Path, file: Path
    ) -> None:
        file.parent.mkdir()
        file.write_bytes(MINE)
        assert check_files(home, "x", [WantedCopy(file, NEW, yields=True)], "run it").ok

    def test_in_our_own_home_everything_is_ours(self, home: Path) -> None:
        hook = WantedCopy(home / "bin" / "hook.py", NEW)
        install.setup((), [hook], home, 0)
        (home / "bin" / "hook.py").write_bytes(MINE)
        assert check_files(home, "x", [hook], "run it").mend is Mend.SETUP
