"""The audit counts what would still be redacted, wherever it stands, and tells no value."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.core.redaction.redact import NO_LISTS, Lists
from holdfast.engine.privacy.audit import Exposed, secrets
from holdfast.stores.sqlite import open_in_memory, open_store
from tests.stores.contract import SESSION, checkpoint, prompt

TOKEN = "ghp_" + "Qw3r" * 9
OTHER = "ghp_" + "Zz9y" * 9


def always() -> bool:
    return True


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for name in ("logs", "backups", "spool", "bin"):
        (tmp_path / name).mkdir()
    return tmp_path


def places(found: list[Exposed]) -> dict[str, int]:
    return {one.place: one.count for one in found}


def test_a_clean_home_has_nothing_to_tell(home: Path) -> None:
    (home / "logs" / "daemon.log").write_text("listening, token [REDACTED:github-token]\n")
    assert secrets(open_in_memory(), home, NO_LISTS, always) == []


def test_one_that_nobody_waits_for_any_more_says_nothing(home: Path) -> None:
    (home / "logs" / "daemon.log").write_text(f"token {TOKEN}\n")
    with pytest.raises(TimeoutError):
        secrets(open_in_memory(), home, NO_LISTS, lambda: False)


def test_it_reads_every_column_and_every_copy(home: Path) -> None:
    store = open_store(home / "store.db", home / "backups", 0)
    with store.writing():
        store.put_session(SESSION)
        store.add_event(prompt("r1", text=f"{TOKEN} and {OTHER}"))
        store.add_checkpoint(checkpoint("c1", digest="fine", words="fine", memory_queries=("a", TOKEN)))
        store.put_cursor(f"/t/{TOKEN}", "1")
    assert places(secrets(store, home, NO_LISTS, always)) == {
        "store: messages.data": 2,
        "store: session_checkpoints.memory_queries": 1,
        "store: cursors.source": 1,
    }
    store.close()
    (home / "store.db").rename(home / "backups" / "store-20260101T120000Z-schema-0001.db")
    assert places(secrets(open_in_memory(), home, NO_LISTS, always)) == {
        "backups/store-20260101T120000Z-schema-0001.db: messages.data": 2,
        "backups/store-20260101T120000Z-schema-0001.db: session_checkpoints.memory_queries": 1,
        "backups/store-20260101T120000Z-schema-0001.db: cursors.source": 1,
    }


@pytest.mark.parametrize(
    "place",
    [
        "logs/daemon.log",
        "logs/cli.log.1",
        "spool/17.event",
        "spool/17.event.9.part",
        "backups/17-abcdef-settings.json",
        "store.corrupt-20260101T120000Z.db",
        "backups/store-20260101T120000Z-schema-0001.db",
        "manifest.json",
        "made up by someone",
    ],
)
def test_it_reads_every_file(home: Path, place: str) -> None:
    (home / place).write_bytes(b"\0\1\xff\n" + f"push with {TOKEN} now".encode() + b"\n\0")
    assert places(secrets(open_in_memory(), home, NO_LISTS, always)) == {place: 1}


def test_it_counts_by_kind_and_knows_the_lists(home: Path) -> None:
    (home / "logs" / "daemon.log").write_text(f"{TOKEN}\npostgres://app:hunter2-swordfish@db/app Bluebell\n")
    (home / "config.toml").write_text('[redact]\ndeny = ["Bluebell"]\n')
    found = secrets(open_in_memory(), home, Lists(deny=("Bluebell",)), always)
    assert {one.place for one in found} == {"logs/daemon.log"}
    assert len({one.kind for one in found}) == 3
    assert [one.count for one in found] == [1, 1, 1]


def test_what_is_reported_holds_no_secret(home: Path) -> None:
    (home / "logs" / "daemon.log").write_text(f"{TOKEN}\n")
    assert TOKEN not in str(secrets(open_in_memory(), home, NO_LISTS, always))
