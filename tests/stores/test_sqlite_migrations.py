"""An older SQLite store is brought up to date with a copy made before; a later one is refused."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from holdfast.core.events.event import Origin, Prompt
from holdfast.core.evidence.trail import Trail, Utterance
from holdfast.errors import StoreError, StoreTooNew
from holdfast.stores.base import UNREDACTED, Novelty, Redaction
from holdfast.stores.sqlite import open_store
from holdfast.stores.sqlite.schema import shipped
from holdfast.stores.sqlite.store import open_with
from tests.stores.contract import ALL, MINUTE, NOON, SESSION, SHOP, prompt, session
from tests.stores.sqlite_files import LATER, columns, filled, first_names, first_schema, opened


def test_a_new_store_has_the_latest_schema_and_needed_no_copy(path: Path, backups: Path) -> None:
    store = open_store(path, backups, NOON)
    assert store._database.rows("pragma user_version") == [(shipped()[-1].version,)]
    assert not backups.exists()
    store.close()


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    assert [migration.version for migration in shipped()] == list(range(1, len(shipped()) + 1))


def test_a_store_of_the_first_schema_keeps_its_rows_and_nobody_vouches_for_them(path: Path) -> None:
    first_schema(path, "Fix")
    store = opened(path)
    assert store.redaction("2") == Redaction(rows=5, stale=5)
    assert store.redaction(UNREDACTED) == Redaction(rows=5, stale=0)
    assert store.session("s1") == session("s1", trail=Trail(prompts=(Utterance("Fix it", 3, "r1"),)))
    assert store.events("s1", ALL) == [prompt("r1", text="Fix it")]
    assert [each.digest for each in store.checkpoints(ALL)] == ["Fix it"]
    assert [each.text for each in store.receipts("s1", ALL)] == ["Fix it"]
    assert store.cursor("s1.jsonl") == "10"
    assert [hit.id for hit in store.search(["fix"], SHOP, ALL)] == ["c1"], "its checkpoint was pruned"
    assert store.check() == ""
    store.close()


def test_names_of_the_first_version_are_those_of_today(path: Path) -> None:
    """Rows as version 0.1.0 wrote them: a hook event, Holdfast's own text, and a prompt that waits."""
    first_names(path)
    store = opened(path)
    assert [(each.record, each.origin) for each in store.events("s1", ALL)] == [
        ("hook:1-2", Origin.HUMAN),
        ("b1", Origin.HOLDFAST),
        ("r3", Origin.HUMAN),
    ]
    known = store.session("s1")
    assert known is not None
    assert known.pressure.reported_window == 64_000
    assert [each.record for each in known.waiting] == ["hook:1-2"]
    assert [each.record for each in known.trail.prompts] == ["hook:1-2"]
    with store.writing():
        assert store.add_event(prompt("hook:1-2")) is Novelty.KNOWN
        assert store.add_event(prompt("r3")) is Novelty.KNOWN
    assert store.cursor("index/s1") == '["hook:1-2",3]'
    assert store.cursor("letter.jsonl") == '["letter:'
    assert [each.record for each in store.events_from("s1", "hook:1-2", 1)] == ["hook:1-2"]
    assert store._database.rows("select id from messages order by timestamp") == [
        ("s1#hook:1-2",),
        ("s1#b1",),
        ("s1#r3",),
    ]
    assert store.check() == ""
    store.close()


def test_what_an_older_daemon_stores_after_the_migration_is_known(path: Path) -> None:
    first_names(path)
    store = opened(path)
    with store.writing():
        assert store.add_event(prompt("letter:1-9")) is Novelty.NEW
        assert store.add_event(prompt("hook:1-9")) is Novelty.KNOWN
        assert store.add_event(prompt("hook:1-10")) is Novelty.NEW
    store.close()


def test_texts_that_look_like_old_names_stay_as_they_are(path: Path) -> None:
    first_names(path)
    store = opened(path)
    (_, _, typed) = store.events("s1", ALL)
    assert isinstance(typed, Prompt)
    assert typed.text == '{"record":"letter:9","origin":"ours","told":1}'
    store.close()


def test_the_rows_of_the_first_schema_are_rewritten(path: Path) -> None:
    first_schema(path, "Fix")
    store = opened(path)
    with store.writing():
        store.rewrite("2", lambda _, text: text.replace("Fix", "Mend"), ALL, 1 << 20)
    assert store.redaction("2") == Redaction(rows=5, stale=0)
    assert store.events("s1", ALL) == [prompt("r1", text="Mend it")]
    assert store.search(["fix"], SHOP, ALL) == []
    (hit,) = store.search(["mend"], SHOP, ALL)
    assert [each.text for each in store.around([hit.id], 0, SHOP)] == ["Mend it"]
    assert store.nearest((1.0,), SHOP, ALL) == []
    assert store.check() == ""
    store.close()


def test_an_older_store_is_copied_once_before_the_first_of_many_steps(path: Path, backups: Path) -> None:
    filled(path)
    steps = [f"create table t{number} (a)" for number in range(5)]
    store = opened(path, *steps)
    assert store.session("s1") == SESSION
    assert store._database.rows("pragma user_version") == [(LATER + 4,)]
    (copy,) = backups.iterdir()
    assert copy.name == f"store-20260101T120000Z-schema-{LATER - 1:04}.db"
    assert columns(copy, "t0") == []
    assert columns(path, "t4") == ["a"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    assert stat.S_IMODE(backups.stat().st_mode) == 0o700
    store.close()


def test_a_copy_can_be_gone_back_to(path: Path, backups: Path) -> None:
    filled(path)
    opened(path, "drop table messages").close()
    (copy,) = backups.iterdir()
    copy.replace(path)
    store = opened(path)
    assert len(store.events("s1", ALL)) == 200
    assert store.check() == ""
    store.close()


def test_a_copy_holds_what_was_only_in_the_log(path: Path, backups: Path) -> None:
    busy = opened(path)
    with busy.writing():
        busy.put_session(SESSION)
    opened(path, "create table one (a)").close()
    (copy,) = backups.iterdir()
    store = open_with(copy, backups, NOON, shipped())
    assert store.session("s1") == SESSION
    store.close()
    busy.close()


def test_the_last_three_copies_are_kept(path: Path, backups: Path) -> None:
    opened(path).close()
    other = backups / "notes.txt"
    backups.mkdir()
    other.write_text("mine")
    for step in range(5):
        opened(
            path, *[f"create table t{number} (a)" for number in range(step + 1)], at=NOON + step * MINUTE
        ).close()
    kept = sorted(file.name for file in backups.iterdir())
    assert kept == [
        "notes.txt",
        *(f"store-20260101T120{n}00Z-schema-{LATER - 1 + n:04}.db" for n in (2, 3, 4)),
    ]


def test_a_failed_step_leaves_the_store_as_it_was(path: Path) -> None:
    filled(path)
    with pytest.raises(StoreError, match="no such table"):
        opened(path, "create table one (a); insert into nowhere values (1)")
    assert columns(path, "one") == []
    store = opened(path)
    assert store.session("s1") == SESSION
    store.close()


def test_a_store_from_a_later_version_is_refused_and_left_alone(path: Path, backups: Path) -> None:
    opened(path, "create table one (a)").close()
    before = path.read_bytes()
    with pytest.raises(StoreTooNew) as refused:
        open_store(path, backups, NOON)
    assert refused.value.message == (
        f"the store at `{path}` was written by a later version (schema {LATER}, this is {LATER - 1})"
    )
    assert refused.value.hint == "upgrade with `uv tool upgrade holdfast`"
    assert path.read_bytes() == before
