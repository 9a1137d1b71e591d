"""What git is told to leave alone is told in the manifest first, and taken back without a trace."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.files import exclude, install
from holdfast.files.exclude import without
from holdfast.files.manifest import ExcludedLine, read_manifest

BEFORE = [None, b"", b"# git\n", b"*.pyc", b"*.pyc\r\n", b"a\n\n"]


@pytest.mark.parametrize("before", BEFORE)
def test_unsetup_leaves_the_bytes_that_were_there(tmp_path: Path, before: bytes | None) -> None:
    home, file = tmp_path / "home", tmp_path / "repo/.git/info/exclude"
    (tmp_path / "repo/.git").mkdir(parents=True)
    if before is not None:
        file.parent.mkdir()
        file.write_bytes(before)
    assert exclude.add(home, file, "/.holdfast/")
    assert exclude.add(home, file, "/.agents/session_ledger.md")
    assert not exclude.add(home, file, "/.holdfast/"), "once is enough"
    lines = file.read_text().splitlines()
    assert {"/.holdfast/", "/.agents/session_ledger.md"} <= set(lines)
    install.unsetup(home)
    assert (file.read_bytes() if file.exists() else None) == before
    assert file.parent.exists() == (before is not None)
    assert not (home / "manifest.json").exists()


def test_a_line_that_was_there_before_us_stays(tmp_path: Path) -> None:
    file = tmp_path / "exclude"
    file.write_bytes(b"/.holdfast/\n")
    assert not exclude.add(tmp_path / "home", file, "/.holdfast/")
    install.unsetup(tmp_path / "home")
    assert file.read_bytes() == b"/.holdfast/\n"


def test_what_others_wrote_since_stays(tmp_path: Path) -> None:
    file = tmp_path / "exclude"
    file.write_bytes(b"*.pyc")
    exclude.add(tmp_path / "home", file, "/.holdfast/")
    file.write_bytes(file.read_bytes() + b"mine\n")
    install.unsetup(tmp_path / "home")
    assert file.read_bytes() == b"*.pyc\nmine\n"


def test_a_repository_that_is_gone_needs_nothing(tmp_path: Path) -> None:
    file = tmp_path / "repo" / "exclude"
    exclude.add(tmp_path / "home", file, "/.holdfast/")
    file.unlink()
    file.parent.rmdir()
    install.unsetup(tmp_path / "home")
    assert not file.parent.exists()


def test_setup_keeps_what_the_manifest_tells_of_git(tmp_path: Path) -> None:
    home, file = tmp_path / "home", tmp_path / "exclude"
    exclude.add(home, file, "/.holdfast/")
    install.setup([], [], home, 0)
    assert [line.pattern for line in read_manifest(home).excluded] == ["/.holdfast/"]


TEXTS = st.lists(st.sampled_from(["", "*.pyc", "# word", " x"]), max_size=4)


@given(lines=TEXTS, ended=st.booleans())
def test_what_is_added_and_taken_back_is_as_before(lines: list[str], *, ended: bool) -> None:
    before = ("\n".join(lines) + ("\n" if ended else "")).encode()
    cut = before != b"" and not before.endswith(b"\n")
    after = before + (b"\n" if cut else b"") + b"/ours\n"
    assert without(after, ExcludedLine(Path("exclude"), "/ours", made=False, cut=cut)) == before
