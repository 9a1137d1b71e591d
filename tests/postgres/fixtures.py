"""Fixtures for tests on a real PostgreSQL: one server for a test run, a new database for each test.

A test that uses one is marked `postgres` by itself: `make test-postgres` runs it, `make test` does not.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest

from tests.postgres import server

_FIXTURES = frozenset({"postgres", "database", "new_database", "own_postgres"})


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if _FIXTURES & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.postgres)


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[server.Address]:
    """The server of this test run, which all workers share."""
    _require_server()
    base = tmp_path_factory.getbasetemp()
    common = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    with server.shared_server(common / "postgres") as address:
        yield address


@pytest.fixture(scope="session")
def new_database(postgres: server.Address) -> Callable[[], str]:
    """Makes an empty database; returns its name."""
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    names = (f"test_{worker}_{os.getpid()}_{number}" for number in itertools.count())

    def make() -> str:
        import psycopg  # noqa: PLC0415 - an extra of the package

        name = next(names)
        with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
            connection.execute(f'create database "{name}"'.encode())
        return name

    return make


@pytest.fixture
def database(postgres: server.Address, new_database: Callable[[], str]) -> str:
    """The URL of a new empty database, as its superuser, over the Unix socket."""
    return postgres.url(new_database())


@pytest.fixture
def own_postgres() -> Generator[Callable[..., server.Server]]:
    """Starts servers of the test's own, which it may stop, crash and start again."""
    _require_server()
    started: list[server.Server] = []

    def start(*, has_pgvector: bool = True) -> server.Server:
        started.append(server.Server(has_pgvector=has_pgvector))
        started[-1].start()
        return started[-1]

    yield start
    for each in started:
        each.remove()


def _require_server() -> None:
    if not server.is_installed():
        pytest.skip("there is no PostgreSQL: `make test-postgres` installs one")


def log_of(each: server.Server) -> str:
    """What a server of the test's own has logged."""
    return Path(each.folder, "log").read_text(encoding="utf-8", errors="replace")
