"""Every hub there is, each new and empty."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from holdfast.stores.hub.memory import MemoryDatabase
from tests.stores.hub.contract import NOON, Place


@pytest.fixture(params=["memory"])
def place(request: pytest.FixtureRequest) -> Iterator[Place]:
    database = MemoryDatabase(itertools.count(NOON).__next__)
    made = Place(database.connect_owner(), lambda invitation: database.connect(invitation.login))
    yield made
    made.close()
