"""The name by which others know a project, as a person sees and chooses it; who machine and person are."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.files import machine_id
from tests.cli.conftest import Person
from tests.engine.repository.test_git import repository_in, run_git


@pytest.fixture
def repo(person: Person) -> Path:
    made = repository_in(person.root / "repo")
    run_git(made, "remote", "add", "origin", "https://you:secret@GitHub.com/Acme/Shop.git/")
    return made


def test_a_project_is_shown_by_its_remote_wherever_it_is_shown(person: Person, repo: Path) -> None:
    person.types("remember", "The port is 8080.", cwd=repo)
    (row,) = person.types("project", "list", "--json").json
    assert row["shared_name"] == "github.com/acme/shop"
    assert (row["former_shared_names"], row["is_bound"]) == ([], False)
    assert "github.com/acme/shop" in person.types("project", "list").out
    status = person.types("status", "--json", cwd=repo).json
    assert status["project"]["shared_name"] == "github.com/acme/shop"
    assert "github.com/acme/shop" in person.types("status", cwd=repo).out
    assert "secret" not in person.types("project", "list", "--json").out
    run_git(repo, "remote", "set-url", "origin", "git@github.com:acme/store.git")
    renamed = person.types("status", cwd=repo).out
    assert "github.com/acme/store (was github.com/acme/shop)" in renamed


def test_a_session_is_shown_with_the_name_of_its_project(person: Person, repo: Path) -> None:
    run_git(person.project, "init", "-q")
    run_git(person.project, "remote", "add", "origin", "git@example.com:acme/shop.git")
    person.prompts("Add the totals row.")
    shown = person.types("show", "--json").json
    assert shown["shared_name"] == "example.com/acme/shop"
    assert "example.com/acme/shop" in person.types("show").out


def test_a_name_is_chosen_shown_and_taken_back(person: Person) -> None:
    assert "on this machine only" in person.types("status").out
    done = person.types("hub", "bind", "shop notes")
    assert (done.status, done.err) == (0, f"`{person.project}` is known as `shop notes`\n")
    bound = person.types("hub", "bind", "Other", "--json").json
    assert (bound["shared_name"], bound["former_shared_names"]) == ("Other", ["shop notes"])
    assert bound["is_bound"] is True
    assert person.types("project", "list", "--json").json[0]["shared_name"] == "Other"
    gone = person.types("hub", "unbind", "shop notes", "--json").json
    assert gone["former_shared_names"] == []
    assert person.types("hub", "unbind", "--json").json["shared_name"] is None
    again = person.types("hub", "unbind")
    assert again.status == 1
    assert "no name was chosen" in again.err
    refused = person.types("hub", "bind", "../x")
    assert refused.status == 1
    assert "cannot be the name" in refused.err


def test_an_excluded_project_is_not_bound(person: Person) -> None:
    done = fork_excluded(person).types("hub", "bind", "notes")
    assert done.status == 1
    assert "nothing is captured" in done.err
    assert person.types("project", "list", "--json").json == []


def fork_excluded(person: Person) -> Person:
    return Person(person.root, {"HOLDFAST_CAPTURE_EXCLUDE": str(person.project)})


def test_machine_and_person_have_names_and_the_machine_an_id(person: Person) -> None:
    before = person.types("status", "--json").json
    assert before["machine"]["id"] is None, "looking makes none"
    assert before["machine"]["name"]
    assert before["person"]
    assert person.types("up").status == 0
    id = person.types("status", "--json").json["machine"]["id"]
    assert id == machine_id.read(person.home)
    assert not (person.home / machine_id.NAME).stat().st_mode & 0o077
    named = Person(person.root, {"HOLDFAST_MACHINE_NAME": "desk", "HOLDFAST_PERSON_NAME": "Ada"})
    assert "desk, used by Ada" in named.types("status").out
    person.types("restart")
    assert person.types("status", "--json").json["machine"]["id"] == id


def test_processes_that_make_the_id_at_once_agree_and_what_is_no_id_is_replaced(tmp_path: Path) -> None:
    id = machine_id.read_or_make(tmp_path)
    assert machine_id.read_or_make(tmp_path) == id == machine_id.read(tmp_path)
    (tmp_path / machine_id.NAME).write_text("not an id")
    assert machine_id.read(tmp_path) == ""
    other = machine_id.read_or_make(tmp_path)
    assert other not in ("", id)
    assert [each.name for each in tmp_path.iterdir()] == [machine_id.NAME]


def test_a_name_is_taken_back_of_the_worktree_that_one_is_in(person: Person, repo: Path) -> None:
    tree = person.root / "tree"
    run_git(repo, "worktree", "add", "-q", "-b", "side", str(tree))
    assert person.types("hub", "bind", "notes", cwd=repo).status == 0
    assert person.types("status", cwd=tree).status in (0, 1)
    for place, name in ((tree, "notes"), (repo, "other")):
        person.types("hub", "bind", name, cwd=place)
        done = person.types("hub", "unbind", cwd=place)
        assert done.err.startswith(f"`{place}` is known as `github.com/acme/shop`"), done.err
