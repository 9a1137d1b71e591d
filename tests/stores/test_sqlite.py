"""What is true of the SQLite store alone: its tables, its files and its transactions."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import apsw
import pytest

from holdfast.errors import StoreLocked
from holdfast.stores.sqlite import SqliteStore, texts_of_copy
from holdfast.stores.sqlite.database import LOG_PAGES, LOG_PAGES_MOST, enter_wal, run
from tests.stores.contract import (
    ALL,
    NOON,
    PROMPT,
    SESSION,
    checkpoint,
    document,
    ended,
    prompt,
    session,
)
from tests.stores.sqlite_files import columns, filled, opened

PAGE = 4_096
CHECKPOINT_COLUMNS = (
    "id session_key harness project project_normalized trigger digest prompt_count memory_queries "
    "recent_remembers created_at"
)


@pytest.mark.parametrize(
    ("table", "first"),
    [
        ("session_checkpoints", CHECKPOINT_COLUMNS),
        ("sessions", "key created_at updated_at metadata"),
        ("messages", "id session_key parent_id type timestamp data"),
    ],
)
def test_the_tables_begin_with_the_columns_that_others_read(path: Path, table: str, first: str) -> None:
    opened(path).close()
    names = first.split()
    assert columns(path, table)[: len(names)] == names


def test_a_checkpoint_reads_well_for_others(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.add_checkpoint(checkpoint("c1", created_at=NOON + 7))
    (row,) = store._database.rows("select created_at, trigger, memory_queries from session_checkpoints")
    assert row == ("2026-01-01T12:00:00.007Z", "periodic", '["fix parser","add tests"]')
    store.close()


@pytest.mark.parametrize(
    ("sql", "index"),
    [
        (
            "select 1 from session_checkpoints where session_key = '' order by created_at desc",
            "checkpoints_session",
        ),
        ("select 1 from session_checkpoints where project_normalized = ''", "checkpoints_project"),
        (
            "select 1 from messages where session_key = '' order by timestamp desc, rowid desc",
            "messages_session",
        ),
        ("select 1 from messages where parent_id = ''", "messages_parent"),
        ("select 1 from messages where record_id = ''", "messages_record"),
        ("select metadata from sessions where project_id = '' and updated_at >= 0", "sessions_project"),
        ("select metadata from sessions where pid = 1 and pid_start = 2", "sessions_process"),
        ("select rowid from messages where redactor < '2' or redactor > '2'", "messages_redactor"),
        ("select rowid from sessions where redactor < '2' or redactor > '2'", "sessions_redactor"),
        ("select 1 from receipts where predecessor = ''", "receipts_predecessor"),
    ],
)
def test_what_is_asked_often_has_an_index(path: Path, sql: str, index: str) -> None:
    store = opened(path)
    plan = " ".join(str(row[3]) for row in store._database.rows(f"explain query plan {sql}"))
    assert f"idx_{index}" in plan
    assert "TEMP B-TREE" not in plan
    store.close()


def test_everything_is_for_its_owner_alone(path: Path) -> None:
    before = os.umask(0)
    try:
        store = opened(path)
        with store.writing():
            store.put_session(SESSION)
        files = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
        assert [stat.S_IMODE(file.stat().st_mode) for file in files] == [0o600] * 3
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
        store.close()
    finally:
        os.umask(before)


def test_a_file_that_others_could_read_is_closed_to_them(path: Path) -> None:
    opened(path).close()
    path.chmod(0o644)
    opened(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_closed_store_is_one_file(path: Path) -> None:
    filled(path)
    assert [file.name for file in path.parent.iterdir()] == ["store.db"]


def test_what_one_connection_wrote_the_other_reads(path: Path) -> None:
    one, other = opened(path), opened(path)
    with one.writing():
        one.put_session(SESSION)
    assert other.session("s1") == SESSION
    with other.writing():
        other.put_session(session("s2"))
    assert [each.key for each in one.sessions(ALL)] == ["s2", "s1"]
    one.close()
    assert other.session("s2") is not None
    other.close()


def test_someone_else_writing_is_said_to_be_so(path: Path) -> None:
    one, other = opened(path), opened(path)
    other._database.connection.set_busy_timeout(1)
    with (
        one.writing(),
        pytest.raises(StoreLocked, match=r"store\.db` is being written") as refused,
        other.writing(),
    ):
        pass
    assert refused.value.hint
    one.close()
    other.close()


def test_making_a_store_waits_for_another_who_makes_it(path: Path) -> None:
    path.parent.mkdir()
    one, other = apsw.Connection(str(path)), apsw.Connection(str(path))
    run(one, "begin exclusive")
    enter_wal(other, pause=lambda _: _end(one))
    assert run(other, "pragma journal_mode") == [("wal",)]
    one.close()
    other.close()


def _end(connection: apsw.Connection) -> None:
    run(connection, "commit")


def test_a_log_that_is_left_is_moved_on_request(path: Path) -> None:
    store = opened(path)
    store.leave_log()
    write_pages(store, LOG_PAGES)
    assert pages_moved(store) == 0, "a commit does not move it"
    store.move_log()
    assert pages_moved(store) >= LOG_PAGES
    store.close()


def test_a_short_log_stays(path: Path) -> None:
    store = opened(path)
    store.leave_log()
    write_pages(store, 10)
    store.move_log()
    assert pages_moved(store) == 0
    store.close()


def test_a_log_that_nobody_moves_does_not_grow_for_ever(path: Path) -> None:
    store = opened(path)
    store.leave_log()
    write_pages(store, 3 * LOG_PAGES_MOST)
    assert Path(f"{path}-wal").stat().st_size < 2 * LOG_PAGES_MOST * PAGE
    store.close()


def write_pages(store: SqliteStore, count: int) -> None:
    """Commit about so many pages, in small transactions."""
    text = "x" * PAGE * 50
    for number in range(count // 50 + 1):
        with store.writing():
            store.put_session(session(f"s{number}", model=text))


def pages_moved(store: SqliteStore) -> int:
    """How many pages are in the database's own file, beside its first."""
    return store._database.path.stat().st_size // PAGE - 1


