"""The owner prepares a hub and invites; a person joins. A password is in one file, and nowhere else."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from holdfast.engine.sharing.connections import hub_connections, parse_invitation
from tests.cli.commands.sharing.conftest import OwnedDatabase, files_below
from tests.cli.conftest import Done, Person
from tests.postgres.fixtures import log_of
from tests.postgres.server import Server, waited_for


def initialised(person: Person, owned: OwnedDatabase) -> Done:
    done = person.types("hub", "init", owned.url, "--password-file", str(owned.password_file))
    assert done.status == 0, done.err
    return done


def line_for(person: Person, *words: str) -> str:
    done = person.types("hub", "invite", *words)
    assert done.status == 0, done.err
    assert done.out.count("\n") == 1
    return done.out


def test_a_hub_is_prepared_once_and_says_what_it_did(person: Person, owned: OwnedDatabase) -> None:
    done = initialised(person, owned)
    assert done.out == ""
    assert "is a hub now" in done.err
    assert "`holdfast hub invite NAME`" in done.err
    assert "is up to date" in initialised(person, owned).err
    assert person.types("hub", "members", "--json").json == []


def test_a_person_joins_with_the_line_of_their_invitation(
    person: Person, other_person: Person, owned: OwnedDatabase
) -> None:
    initialised(person, owned)
    line = line_for(person, "ann", "--team", "shop")
    done = other_person.types("hub", "join", given=line)
    assert done.status == 0, done.err
    assert "joined `hub` as `ann`, in the team `shop`" in done.err
    assert "nothing is shared" in done.err
    (joined,) = hub_connections(other_person.home, {})
    assert (joined.name, joined.person, joined.team) == ("hub", "ann", "shop")
    (member,) = person.types("hub", "members", "--json").json
    assert (member["name"], member["team"], member["is_read_only"]) == ("ann", "shop", False)
    assert member["revoked_at"] is None
    assert "ann" in person.types("hub", "members").out
    again = other_person.types("hub", "join", given=line)
    assert again.status == 1
    assert "has joined a hub `hub` already" in again.err
    assert other_person.types("hub", "join", "--name", "second", given=line).status == 0
    assert [each.name for each in hub_connections(other_person.home, {})] == ["hub", "second"]


def test_the_password_is_in_one_file_and_in_nothing_else(
    person: Person, other_person: Person, owned: OwnedDatabase
) -> None:
    initialised(person, owned)
    invited = person.types("hub", "invite", "ann")
    secret = parse_invitation(invited.out).invitation.password
    joined = other_person.types("hub", "join", given=invited.out)
    assert secret not in invited.out + invited.err + joined.out + joined.err
    for each in (person, other_person):
        for command in (["status", "--json"], ["doctor", "--json"], ["config", "show"]):
            done = each.types(*command)
            assert secret not in done.out + done.err
            assert owned.password not in done.out + done.err
    places = {path for path, text in files_below(other_person.root).items() if secret.encode() in text}
    assert places == {"holdfast/hubs/hub/password"}
    password_file = other_person.home / "hubs" / "hub" / "password"
    assert stat.S_IMODE(password_file.stat().st_mode) == 0o600
    assert stat.S_IMODE(password_file.parent.stat().st_mode) == 0o700
    owners = files_below(person.root)
    assert not [path for path, text in owners.items() if secret.encode() in text]
    assert not [path for path, text in owners.items() if owned.password.encode() in text]


def test_the_server_logs_no_password(person: Person, own_postgres: Callable[..., Server]) -> None:
    server = own_postgres()
    with psycopg.connect(server.address.url("postgres"), autocommit=True) as connection:
        connection.execute("alter system set log_statement = 'all'")
        connection.execute("alter system set log_parameter_max_length = -1")
        connection.execute("select pg_reload_conf()")
        waited_for(lambda: connection.execute("show log_statement").fetchone() == ("all",))
    assert person.types("hub", "init", server.address.url("postgres")).status == 0
    secret = parse_invitation(line_for(person, "ann")).invitation.password
    log = log_of(server)
    assert "person_ann" in log
    assert "SCRAM-SHA-256" in log
    assert secret not in log


def test_a_person_who_is_revoked_cannot_join(
    person: Person, other_person: Person, owned: OwnedDatabase
) -> None:
    initialised(person, owned)
    line = line_for(person, "ann")
    assert person.types("hub", "revoke", "ann").status == 0
    done = other_person.types("hub", "join", given=line)
    assert done.status == 1
    assert "error: PostgreSQL at" in done.err
    assert files_below(other_person.home / "hubs") == {}
    assert person.types("hub", "members", "--json").json[0]["revoked_at"]
    assert person.types("hub", "revoke", "nobody").status == 1


def test_a_new_invitation_makes_the_old_line_worthless(
    person: Person, other_person: Person, owned: OwnedDatabase
) -> None:
    initialised(person, owned)
    first, second = line_for(person, "ann"), line_for(person, "ann", "--read-only")
    assert other_person.types("hub", "join", given=first).status == 1
    done = other_person.types("hub", "join", given=second)
    assert (done.status, "to read" in done.err) == (0, True)


def test_a_container_needs_a_url_and_a_password_file(
    person: Person, other_person: Person, owned: OwnedDatabase, tmp_path: Path
) -> None:
    initialised(person, owned)
    line = parse_invitation(line_for(person, "ann"))
    file = tmp_path / "hub-password"
    file.touch(0o600)
    file.write_text(line.invitation.password, encoding="ascii")
    other_person.variables.update(HOLDFAST_HUB_URL=line.url, HOLDFAST_HUB_PASSWORD_FILE=str(file))
    done = other_person.types("hub", "join")
    assert done.status == 0, done.err
    assert "joined `hub` as `ann`" in done.err
    assert not (other_person.home / "hubs").exists()
    file.chmod(0o644)
    done = other_person.types("hub", "join")
    assert done.status == 1
    assert "others may read the password" in done.err


@pytest.mark.parametrize(
    "given", ["", "\n", "holdfast-hub-1.\n", "holdfast-hub-1.e30\n", "hunter2 is the password\n"]
)
def test_what_is_no_invitation_is_refused_and_not_repeated(other_person: Person, given: str) -> None:
    done = other_person.types("hub", "join", given=given)
    assert done.status == 1
    assert done.err.startswith("error: ")
    assert "hunter2" not in done.err
    assert not (other_person.home / "hubs").exists()


def test_a_url_with_a_password_is_refused(person: Person) -> None:
    done = person.types("hub", "init", "postgresql://ann:hunter2@127.0.0.1:1/hub")
    assert done.status == 1
    assert "holds a password" in done.err
    assert "hunter2" not in done.err


def test_a_hub_that_does_not_answer_is_no_hub_of_this_home(person: Person, tmp_path: Path) -> None:
    done = person.types("hub", "init", f"postgresql://ann@/hub?host={tmp_path}")
    assert done.status == 1
    assert "does not answer" in done.err
    assert "this home owns no hub" in person.types("hub", "members").err


def test_a_record_that_cannot_be_read_fails_closed(person: Person) -> None:
    folder = person.home / "hubs" / "hub"
    folder.mkdir(parents=True)
    for content in ("", "{", "[]", json.dumps({"url": 1}), json.dumps({"url": "x", "tls": "none"})):
        (folder / "hub.json").write_text(content, encoding="utf-8")
        with pytest.raises(Exception, match="cannot be read, so nothing is shared"):
            hub_connections(person.home, {})
