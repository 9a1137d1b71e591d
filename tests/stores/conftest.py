"""Every store there is, each new and empty."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.stores.base import Store
from holdfast.stores.memory import MemoryStore
from holdfast.stores.sqlite import open_store
from tests.stores.contract import NOON


@pytest.fixture(params=["memory", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    opened: Store
    match request.param:
        case "memory":
            opened = MemoryStore()
        case _:
            opened = open_store(tmp_path / "home" / "store.db", tmp_path / "home" / "backups", NOON)
    yield opened
    opened.close()
