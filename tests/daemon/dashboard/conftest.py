"""The same daemon that has something to tell, and one that has nothing."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.daemon.api.conftest import caller, furnished, lodging, project
from tests.daemon.api.served import Caller
from tests.daemon.conftest import Lodging

__all__ = ["bare", "caller", "furnished", "lodging", "project"]


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Caller]:
    """A home in which nothing is kept yet."""
    found = Lodging(tmp_path_factory.mktemp("bare"))
    try:
        found.start()
        yield Caller(found)
    finally:
        found.end()
