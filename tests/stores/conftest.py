"""Every store there is, each new and empty, and where one may be made."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from holdfast.stores.base import Store
from holdfast.stores.postgres.connection import PostgresAddress
from holdfast.stores.postgres.store import open_postgres
from holdfast.stores.sqlite import open_in_memory, open_store
from tests.postgres.bouncer import bounced, bouncer_program
from tests.postgres.server import Address
from tests.stores.contract import NOON


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be made, in a home that is not there yet."""
    return tmp_path / "home" / "store.db"


@pytest.fixture
def backups(path: Path) -> Path:
    return path.parent / "backups"


@pytest.fixture(
    params=[
        "memory",
        "sqlite",
        pytest.param("postgres", marks=pytest.mark.postgres),
        pytest.param("postgres without pgvector", marks=pytest.mark.postgres),
        pytest.param("postgres through PgBouncer", marks=pytest.mark.postgres),
    ]
)
def store(request: pytest.FixtureRequest, path: Path, backups: Path) -> Iterator[Store]:
    opened: Store
    match request.param:
        case "memory":
            opened = open_in_memory()
        case "sqlite":
            opened = open_store(path, backups, NOON)
        case "postgres":
            opened = emptied_postgres(request.getfixturevalue("with_pgvector"))
        case "postgres without pgvector":
            opened = emptied_postgres(request.getfixturevalue("without_pgvector"))
        case _:
            opened = emptied_postgres(request.getfixturevalue("through_pgbouncer"))
    yield opened
    opened.close()


@pytest.fixture(scope="session")
def with_pgvector(postgres: Address, new_database: Callable[[], str]) -> PostgresAddress:
    """A database with the extension."""
    url = postgres.url(new_database())
    with psycopg.connect(url) as connection:
        connection.execute("create extension vector")
    return PostgresAddress(url)


def emptied_postgres(address: PostgresAddress) -> Store:
    """The store in that database, without a row: to make its schema anew takes many times as long."""
    opened = open_postgres(address)
    with psycopg.connect(address.url) as connection:
        connection.execute(_EMPTY)
    return opened


_EMPTY = """
do $$
begin
    execute (
        select 'truncate ' || string_agg(format('%I.%I', schemaname, tablename), ', ') || ' restart identity'
          from pg_tables
         where schemaname = 'holdfast'
           and tablename <> 'schema_version'
    );
    insert into holdfast.vectors_dropped values (0);
    insert into holdfast.documents_in_all values (0, 0);
    insert into holdfast.last_revision values (0);
end $$
"""


@pytest.fixture(scope="session")
def through_pgbouncer(postgres: Address, new_database: Callable[[], str]) -> Iterator[PostgresAddress]:
    """A database behind a PgBouncer in transaction mode."""
    if bouncer_program() is None:
        pytest.skip("there is no PgBouncer: install the package `pgbouncer`")
    with bounced(postgres) as bouncer:
        yield PostgresAddress(bouncer.url(new_database()))


@pytest.fixture(scope="session")
def without_pgvector(postgres: Address, new_database: Callable[[], str]) -> PostgresAddress:
    return PostgresAddress(postgres.url(new_database()))
