"""What a member types: how sharing stands, what would be sent, sharing by itself and by hand, leaving."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.stores.base import START
from holdfast.stores.shared import SharedWithin
from holdfast.stores.sqlite import open_store
from tests.cli.commands.sharing.conftest import OwnedDatabase
from tests.cli.conftest import Person
from tests.daemon.conftest import wait_until
from tests.engine.repository.test_git import run_git

SETTINGS = """
[sharing]
hubs = ["hub: github.com/acme/*"]
own = true
memories = "team"
"""
REMOTE = "git@github.com:acme/shop.git"


def invited(owner: Person, owned: OwnedDatabase, name: str) -> str:
    """The line that a person joins with."""
    if not (owner.home / "hubs" / "hub").exists():
        done = owner.types("hub", "init", owned.url, "--password-file", str(owned.password_file))
        assert done.status == 0, done.err
    return owner.types("hub", "invite", name, "--team", "shop").out


def join(someone: Person, line: str, settings: str = SETTINGS) -> None:
    run_git(someone.project, "init", "-q")
    run_git(someone.project, "remote", "add", "origin", REMOTE)
    done = someone.types("hub", "join", given=line)
    assert done.status == 0, done.err
    (someone.home / "config.toml").write_text(settings)


@pytest.fixture
def desk(person: Person, other_person: Person, owned: OwnedDatabase) -> Person:
    """Another machine of the same person; both have joined."""
    line = invited(person, owned, "ann")
    join(person, line, SETTINGS + '[machine]\nname = "laptop"\n')
    join(other_person, line, SETTINGS + '[machine]\nname = "desk"\n')
    return other_person


def texts(someone: Person) -> list[str]:
    return [row["text"] for row in someone.types("memories", "list", "--json").json]


def test_what_would_be_sent_is_listed_before_it_is(person: Person, desk: Person) -> None:
    assert person.types("hub", "status", "--what").err == "nothing would be sent\n"
    person.types("remember", "The staging port is 5433.")
    (row,) = person.types("hub", "status", "--what", "--json").json
    assert (row["kind"], row["project"], row["audience"]) == ("memory", "github.com/acme/shop", "own")
    assert "5433" in row["body"]
    assert person.types("hub", "status", "--what").out.endswith("  The staging port is 5433.\n")
    (state,) = person.types("hub", "status", "--json").json
    assert (state["waiting"], state["pushed_at"], state["problem"]) == (1, None, None)
    assert person.types("hub", "push", "--json").json[0]["sent"] == 1
    assert person.types("hub", "status", "--what", "--json").json == []
    (state,) = person.types("hub", "status", "--json").json
    assert state["waiting"] == 0
    assert state["pushed_at"]
    assert desk.types("hub", "pull", "--json").json[0]["pulled"] == 1
    assert texts(desk) == ["The staging port is 5433."]


def test_a_machine_that_has_not_applied_a_removal_is_named(person: Person, desk: Person) -> None:
    person.types("remember", "The staging port is 5433.")
    person.types("hub", "push")
    desk.types("hub", "pull")
    (id,) = [row["id"] for row in person.types("memories", "list", "--json").json]
    assert person.types("memories", "forget", id, "--yes").status == 0
    person.types("hub", "push")
    person.types("hub", "pull")
    (state,) = person.types("hub", "status", "--json").json
    assert {row["machine"]: row["current"] for row in state["machines"]} == {"laptop": True, "desk": False}
    assert "desk of ann, github.com/acme/shop: has not applied" in person.types("hub", "status").out
    desk.types("hub", "pull")
    assert texts(desk) == []
    (state,) = person.types("hub", "status", "--json").json
    assert all(row["current"] for row in state["machines"])


def test_the_daemon_shares_by_itself(person: Person, desk: Person) -> None:
    desk.types("hub", "pull")
    assert person.types("up").status == 0
    person.types("remember", "The staging port is 5433.")
    wait_until(lambda: bool(person.types("hub", "status", "--json").json[0]["pushed_at"]))
    wait_until(lambda: person.types("hub", "status", "--json").json[0]["waiting"] == 0)
    assert desk.types("up").status == 0
    try:
        wait_until(lambda: texts(desk) == ["The staging port is 5433."])
    finally:
        assert desk.types("down").status == 0


def test_a_colleague_gets_what_a_person_marked_and_nothing_else(
    person: Person, other_person: Person, owned: OwnedDatabase
) -> None:
    join(person, invited(person, owned, "ann"))
    join(other_person, invited(person, owned, "bob"))
    person.types("remember", "My own habit.")
    person.types("remember", "--team", "The team deploys on Mondays.")
    marked = person.types("remember", "Releases are signed.").out.strip()
    assert person.types("memories", "share", marked).status == 0
    person.types("hub", "push")
    other_person.types("hub", "pull")
    assert texts(other_person) == []
    assert shared_bodies(other_person) == {"The team deploys on Mondays.", "Releases are signed."}
    assert person.types("memories", "unshare", marked).status == 0
    person.types("hub", "push")
    other_person.types("hub", "pull")
    assert shared_bodies(other_person) == {"The team deploys on Mondays."}
    assert len(texts(person)) == 3


def shared_bodies(someone: Person) -> set[str]:
    """The texts that this machine has of others."""
    store = open_store(someone.home / "store.db", someone.home / "backups", 0)
    try:
        return {json.loads(each.body)["text"] for each in store.shared_items(SharedWithin(), START, 100)}
    finally:
        store.close()


def test_sharing_says_what_keeps_a_memory_from_the_team(person: Person, desk: Person) -> None:
    (desk.home / "config.toml").write_text("")
    done = desk.types("remember", "--team", "The team deploys on Mondays.")
    assert done.status == 0
    assert "not sent yet: no hub is for this project" in done.err
    refused = person.types("remember", "--team", "--scope", "user", "I prefer tabs.")
    assert refused.status == 1
    assert "only memories of this project" in refused.err


def test_an_agent_shares_nothing_with_the_team(person: Person) -> None:
    id = person.types("remember", "The team deploys on Mondays.").out.strip()
    within = replace(person, variables={"CLAUDE_CODE_SESSION_ID": "s1"})
    refused = within.types("memories", "share", id)
    assert refused.status == 1
    assert "only a person shares a memory with the team" in refused.err
    assert person.types("memories", "unshare", id).err == "it was not shared with the team\n"


def test_a_problem_is_shown_everywhere_with_since_when(person: Person, desk: Person) -> None:
    password_file = person.home / "hubs" / "hub" / "password"
    password_file.chmod(0o644)
    person.types("remember", "The staging port is 5433.")
    pushed = person.types("hub", "push")
    assert pushed.status == 1
    (state,) = person.types("hub", "status", "--json").json
    assert state["problem"]
    assert state["failing_since"]
    assert state["waiting"] == 1
    shown = person.types("hub", "status")
    assert shown.status == 1
    assert "PROBLEM for " in shown.out
    problems = person.types("status", "--json").json["problems"]
    assert [each["check"] for each in problems if each["check"].startswith("hub")] == ["hub hub"]
    doctor = person.types("doctor", "--json").json
    assert [each["ok"] for each in doctor if each["check"] == "hub hub"] == [False]
    password_file.chmod(0o600)
    assert person.types("hub", "push").status == 0
    assert not [each for each in person.types("status", "--json").json["problems"] if "hub" in each["check"]]


def test_leaving_keeps_what_is_mine_and_erasing_removes_it_at_the_hub(person: Person, desk: Person) -> None:
    person.types("remember", "The staging port is 5433.")
    person.types("hub", "push")
    desk.types("hub", "pull")
    asked = desk.types("hub", "leave")
    assert asked.status == 1
    assert "--yes" in asked.err
    assert desk.types("hub", "leave", "--yes").status == 0
    assert texts(desk) == ["The staging port is 5433."]
    assert desk.types("hub", "push").status == 1
    left = person.types("hub", "leave", "--erase", "--yes", "--json").json
    assert left["erased"] == 1
    assert texts(person) == ["The staging port is 5433."]
    assert not (Path(person.home) / "hubs" / "hub" / "hub.json").exists()


def test_without_a_hub_nothing_is_shared_and_that_is_said(person: Person) -> None:
    done = person.types("hub", "status")
    assert (done.status, "nothing is shared" in done.err) == (0, True)
    assert person.types("hub", "status", "--json").json == []
    assert person.types("hub", "push").status == 1
    assert person.types("hub", "leave", "--yes").status == 1


def test_what_two_machines_changed_at_once_is_named_with_both_versions(person: Person, desk: Person) -> None:
    id = person.types("remember", "The staging port is 5433.").out.strip()
    person.types("hub", "push")
    desk.types("hub", "pull")
    desk.types("memories", "edit", id, "The staging port is 6000.")
    person.types("memories", "edit", id, "The staging port is 7000.")
    for each in (desk, person, desk):
        each.types("hub", "push")
        each.types("hub", "pull")
    (state,) = person.types("hub", "status", "--json").json
    (conflict,) = state["conflicts"]
    assert {conflict["holds"]["machine"], conflict["other"]["machine"]} == {"laptop", "desk"}
    assert f"holdfast hub history {id}" in person.types("hub", "status").out
    histories = [each.types("hub", "history", id[:8], "--json").json for each in (person, desk)]
    for versions in histories:
        assert {row["text"] for row in versions} == {"The staging port is 6000.", "The staging port is 7000."}
        assert [row["holds"] for row in versions] == [True, False]
    assert texts(person) == texts(desk) == [histories[0][0]["text"]]
    assert person.types("hub", "history", "nothing").status == 1
