"""An engine with a store of every kind, a clock that is set by hand, and the embedder that is shipped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.world import Project
from holdfast.engine.engine import Engine
from holdfast.engine.memory.recall import Query, RecalledText, recall
from holdfast.engine.memory.remember import MemoryOutcome, MemoryRequest, remember
from holdfast.models import embedder
from holdfast.models.base import Embedder
from holdfast.settings import Config
from holdfast.stores.base import SearchDocument, Store
from holdfast.stores.sqlite import open_in_memory, open_store
from tests.engine.stage import NOON, Stage
from tests.stores.contract import Field

SHOP = Project("~/shop", "/home/you/shop", "shop", "shop-main", "/home/you/shop")
BRANCH = replace(SHOP, worktree_id="shop-branch")
OTHER = replace(SHOP, project_id="other", worktree_id="other-main")
DAY = DAY_MS
EMBEDDER = embedder()


@dataclass
class Library:
    """What a test remembers in and recalls from."""

    store: Store
    home: Path
    now: int = NOON
    config: Config = field(default_factory=Config)
    embedder: Embedder | None = EMBEDDER
    numbers: int = 0

    def engine(self) -> Engine:
        stage = Stage(self.home, config=self.config)
        return replace(
            stage.engine(),
            store=self.store,
            clock=lambda: self.now,
            new_id=self._next_id,
            embedder=lambda: self.embedder,
        )

    def remember(self, text: str, project: Project = SHOP, **wish: Field) -> MemoryOutcome:
        """Remember as a person would, a moment later than before."""
        self.now += 1
        return remember(self.engine(), project, replace(MemoryRequest(text), **wish), source="cli")

    def recall(self, text: str, project: Project = SHOP, **query: Field) -> list[RecalledText]:
        return recall(self.engine(), project, replace(Query(text), **query))

    def texts(self, text: str, project: Project = SHOP, **query: Field) -> list[str]:
        return [finding.text for finding in self.recall(text, project, **query)]

    def add(self, *documents: SearchDocument) -> None:
        with self.store.writing():
            for document in documents:
                self.store.add_document(document)

    def _next_id(self) -> str:
        self.numbers += 1
        return f"memory-{self.numbers:04}"


@pytest.fixture(params=["memory", "sqlite"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Library]:
    if request.param == "memory":
        yield Library(open_in_memory(), tmp_path)
        return
    store = open_store(tmp_path / "store.db", tmp_path / "backups", NOON)
    yield Library(store, tmp_path)
    store.close()
