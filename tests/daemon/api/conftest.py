"""A daemon that has something to tell, for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from holdfast.core.events.world import Project
from tests.daemon.api.served import Caller, Furnished, furnish
from tests.daemon.conftest import Lodging


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Furnished]:
    """A home with something in it, and a daemon that nothing is going to happen to."""
    lodging = Lodging(tmp_path_factory.mktemp("api"))
    try:
        found = furnish(lodging)
        lodging.start()
        yield found
    finally:
        lodging.end()


@pytest.fixture
def lodging(furnished: Furnished) -> Lodging:
    return furnished.lodging


@pytest.fixture
def project(furnished: Furnished) -> Project:
    return furnished.project


@pytest.fixture
def caller(lodging: Lodging) -> Caller:
    return Caller(lodging)
