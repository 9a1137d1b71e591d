"""A project's shared identity: from any clone or worktree, through renames, and chosen by a person."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from holdfast.core.sharing.identity import SharedIdentity
from holdfast.engine.repository import projects, shared_identity
from holdfast.errors import HoldfastError, NotThere
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_in_memory
from tests.engine.repository.test_git import repository_in, run_git

NOON = 1_800_000_000_000
HOUR = 3_600_000
ADDRESS, NAME = "git@example.com:acme/shop.git", "example.com/acme/shop"


@pytest.fixture
def store() -> Store:
    return open_in_memory()


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    made = repository_in(tmp_path / "repo")
    run_git(made, "remote", "add", "origin", ADDRESS)
    return made


def known_as(store: Store, directory: Path, at: int = NOON) -> SharedIdentity:
    return shared_identity.shared_identity(store, projects.at(store, str(directory), at))


def test_clones_worktrees_and_bare_repositories_of_one_remote_have_one_name(
    store: Store, repo: Path, tmp_path: Path
) -> None:
    clone, shallow, bare = tmp_path / "clone", tmp_path / "shallow", tmp_path / "bare.git"
    run_git(tmp_path, "clone", "-q", str(repo), str(clone))
    run_git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", str(shallow))
    run_git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    for each in (clone, shallow, bare):
        run_git(each, "remote", "set-url", "origin", "https://you:secret@EXAMPLE.com/acme/shop")
    tree, bare_tree = tmp_path / "tree", tmp_path / "bare-tree"
    run_git(repo, "worktree", "add", "-q", "-b", "side", str(tree))
    run_git(bare, "worktree", "add", "-q", "-b", "other", str(bare_tree))
    (repo / "src").mkdir()
    places = (repo, repo / "src", clone, shallow, bare, tree, bare_tree)
    assert {known_as(store, each) for each in places} == {SharedIdentity(NAME)}
    ids = {projects.at(store, str(each), NOON).project_id for each in places}
    assert store.projects_named(NAME) == sorted(ids)
    assert len(ids) == 4, "each clone is a project of its own, which others know by one name"


def test_a_fork_and_a_submodule_are_other_projects(store: Store, repo: Path, tmp_path: Path) -> None:
    fork = tmp_path / "fork"
    run_git(tmp_path, "clone", "-q", str(repo), str(fork))
    run_git(fork, "remote", "set-url", "origin", "git@example.com:you/shop.git")
    run_git(fork, "remote", "add", "upstream", ADDRESS)
    assert known_as(store, fork) == SharedIdentity("example.com/you/shop")
    run_git(repo, "submodule", "add", "-q", str(fork), "part")
    run_git(repo / "part", "remote", "set-url", "origin", "git@example.com:acme/part.git")
    assert known_as(store, repo / "part") == SharedIdentity("example.com/acme/part")
    assert known_as(store, repo) == SharedIdentity(NAME)


def test_of_several_remotes_the_tracked_one_counts_unless_there_is_an_origin(
    store: Store, repo: Path
) -> None:
    run_git(repo, "remote", "rename", "origin", "upstream")
    run_git(repo, "remote", "add", "fork", "git@example.com:you/shop.git")
    assert known_as(store, repo) == SharedIdentity()
    run_git(repo, "config", "branch.main.remote", "upstream")
    assert known_as(store, repo) == SharedIdentity(NAME)
    run_git(repo, "config", "branch.main.remote", "fork")
    assert known_as(store, repo, NOON + HOUR).name == "example.com/you/shop"
    run_git(repo, "remote", "rename", "upstream", "origin")
    assert known_as(store, repo, NOON + 2 * HOUR).name == NAME


def test_a_renamed_remote_keeps_its_former_name_and_a_removed_one_its_last(store: Store, repo: Path) -> None:
    known_as(store, repo)
    run_git(repo, "remote", "set-url", "origin", "git@example.com:acme/store.git")
    renamed = SharedIdentity("example.com/acme/store", (NAME,))
    assert known_as(store, repo) == renamed, "at once, before it is stored"
    assert known_as(store, repo, NOON + HOUR) == renamed
    run_git(repo, "remote", "remove", "origin")
    assert known_as(store, repo, NOON + 2 * HOUR) == renamed
    moved = repo.with_name("moved")
    repo.rename(moved)
    assert known_as(store, moved, NOON + 3 * HOUR) == renamed


def test_without_a_remote_a_project_stays_on_its_machine_until_it_is_bound(
    store: Store, tmp_path: Path
) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert known_as(store, plain) == SharedIdentity()
    project = projects.at(store, str(plain), NOON)
    assert shared_identity.bind(store, project, "notes", NOON) == SharedIdentity("notes", is_bound=True)
    assert known_as(store, plain, NOON + HOUR) == SharedIdentity("notes", is_bound=True)
    again = shared_identity.bind(store, project, "my notes", NOON + 1)
    assert again == SharedIdentity("my notes", ("notes",), is_bound=True)
    assert shared_identity.unbind(store, project, "notes") == SharedIdentity("my notes", is_bound=True)
    assert shared_identity.unbind(store, project, "") == SharedIdentity()
    for text in ("", "notes"):
        with pytest.raises(NotThere):
            shared_identity.unbind(store, project, text)
    with pytest.raises(HoldfastError, match="cannot be the name"):
        shared_identity.bind(store, project, "../x", NOON)


def test_a_chosen_name_comes_before_the_remote_and_stays_chosen(store: Store, repo: Path) -> None:
    project = projects.at(store, str(repo), NOON)
    chosen = SharedIdentity("shop", (NAME,), is_bound=True)
    assert shared_identity.bind(store, project, "shop", NOON) == chosen
    assert known_as(store, repo, NOON + HOUR) == chosen
    same = SharedIdentity(NAME, ("shop",), is_bound=True)
    assert shared_identity.bind(store, project, ADDRESS, NOON + 1) == same
    assert known_as(store, repo, NOON + 3 * HOUR) == same


def test_another_project_at_the_path_does_not_lend_its_remote(store: Store, repo: Path) -> None:
    project = projects.at(store, str(repo), NOON)
    shutil.rmtree(repo)
    other = repository_in(repo)
    run_git(other, "remote", "add", "origin", "git@example.com:you/else.git")
    assert known_as(store, other) == SharedIdentity("example.com/you/else")
    assert shared_identity.shared_identity(store, project) == SharedIdentity(NAME)


def test_a_forgotten_project_leaves_no_name(store: Store, repo: Path) -> None:
    project = projects.at(store, str(repo), NOON)
    with store.writing():
        store.forget_sites(project.project_id)
    assert store.shared_names(project.project_id) == []
