"""Salvage: whatever is damaged, each row that any query can still read is read."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.stores.base import Lineage, SearchDocument
from holdfast.stores.sqlite.database import run
from holdfast.stores.sqlite.recovery.raw_pages import PageFile
from holdfast.stores.sqlite.recovery.salvage import NOT_SALVAGED, TABLES, salvage
from tests.stores.contract import NOON, SESSION, checkpoint, memory, prompt, session
from tests.stores.sqlite_files import first_schema, opened

PAGE = 4096
IDS = {
    "memories": "id",
    "sessions": "key",
    "session_checkpoints": "id",
    "documents": "id",
    "messages": "id",
    "lineage": "child",
    "cursors": "source",
    "forgotten": "hex(name)",
}


def stored(path: Path) -> None:
    """A store with rows in every table, some longer than a page, closed."""
    store = opened(path)
    with store.writing():
        store.put_session(SESSION)
        for number in range(60):
            store.put_session(session(f"session-{number}"))
            store.put_cursor(f"index/session-{number}", "7")
            store.add_event(prompt(f"r{number}", text=f"word{number} " * (2000 if number % 9 == 0 else 100)))
            store.add_checkpoint(checkpoint(f"c{number}"))
            store.put_memory(memory(f"m{number}", text=f"The port of {number} is {number}"))
            text = f"passage {number} " * 300
            store.add_document(SearchDocument(f"d{number}", "prompt", "shop", text, session="s1", at=NOON))
            store.add_lineage(Lineage(f"session-{number}", "s1", "clear", NOON))
        store.forget(["gone-1", "gone-2"], NOON)
    store.close()


def whole(path: Path) -> None:
    """No damage at all."""


def truncated(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 2 // 3 + 100])


def header_zeroed(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(bytes(PAGE) + content[PAGE:])


def header_wrong(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(b"PostgreSQL dump\0" + content[16:])


def every_third_page_random(path: Path) -> None:
    content, chance = bytearray(path.read_bytes()), random.Random(7)
    for at in range(0, len(content), 3 * PAGE):
        content[at : at + PAGE] = chance.randbytes(PAGE)
    path.write_bytes(content)


def garbage_in_the_log(path: Path) -> None:
    Path(f"{path}-wal").write_bytes(random.Random(8).randbytes(100_000))


DAMAGES = [whole, truncated, header_zeroed, header_wrong, every_third_page_random, garbage_in_the_log]


def ids(path: Path, table: str) -> set[Any]:
    with closing(apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)) as connection:
        return {id for (id,) in run(connection, f"select {IDS[table]} from {table}")}


def still_readable(path: Path, table: str) -> set[Any]:
    """What queries can read: forwards, backwards, and around each number by itself."""
    uri = f"file:{path}?immutable=1"
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    found = set[Any]()
    try:
        with closing(apsw.Connection(uri, flags=flags)) as connection:
            for query in _queries(table):
                found |= set(_rows(connection, query))
    except apsw.Error:
        pass
    return found


def _queries(table: str) -> Iterator[str]:
    # All columns: an index alone may know the id of a row that is gone.
    yield f"select {IDS[table]}, * from {table} not indexed"
    if table not in ("lineage", "cursors", "forgotten"):
        yield f"select {IDS[table]}, * from {table} not indexed order by rowid desc"
        for number in range(200):
            yield f"select {IDS[table]}, * from {table} where rowid = {number}"


def _rows(connection: apsw.Connection, query: str) -> Iterator[Any]:
    try:
        for row in connection.execute(query):
            yield row[0]
    except (apsw.Error, UnicodeDecodeError):
        return


def salvaged(path: Path) -> Path:
    salvage(path, path.with_name("salvaged.db"), lambda _: None)
    return path.with_name("salvaged.db")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("template") / "home" / "store.db"
    stored(path)
    return path


@pytest.mark.parametrize("damage", DAMAGES)
def test_every_row_that_a_query_can_read_is_salvaged(
    template: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = Path(shutil.copy(template, tmp_path / "damaged.db"))
    damage(path)
    before = path.read_bytes()
    target = salvaged(path)
    assert path.read_bytes() == before
    for table in IDS:
        got, every = ids(target, table), ids(template, table)
        assert still_readable(path, table) <= got <= every
        assert got == every or damage in (truncated, every_third_page_random)
    # A page that is whole is read, whatever became of the way to it.
    assert len(ids(target, "messages")) > 20


@settings(max_examples=8)
@given(seed=st.integers(0, 2**32), share=st.floats(0.01, 0.6))
def test_the_same_whatever_bytes_are_hit(
    template: Path, tmp_path_factory: pytest.TempPathFactory, seed: int, share: float
) -> None:
    path = Path(shutil.copy(template, tmp_path_factory.mktemp("hit") / "damaged.db"))
    content, chance = bytearray(path.read_bytes()), random.Random(seed)
    for at in range(0, len(content), PAGE):
        if chance.random() < share:
            start = at + chance.randrange(PAGE)
            content[start : start + 64] = chance.randbytes(min(64, len(content) - start))
    path.write_bytes(content)
    target = salvaged(path)
    for table in IDS:
        readable = still_readable(path, table) & ids(template, table)
        missing = readable - ids(target, table)
        # What a query gives back may be damaged inside, and is not taken over then.
        assert len(missing) <= share * len(readable) + 3
    shutil.rmtree(path.parent)


@pytest.mark.parametrize("start", [0, 20, 45, 59, 60])
def test_a_schema_that_a_damaged_header_names_is_not_believed(
    template: Path, tmp_path: Path, start: int
) -> None:
    path = Path(shutil.copy(template, tmp_path / "damaged.db"))
    content = bytearray(path.read_bytes())
    content[start : start + 64] = random.Random(start).randbytes(64)
    path.write_bytes(content)
    assert ids(salvaged(path), "memories") == ids(template, "memories")


def test_what_stands_in_the_log_alone_is_salvaged(tmp_path: Path) -> None:
    path, copy = tmp_path / "home" / "store.db", tmp_path / "copy.db"
    stored(path)
    store = opened(path)
    with store.writing():
        store.put_memory(memory("late", text="Only the log knows"))
    for name in ("", "-wal"):
        shutil.copy(f"{path}{name}", f"{copy}{name}")
    store.close()
    log = Path(f"{copy}-wal").read_bytes()
    assert "late" in ids(salvaged(copy), "memories")
    # A log whose first frame is damaged: SQLite ignores all of it.
    Path(f"{copy}-wal").write_bytes(log[:60] + b"\xff" + log[61:])
    assert "late" in ids(salvaged(copy), "memories")


def test_a_store_of_an_older_schema_is_salvaged(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    first_schema(path, "mend")
    result = salvage(path, tmp_path / "salvaged.db", lambda _: None)
    assert {name: count for name, count in result.rows.items() if count} == {
        "sessions": 1,
        "session_checkpoints": 1,
        "receipts": 1,
        "documents": 1,
        "messages": 1,
        "cursors": 1,
    }


def test_every_table_is_salvaged_or_made_again(tmp_path: Path) -> None:
    stored(tmp_path / "store.db")
    with closing(apsw.Connection(str(tmp_path / "store.db"))) as connection:
        sql = "select name from pragma_table_list where schema = 'main' and type = 'table'"
        there = {str(name) for (name,) in run(connection, sql)}
    assert there - {"sqlite_schema", "sqlite_sequence"} == {*TABLES, *NOT_SALVAGED}


@settings(max_examples=20)
@given(content=st.binary(max_size=20_000), log=st.binary(max_size=2_000))
def test_any_bytes_are_read_or_passed_over(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, log: bytes
) -> None:
    path = tmp_path_factory.mktemp("any") / "store.db"
    path.write_bytes(b"SQLite format 3\0" + content)
    Path(f"{path}-wal").write_bytes(b"\x37\x7f\x06\x82" + log)
    with closing(PageFile(path)) as pages:
        for number in range(1, pages.count + 1):
            list(pages.records(number))
        list(pages.records_beyond())
    shutil.rmtree(path.parent)
