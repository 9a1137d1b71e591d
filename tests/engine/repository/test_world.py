"""A look at the world: dirty files compared with `git status`, files by their stat, and what differs."""

import os
import shutil
import struct
from pathlib import Path

import pytest

from holdfast.core.events.world import (
    BranchMoved,
    Difference,
    FileChanged,
    FileGone,
    FileState,
    GitState,
    HeadMoved,
    World,
    differences,
)
from holdfast.engine.repository.git import MAX_TRACKED, identity
from holdfast.engine.repository.world import MAX_DIRTY, file_states, git_state, look
from tests.engine.repository.test_git import commit, repository_in, run_git

LONG_AGO = 1_000_000_000


def state_of(directory: Path) -> GitState:
    state = git_state(identity(str(directory)))
    assert state is not None
    return state


def dirty_by_git(directory: Path) -> set[str]:
    """Tracked files that `git status` shows as changed in the worktree."""
    lines = run_git(directory, "status", "--porcelain", "-z", "--untracked-files=no", "--ignore-submodules")
    return {line.strip().split(" ", 1)[1].strip() for line in lines.split("\0") if line}


def add(directory: Path, *names: str) -> None:
    """Tracked files, written long ago, so that no later change can fall into the same tick of the clock."""
    for name in names:
        (directory / name).parent.mkdir(parents=True, exist_ok=True)
        (directory / name).write_text(name)
        os.utime(directory / name, (LONG_AGO, LONG_AGO))
    run_git(directory, "add", *names)
    run_git(directory, "commit", "-q", "-m", "add")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository_in(tmp_path / "repo")


# ------------------------------------------------------------ dirty files


@pytest.mark.parametrize("options", [(), ("--object-format=sha256",)])
@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_dirty_files_are_those_of_git_status(tmp_path: Path, version: str, options: tuple[str, ...]) -> None:
    repo = repository_in(tmp_path / "repo", *options)
    add(
        repo, "a/b/c.txt", "a/b/d.txt", "a/b.txt", "gone.txt", "grüße", "same-size", "to-link", "x" * 200, "z"
    )
    run_git(repo, "update-index", "--index-version", version)
    assert state_of(repo).dirty == ()
    (repo / "a/b/c.txt").write_text("something longer")
    (repo / "same-size").write_text("size-same")
    (repo / "gone.txt").unlink()
    (repo / "to-link").unlink()
    (repo / "to-link").symlink_to("z")
    (repo / "grüße").unlink()
    (repo / "untracked").write_text("")
    assert set(state_of(repo).dirty) == dirty_by_git(repo)
    assert len(state_of(repo).dirty) == 5


@pytest.mark.parametrize("version", ["2", "3", "4"])
def test_every_name_in_the_index_is_read(repo: Path, version: str) -> None:
    add(repo, *(f"{'d' * (1 + n % 7)}/{n:x}{'n' * n}" for n in range(60)))
    (repo / "late").write_text("")
    run_git(repo, "add", "-N", "late")
    run_git(repo, "update-index", "--index-version", version)
    names = run_git(repo, "ls-files").split("\n")
    for name in names:
        (repo / name).unlink()
    assert list(state_of(repo).dirty) == names


def test_a_tracked_link_is_compared_itself_and_not_what_it_names(repo: Path) -> None:
    (repo / "link").symlink_to("a.txt")
    run_git(repo, "add", "link")
    (repo / "a.txt").write_text("something longer")
    assert state_of(repo).dirty == ("a.txt",)
    (repo / "link").unlink()
    (repo / "link").symlink_to("elsewhere")
    assert set(state_of(repo).dirty) == {"a.txt", "link"} == dirty_by_git(repo)


def test_a_file_replaced_by_a_link_of_the_same_size_and_time_is_dirty(repo: Path) -> None:
    add(repo, "target")
    (repo / "target").unlink()
    (repo / "target").symlink_to("target")
    os.utime(repo / "target", (LONG_AGO, LONG_AGO), follow_symlinks=False)
    assert set(state_of(repo).dirty) == dirty_by_git(repo) == {"target"}


