"""How many commits a worktree is behind another machine's, compared with what git itself counts."""

from __future__ import annotations

from pathlib import Path

from holdfast.engine.repository.commits import CommitDistance, distance, line_of_commits
from tests.engine.repository.test_git import commit, repository_at, repository_in, run_git


def line_at(directory: Path) -> tuple[str, ...]:
    return line_of_commits(repository_at(directory), run_git(directory, "rev-parse", "HEAD"))


def git_line(directory: Path) -> tuple[str, ...]:
    return tuple(run_git(directory, "rev-list", "HEAD").split())


def test_the_line_is_the_one_that_git_lists(tmp_path: Path) -> None:
    work = repository_in(tmp_path / "work")
    for subject in ("second", "third", "fourth"):
        commit(work, subject)
    run_git(work, "commit", "-q", "--amend", "-m", "fourth again")
    assert line_at(work) == git_line(work)
    assert len(line_at(work)) == 4


def test_once_packed_the_log_of_what_was_checked_out_tells_it(tmp_path: Path) -> None:
    work = repository_in(tmp_path / "work")
    commit(work, "second")
    commit(work, "third")
    run_git(work, "gc", "-q")
    assert line_at(work) == git_line(work)


def test_a_clone_knows_how_far_it_is_behind_and_ahead(tmp_path: Path) -> None:
    laptop = repository_in(tmp_path / "laptop")
    commit(laptop, "second")
    desk = tmp_path / "desk"
    run_git(tmp_path, "clone", "-q", str(laptop), str(desk))
    assert distance(line_at(desk), line_at(laptop)) == CommitDistance(0, 0)

    for subject in ("third", "fourth", "fifth"):
        commit(laptop, subject)
    assert distance(line_at(desk), line_at(laptop)) == CommitDistance(3, 0)

    commit(desk, "another third")
    assert distance(line_at(desk), line_at(laptop)) == CommitDistance(3, 1)

    run_git(desk, "-c", "pull.rebase=true", "pull", "-q", "-X", "theirs")
    assert distance(line_at(desk), line_at(laptop)) == CommitDistance(0, 1)


def test_a_merge_ends_the_line_because_no_number_would_be_right(tmp_path: Path) -> None:
    work = repository_in(tmp_path / "work")
    run_git(work, "switch", "-q", "-c", "side")
    commit(work, "on the side")
    run_git(work, "switch", "-q", "main")
    run_git(work, "commit", "-q", "--allow-empty", "-m", "on main")
    before = line_at(work)
    run_git(work, "merge", "-q", "side", "-m", "both")
    assert len(line_at(work)) == 1
    assert distance(before, line_at(work)) is None


def test_what_is_no_commit_has_no_line_and_nothing_is_made_of_damage(tmp_path: Path) -> None:
    work = repository_in(tmp_path / "work")
    repository = repository_at(work)
    assert line_of_commits(repository, "") == ()
    assert line_of_commits(repository, "../../etc/passwd") == ()
    unknown = "f" * 40
    assert line_of_commits(repository, unknown) == (unknown,)
    (head,) = git_line(work)
    file = work / ".git" / "objects" / head[:2] / head[2:]
    file.chmod(0o600)
    file.write_bytes(b"not compressed")
    assert line_of_commits(repository, head) == (head,)
