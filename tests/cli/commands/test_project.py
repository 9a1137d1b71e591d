"""Projects as a person meets them: moved, replaced, listed, and bound by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.cli.conftest import Person
from tests.engine.repository.test_git import repository_in


@pytest.fixture
def repo(person: Person) -> Path:
    return repository_in(person.root / "repo")


def memories(person: Person, *words: str, cwd: Path | None = None) -> list[str]:
    done = person.types("memories", "list", "--json", *words, cwd=cwd)
    assert done.status == 0, done.err
    return [row["text"] for row in done.json]


def test_a_moved_project_is_followed_and_found_at_both_paths_and_by_its_id(
    person: Person, repo: Path
) -> None:
    moved = person.root / "moved"
    assert person.types("remember", "The port is 8080.", cwd=repo).status == 0
    repo.rename(moved)
    done = person.types("memories", "list", cwd=moved)
    assert "The port is 8080." in done.out
    assert f"moved here from `{repo}`" in done.err
    again = person.types("memories", "list", cwd=moved)
    assert "moved" not in again.err, "it is said once"
    (row,) = person.types("project", "list", "--json").json
    assert (row["name"], row["paths"], row["former_paths"]) == ("moved", [str(moved)], [str(repo)])
    assert row["is_there"] is True
    for name in (str(repo), f"{moved}/", row["project_id"], row["project_id"][:6]):
        assert memories(person, "--project", name) == ["The port is 8080."]
    assert person.types("forget", "--project", str(repo), "--yes", "--json").json["memories"] == 1
    assert memories(person, cwd=moved) == []
    assert person.types("project", "list", "--json").json == []


@pytest.mark.parametrize(
    ("target", "cwd"), [("moved", "."), ("deep/moved", "deep/moved/sub")], ids=["beside", "where one is"]
)
def test_a_list_finds_a_moved_project_by_itself(person: Person, repo: Path, target: str, cwd: str) -> None:
    moved = person.root / target
    person.types("remember", "The port is 8080.", cwd=repo)
    moved.parent.mkdir(exist_ok=True)
    repo.rename(moved)
    (moved / "sub").mkdir()
    (row,) = person.types("project", "list", "--json", cwd=person.root / cwd).json
    assert (row["name"], row["paths"], row["former_paths"]) == (moved.name, [str(moved)], [str(repo)])
    assert row["is_there"] is True


def test_another_repository_at_the_same_path_starts_clean_until_it_is_bound(
    person: Person, repo: Path
) -> None:
    person.types("remember", "The port is 8080.", cwd=repo)
    (before,) = person.types("project", "list", "--json").json
    shutil.rmtree(repo)
    repository_in(repo)
    done = person.types("memories", "list", "--json", cwd=repo)
    assert done.json == []
    assert f"holdfast project bind {before['project_id']}" in done.err
    config = person.types("config", "--json", cwd=repo)
    assert config.status == 0, config.err
    person.types("remember", "Nothing is known.", cwd=repo)
    listed = person.types("project", "list").out
    assert listed.count("repo") >= 2
    assert "(gone)" in listed
    bound = person.types("project", "bind", before["project_id"][:8], cwd=repo)
    assert bound.status == 0, bound.err
    assert "stays with" in bound.err
    assert memories(person, cwd=repo) == ["The port is 8080."]
    anew = person.types("project", "bind", "--new", "--json", cwd=repo).json
    assert anew["previous_project_id"] == before["project_id"] != anew["project_id"]
    assert memories(person, cwd=repo) == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "Say either the ID"),
        (("0123abcd", "--new"), "Say either the ID"),
        (("0123abcd",), "no project `0123abcd` is known"),
    ],
)
def test_nonsense_is_refused_with_a_sentence(person: Person, words: tuple[str, ...], said: str) -> None:
    done = person.types("project", "bind", *words)
    assert done.status != 0
    assert said in done.err
    assert "Traceback" not in done.err


def test_a_home_is_no_project_and_an_unknown_name_is_none_either(person: Person) -> None:
    done = person.types("project", "bind", "--new", cwd=person.user_home)
    assert (done.status, "is no project" in done.err) == (1, True)
    done = person.types("memories", "list", "--project", "nowhere")
    assert (done.status, "no project of that name" in done.err) == (1, True)
