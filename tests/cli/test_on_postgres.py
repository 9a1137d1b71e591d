"""Commands of a person whose store is a database of PostgreSQL."""

from __future__ import annotations

import json
from contextlib import closing

import pytest

from holdfast.stores.sqlite import open_store
from tests.cli.conftest import Person
from tests.stores.contract import NOON, memory

pytestmark = pytest.mark.postgres


@pytest.fixture
def connected(person: Person, database: str) -> Person:
    person.home.mkdir(mode=0o700, exist_ok=True)
    (person.home / "config.toml").write_text(f"[store]\nurl = {json.dumps(database)}\n")
    return person


def test_what_is_remembered_is_recalled_and_forgotten_there(connected: Person) -> None:
    assert connected.types("remember", "The staging port is 5433").status == 0
    assert not (connected.home / "store.db").exists()
    assert "5433" in connected.types("recall", "staging port").out
    (row,) = connected.types("memories", "list", "--json").json
    assert connected.types("forget", "--memory", row["id"], "--yes").status == 0
    assert "5433" not in connected.types("recall", "staging port").out


def test_status_and_doctor_say_where_the_store_is(connected: Person) -> None:
    connected.types("remember", "The staging port is 5433")
    status = connected.types("status", "--json").json
    assert status["store"]["memories"] == 1
    assert status["store"]["bytes"] > 0
    (check,) = [row for row in connected.types("doctor", "--json").json if row["check"] == "store"]
    assert check["ok"], check
    assert "PostgreSQL" in check["detail"]
    assert "backups are those of the database's owner" in check["detail"]


@pytest.mark.parametrize("words", [("backup", "there.backup"), ("restore", "there.backup")])
def test_a_backup_of_the_home_would_miss_the_store(connected: Person, words: tuple[str, ...]) -> None:
    (connected.project / "there.backup").touch()
    connected.types("remember", "x is y")
    done = connected.types(*words, "--yes")
    assert done.status == 1
    assert "the store is a database of PostgreSQL" in done.err


def test_what_is_forgotten_goes_from_the_file_that_was_the_store_before(connected: Person) -> None:
    path = connected.home / "store.db"
    with closing(open_store(path, connected.home / "backups", NOON)) as former, former.writing():
        former.put_memory(memory("m1", text="The staging port is 5433."))
        former.put_memory(memory("m2", text="The parser is in cart.py."))
    connected.types("remember", "The staging port is 5433.")
    (row,) = connected.types("memories", "list", "--json").json
    assert connected.types("forget", "--memory", row["id"], "--yes").status == 0
    with closing(open_store(path, connected.home / "backups", NOON)) as former:
        assert [each.id for each in former.memories_named(["m1", "m2"])] == ["m2"]
    assert b"5433" not in path.read_bytes()


def test_a_database_that_is_away_is_an_error_and_no_empty_store(connected: Person) -> None:
    (connected.home / "config.toml").write_text('[store]\nurl = "postgresql://me@127.0.0.1:1/mine"\n')
    done = connected.types("memories", "list")
    assert done.status == 1
    assert "does not answer" in done.err
    assert not (connected.home / "store.db").exists()
    assert "does not answer" in connected.types("status").out
