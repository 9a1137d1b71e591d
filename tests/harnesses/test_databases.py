"""A harness's own database: looked into, never changed, and damage is said in words that can be read."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.harnesses.databases import read_only_database


def made(path: Path) -> Path:
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("create table words (word text)")
    return path


def test_nothing_can_be_written_and_no_file_is_made_beside_it(tmp_path: Path) -> None:
    path = made(tmp_path / "a b?.db")
    with read_only_database(path) as database, pytest.raises(sqlite3.OperationalError, match="readonly"):
        database.execute("insert into words values ('x')")
    assert list(tmp_path.iterdir()) == [path]


def test_damage_that_cannot_be_quoted_is_damage_like_any_other(tmp_path: Path) -> None:
    path = made(tmp_path / "it.db")
    # SQLite names the table that it cannot understand, and this name is no text.
    renamed = path.read_bytes().replace(b"tablewords", b"table\xff\x80\xferd")
    path.write_bytes(renamed.replace(b"(word text)", b"word text))"))
    with pytest.raises(sqlite3.DatabaseError, match="damaged"), read_only_database(path) as database:
        database.execute("select word from words")
