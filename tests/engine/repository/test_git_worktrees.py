"""What is tracked, and which worktrees a repository has, compared with what git itself says."""

from pathlib import Path

import pytest

from holdfast.engine.repository import git
from tests.engine.repository.test_git import commit, repository_at, repository_in, run_git


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return repository_in(tmp_path / "repo")


def roots(directory: Path) -> list[Path]:
    return [one.root for one in git.worktrees(repository_at(directory))]


def test_whether_a_file_is_tracked_is_told_as_git_tells_it(repo: Path) -> None:
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