def test_what_is_dropped_leaves_no_trace_in_the_file(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.put_session(ended("s1"))
        store.add_event(prompt("r1", text="Rumpelstilzchen"))
        store.add_document(document("d1", "Rumpelstilzchen heinzelmann", session="s1"))
        store.add_checkpoint(checkpoint("c1", digest="Rumpelstilzchen"))
    store.close()
    assert b"umpelstilzchen" in path.read_bytes()
    store = opened(path)
    with store.writing():
        store.prune_sessions(NOON + 1, NOON + 1)
        store.prune_records(NOON + 1, ALL, ALL)
        store.trim_checkpoints("s1", 0)
    store.close()
    left = path.read_bytes()
    assert b"umpelstilzchen" not in left
    assert b"heinzelmann" not in left


def test_what_is_forgotten_leaves_no_trace_in_any_file(path: Path) -> None:
    reader, store = opened(path), opened(path)
    with store.writing():
        for key in ("s1", "s2"):
            store.put_session(session(key, transcript=f"/t/{key}-heinzelmann.jsonl"))
            store.put_cursor(f"/t/{key}-heinzelmann.jsonl", "1")
            for number in range(50):
                text = f"Rumpelstilzchen {number} " * 100
                store.add_event(prompt(f"r{number}", session=key, text=text))
                store.add_document(document(f"{key} {number}", text, session=key))
    with store.writing():
        store.forget(["s1", "s2"], NOON)
    files = [path, Path(f"{path}-wal"), Path(f"{path}-shm")]
    assert any(b"umpelstilzchen" in file.read_bytes() for file in files), "it was there"
    store.scrub()
    for file in files:
        content = file.read_bytes()
        assert b"umpelstilzchen" not in content, file
        assert b"heinzelmann" not in content, file
    assert files[1].stat().st_size == 0
    reader.close()
    store.close()
    empty = path.with_name("empty.db")
    opened(empty).close()
    assert path.stat().st_size < empty.stat().st_size + 100_000


def test_a_reader_in_the_way_of_scrubbing_is_said_to_be_there(path: Path) -> None:
    filled(path)
    reader, store = opened(path), opened(path)
    for each in (reader, store):
        each._database.connection.set_busy_timeout(1)
    run(reader._database.connection, "begin; select count(*) from messages")
    with store.writing():
        store.forget(["s1"], NOON)
    with pytest.raises(StoreLocked, match="is being read by another process"):
        store.scrub()
    run(reader._database.connection, "commit")
    store.scrub()
    assert Path(f"{path}-wal").stat().st_size == 0
    reader.close()
    store.close()


def test_a_row_that_is_damaged_is_redacted_as_it_is(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.put_session(SESSION, "2")
        store.add_event(PROMPT, "1")
        store._database.write("update messages set data = :data", {"data": '{"text": "hunter2'})
        store.rewrite("2", lambda _, text: text.replace("hunter2", "[gone]"), ALL, ALL)
    assert store._database.rows("select data, redactor from messages") == [('{"text": "[gone]', "2")]
    store.close()


def test_the_texts_of_a_copy_are_read_and_nothing_is_made_beside_it(path: Path, backups: Path) -> None:
    filled(path)
    opened(path, "create table one (a)").close()
    (copy,) = backups.iterdir()
    before = copy.read_bytes()
    assert sum(text.place == "messages.data" for text in texts_of_copy(copy)) == 200
    assert [file.name for file in backups.iterdir()] == [copy.name]
    assert copy.read_bytes() == before


def test_a_kind_of_event_from_a_later_version_is_passed_over(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.put_session(SESSION)
        store.add_event(PROMPT)
        store.add_event(prompt("r2"))
        store._database.write("update messages set type = :type where record_id = 'r1'", {"type": "dreamt"})
    assert store.events("s1", ALL) == [prompt("r2")]
    store.close()


def test_a_stray_row_is_found_by_the_check(path: Path) -> None:
    store = opened(path)
    with store.writing():
        store.put_session(SESSION)
        store.add_event(PROMPT)
    run(store._database.connection, "pragma foreign_keys = off; delete from sessions")
    assert store.check() == "a row of `messages` belongs to no session"
    store.close()


def test_a_durable_transaction_is_synced_and_the_next_one_is_not(path: Path) -> None:
    store = opened(path)
    levels = []
    for way in (store.writing, store.writing_durably, store.writing):
        with way():
            levels += store._database.rows("pragma synchronous")
    assert levels == [(1,), (2,), (1,)]
    store.close()
