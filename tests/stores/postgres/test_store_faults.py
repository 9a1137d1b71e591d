"""What can go wrong between a store and its server, and what a caller is told."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator

import psycopg
import pytest

from holdfast.errors import StoreAway, StoreError, StoreLocked, StoreTooNew
from holdfast.stores.postgres.connection import PostgresAddress
from holdfast.stores.postgres.database import PostgresDatabase
from holdfast.stores.postgres.schema import Step, shipped_steps
from holdfast.stores.postgres.store import PostgresStore, open_by_steps, open_postgres
from tests.postgres.server import Server
from tests.stores.contract import ALL, SHOP, document, prompt, session


@pytest.fixture
def address(database: str) -> PostgresAddress:
    return PostgresAddress(database)


@pytest.fixture
def store(address: PostgresAddress) -> Iterator[PostgresStore]:
    opened = open_postgres(address)
    yield opened
    opened.close()


def end_connections(url: str) -> None:
    """End every other connection to that database; other tests share its server."""
    with psycopg.connect(url) as connection:
        connection.execute(_END)


_END = """
select pg_terminate_backend(pid)
  from pg_stat_activity
 where datname = current_database()
   and pid <> pg_backend_pid()
"""


def put(store: PostgresStore, key: str) -> None:
    with store.writing():
        store.put_session(session(key))


def test_a_connection_that_was_lost_between_two_calls_is_made_again(
    store: PostgresStore, database: str
) -> None:
    put(store, "s1")
    end_connections(database)
    assert store.session("s1") == session("s1")
    end_connections(database)
    put(store, "s2")
    assert len(store.sessions(ALL)) == 2


def test_a_connection_that_is_lost_inside_a_transaction_undoes_it(
    store: PostgresStore, database: str
) -> None:
    with pytest.raises(StoreAway), store.writing():
        _put_and_lose(store, database)
    assert store.sessions(ALL) == []
    put(store, "s3")
    assert [each.key for each in store.sessions(ALL)] == ["s3"]


def _put_and_lose(store: PostgresStore, url: str) -> None:
    store.put_session(session("s1"))
    end_connections(url)
    store.put_session(session("s2"))


def test_a_server_that_is_away_is_named_and_comes_back(own_postgres: Callable[..., Server]) -> None:
    server = own_postgres()
    now = [0.0]
    database = PostgresDatabase(PostgresAddress(server.address.url("postgres")), "holdfast", lambda: now[0])
    assert database.rows("select 1") == [(1,)]
    server.stop()
    with pytest.raises(StoreAway, match=r"does not answer|stopped answering"):
        database.rows("select 1")
    server.start()
    with pytest.raises(StoreAway):
        database.rows("select 1")
    now[0] += 60
    assert database.rows("select 1") == [(1,)]
    database.close()


def test_a_statement_that_failed_cannot_be_passed_over(store: PostgresStore) -> None:
    with pytest.raises(StoreError, match="undid a change"), store.writing():
        _put_and_pass_over_failure(store)
    assert store.sessions(ALL) == []


def _put_and_pass_over_failure(store: PostgresStore) -> None:
    store.put_session(session("s1"))
    with pytest.raises(StoreError):
        store._database.write("insert into nowhere values (1)", {})


def test_an_event_without_its_session_is_refused_when_the_transaction_ends(store: PostgresStore) -> None:
    with pytest.raises(StoreError), store.writing():
        store.add_event(prompt("r1", session="nobody"))
    assert store.counts().events == 0


def test_who_waits_too_long_for_another_writer_is_told_so(
    store: PostgresStore, address: PostgresAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.stores.postgres.database.LOCK_MS", 50)
    other = open_postgres(address)
    with store.writing(), pytest.raises(StoreLocked):
        put(other, "s1")
    put(other, "s1")
    assert store.session("s1") is not None
    other.close()


def test_a_statement_that_takes_too_long_is_ended(
    store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.stores.postgres.database.STATEMENT_MS", 50)
    with pytest.raises(StoreLocked):
        store._database.rows("select pg_sleep(60)")
    assert store.sessions(ALL) == []


def test_one_process_reads_while_another_writes(store: PostgresStore, address: PostgresAddress) -> None:
    put(store, "s1")
    other = open_postgres(address)
    with store.writing():
        store.put_session(session("s2"))
        assert [each.key for each in other.sessions(ALL)] == ["s1"]
    assert len(other.sessions(ALL)) == 2
    other.close()


def test_a_later_schema_is_refused_in_one_sentence(store: PostgresStore, address: PostgresAddress) -> None:
    later = (*shipped_steps(), Step(shipped_steps()[-1].version + 1, "create table new (number bigint)"))
    open_by_steps(address, "holdfast", later).close()
    with pytest.raises(StoreTooNew, match="was written by a later version") as error:
        open_postgres(address)
    assert "upgrade" in error.value.hint
    assert store.sessions(ALL) == []


def test_a_step_that_fails_changes_nothing(address: PostgresAddress, store: PostgresStore) -> None:
    put(store, "s1")
    broken = (
        *shipped_steps(),
        Step(shipped_steps()[-1].version + 1, "create table new (a bigint); nonsense"),
    )
    with pytest.raises(StoreError):
        open_by_steps(address, "holdfast", broken)
    again = open_postgres(address)
    assert again.session("s1") == session("s1")
    again.close()


def test_two_schemas_of_a_database_are_two_stores(store: PostgresStore, address: PostgresAddress) -> None:
    put(store, "s1")
    other = open_postgres(address, f'odd "{uuid.uuid4().hex}')
    assert other.sessions(ALL) == []
    other.close()


def test_vectors_that_were_there_before_the_extension_are_compared_by_it(
    store: PostgresStore, address: PostgresAddress, database: str
) -> None:
    with store.writing():
        store.add_document(document("a", "x", vector=(1.0, 0.0)))
        store.add_document(document("b", "x", vector=(0.6, -0.8)))
    before = store.nearest((1.0, 0.0), SHOP, ALL)
    with psycopg.connect(database) as connection:
        connection.execute("create extension vector")
    extended = open_postgres(address)
    after = extended.nearest((1.0, 0.0), SHOP, ALL)
    assert [hit.id for hit in after] == [hit.id for hit in before] == ["a", "b"]
    assert [hit.score for hit in after] == pytest.approx([hit.score for hit in before], abs=1e-3)
    extended.close()
