"""One file in a worktree: no path and no link leads out, and whoever looks sees old bytes or new ones."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import PathRefused
from holdfast.files import worktree

LEDGER = ".agents/session_ledger.md"


@pytest.fixture(params=["by descriptor", "by path"], autouse=True)
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways to reach a folder: the second is that of systems whose calls take no open directory."""
    if request.param == "by path":
        monkeypatch.setattr(os, "supports_dir_fd", set[object]())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    top = tmp_path / "tree"
    top.mkdir()
    return top


def test_a_new_file_is_written_with_its_folders_for_its_owner_alone(root: Path) -> None:
    worktree.write(root, "a/b/c.md", b"one")
    assert worktree.read(root, "a/b/c.md") == b"one"
    assert stat.S_IMODE((root / "a/b/c.md").stat().st_mode) == 0o600
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o700
    assert list((root / "a/b").iterdir()) == [root / "a/b/c.md"]


def test_a_file_that_is_there_keeps_its_mode(root: Path) -> None:
    file = root / "notes.md"
    file.write_text("one")
    file.chmod(0o644)
    worktree.write(root, "notes.md", b"two")
    assert file.read_text() == "two"
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


def test_what_is_not_there_is_none(root: Path) -> None:
    assert worktree.read(root, LEDGER) is None
    assert worktree.read(root / "gone", LEDGER) is None
    assert worktree.listed(root, ".agents/handoffs") == ()


def test_only_markdown_is_listed(root: Path) -> None:
    folder = root / "a"
    folder.mkdir()
    for name in ("b.md", "a.md", "c.txt", ".md", "x\ny.md"):
        (folder / name).touch()
    assert worktree.listed(root, "a") == ("a.md", "b.md")


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("", "plain path"),
        (" ", "plain path"),
        ("a\nb.md", "plain path"),
        ("a\0.md", "plain path"),
        ("a\\b.md", "plain path"),
        ("x" * 500 + ".md", "plain path"),
        ("/etc/passwd.md", "out of the worktree"),
        ("~/a.md", "out of the worktree"),
        ("../a.md", "out of the worktree"),
        ("a/../../b.md", "out of the worktree"),
        (".git/a.md", "git's own"),
        ("sub/.GIT/hooks/a.md", "git's own"),
        (".git. /a.md", "git's own"),
        ("a.txt", "end in `.md`"),
        ("a.md/", "end in `.md`"),
        (".md", "end in `.md`"),
        ("a/.md", "end in `.md`"),
        (".", "end in `.md`"),
    ],
)
def test_a_path_that_is_no_business_of_ours_is_refused(root: Path, path: str, reason: str) -> None:
    with pytest.raises(PathRefused, match=reason):
        worktree.read(root, path)
    with pytest.raises(PathRefused, match=reason):
        worktree.write(root, path, b"x")
    assert list(root.iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="links need a privilege")
@pytest.mark.parametrize("link", [".agents", ".agents/session_ledger.md"])
@pytest.mark.parametrize("dangling", [False, True])
def test_no_link_is_followed(root: Path, link: str, dangling: bool) -> None:  # noqa: FBT001
    outside = root.parent / "outside"
    outside.mkdir()
    victim = outside / "session_ledger.md"
    if not dangling:
        victim.write_text("precious")
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(victim if link.endswith(".md") else outside)
    with pytest.raises(PathRefused, match="refused"):
        worktree.write(root, LEDGER, b"x")
    if link == ".agents" or not dangling:
        with pytest.raises(PathRefused, match="refused"):
            worktree.read(root, LEDGER)
    assert victim.exists() is not dangling
    assert not victim.exists() or victim.read_text() == "precious"


@pytest.mark.skipif(os.name == "nt", reason="there are no FIFOs")
@pytest.mark.parametrize("kind", ["fifo", "directory", "large", "file on the way"])
def test_what_is_no_regular_file_is_refused(root: Path, kind: str) -> None:
    file = root / LEDGER
    if kind == "file on the way":
        file.parent.write_text("x")
    else:
        file.parent.mkdir()
    match kind:
        case "fifo":
            os.mkfifo(file)
        case "directory":
            file.mkdir()
        case "large":
            file.write_bytes(b"x" * (worktree.LARGEST + 1))
        case _:
            pass
    with pytest.raises(PathRefused):
        worktree.read(root, LEDGER)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_tree_is_reported_in_a_sentence(root: Path) -> None:
    root.chmod(0o500)
    with pytest.raises(PathRefused, match=r"cannot write `\.agents/session_ledger\.md`: Permission denied"):
        worktree.write(root, LEDGER, b"x")
    root.chmod(0o700)


@given(st.text(alphabet="ab./\\~ .gitGIT\n\0md", max_size=30))
def test_whatever_path_is_let_through_stays_inside(path: str) -> None:
    if not worktree.fault(path):
        whole = os.path.normpath(f"/top/{path}")
        assert whole.startswith("/top/")
        assert whole.endswith(".md")
        assert ".git" not in whole.casefold().split("/")
