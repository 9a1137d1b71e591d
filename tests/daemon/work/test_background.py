"""What nobody waits for, the daemon does by itself: what was said is found, and what is old goes."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager

from holdfast.engine.index import BACKLOG, SETTLED_MS
from holdfast.stores.base import EVERYWHERE, SearchDocument, Store
from holdfast.stores.sqlite import open_store
from tests.daemon.conftest import Lodging, wait_until


@contextmanager
def opened(lodging: Lodging) -> Iterator[Store]:
    store = open_store(lodging.home / "store.db", lodging.home / "backups", 0)
    try:
        yield store
    finally:
        store.close()


def found(lodging: Lodging) -> list[str]:
    with opened(lodging) as store:
        return [one.text for one in store.documents(EVERYWHERE, 9)]


def kept(store: Store, *documents: SearchDocument) -> None:
    with store.writing():
        for document in documents:
            store.add_document(document)


def test_what_a_session_said_is_found_a_while_later(lodging: Lodging) -> None:
    lodging.start()
    payload = {
        "session_id": "s1",
        "cwd": "/",
        "hook_event_name": "UserPromptSubmit",
        "prompt": "Why so slow?",
    }
    lodging.payload(json.dumps(payload), id="1", at=str(time.time_ns() // 1_000_000 - 2 * SETTLED_MS))
    wait_until(lambda: "User: Why so slow?" in found(lodging))


def test_very_many_documents_are_given_vectors(lodging: Lodging) -> None:
    with opened(lodging) as store:
        kept(
            store,
            *(SearchDocument(f"d{n}", "record", "p", f"text {n}", at=1 << 50) for n in range(BACKLOG + 5)),
        )
    lodging.start()

    def waiting() -> int:
        with opened(lodging) as store:
            return len(store.without_vector(BACKLOG + 5))

    wait_until(lambda: waiting() <= BACKLOG)


def test_what_is_past_its_days_goes(lodging: Lodging) -> None:
    with opened(lodging) as store:
        kept(
            store,
            SearchDocument("old", "record", "p", "old", at=1),
            SearchDocument("new", "record", "p", "new", at=1 << 50),
        )
    lodging.start()
    wait_until(lambda: found(lodging) == ["new"])
