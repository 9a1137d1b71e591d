"""What a rehearsed pruning says would go is what a pruning then removes, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import harnesses
from holdfast.config import Config
from holdfast.core.events.durations import DAY_MS
from holdfast.core.session.session import Phase
from holdfast.engine.engine import Engine
from holdfast.engine.upkeep.maintain import prune_all, would_prune
from holdfast.settings import Records
from holdfast.stores.base import Store, Within
from holdfast.stores.sqlite import open_in_memory, open_store
from tests.stores.contract import checkpoint, document, session

NOW = 1_800_000_000_000
EVERYWHERE = Within(None)
AGES = st.integers(0, 400)
KEYS = st.sampled_from(["s1", "s2", "s3"])


@dataclass(frozen=True)
class Kept:
    """What a store holds: the age in days of each row, and the session that it is of."""

    sessions: dict[str, tuple[int, Phase]]
    checkpoints: list[tuple[str, int]]
    passages: list[tuple[str, int, int]]


STORED = st.builds(
    Kept,
    st.dictionaries(KEYS, st.tuples(AGES, st.sampled_from([Phase.LIVE, Phase.ENDED]))),
    st.lists(st.tuples(KEYS, AGES), max_size=6),
    st.lists(st.tuples(KEYS, AGES, st.sampled_from([1, 400_000])), max_size=4),
)


@contextmanager
def filled(kind: str, kept: Kept) -> Iterator[Store]:
    with TemporaryDirectory() as folder:
        home = Path(folder)
        store: Store = open_in_memory()
        if kind == "sqlite":
            store = open_store(home / "store.db", home / "backups", NOW)
        with store.writing():
            for key, (age, phase) in kept.sessions.items():
                store.put_session(session(key, phase=phase, last_event_at=NOW - age * DAY_MS))
            for number, (key, age) in enumerate(kept.checkpoints):
                store.add_checkpoint(checkpoint(f"c{number}", session=key, created_at=NOW - age * DAY_MS))
            for number, (key, age, size) in enumerate(kept.passages):
                row = document(f"d{number}", "wo rd " * (size // 6 + 1), session=key, at=NOW - age * DAY_MS)
                store.add_document(replace(row, project_id="shop"))
        yield store
        store.close()


def ids(store: Store) -> tuple[set[str], set[str], set[str]]:
    """The checkpoints, sessions and documents that are there."""
    found = (store.checkpoints(99), store.documents(EVERYWHERE, 99))
    return {one.id for one in found[0]}, set(store.keys()), {one.id for one in found[1]}


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
@given(kept=STORED, days=st.integers(0, 100), retention=st.integers(1, 365))
@settings(max_examples=25, deadline=None)
def test_a_rehearsal_tells_what_pruning_removes(kind: str, kept: Kept, days: int, retention: int) -> None:
    with filled(kind, kept) as store:
        engine = Engine(
            store=store,
            harness=harnesses.get,
            config=lambda _: Config(),
            user_home=Path("/nowhere"),
            clock=lambda: NOW,
            new_id=lambda: "id",
        )
        records, before = Records(retention_days=retention, max_mb=1), ids(store)
        told = would_prune(engine, days, records)
        assert ids(store) == before
        assert prune_all(engine, days, records) == told
        after = ids(store)
        assert len(before[0]) - len(after[0]) == told.checkpoints
        assert len(before[2]) - len(after[2]) == told.passages
        assert would_prune(engine, days, records) == type(told)(0, 0, 0)