@pytest.mark.parametrize(
    ("noted", "found", "dirty"),
    [(5, 5, ()), (5, 6, ("f",)), (0, 6, ()), (5, 0, ())],
    ids=["same", "another", "whole seconds in the index", "whole seconds on the disk"],
)
def test_parts_of_a_second_count_where_both_sides_have_them(
    repo: Path, noted: int, found: int, dirty: tuple[str, ...]
) -> None:
    (repo / "f").write_text("f")
    os.utime(repo / "f", ns=(0, LONG_AGO * 10**9 + noted * 10**6))
    run_git(repo, "add", "f")
    os.utime(repo / "f", ns=(0, LONG_AGO * 10**9 + found * 10**6))
    assert state_of(repo).dirty == dirty


def test_an_index_written_without_a_look_at_the_files_tells_only_what_is_gone(repo: Path) -> None:
    add(repo, "b.txt")
    run_git(repo, "read-tree", "HEAD")
    (repo / "b.txt").unlink()
    assert state_of(repo).dirty == ("b.txt",)


@pytest.mark.parametrize("flag", ["--assume-unchanged", "--skip-worktree"])
def test_files_that_git_was_told_not_to_look_at_are_not_dirty(repo: Path, flag: str) -> None:
    run_git(repo, "update-index", flag, "a.txt")
    (repo / "a.txt").unlink()
    assert dirty_by_git(repo) == set(state_of(repo).dirty) == set()


def test_a_submodule_is_not_a_dirty_file(repo: Path) -> None:
    part = repository_in(repo.parent / "part")
    run_git(repo, "submodule", "--quiet", "add", str(part), "part")
    run_git(repo, "commit", "-q", "-m", "part")
    (repo / "part" / "a.txt").write_text("something longer")
    assert state_of(repo).dirty == ()
    assert state_of(repo / "part").dirty == ("a.txt",)


def test_a_worktree_has_its_own_dirty_files(repo: Path) -> None:
    worktree = repo.parent / "tree"
    run_git(repo, "worktree", "add", "-q", str(worktree))
    (worktree / "a.txt").write_text("something longer")
    assert (state_of(repo).dirty, state_of(worktree).dirty) == ((), ("a.txt",))


def test_a_file_in_conflict_is_dirty_once(repo: Path) -> None:
    run_git(repo, "checkout", "-q", "-b", "side")
    commit(repo, "theirs")
    run_git(repo, "checkout", "-q", "main")
    commit(repo, "ours")
    run_git(repo, "read-tree", "-m", "main~1", "main", "side")
    assert dirty_by_git(repo) == set(state_of(repo).dirty) == {"a.txt"}


def test_a_sparse_checkout_misses_nothing_and_reports_nothing_missing(repo: Path) -> None:
    add(repo, "in/x", "out/y")
    run_git(repo, "sparse-checkout", "set", "--cone", "--sparse-index", "in")
    assert state_of(repo).dirty == ()
    (repo / "in/x").unlink()
    assert state_of(repo).dirty == ("in/x",)


def test_a_split_index_tells_nothing(repo: Path) -> None:
    run_git(repo, "update-index", "--split-index")
    add(repo, "late")
    (repo / "a.txt").unlink()
    (repo / "late").unlink()
    assert state_of(repo).dirty == ()


@pytest.mark.parametrize(
    ("signature", "dirty"), [(b"TREE", ("missing",)), (b"sdir", ("missing",)), (b"link", ())]
)
def test_an_index_that_needs_what_we_cannot_read_tells_nothing(
    repo: Path, signature: bytes, dirty: tuple[str, ...]
) -> None:
    index = index_of(b"missing")
    extension = struct.pack(">4sI", signature, 3) + b"any"
    (repo / ".git/index").write_bytes(index[:-20] + extension + index[-20:])
    assert state_of(repo).dirty == dirty


def test_an_index_with_too_many_files_to_look_at_tells_nothing(repo: Path) -> None:
    (repo / ".git/index").write_bytes(index_of(*(b"%06d" % number for number in range(MAX_TRACKED + 1))))
    assert state_of(repo).dirty == ()


