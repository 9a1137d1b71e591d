"""The settings choose where the library keeps its sessions."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest

from holdfast import embed
from holdfast.errors import ConfigError, HoldfastError, StoreReadOnly


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    return home


def settle(home: Path, **session: str) -> None:
    lines = [f"{name} = {json.dumps(value)}" for name, value in session.items()]
    (home / "config.toml").write_text("\n".join(["[session]", *lines]), encoding="utf-8")


def say(home: Path, text: str) -> None:
    with closing(embed.open_store(home, project=home)) as store:
        store.load("mine", window=1_000).ask(text)


def said(home: Path) -> list[str]:
    with closing(embed.open_store(home, project=home)) as store:
        return [message["content"] for message in store.load("mine", window=1_000).messages()]


def test_a_file_of_its_own(home: Path, tmp_path: Path) -> None:
    settle(home, store="sqlite", path=str(tmp_path / "own" / "sessions.db"))
    say(home, "Fix it")
    assert "Fix it" in str(said(home))
    assert (tmp_path / "own" / "sessions.db").exists()
    assert not (home / "store.db").exists()


def test_another_programs_logs_are_only_read(home: Path, tmp_path: Path) -> None:
    settle(home, store="jsonl", path=str(tmp_path / "none"))
    with closing(embed.open_store(home, project=home)) as store:
        assert store.list() == []
        with pytest.raises(StoreReadOnly):
            store.append("mine")


def test_a_database_that_is_not_named_is_asked_for(home: Path) -> None:
    settle(home, store="postgres")
    with pytest.raises(ConfigError, match="no database is named"):
        embed.open_store(home, project=home)


def test_a_password_in_the_url_is_refused(home: Path) -> None:
    settle(home, store="postgres", path="postgresql://me:hunter2@127.0.0.1/mine")
    with pytest.raises(HoldfastError, match="holds a password") as error:
        embed.open_store(home, project=home)
    assert "hunter2" not in str(error.value)


def test_a_database(home: Path, database: str) -> None:
    settle(home, store="postgres", path=database)
    say(home, "Fix it")
    assert "Fix it" in str(said(home))
    assert not (home / "store.db").exists()
