"""Lists of sessions: those of other machines are among those of this one, and can be chosen by origin."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.sharing.items import SharedKind
from holdfast.engine.repository import projects
from holdfast.engine.repository.git import identity
from holdfast.engine.shared_sessions import pulled_unless_here
from holdfast.engine.views import command_views
from holdfast.engine.views.session_lists import SessionChoice, listed_sessions
from holdfast.errors import HoldfastError
from holdfast.stores.base import START
from tests.engine.stage import MINUTE, Stage
from tests.engine.two_machines import arrives, session_arrives, two_clones, work

KEY = "aaaaaaaa-1111-4222-8333-444444444444"
OF_BOB = "bbbbbbbb-1111-4222-8333-444444444444"


@pytest.fixture
def desk(tmp_path: Path) -> Stage:
    """A desk with a session of its own, one of the laptop, and one of bob."""
    laptop, desk = two_clones(tmp_path)
    work(desk, "local")
    for key, is_mine in ((KEY, True), (OF_BOB, False)):
        laptop.now += MINUTE
        work(laptop, key)
        session_arrives(laptop, desk, key, is_mine=is_mine)
    desk.now = laptop.now
    desk.config = replace(
        desk.config,
        machine=replace(desk.config.machine, name="Desk"),
        person=replace(desk.config.person, name="ann"),
    )
    return desk


def keys(stage: Stage, choice: SessionChoice, limit: int = 10) -> list[str]:
    return [each.session.key for each in listed_sessions(stage.engine(), choice, START, limit)]


def test_all_are_in_one_order(desk: Stage) -> None:
    assert keys(desk, SessionChoice()) == [OF_BOB, KEY, "local"]
    assert keys(desk, SessionChoice(identity(str(desk.home / "app")))) == [OF_BOB, KEY, "local"]
    assert keys(desk, SessionChoice(), limit=2) == [OF_BOB, KEY]


def test_a_session_arrives_in_a_clone_in_which_none_ran_yet(tmp_path: Path) -> None:
    laptop, desk = two_clones(tmp_path)
    work(laptop, KEY)
    projects.at(desk.store, str(desk.home / "app"), desk.now)
    session_arrives(laptop, desk, KEY)
    assert keys(desk, SessionChoice()) == [KEY]
    assert pulled_unless_here(desk.engine(), KEY[:8])


def test_page_by_page_each_comes_once(desk: Stage) -> None:
    paged, behind = list[str](), START
    while page := listed_sessions(desk.engine(), SessionChoice(), behind, 1):
        paged.append(page[0].session.key)
        behind = page[0].mark
    assert paged == [OF_BOB, KEY, "local"]


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        (SessionChoice(machine="laptop"), [OF_BOB, KEY]),
        (SessionChoice(machine="11111111"), [OF_BOB, KEY]),
        (SessionChoice(machine="desk"), ["local"]),
        (SessionChoice(person="bob"), [OF_BOB]),
        (SessionChoice(person="Ann"), [KEY, "local"]),
        (SessionChoice(person="ann", machine="laptop"), [KEY]),
        (SessionChoice(words=("basket", "aaaaaaaa")), [KEY]),
        (SessionChoice(words=("basket", "local")), ["local"]),
        (SessionChoice(harness="other"), []),
    ],
)
def test_they_are_chosen_by_person_machine_and_words(
    desk: Stage, choice: SessionChoice, expected: list[str]
) -> None:
    assert keys(desk, choice) == expected


def test_each_says_where_it_is_from(desk: Stage) -> None:
    rows = command_views.sessions(desk.engine(), None, limit=10)
    assert [(row["person"], row["machine"]) for row in rows] == [
        ("bob", "laptop"),
        ("ann", "laptop"),
        (None, None),
    ]


def test_one_is_shown_with_as_much_as_was_shared(desk: Stage) -> None:
    project = identity(str(desk.home / "app"))
    view = command_views.session_details(desk.engine(), project, key="aaaa")
    assert view["session_key"] == KEY
    assert view["note"] == "it is from laptop; its transcript and checkpoints are there"
    assert any("round to cents" in line for line in view["sections"]["goal"])  # type: ignore[index]
    assert view["project"] == project.path
    with pytest.raises(HoldfastError, match="there is no session `cccc`"):
        command_views.session_details(desk.engine(), project, key="cccc")


def test_its_brief_can_be_asked_for(desk: Stage) -> None:
    project = identity(str(desk.home / "app"))
    row = command_views.brief(desk.engine(), project, reason="startup", budget=None, session="aaaa")
    assert "session aaaaaaaa on laptop" in str(row["brief"])
    assert row["receipt"]["machine"] == "laptop"  # type: ignore[index]


def test_a_name_that_begins_several_is_refused(desk: Stage) -> None:
    item = desk.store.shared_item(SharedKind.SESSION, KEY)
    assert item is not None
    arrives(desk, replace(item, key=replace(item.key, id="aaaaaaaa-2222")))
    with pytest.raises(HoldfastError, match="several sessions begin with `aaaa`"):
        command_views.session_details(desk.engine(), identity(str(desk.home / "app")), key="aaaa")
