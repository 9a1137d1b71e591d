"""Every hub there is, each new and empty."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast.stores.hub.memory import MemoryDatabase
from tests.postgres.server import Address
from tests.stores.hub.contract import NOON, Place
from tests.stores.hub.rooms import PostgresRoom, room_on


@pytest.fixture
def room(postgres: Address, new_database: Callable[[], str], tmp_path: Path) -> Iterator[PostgresRoom]:
    """A hub on PostgreSQL, prepared by an owner who is no superuser."""
    made = room_on(postgres, new_database(), tmp_path)
    yield made
    made.close()


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    if request.param == "postgres":
        room: PostgresRoom = request.getfixturevalue("room")
        yield room.place
        return
    database = MemoryDatabase(itertools.count(NOON).__next__)
    made = Place(database.connect_owner(), lambda invitation: database.connect(invitation.login))
    yield made
    made.close()
