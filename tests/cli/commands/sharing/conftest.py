"""A database whose owner is no superuser, and people with homes of their own."""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.cli.conftest import Person
from tests.postgres.server import Address


@dataclass(frozen=True)
class OwnedDatabase:
    """A database, and how its owner logs in."""

    url: str
    password: str
    password_file: Path


@pytest.fixture
def owned(postgres: Address, new_database: Callable[[], str], tmp_path: Path) -> OwnedDatabase:
    name, password = new_database(), secrets.token_hex()
    owner = f"owner_of_{name}"
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"create role {owner} login createrole password '{password}'".encode())
        connection.execute(f"alter database {name} owner to {owner}".encode())
    file = tmp_path / "owner-password"
    file.touch(0o600)
    file.write_text(password, encoding="ascii")
    return OwnedDatabase(postgres.url(name, owner), password, file)


@pytest.fixture
def other_person() -> Iterator[Person]:
    """Somebody at another machine."""
    root = Path(tempfile.mkdtemp(prefix="hf-")).resolve()
    someone = Person(root)
    someone.user_home.mkdir(parents=True)
    someone.project.mkdir()
    yield someone
    shutil.rmtree(root, ignore_errors=True)


def files_below(folder: Path) -> dict[str, bytes]:
    """Every file in a folder, by its path in it."""
    return {
        os.path.relpath(Path(root, name), folder): Path(root, name).read_bytes()
        for root, _, names in os.walk(folder)
        for name in names
        if Path(root, name).is_file()
    }