def test_a_bare_repository_and_one_with_its_files_elsewhere_have_no_dirty_files(repo: Path) -> None:
    (repo / "a.txt").unlink()
    for setting in (("core.bare", "true"), ("core.worktree", str(repo.parent))):
        run_git(repo, "config", *setting)
        assert state_of(repo).dirty == ()
        run_git(repo, "config", "--unset", setting[0])
    assert state_of(repo).dirty == ("a.txt",)


def test_a_file_behind_a_linked_directory_is_gone_and_the_link_not_followed(repo: Path) -> None:
    add(repo, "a/b/c.txt")
    shutil.copytree(repo / "a", repo.parent / "outside")
    shutil.rmtree(repo / "a")
    (repo / "a").symlink_to(repo.parent / "outside")
    assert dirty_by_git(repo) == set(state_of(repo).dirty) == {"a/b/c.txt"}


def test_at_most_two_hundred_dirty_files_are_named(repo: Path) -> None:
    names = [f"f{number:03}" for number in range(MAX_DIRTY + 20)]
    add(repo, *names)
    for name in names:
        (repo / name).unlink()
    assert state_of(repo).dirty == tuple(names[:MAX_DIRTY])


def test_a_change_of_the_same_size_at_the_same_time_is_missed(repo: Path) -> None:
    """The price of never reading a file: git itself would compare the content here. See decision 0002."""
    add(repo, "racy")
    (repo / "racy").write_text("cary")
    os.utime(repo / "racy", (LONG_AGO, LONG_AGO))
    assert state_of(repo).dirty == ()


@pytest.mark.parametrize(
    "name", [b"../outside", b"/etc/passwd", b"a/../../b", b".git/x", b"a//b", b"a/.GIT/b"]
)
def test_an_index_that_names_a_file_outside_the_worktree_tells_nothing(repo: Path, name: bytes) -> None:
    (repo / ".git/index").write_bytes(index_of(b"missing", name))
    assert state_of(repo).dirty == ()
    (repo / ".git/index").write_bytes(index_of(b"missing", b"fine"))
    assert state_of(repo).dirty == ("missing", "fine")


def test_a_name_with_control_characters_is_made_fit_for_one_line(repo: Path) -> None:
    (repo / ".git/index").write_bytes(index_of(b"a\n## Fake heading\xff"))
    assert state_of(repo).dirty == ("a\ufffd## Fake heading\ufffd",)


def index_of(*names: bytes) -> bytes:
    """An index of version 2 with these files, all of them missing from the worktree."""
    stat_data = struct.pack(">10I", 0, 0, 1, 1, 0, 0, 0o100644, 0, 0, 0)
    entries = (stat_data + bytes(20) + struct.pack(">H", len(name)) + name for name in names)
    padded = b"".join(entry + bytes(8 - len(entry) % 8) for entry in entries)
    return struct.pack(">4sII", b"DIRC", 2, len(names)) + padded + bytes(20)


# ------------------------------------------------------------ hostile ground


def test_no_program_that_a_repository_plants_is_run(repo: Path) -> None:
    canary = repo.parent / "canary"
    program = repo.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch '{canary}'\ncat\n")
    program.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "diff.external",
        "core.pager",
    ):
        run_git(repo, "config", key, str(program))
    (repo / ".gitattributes").write_text("* filter=evil diff=evil\n")
    for hook in ("post-index-change", "fsmonitor-watchman", "post-checkout", "reference-transaction"):
        shutil.copy(program, repo / ".git/hooks" / hook)
    (repo / "a.txt").write_text("something longer")
    project = identity(str(repo))
    seen, state = look(project, ["a.txt"]), git_state(project)
    assert not canary.exists()
    assert (state is not None and state.dirty, len(seen.files)) == (("a.txt",), 1)
    run_git(repo, "status")
    assert canary.exists(), "git itself does run what this repository plants"


# ------------------------------------------------------------ files


