"""The sessions that OpenClaw keeps are offered until they are taken over or refused, and only ever read."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import embed
from tests.cli.conftest import HARNESS, Person
from tests.harnesses import openclaw_records as openclaw

MAIN = "agent:main:main"
WANTED = "[session.inherit]\nenabled = true\n"


def keeps(person: Person, key: str = MAIN) -> Path:
    """A session in the database that today's OpenClaw has in its user's home."""
    whole = person.user_home / ".openclaw" / "agents" / "main" / "agent" / "openclaw-agent.sqlite"
    return openclaw.in_database(whole, key, "s-1", openclaw.SESSION, pack=True)


def wants(person: Person, settings: str = WANTED) -> None:
    person.home.mkdir(exist_ok=True)
    (person.home / "config.toml").write_text(settings, encoding="utf-8")


@pytest.mark.parametrize("words", [("up",), ("setup", HARNESS, "--yes")])
def test_they_are_offered_with_how_to_take_them(person: Person, words: tuple[str, ...]) -> None:
    whole = keeps(person)
    told = person.types(*words).err
    assert (
        f"OpenClaw: 1 session that your own agent could go on with, the newest of 2026-03-01 in `{whole}`"
        in told
    )
    assert "`holdfast up --inherit` takes them over" in told
    assert "`session.inherit.enabled = true`" in told
    assert "`holdfast import openclaw` makes what was said in them findable" in told


@pytest.mark.parametrize("words", [("up",), ("setup", HARNESS, "--yes")])
@pytest.mark.parametrize("setting", [WANTED, "[session]\ninherit = true\n", ""])
def test_one_word_or_one_setting_takes_them_and_the_originals_stay(
    person: Person, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], setting: str
) -> None:
    whole = keeps(person)
    content = whole.read_bytes()
    if setting:
        wants(person, setting)
    told = person.types(*words, *(() if setting else ("--inherit",))).err
    assert "OpenClaw: 1 session taken over, " in told
    assert f"`{MAIN}`: your agent's first `load()` goes on with it as `holdfast:main:main`" in told
    assert whole.read_bytes() == content
    monkeypatch.setenv("HOME", str(person.user_home))
    store = embed.open_store(person.home, project=person.project)
    session = store.load()
    assert session.key == "holdfast:main:main"
    assert session.records
    store.close()
    again = person.types("up").err
    assert "taken over" not in again
    assert "could go on with" not in again


def test_a_session_of_another_name_is_taken_under_its_own(person: Person) -> None:
    keeps(person, "agent:main:laptop")
    told = person.types("up", "--inherit").err
    assert "1 session taken over" in told
    assert "your agent's first" not in told
    assert [row["session_key"] for row in person.types("sessions", "--json").json] == ["holdfast:main:laptop"]


def test_what_was_forgotten_is_neither_offered_nor_taken_again(person: Person) -> None:
    keeps(person)
    assert person.types("up", "--inherit").status == 0
    assert person.types("forget", "--session", "holdfast:main:main", "--yes").status == 0
    told = person.types("up", "--inherit").err
    assert "taken over" not in told
    assert person.types("sessions", "--json").json == []


def test_a_project_that_is_excluded_is_left_out(person: Person) -> None:
    keeps(person)
    wants(person, '[capture]\nexclude = ["/**"]\n')
    told = person.types("up", "--inherit").err
    assert "1 session left out" in told
    assert person.types("sessions", "--json").json == []


def test_who_refused_them_is_told_nothing(person: Person) -> None:
    keeps(person)
    wants(person, "[session.inherit]\nenabled = false\n")
    assert "OpenClaw" not in person.types("up").err


@pytest.mark.parametrize("words", [("up",), ("up", "--inherit")])
def test_where_there_is_nothing_nothing_is_said(person: Person, words: tuple[str, ...]) -> None:
    assert "OpenClaw" not in person.types(*words).err
