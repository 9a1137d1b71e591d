"""`export`: a session of one's own agent becomes a file that other programs read; `models`: what it cost."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from holdfast import embed
from holdfast.core.agent_log.records import new_record
from holdfast.engine.models import note_use
from holdfast.models.base import ModelAnswer
from holdfast.settings import Models
from holdfast.stores.sqlite import open_store
from tests.cli.conftest import Person
from tests.core.logs import NOON
from tests.embed.loop import turns

KEY = "holdfast:main:main"


@pytest.fixture
def kept(person: Person) -> Person:
    """Someone whose agent has had a session with a checkpoint in it."""
    store = embed.open_store(person.home, project=person.project)
    session = store.load(KEY, window=100_000)
    turns(session, 2, 30_000)
    session.note("mine", {"ü": 1})
    store.close()
    return person


def test_a_session_is_written_as_other_programs_keep_theirs(kept: Person) -> None:
    done = kept.types("export", "openclaw", KEY)
    assert done.status == 0
    lines = [json.loads(line) for line in done.out.splitlines()]
    assert lines[0]["type"] == "session"
    assert (lines[0]["version"], lines[0]["cwd"]) == (3, str(kept.project))
    assert [line["type"] for line in lines[1:]] == [
        "message",
        "message",
        "checkpoint",
        "message",
        "message",
        "custom",
    ]
    parents = [line["parentId"] for line in lines[1:]]
    assert parents == [None, *(line["id"] for line in lines[1:-1])]


def test_what_was_written_can_be_read_again(kept: Person, tmp_path: Path) -> None:
    file = tmp_path / "out" / "session.jsonl"
    file.parent.mkdir()
    done = kept.types("export", "openclaw", KEY, "--to", str(file))
    assert (done.status, done.out) == (0, "")
    assert "7 records" in done.err
    store = embed.open_store(kept.home, project=kept.project)
    theirs = embed.open_source(file).load()
    assert theirs.messages() == store.load(KEY).messages()
    assert theirs.records == store.load(KEY).records
    store.close()


def test_a_log_without_a_header_is_given_one(person: Person) -> None:
    store = embed.open_store(person.home, project=person.project)
    store.append("bare", new_record("custom", "1", "", NOON, {}))
    store.close()
    first, second = person.types("export", "openclaw", "bare").out.splitlines()
    assert json.loads(first)["type"] == "session"
    assert json.loads(second)["id"] == "1"


def test_what_cannot_be_exported_is_said(kept: Person) -> None:
    unknown = kept.types("export", "openclaw", "nobody")
    assert unknown.status == 1
    assert f"these have one: {KEY}" in unknown.err
    assert kept.types("export", "claude-code", KEY).status == 1
    assert "one of: openclaw" in kept.types("export", "nothing", KEY).err


def test_what_asking_models_took_is_shown_by_day(person: Person) -> None:
    assert person.types("models", "usage").out == "no model was asked\n"
    store = open_store(person.home / "store.db", person.home / "backups", NOON)
    prices = Models(sent_cents=100, given_cents=500)
    at = embed._now()
    note_use(store, at, "anthropic/small", ModelAnswer("x", 10_000, 2_000), prices)
    note_use(store, at, "anthropic/small", None, prices)
    store.close()
    (row,) = person.types("models", "usage", "--json").json
    assert {name: row[name] for name in row if name != "date"} == {
        "model": "anthropic/small",
        "requests": 2,
        "failed": 1,
        "sent": 10_000,
        "received": 2_000,
        "cents": 2.0,
    }
    assert "anthropic/small" in person.types("models", "usage").out


def test_a_key_is_not_shown(person: Person) -> None:
    person.home.mkdir()
    (person.home / "config.toml").write_text('[models]\nkey = "very-private"\n')
    for words in (["config"], ["config", "--json"]):
        done = person.types(*words)
        assert "(set)" in done.out
        assert "very-private" not in done.out + done.err
