"""Whoever wants old sessions inherited is told what there is and how to take it, until one is taken."""

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
def test_the_first_run_says_what_it_found_and_how_to_take_it(person: Person, words: tuple[str, ...]) -> None:
    whole = keeps(person)
    wants(person)
    said = person.types(*words).err
    assert f"OpenClaw: 1 session that could be inherited, the newest of 2026-03-01 in `{whole}`" in said
    assert f"`{MAIN}`: your agent's first `load()` begins with it and goes on as `holdfast:main:main`" in said
    assert "`holdfast import openclaw` makes what was said in all of them findable" in said


def test_a_session_of_another_name_is_not_taken_by_itself(person: Person) -> None:
    keeps(person, "agent:main:laptop")
    wants(person)
    assert f"`{MAIN}`: not among them" in person.types("up").err


@pytest.mark.parametrize("settings", ["", "[session.inherit]\nenabled = false\n"])
def test_nobody_else_is_told_anything(person: Person, settings: str) -> None:
    keeps(person)
    wants(person, settings)
    assert "inherited" not in person.types("up").err


def test_where_there_is_nothing_nothing_is_said(person: Person) -> None:
    wants(person)
    assert "inherited" not in person.types("up").err


def test_once_it_is_taken_it_is_not_offered_and_the_original_stays(
    person: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = keeps(person)
    content = whole.read_bytes()
    wants(person)
    monkeypatch.setenv("HOME", str(person.user_home))
    store = embed.open_store(person.home, project=person.project)
    session = store.load()
    assert session.key == "holdfast:main:main"
    assert session.inherited is not None
    session.ask("Go on.")
    store.close()
    assert "inherited" not in person.types("up").err
    assert whole.read_bytes() == content