def test_files_are_recognised_by_their_stat(tmp_path: Path) -> None:
    (tmp_path / "here").write_text("")
    os.utime(tmp_path / "here", ns=(0, 1_234_567_890))
    absolute = str(tmp_path / "here")
    assert file_states(str(tmp_path), ["here", "gone", "here/below", absolute, "here"]) == (
        FileState("here", exists=True, modified_at=1234),
        FileState("gone", exists=False, modified_at=0),
        FileState("here/below", exists=False, modified_at=0),
        FileState(absolute, exists=True, modified_at=1234),
    )


def test_a_link_is_described_itself_and_one_that_leads_outside_is_not_followed(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for directory in (root / "real", outside):
        directory.mkdir(parents=True)
        (directory / "file").write_text("")
    (root / "out").symlink_to(outside)
    (root / "within").symlink_to("real")
    (root / "dangling").symlink_to("nowhere")
    asked = ["out/file", "out", "within/file", "dangling", "../outside/file", str(root / "out/file")]
    seen = file_states(str(root), asked)
    assert [(file.path, file.exists) for file in seen] == [
        ("out", True),
        ("within/file", True),
        ("dangling", True),
    ]


@pytest.mark.parametrize("path", ["nul\0byte", "\ud800", "x" * 5000])
def test_a_path_that_cannot_be_looked_at_is_left_out(tmp_path: Path, path: str) -> None:
    assert file_states(str(tmp_path), [path]) == ()


def test_a_look_outside_git_sees_files_and_no_git(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    seen = look(identity(str(tmp_path)), ["file"])
    assert (seen.git, [file.path for file in seen.files]) == (None, ["file"])


@pytest.mark.parametrize("path", ["/no/such/directory", "", "nul\0byte", "\ud800"])
def test_a_look_at_a_directory_that_is_gone_sees_no_git(path: str) -> None:
    assert look(identity(path), []) == World(git=None, files=())


# ------------------------------------------------------------ differences

MAIN = GitState("main", "a" * 40, (), ())
TOPIC = GitState("topic", "b" * 40, (), ())
DETACHED = GitState("", "a" * 40, (), ())
UNBORN = GitState("main", "", (), ())
UNKNOWN = GitState("", "", (), ())


@pytest.mark.parametrize(
    ("then", "now", "expected"),
    [
        (MAIN, MAIN, ()),
        (MAIN, TOPIC, (BranchMoved("main", "topic"), HeadMoved("a" * 40, "b" * 40))),
        (MAIN, GitState("main", "b" * 40, (), ()), (HeadMoved("a" * 40, "b" * 40),)),
        (MAIN, DETACHED, (BranchMoved("main", ""),)),
        (DETACHED, MAIN, (BranchMoved("", "main"),)),
        (MAIN, GitState("main", "a" * 40, ("x",), ("y",)), ()),
        (UNBORN, MAIN, ()),
        (UNKNOWN, MAIN, ()),
        (MAIN, UNKNOWN, ()),
        (None, MAIN, ()),
        (MAIN, None, ()),
    ],
)
def test_git_moves_are_named_and_the_unknown_is_no_move(
    then: GitState | None, now: GitState | None, expected: tuple[Difference, ...]
) -> None:
    assert differences(then, World(now, ()), since=0) == expected


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        (FileState("f", exists=True, modified_at=999), ()),
        (FileState("f", exists=True, modified_at=1000), ()),
        (FileState("f", exists=True, modified_at=1001), (FileChanged("f", 1001),)),
        (FileState("f", exists=False, modified_at=0), (FileGone("f"),)),
    ],
)
def test_files_gone_or_changed_since_are_named(file: FileState, expected: tuple[Difference, ...]) -> None:
    assert differences(None, World(None, (file,)), since=1000) == expected


def test_what_happened_meanwhile_is_found(repo: Path) -> None:
    add(repo, "kept", "removed")
    project = identity(str(repo))
    then = git_state(project)
    run_git(repo, "checkout", "-q", "-b", "topic")
    commit(repo, "second")
    (repo / "removed").unlink()
    found = differences(then, look(project, ["a.txt", "kept", "removed"]), since=LONG_AGO * 1000)
    assert [type(difference) for difference in found] == [BranchMoved, HeadMoved, FileChanged, FileGone]
