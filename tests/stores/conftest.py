"""Every store there is, each new and empty, and where one may be made."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.stores.base import Store
from holdfast.stores.sqlite import open_in_memory, open_store
from tests.stores.contract import NOON


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Where a store may be made, in a home that is not there yet."""
    return tmp_path / "home" / "store.db"


@pytest.fixture
def backups(path: Path) -> Path:
    return path.parent / "backups"


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, path: Path, backups: Path) -> Iterator[Store]:
    opened: Store
    match request.param:
        case "memory":
            opened = open_in_memory()
        case _:
            opened = open_store(path, backups, NOON)
    yield opened
    opened.close()
