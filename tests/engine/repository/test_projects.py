"""A project is its repository: it is recognised where it moved, and another one at its path starts clean."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.events.identity import Known, Marks, Moved, New
from holdfast.core.session.session import begin
from holdfast.engine.repository import marks, projects
from holdfast.engine.repository.git import identity
from holdfast.engine.repository.projects import every_project
from holdfast.errors import HoldfastError, NotThere
from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_in_memory, open_store
from tests.engine.repository.test_git import commit, repository_in, run_git

NOON = 1_800_000_000_000
HOUR = 3_600_000


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "memory":
        yield open_in_memory()
        return
    opened = open_store(tmp_path / "home" / "store.db", tmp_path / "home" / "backups", NOON)
    yield opened
    opened.close()


def seen(store: Store, directory: Path, at: int = NOON) -> str:
    """The id of the project that a session in this directory would be of."""
    return projects.at(store, str(directory), at).project_id


def test_a_project_that_nobody_knows_has_the_id_of_its_path(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    tree = tmp_path / "tree"
    run_git(repo, "worktree", "add", "-q", str(tree))
    for directory in (repo, tree, tmp_path):
        assert projects.resolve(store, str(directory)).project == identity(str(directory))
        assert projects.at(store, str(directory), NOON) == identity(str(directory))
        assert projects.at(store, str(directory), NOON) == identity(str(directory))


def test_looking_writes_nothing(store: Store, tmp_path: Path) -> None:
    projects.resolve(store, str(repository_in(tmp_path / "repo")))
    assert store.sites() == []


def repository_of(directory: Path, subject: str) -> Path:
    """A repository with a first commit of its own."""
    directory.mkdir(parents=True)
    run_git(directory, "init", "-q", "-b", "main")
    commit(directory, subject)
    return directory


def begun_at(repo: Path, seconds: int) -> Path:
    """The repository as if it had begun so long after a moment in 2023."""
    log = repo / ".git" / "logs" / "HEAD"
    entry, *others = log.read_text().split("\n")
    words = entry.split("\t")[0].split(" ")
    log.write_text("\n".join([entry.replace(words[-2], str(1_700_000_000 + seconds)), *others]))
    return repo


def test_another_repository_at_the_same_path_starts_clean(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    first = seen(store, repo)
    shutil.rmtree(repo)
    repository_of(repo, "other")
    looked = projects.resolve(store, str(repo))
    second = seen(store, repo)
    assert second == looked.project.project_id != first
    assert first in looked.note, "the user learns how to bind it"
    assert seen(store, repo, NOON + HOUR) == second
    shutil.rmtree(repo)
    repository_of(repo, "third")
    assert seen(store, repo) not in (first, second)


def test_an_empty_repository_at_the_same_path_starts_clean_too(store: Store, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    ids: set[str] = set()
    for _ in range(3):
        repo.mkdir()
        run_git(repo, "init", "-q")
        ids.add(seen(store, repo))
        shutil.rmtree(repo)
    assert len(ids) == 3


def test_history_begun_anew_in_the_same_directory_is_another_project(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    first = seen(store, repo)
    shutil.rmtree(repo / ".git")
    run_git(repo, "init", "-q")
    commit(repo, "something else")
    assert seen(store, repo) != first


def test_a_moved_repository_is_recognised(store: Store, tmp_path: Path) -> None:
    repo, moved = repository_in(tmp_path / "repo"), tmp_path / "deep" / "moved"
    before = projects.at(store, str(repo), NOON)
    moved.parent.mkdir()
    repo.rename(moved)
    found = projects.resolve(store, str(moved / "."))
    assert isinstance(found.verdict, Moved)
    assert str(repo) in found.note
    after = projects.at(store, str(moved), NOON + 1)
    assert (after.project_id, after.worktree_id) == (before.project_id, before.worktree_id)
    assert after.root == str(moved)
    assert projects.resolve(store, str(moved)).note == "", "it is said once"
    assert seen(store, repo) == before.project_id, "the old path still names it"
    assert seen(store, repo / "src") == before.project_id
    assert [site.moved_from for site in store.sites_at(str(moved / ".git"))] == [str(repo)]


def test_a_repository_that_moved_leaves_its_path_to_a_new_one(store: Store, tmp_path: Path) -> None:
    repo, moved = repository_in(tmp_path / "repo"), tmp_path / "moved"
    first = seen(store, repo)
    repo.rename(moved)
    repository_of(repo, "other")
    assert seen(store, repo) != first
    assert seen(store, moved) == first, "also if the new one was seen before it"
    moved.rename(tmp_path / "third")
    assert seen(store, tmp_path / "third") == first


def test_two_repositories_that_change_places_take_their_projects_along(store: Store, tmp_path: Path) -> None:
    one, two = repository_in(tmp_path / "one"), repository_in(tmp_path / "two")
    ids = seen(store, one), seen(store, two)
    one.rename(tmp_path / "aside")
    two.rename(one)
    (tmp_path / "aside").rename(two)
    assert (seen(store, two), seen(store, one)) == ids


def test_a_repository_that_was_copied_and_removed_has_moved(store: Store, tmp_path: Path) -> None:
    repo, moved = begun_at(repository_in(tmp_path / "repo"), 0), tmp_path / "moved"
    first = seen(store, repo)
    shutil.copytree(repo, moved, symlinks=True)
    shutil.rmtree(repo)
    assert seen(store, moved) == first


def test_a_repository_that_was_restored_from_a_copy_is_the_same(store: Store, tmp_path: Path) -> None:
    repo, backup = begun_at(repository_in(tmp_path / "repo"), 0), tmp_path / "backup"
    first = seen(store, repo)
    shutil.copytree(repo, backup, symlinks=True)
    shutil.rmtree(repo)
    shutil.copytree(backup, repo, symlinks=True)
    assert seen(store, repo) == first


def test_repositories_made_from_one_recipe_are_not_copies(store: Store, tmp_path: Path) -> None:
    """Made within a second by one script, they have the very same first commit."""
    repo = repository_in(tmp_path / "repo")
    first = seen(store, repo)
    shutil.rmtree(repo)
    assert seen(store, repository_in(tmp_path / "repo")) != first
    assert seen(store, repository_in(tmp_path / "other")) != first


def test_a_copy_beside_its_original_is_a_project_of_its_own(store: Store, tmp_path: Path) -> None:
    repo, copy = begun_at(repository_in(tmp_path / "repo"), 0), tmp_path / "copy"
    first = seen(store, repo)
    shutil.copytree(repo, copy, symlinks=True)
    second = seen(store, copy)
    assert second != first
    assert seen(store, repo) == first
    shutil.rmtree(repo)
    assert seen(store, copy) == second, "it keeps what it has when the original goes"
    shutil.copytree(copy, tmp_path / "third", symlinks=True)
    shutil.rmtree(copy)
    assert seen(store, tmp_path / "third") not in (first, second), "it may be a copy of either"


def test_a_copy_of_what_is_on_a_disk_that_is_away_is_a_project_of_its_own(
    store: Store, tmp_path: Path
) -> None:
    repo, copy = begun_at(repository_in(tmp_path / "disk" / "repo"), 0), tmp_path / "copy"
    first = seen(store, repo)
    with store.writing():
        (site,) = store.sites()
        store.put_site(replace(site, marks=replace(site.marks, device="another")))
    shutil.copytree(repo, copy, symlinks=True)
    (tmp_path / "disk").rename(tmp_path / "away")
    assert seen(store, copy) != first


def test_two_clones_of_one_remote_are_two_projects(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    ids = {seen(store, repo)}
    for name, *how in (("one",), ("two",), ("shallow", "--depth=1"), ("bare", "--bare")):
        run_git(tmp_path, "clone", "-q", *how, f"file://{repo}", name)
        ids.add(seen(store, tmp_path / name))
    assert len(ids) == 5


def test_a_clone_in_place_of_a_clone_of_the_same_remote_goes_on(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    other = repository_of(tmp_path / "other", "other")
    clone = tmp_path / "clone"
    run_git(tmp_path, "clone", "-q", f"file://{repo}", "clone")
    first = seen(store, clone)
    shutil.rmtree(clone)
    run_git(tmp_path, "clone", "-q", "--depth=1", f"file://{repo}", "clone")
    assert seen(store, clone) == first
    shutil.rmtree(clone)
    run_git(tmp_path, "clone", "-q", f"file://{other}", "clone")
    assert seen(store, clone) != first
    shutil.rmtree(clone)
    run_git(tmp_path, "clone", "-q", f"file://{repo}", "clone")
    assert seen(store, clone) == first, "and again, after another one was there"


def test_what_git_does_to_a_repository_changes_nothing(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    first = seen(store, repo)
    for words in (
        ("remote", "add", "origin", "https://example.com/one.git"),
        ("remote", "rename", "origin", "upstream"),
        ("remote", "set-url", "upstream", "https://example.com/two.git"),
        ("commit", "-q", "--allow-empty", "--amend", "-m", "rewritten"),
        ("reflog", "expire", "--expire=now", "--all"),
        ("gc", "-q", "--prune=now"),
        ("repack", "-q", "-a", "-d", "-f"),
        ("checkout", "-q", "--orphan", "other"),
        ("pack-refs", "--all"),
        ("init", "-q"),
    ):
        run_git(repo, *words)
        assert seen(store, repo, NOON + HOUR) == first, words
    moved = tmp_path / "moved"
    repo.rename(moved)
    assert seen(store, moved) == first


def test_worktrees_follow_their_repository(store: Store, tmp_path: Path) -> None:
    repo, tree = repository_in(tmp_path / "repo"), tmp_path / "tree"
    run_git(repo, "worktree", "add", "-q", str(tree))
    first = projects.at(store, str(tree), NOON)
    assert first.project_id == seen(store, repo)
    assert first.worktree_id != first.project_id
    run_git(repo, "worktree", "move", str(tree), str(tmp_path / "other"))
    repo.rename(tmp_path / "moved")
    run_git(tmp_path / "moved", "worktree", "repair", str(tmp_path / "other"))
    after = projects.at(store, str(tmp_path / "other"), NOON)
    assert (after.project_id, after.worktree_id) == (first.project_id, first.worktree_id)
    assert seen(store, tmp_path / "moved") == first.project_id


def test_the_worktrees_of_a_bare_repository_are_one_project(store: Store, tmp_path: Path) -> None:
    repo, folder = repository_in(tmp_path / "repo"), tmp_path / "folder"
    run_git(tmp_path, "clone", "-q", "--bare", str(repo), str(folder / ".bare"))
    for name in ("one", "two"):
        run_git(folder / ".bare", "worktree", "add", "-q", str(folder / name))
    ids = {seen(store, folder / name) for name in ("one", "two", ".bare")}
    assert len(ids) == 1
    assert seen(store, folder) not in ids, "the folder around it is no part of git's"


def test_a_submodule_is_a_project_of_its_own_and_moves_with_the_whole(store: Store, tmp_path: Path) -> None:
    repo, whole = repository_in(tmp_path / "repo"), repository_in(tmp_path / "whole")
    run_git(whole, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo), "part")
    part, all_of_it = seen(store, whole / "part"), seen(store, whole)
    assert part != all_of_it
    whole.rename(tmp_path / "moved")
    assert seen(store, tmp_path / "moved" / "part") == part
    assert seen(store, tmp_path / "moved") == all_of_it


def test_a_repository_created_in_a_known_directory_is_the_same_project(store: Store, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    before = projects.at(store, str(plain), NOON)
    run_git(plain, "init", "-q")
    after = projects.at(store, str(plain), NOON)
    assert (after.project_id, after.worktree_id) == (before.project_id, before.worktree_id)
    commit(plain, "first")
    plain.rename(tmp_path / "moved")
    assert seen(store, tmp_path / "moved") == before.project_id


def test_a_repository_in_place_of_a_directory_starts_clean(store: Store, tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    before = seen(store, plain)
    plain.rmdir()
    repository_in(plain)
    assert seen(store, plain) != before


def test_a_moved_directory_outside_git_is_recognised(store: Store, tmp_path: Path) -> None:
    plain, moved = tmp_path / "plain", tmp_path / "moved"
    plain.mkdir()
    before = seen(store, plain)
    plain.rename(moved)
    assert seen(store, moved) == before
    plain.mkdir()
    assert seen(store, plain) != before
    assert seen(store, moved) == before


def test_a_directory_outside_git_is_its_path(store: Store, tmp_path: Path) -> None:
    """Tools and containers create them anew, and nothing inside could tell."""
    plain = tmp_path / "plain"
    plain.mkdir()
    before = seen(store, plain)
    plain.rmdir()
    (tmp_path / "other").mkdir()
    assert seen(store, tmp_path / "other") != before, "though it may have the inode of the first one"
    plain.mkdir()
    assert seen(store, plain) == before


def test_a_link_leads_to_the_same_project(store: Store, tmp_path: Path) -> None:
    repo, link = repository_in(tmp_path / "repo"), tmp_path / "link"
    link.symlink_to(repo)
    assert seen(store, link) == seen(store, repo)
    assert len(store.sites()) == 1


def test_names_that_are_no_text_stay_apart(store: Store, tmp_path: Path) -> None:
    ids: set[str] = set()
    directory = tmp_path
    for name in (b"\xff", b"\xfe"):
        directory = tmp_path / os.fsdecode(name)
        try:
            directory.mkdir()
        except OSError:
            pytest.skip("this file system takes no such names")
        ids.add(seen(store, directory))
        assert projects.resolve(store, str(directory)).project == identity(str(directory))
    assert len(ids) == 2
    directory.rename(tmp_path / "text")
    assert seen(store, tmp_path / "text") in ids


@pytest.mark.parametrize("kind", ["elsewhere", "loop", "fifo", "huge", "empty"])
def test_a_hostile_repository_gets_nothing_of_another(store: Store, tmp_path: Path, kind: str) -> None:
    victim, hostile = repository_in(tmp_path / "victim"), tmp_path / "hostile"
    first = seen(store, victim)
    hostile.mkdir()
    pointer = hostile / ".git"
    if kind == "elsewhere":
        pointer.write_text(f"gitdir: {victim}/.git\n")
    elif kind == "loop":
        pointer.symlink_to(".git")
    elif kind == "fifo":
        os.mkfifo(pointer)
    elif kind == "huge":
        with pointer.open("wb") as file:
            file.truncate(1 << 33)
    else:
        pointer.mkdir()
    assert seen(store, hostile) != first
    assert seen(store, victim) == first


def test_a_forged_reflog_takes_no_project_from_where_it_is(store: Store, tmp_path: Path) -> None:
    victim, hostile = repository_in(tmp_path / "victim"), repository_in(tmp_path / "hostile")
    first = seen(store, victim)
    shutil.copy(victim / ".git" / "logs" / "HEAD", hostile / ".git" / "logs" / "HEAD")
    assert seen(store, hostile) != first
    log = hostile / ".git" / "logs" / "HEAD"
    log.unlink()
    os.mkfifo(log)
    assert seen(store, hostile, NOON + HOUR) != first


def test_without_a_time_of_creation_the_reflog_tells(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marks, "_born", lambda *_: 0)
    repo = tmp_path / "repo"
    ids: set[str] = set()
    for with_description in (True, False, False):
        repository_in(repo)
        run_git(repo, "commit", "-q", "--allow-empty", "-m", str(len(ids)), "--date=2020-01-01T00:00:00Z")
        begun_at(repo, len(ids))
        if not with_description:
            (repo / ".git" / "description").unlink()
        ids.add(seen(store, repo))
        assert seen(store, repo, NOON + HOUR) in ids
        run_git(repo, "reflog", "expire", "--expire=now", "--all")
        assert seen(store, repo, NOON + HOUR) in ids
        shutil.rmtree(repo)
    assert len(ids) == 3
    (tmp_path / "one").mkdir()
    first = seen(store, tmp_path / "one")
    (tmp_path / "one").rename(tmp_path / "two")
    assert seen(store, tmp_path / "two") != first, "an inode alone is no proof"


def test_a_project_of_an_older_version_keeps_its_id_and_is_recognised(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    project = identity(str(repo))
    with store.writing():
        store.put_session(begin("s1", "some-harness", project, NOON))
        store.put_session(begin("s2", "some-harness", identity(str(tmp_path / "gone")), NOON))
    assert projects.register_known(store, NOON) == 1
    assert projects.register_known(store, NOON) == 0
    repo.rename(tmp_path / "moved")
    assert seen(store, tmp_path / "moved") == project.project_id


def test_the_same_place_is_written_down_once_an_hour(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    for at, last in ((NOON, NOON), (NOON + HOUR - 1, NOON), (NOON + HOUR, NOON + HOUR)):
        seen(store, repo, at)
        (site,) = store.sites()
        assert (site.first_seen_at, site.last_seen_at) == (NOON, last)


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("git@Example.com:You/Shop.git", "example.com/you/shop"),
        ("https://you:secret@example.com/you/shop.git/", "example.com/you/shop"),
        ("ssh://git@example.com:22/you/shop", "example.com/you/shop"),
        ("/srv/git/Shop.git", "/srv/git/Shop"),
        ("file:///srv/git/Shop.git", "/srv/git/Shop"),
        ("https://[broken", "/https://[broken"),
    ],
)
def test_addresses_of_one_remote_meet(address: str, expected: str) -> None:
    assert marks.normalised(address) == expected


class TestByHand:
    def test_a_directory_is_bound_to_a_project(self, store: Store, tmp_path: Path) -> None:
        repo = repository_in(tmp_path / "repo")
        first = projects.at(store, str(repo), NOON)
        shutil.rmtree(repo)
        clone = repository_in(tmp_path / "clone")
        other = seen(store, clone)
        bound = projects.bind(store, str(clone), first.project_id, NOON + 1)
        assert isinstance(bound.verdict, Known)
        assert bound.project.project_id == first.project_id != other
        assert bound.project.worktree_id == first.worktree_id
        assert seen(store, clone, NOON + HOUR) == first.project_id
        clone.rename(tmp_path / "moved")
        assert seen(store, tmp_path / "moved") == first.project_id
        assert projects.bind(store, str(tmp_path / "moved"), other, NOON + 2).project.project_id == other

    def test_a_project_that_is_elsewhere_is_shared_only_on_request(
        self, store: Store, tmp_path: Path
    ) -> None:
        repo, clone = repository_in(tmp_path / "repo"), repository_in(tmp_path / "clone")
        first = projects.at(store, str(repo), NOON)
        with pytest.raises(HoldfastError, match="still at"):
            projects.bind(store, str(clone), first.project_id, NOON)
        shared = projects.bind(store, str(clone), first.project_id, NOON, share=True).project
        assert shared.project_id == first.project_id == seen(store, repo)
        assert shared.worktree_id != first.worktree_id

    def test_a_directory_starts_anew(self, store: Store, tmp_path: Path) -> None:
        ids = {seen(store, tmp_path)}
        for at in (NOON, NOON, NOON + 1):
            ids.add(projects.start_anew(store, str(tmp_path), at).project.project_id)
            assert seen(store, tmp_path, NOON + HOUR) in ids
        assert len(ids) == 4

    def test_a_project_of_an_older_version_is_bound_with_its_worktree(
        self, store: Store, tmp_path: Path
    ) -> None:
        repo = repository_in(tmp_path / "repo")
        project = identity(str(repo))
        with store.writing():
            store.put_session(begin("s1", "some-harness", project, NOON))
        repo.rename(tmp_path / "moved")
        assert seen(store, tmp_path / "moved") != project.project_id, "nobody took its marks in time"
        bound = projects.bind(store, str(tmp_path / "moved"), project.project_id, NOON).project
        assert (bound.project_id, bound.worktree_id) == (project.project_id, project.worktree_id)

    def test_nonsense_is_refused(self, store: Store, tmp_path: Path) -> None:
        own = seen(store, tmp_path)
        with pytest.raises(NotThere, match="no project `0000`"):
            projects.bind(store, str(tmp_path), "0000", NOON)
        with pytest.raises(HoldfastError, match="already"):
            projects.bind(store, str(tmp_path), own, NOON)
        with pytest.raises(HoldfastError, match="no directory"):
            projects.bind(store, str(tmp_path / "gone"), own, NOON)


def test_a_project_is_meant_by_its_id_or_a_path_that_it_had(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    first = seen(store, repo)
    repo.rename(tmp_path / "moved")
    seen(store, tmp_path / "moved")
    for name in (first, first[:6], str(repo), f"{repo}/", str(repo / "src")):
        meant = projects.by_name(store, name)
        assert meant is not None
        assert meant.project_id == first
        assert meant.root == (str(repo) if name.startswith("/") else str(tmp_path / "moved"))
    assert projects.by_name(store, first[:3]) is None
    assert projects.by_name(store, str(tmp_path / "moved" / "mistyped")) is None
    assert projects.by_name(store, str(tmp_path / "nothing")) is None


def test_projects_are_listed_with_where_they_are_and_were(store: Store, tmp_path: Path) -> None:
    repo = repository_in(tmp_path / "repo")
    first = seen(store, repo)
    repo.rename(tmp_path / "moved")
    seen(store, tmp_path / "moved", NOON + 1)
    second = seen(store, repository_of(repo, "other"), NOON + 2)
    shutil.rmtree(repo)
    rows = [
        (row.project_id, row.name, row.paths, row.former_paths) for row in every_project(store, str(tmp_path))
    ]
    assert rows == [
        (second, "repo", (str(repo),), ()),
        (first, "moved", (str(tmp_path / "moved"),), (str(repo),)),
    ]
    assert [row.is_there for row in every_project(store, str(tmp_path))] == [False, True]


def test_a_new_place_is_new(store: Store, tmp_path: Path) -> None:
    found = projects.resolve(store, str(tmp_path))
    assert found.verdict == New(None)
    assert isinstance(found.seen.marks if found.seen else None, Marks)
    assert found.note == ""
