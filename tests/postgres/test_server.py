"""The server that tests use: it is real, shared by all who name its folder, and gone when the last one is."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from holdfast import system
from tests.postgres.server import Server, shared_server, waited_for


def test_it_is_a_real_server_with_pgvector(database: str) -> None:
    with psycopg.connect(database) as connection:
        connection.execute("create extension vector")
        version, distance = connection.execute(
            "select current_setting('server_version_num')::int / 10000, '[1,2]'::vector <-> '[1,3]'::vector"
        ).fetchone() or (0, 0)
    assert (version, distance) == (18, 1)


def test_each_database_is_new(database: str, new_database: Callable[[], str]) -> None:
    assert new_database() not in database


def test_one_can_be_without_pgvector_and_be_started_again(own_postgres: Callable[..., Server]) -> None:
    own = own_postgres(has_pgvector=False)
    with psycopg.connect(own.address.url("postgres"), autocommit=True) as connection:
        connection.execute("create table kept (number int)")
        with pytest.raises(psycopg.errors.FeatureNotSupported):
            connection.execute("create extension vector")
    own.stop()
    own.start()
    with psycopg.connect(own.address.url("postgres")) as connection:
        assert connection.execute("select count(*) from kept").fetchone() == (0,)


def _ask(folder: Path, answers: multiprocessing.Queue[int]) -> None:
    with shared_server(folder) as address, psycopg.connect(address.url("postgres")) as connection:
        answers.put(connection.info.backend_pid)
        postmaster = connection.execute(
            "select (regexp_match(pg_read_file('postmaster.pid'), '^\\d+'))[1]::int"
        ).fetchone()
        assert postmaster
        answers.put(postmaster[0])


@pytest.mark.postgres
def test_processes_share_one_and_the_last_one_ends_it(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue("own_postgres")
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    processes = [context.Process(target=_ask, args=(tmp_path, answers)) for _ in range(3)]
    with shared_server(tmp_path):
        for process in processes:
            process.start()
        pids = [answers.get(timeout=60) for _ in range(2 * len(processes))]
        for process in processes:
            process.join()
    postmaster = max(set(pids), key=pids.count)
    assert pids.count(postmaster) == len(processes)
    waited_for(lambda: not system.process_exists(postmaster))
