"""What is read from `.git` files, compared with what git itself says."""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import holdfast
from holdfast.engine.repository import git

SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_DEFAULT_REF_FORMAT": "files",
    **{f"GIT_{who}_NAME": "A Tester" for who in ("AUTHOR", "COMMITTER")},
    **{f"GIT_{who}_EMAIL": "tester@example.invalid" for who in ("AUTHOR", "COMMITTER")},
}


def run_git(directory: Path, *arguments: str) -> str:
    """What git answers, with no configuration but the repository's own."""
    own = {"PATH": os.environ["PATH"], "HOME": str(directory), **SETTINGS}
    command = ["git", "-c", "protocol.file.allow=always", *arguments]
    done = subprocess.run(command, cwd=directory, env=own, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repository_in(directory: Path, *options: str) -> Path:
    """A repository on branch `main` with one commit of one file."""
    directory.mkdir(parents=True)
    run_git(directory, "init", "-q", "-b", "main", *options)
    commit(directory, "first")
    return directory


def commit(directory: Path, subject: str) -> None:
    (directory / "a.txt").write_text(subject)
    run_git(directory, "add", "a.txt")
    run_git(directory, "commit", "-q", "-m", subject)


def repository_at(directory: Path) -> git.Repository:
    place = git.find(str(directory))
    assert place is not None
    assert place.repository is not None
    return place.repository


def ids(directory: Path) -> tuple[str, str]:
    project = git.identity(str(directory))
    return project.project_id, project.worktree_id


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository_in(tmp_path / "repo")


# ------------------------------------------------------------ identity


def test_subdirectories_and_links_of_a_repository_are_one_project_and_worktree(repo: Path) -> None:
    inner = repo / "src" / "deep"
    inner.mkdir(parents=True)
    link = repo.parent / "link"
    link.symlink_to(repo)
    through_link = git.identity(str(link / "src"))
    assert ids(repo) == ids(inner) == (through_link.project_id, through_link.worktree_id)
    assert (through_link.path, through_link.normalized) == (str(link / "src"), str(repo / "src"))
    assert through_link.root == str(repo)


def test_an_id_is_sixteen_hex_digits_and_the_same_on_every_look(repo: Path) -> None:
    project_id, worktree_id = ids(repo)
    assert project_id == worktree_id == ids(repo)[0]
    assert len(project_id) == 16
    assert int(project_id, 16) > 0


def test_worktrees_share_the_project_and_nothing_else(repo: Path) -> None:
    worktree = repo.parent / "feature"
    run_git(repo, "worktree", "add", "-q", str(worktree))
    assert ids(worktree)[0] == ids(repo)[0]
    assert ids(worktree)[1] != ids(repo)[1]
    assert git.identity(str(worktree)).root == str(worktree)
    assert git.head(repository_at(worktree)) == ("feature", run_git(worktree, "rev-parse", "HEAD"))


def test_a_worktree_with_relative_pointers_is_believed(repo: Path) -> None:
    worktree = repo.parent / "feature"
    run_git(repo, "worktree", "add", "-q", str(worktree))
    (worktree / ".git").write_text("gitdir: ../repo/.git/worktrees/feature\n")
    (repo / ".git/worktrees/feature/gitdir").write_text("../../../../feature/.git\n")
    assert ids(worktree)[0] == ids(repo)[0]


def test_worktrees_of_a_bare_repository_meet_in_it(repo: Path) -> None:
    bare = repo.parent / "shared.git"
    run_git(repo, "clone", "-q", "--bare", str(repo), str(bare))
    worktree = repo.parent / "tree"
    run_git(bare, "worktree", "add", "-q", str(worktree))
    assert ids(bare)[0] == ids(worktree)[0] != ids(repo)[0]
    assert git.identity(str(bare)).root == str(bare)
    assert git.head(repository_at(bare)) == ("main", run_git(bare, "rev-parse", "HEAD"))


def test_a_submodule_is_a_project_of_its_own(repo: Path) -> None:
    part = repository_in(repo.parent / "part")
    run_git(repo, "submodule", "--quiet", "add", str(part), "lib/part")
    inner = repo / "lib" / "part"
    assert len({ids(repo)[0], ids(part)[0], ids(inner)[0]}) == 3
    assert git.identity(str(inner)).root == str(inner)
    assert git.head(repository_at(inner)) == ("main", run_git(inner, "rev-parse", "HEAD"))


def test_a_git_file_that_names_a_directory_beside_it_is_believed(repo: Path) -> None:
    (repo / ".git").rename(repo / ".bare")
    (repo / ".git").write_text("gitdir: ./.bare\n")
    assert git.head(repository_at(repo)) == ("main", run_git(repo, "rev-parse", "HEAD"))


def test_outside_git_each_directory_is_its_own_project(tmp_path: Path) -> None:
    (tmp_path / "one" / "inner").mkdir(parents=True)
    one, inner = git.identity(str(tmp_path / "one")), git.identity(str(tmp_path / "one" / "inner"))
    assert one.project_id == one.worktree_id != inner.project_id
    assert one.root == str(tmp_path / "one")


@pytest.mark.parametrize("path", ["/no/such/directory", "", "nul\0byte", "\ud800", "/" + "x" * 5000])
def test_a_path_that_cannot_be_resolved_stands_for_itself(path: str) -> None:
    project = git.identity(path)
    assert (project.path, project.normalized, project.root) == (path, path, path)
    assert project.project_id == project.worktree_id


def test_the_environment_does_not_name_the_repository(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    other = repository_in(repo.parent / "other")
    before = ids(repo)
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    assert ids(repo) == before


def test_an_empty_git_directory_is_passed_over_as_git_does(repo: Path) -> None:
    inner = repo / "inner"
    (inner / ".git").mkdir(parents=True)
    assert run_git(inner, "rev-parse", "--show-toplevel") == str(repo)
    assert ids(inner) == ids(repo)


def test_the_climb_ends_at_a_mount_point(repo: Path) -> None:
    (repo / "mount").mkdir()
    look = "import sys; from holdfast.engine.repository import git; print(git.identity(sys.argv[1]).root)"
    script = 'mount -t tmpfs none "$1" && mkdir "$1/in" && exec "$2" -c "$3" "$1/in"'
    command = ["unshare", "-rm", "sh", "-c", script, "sh", str(repo / "mount"), sys.executable, look]
    if shutil.which("unshare") is None or subprocess.run(["unshare", "-rm", "true"], check=False).returncode:
        pytest.skip("no mount namespaces here")
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(Path(holdfast.__path__[0]).parent)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(repo / "mount" / "in"), done.stderr


# ------------------------------------------------------------ directories that pretend


def pretend_by_file(evil: Path, victim: Path) -> None:
    (evil / ".git").write_text(f"gitdir: {victim / '.git'}\n")


def pretend_by_link(evil: Path, victim: Path) -> None:
    (evil / ".git").symlink_to(victim / ".git")


def pretend_to_be_its_worktree(evil: Path, victim: Path) -> None:
    run_git(victim, "worktree", "add", "-q", str(victim.parent / "feature"))
    (evil / ".git").write_text(f"gitdir: {victim / '.git/worktrees/feature'}\n")


def pretend_by_common_directory(evil: Path, victim: Path) -> None:
    run_git(evil, "init", "-q")
    (evil / ".git" / "commondir").write_text(f"{victim / '.git'}\n")


def pretend_by_own_worktree_directory(evil: Path, victim: Path) -> None:
    own = evil / "worktrees" / "x"
    own.mkdir(parents=True)
    (own / "HEAD").write_text("ref: refs/heads/main\n")
    (own / "commondir").write_text(f"{victim / '.git'}\n")
    (own / "gitdir").write_text(f"{evil / '.git'}\n")
    (evil / ".git").write_text(f"gitdir: {own}\n")


@pytest.mark.parametrize(
    "pretend",
    [
        pretend_by_file,
        pretend_by_link,
        pretend_to_be_its_worktree,
        pretend_by_common_directory,
        pretend_by_own_worktree_directory,
    ],
)
def test_no_directory_passes_for_another_project(repo: Path, pretend: Callable[[Path, Path], None]) -> None:
    evil = repo.parent / "evil"
    (evil / "inner").mkdir(parents=True)
    pretend(evil, repo)
    place = git.find(str(evil))
    assert place is not None
    assert place.repository is None
    assert ids(evil)[0] != ids(repo)[0]
    assert ids(evil)[1] != ids(repo)[1]


@pytest.mark.parametrize("name", ["logs", "refs", "HEAD", "packed-refs", "index"])
def test_no_link_inside_a_git_directory_is_followed(repo: Path, name: str) -> None:
    run_git(repo, "pack-refs", "--all")
    evil = repository_in(repo.parent / "evil")
    run_git(evil, "pack-refs", "--all")
    target = evil / ".git" / name
    shutil.rmtree(target) if target.is_dir() else target.unlink()
    if name == "refs":
        commit(repo, "loose again")
    target.symlink_to(repo / ".git" / name)
    found = repository_at(evil)
    read = {
        "logs": git.last_commits(found),
        "index": git.tracked(found, lambda _: True, limit=10),
        "HEAD": tuple(filter(None, git.head(found))),
    }
    assert read.get(name, tuple(filter(None, git.head(found)[1:]))) == ()


@pytest.mark.parametrize("name", ["HEAD", "index", "packed-refs", "logs/HEAD", "config"])
def test_a_fifo_in_a_git_directory_neither_blocks_nor_raises(repo: Path, name: str) -> None:
    run_git(repo, "pack-refs", "--all")
    (repo / ".git" / name).unlink()
    os.mkfifo(repo / ".git" / name)
    everything_readable(repo)


# ------------------------------------------------------------ branch, HEAD, commits


@pytest.mark.parametrize("branch", ["topic", "feature/with/slashes", "grüße", "v1.2-rc"])
@pytest.mark.parametrize("packed", ["loose", "packed"])
def test_branch_and_head_are_those_git_names(repo: Path, branch: str, packed: str) -> None:
    run_git(repo, "checkout", "-q", "-b", branch)
    commit(repo, "second")
    if packed == "packed":
        run_git(repo, "pack-refs", "--all")
    assert git.head(repository_at(repo)) == (branch, run_git(repo, "rev-parse", "HEAD"))


def test_a_loose_ref_wins_over_an_older_packed_one(repo: Path) -> None:
    run_git(repo, "pack-refs", "--all")
    commit(repo, "second")
    assert git.head(repository_at(repo)) == ("main", run_git(repo, "rev-parse", "HEAD"))


def test_a_detached_head_has_a_commit_and_no_branch(repo: Path) -> None:
    run_git(repo, "checkout", "-q", "--detach")
    assert git.head(repository_at(repo)) == ("", run_git(repo, "rev-parse", "HEAD"))


def test_an_unborn_branch_has_a_name_and_no_commit(repo: Path) -> None:
    run_git(repo, "checkout", "-q", "--orphan", "fresh")
    assert git.head(repository_at(repo)) == ("fresh", "")


def test_a_branch_that_stands_for_another_is_followed(repo: Path) -> None:
    run_git(repo, "symbolic-ref", "refs/heads/alias", "refs/heads/main")
    run_git(repo, "symbolic-ref", "HEAD", "refs/heads/alias")
    assert git.head(repository_at(repo)) == ("alias", run_git(repo, "rev-parse", "HEAD"))


def test_a_branch_that_stands_for_itself_is_unknown(repo: Path) -> None:
    (repo / ".git/refs/heads/main").write_text("ref: refs/heads/main\n")
    assert git.head(repository_at(repo)) == ("main", "")


def test_an_unreadable_loose_ref_is_unknown_rather_than_its_packed_past(repo: Path) -> None:
    run_git(repo, "pack-refs", "--all")
    (repo / ".git/refs/heads/main").write_text("torn")
    assert git.head(repository_at(repo)) == ("main", "")


@pytest.mark.parametrize("name", ["../../outside", "refs/../../outside", "refs/heads/a..b", "refs/heads/a b"])
def test_a_head_that_names_no_proper_ref_is_unknown(repo: Path, name: str) -> None:
    (repo.parent / "outside").write_text("a" * 40)
    (repo / ".git/HEAD").write_text(f"ref: {name}\n")
    assert git.head(repository_at(repo)) == ("", "")


def test_a_reftable_is_unknown_rather_than_wrong(repo: Path) -> None:
    run_git(repo, "config", "core.repositoryFormatVersion", "1")
    with (repo / ".git/config").open("a") as config:
        config.write("[extensions]\n\trefStorage = reftable\n")
    assert (git.head(repository_at(repo)), git.last_commits(repository_at(repo))) == (("", ""), ())


def test_last_commits_are_the_newest_five_without_what_was_amended_or_only_checked_out(repo: Path) -> None:
    for number in range(2, 7):
        commit(repo, f"number {number}")
    run_git(repo, "commit", "-q", "--amend", "-m", "number six")
    run_git(repo, "commit", "-q", "--amend", "-m", "number 6 at last")
    run_git(repo, "checkout", "-q", "-b", "other")
    expected = run_git(repo, "log", "-5", "--format=%s").split("\n")
    assert list(git.last_commits(repository_at(repo))) == expected


def test_a_merge_commit_is_among_the_last_commits(repo: Path) -> None:
    run_git(repo, "checkout", "-q", "-b", "side")
    run_git(repo, "commit", "-q", "--allow-empty", "-m", "aside")
    run_git(repo, "checkout", "-q", "main")
    run_git(repo, "merge", "-q", "--no-ff", "--no-commit", "side")
    run_git(repo, "commit", "-q", "-m", "together")
    assert git.last_commits(repository_at(repo)) == ("together", "aside", "first")


def test_of_a_long_reflog_only_the_end_is_read(repo: Path) -> None:
    line = f"{'0' * 40} {'1' * 40} A Tester <tester@example.invalid> 1 +0000\tcommit: {{}}\n"
    checkout = f"{'0' * 40} {'1' * 40} A Tester <tester@example.invalid> 1 +0000\tcheckout: moving\n"
    log = repo / ".git/logs/HEAD"
    log.write_text(line.format("far") + checkout * 2000 + line.format("n\x1bear" + "r" * 300))
    (subject,) = git.last_commits(repository_at(repo))
    assert subject == "n\ufffdear" + "r" * (git.MAX_SUBJECT - 5)


# ------------------------------------------------------------ any bytes at all


def everything_readable(directory: Path) -> None:
    """Read all there is to read; that nothing is raised is the point."""
    git.identity(str(directory))
    place = git.find(str(directory))
    if place is not None and place.repository is not None:
        branch, head = git.head(place.repository)
        subjects = git.last_commits(place.repository)
        names = git.tracked(place.repository, lambda _: True, limit=50)
        assert all(text.isprintable() or "\n" not in text for text in (branch, head, *subjects, *names))
        "".join((branch, *subjects, *names)).encode()
        assert len(head) in (0, 40, 64)


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    repo = repository_in(tmp_path_factory.mktemp("fuzz") / "repo")
    run_git(repo, "pack-refs", "--all")
    run_git(repo, "update-index", "--index-version", "4")
    run_git(repo, "worktree", "add", "-q", str(repo.parent / "tree"))
    return repo


PIECES = st.sampled_from(
    [b"ref: ", b"refs/heads/", b"gitdir: ", b"a" * 40, b"\n", b"..", b"/", b"[core]", b"\x80", b"="]
)
BYTES = st.binary(max_size=400) | st.lists(PIECES | st.binary(max_size=4), max_size=12).map(b"".join)
PLACES = st.sampled_from(
    ["HEAD", "packed-refs", "config", "logs/HEAD", "index", "refs/heads/tree", "commondir"]
)


@given(place=PLACES, content=BYTES)
def test_any_bytes_in_a_git_directory_are_at_worst_unknown(spoiled: Path, place: str, content: bytes) -> None:
    file = spoiled / ".git" / place
    before = file.read_bytes() if file.exists() else None
    file.write_bytes(content)
    try:
        everything_readable(spoiled)
        everything_readable(spoiled.parent / "tree")
    finally:
        file.unlink() if before is None else file.write_bytes(before)


@given(content=BYTES)
def test_any_bytes_in_a_git_file_are_at_worst_no_repository(spoiled: Path, content: bytes) -> None:
    odd = spoiled.parent / "odd"
    odd.mkdir(exist_ok=True)
    (odd / ".git").write_bytes(content)
    everything_readable(odd)
    assert ids(odd)[0] != ids(spoiled)[0]


@given(version=st.sampled_from([2, 3, 4]), count=st.integers(0, 2**32 - 1), body=st.binary(max_size=600))
def test_any_index_body_is_at_worst_unknown(spoiled: Path, version: int, count: int, body: bytes) -> None:
    index = spoiled / ".git" / "index"
    before = index.read_bytes()
    cut = before[: 12 + len(body) % (len(before) - 12)]
    for content in (struct.pack(">4sII", b"DIRC", version, count) + body, cut, before[:12] + body):
        index.write_bytes(content)
        everything_readable(spoiled)
    index.write_bytes(before)


def roots(directory: Path) -> list[Path]:
    return [one.root for one in git.worktrees(repository_at(directory))]


def test_whether_a_file_is_tracked_is_reported_as_git_tells_it(repo: Path) -> None:
    (repo / "other.md").write_text("x")
    found = repository_at(repo)
    assert git.tracks(found, "a.txt") is True
    assert git.tracks(found, "other.md") is False
    run_git(repo, "add", "-N", "other.md")
    assert git.tracks(found, "other.md") is True
    assert git.tracks(found, "A.TXT") is True


def test_without_an_index_nothing_is_tracked_and_with_a_broken_one_nobody_knows(tmp_path: Path) -> None:
    run_git(tmp_path, "init", "-q", "-b", "main")
    found = repository_at(tmp_path)
    assert git.tracks(found, "a.txt") is False
    (tmp_path / ".git" / "index").write_bytes(b"nonsense")
    assert git.tracks(found, "a.txt") is None


def test_a_repository_alone_is_its_only_worktree(repo: Path) -> None:
    assert roots(repo) == [repo]


def test_all_worktrees_are_seen_from_each_of_them_the_main_one_first(repo: Path) -> None:
    trees = [repo.parent / "b", repo.parent / "deep" / "a"]
    for tree in trees:
        run_git(repo, "worktree", "add", "-q", str(tree))
    for here in (repo, *trees):
        assert roots(here)[0] == repo
        assert sorted(roots(here)) == sorted([repo, *trees])


def test_a_worktree_that_is_gone_is_left_out(repo: Path) -> None:
    tree = repo.parent / "tree"
    run_git(repo, "worktree", "add", "-q", str(tree))
    tree.rename(repo.parent / "moved")
    assert roots(repo) == [repo]


def test_a_bare_repository_has_only_its_linked_worktrees(repo: Path) -> None:
    bare, tree = repo.parent / "bare.git", repo.parent / "tree"
    run_git(repo.parent, "clone", "-q", "--bare", str(repo), str(bare))
    run_git(bare, "worktree", "add", "-q", str(tree))
    assert roots(tree) == roots(bare) == [tree]


def test_a_bare_repository_in_a_folder_of_its_worktrees(repo: Path) -> None:
    folder = repo.parent / "folder"
    folder.mkdir()
    run_git(folder, "clone", "-q", "--bare", str(repo), str(folder / ".git"))
    run_git(folder, "worktree", "add", "-q", str(folder / "main"), "main")
    assert roots(folder / "main") == [folder / "main"]


def test_a_submodule_is_a_worktree_of_its_own_repository(repo: Path) -> None:
    whole = repository_in(repo.parent / "whole")
    run_git(whole, "submodule", "add", "-q", str(repo), "part")
    commit(whole, "second")
    tree = repo.parent / "tree"
    run_git(whole / "part", "worktree", "add", "-q", str(tree))
    assert roots(whole / "part") == [whole / "part", tree]
    assert roots(tree)[0] == whole / "part"
    assert roots(whole) == [whole]
