"""Work follows you: what ended on the laptop goes on at the desk, and back; what is handed over arrives.

Two machines of one person and one of a colleague, each with a store and a clone of its own, and one hub.
`tests/clients/test_two_machines.py` shows the same with real harnesses and a real PostgreSQL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from holdfast.core.documents.handoff_content import HandoffWords
from holdfast.core.events.world import Project
from holdfast.core.sharing.identity import Machine
from holdfast.engine.documents import handoff
from holdfast.engine.memory.recall import Query, recall
from holdfast.engine.memory.remember import MemoryRequest, remember
from holdfast.engine.privacy.forget import OneSession, forget
from holdfast.engine.repository.git import identity
from holdfast.engine.sharing.exchange import HubLink, exchange
from holdfast.files import machine_id
from holdfast.settings import Sharing
from holdfast.stores.hub.base import Hub
from holdfast.stores.hub.memory import MemoryDatabase
from tests.engine.repository.test_git import commit, repository_in, run_git
from tests.engine.stage import MINUTE, NOON, Stage
from tests.engine.two_machines import GONE, REMOTE

GOAL = "Make the harbour crane unload containers by weight."
RULE = "Never lower the boom while the ramp is open."
DECISION = "Decision: weigh at the hook instead of at the ramp, because the ramp bends."
STEP = "Next, I will calibrate the load cell of the second crane."
HANDED_ON = (GOAL, RULE, "weigh at the hook", "calibrate the load cell")
SHARING = Sharing(hubs=("work: *",), handoffs=True, memories="team", sessions="own")


@dataclass
class Desk:
    """One machine, and its connection to the hub."""

    name: str
    stage: Stage
    hub: Hub

    @property
    def project(self) -> Project:
        return identity(str(self.stage.home / "app"))

    def exchange(self) -> None:
        id = machine_id.read_or_make(self.stage.home / "holdfast")
        exchange(self.stage.engine(), HubLink("work", self.hub, Machine(id, self.name)), lambda: True)

    def starts(self, session: str) -> str:
        """The brief of a session that starts now."""
        return self.stage.payload(session, "start", source="startup", process=GONE)

    def ends(self, session: str) -> None:
        self.stage.payload(session, "end", reason="other", process=GONE)

    def works(
        self, session: str, prompt: str = f"{GOAL} {RULE}", words: str = f"{DECISION}\n\n{STEP}"
    ) -> None:
        """The session is asked something, says something, and ends."""
        self.stage.payload(session, "prompt", text=prompt, process=GONE)
        self.stage.write(session, ("prompt", prompt), ("says", words))
        self.ends(session)


@dataclass
class Harbour:
    """The machines, whose time passes together."""

    laptop: Desk
    desk: Desk
    of_bob: Desk

    def passes(self, minutes: int = 1) -> None:
        """Some minutes in which every machine exchanges with the hub, and hears of what the others sent."""
        for each in (self.laptop, self.desk, self.of_bob):
            each.stage.now += minutes * MINUTE
        for each in 2 * (self.laptop, self.desk, self.of_bob):
            each.exchange()


@pytest.fixture
def harbour(tmp_path: Path) -> Harbour:
    clock = list[Stage]()
    database = MemoryDatabase(lambda: clock[0].now if clock else NOON)
    for person in ("ann", "bob"):
        database.connect_owner().invite(person, "harbour", is_read_only=False)
    app = repository_in(tmp_path / "laptop" / "app")
    commit(app, "Build the crane")
    run_git(app, "remote", "add", "origin", REMOTE)
    desks = list[Desk]()
    for name, person in (("laptop", "ann"), ("desk", "ann"), ("bobs", "bob")):
        stage = Stage(tmp_path / name)
        (stage.home / "holdfast").mkdir(parents=True)
        stage.config = replace(stage.config, sharing=SHARING)
        if name != "laptop":
            run_git(tmp_path, "clone", "-q", str(app), str(stage.home / "app"))
            run_git(stage.home / "app", "remote", "set-url", "origin", REMOTE)
        clock.append(stage)
        desks.append(Desk(name, stage, database.connect(person)))
        # A machine knows a project since a session was in it.
        desks[-1].starts(f"first-{name}")
        desks[-1].ends(f"first-{name}")
    return Harbour(*desks)


def missing(brief: str) -> list[str]:
    return [text for text in HANDED_ON if text not in brief]


def test_work_goes_from_machine_to_machine_and_back(harbour: Harbour) -> None:
    harbour.laptop.starts("s1")
    harbour.laptop.works("s1")
    harbour.passes()
    at_desk = harbour.desk.starts("s2")
    assert "session s1 on laptop" in at_desk
    assert missing(at_desk) == []
    # The desk only goes on; the laptop is given what it first said itself, through the desk's session.
    harbour.desk.works("s2", "continue", "Looking at the crane.")
    harbour.passes()
    back = harbour.laptop.starts("s3")
    assert "session s2 on desk" in back
    assert missing(back) == []


def test_nobody_else_is_given_it(harbour: Harbour) -> None:
    harbour.laptop.starts("s1")
    harbour.laptop.works("s1")
    harbour.passes()
    assert harbour.of_bob.starts("b1") == ""
    assert recall(harbour.of_bob.stage.engine(), harbour.of_bob.project, Query("harbour crane boom")) == []


def test_without_the_hub_it_goes_on_with_what_was_pulled_last(harbour: Harbour) -> None:
    harbour.laptop.starts("s1")
    harbour.laptop.works("s1")
    harbour.passes()
    harbour.laptop.works("s1", "Paint it green.", "It is green now.")
    # From here on the desk hears nothing of the hub.
    at_desk = harbour.desk.starts("s2")
    assert missing(at_desk) == []
    assert "green" not in at_desk


def test_what_is_forgotten_on_one_machine_is_given_on_none(harbour: Harbour) -> None:
    harbour.laptop.starts("s1")
    harbour.laptop.works("s1")
    harbour.passes()
    stage = harbour.laptop.stage
    forget(stage.store, stage.home / "holdfast", OneSession("s1"), stage.now)
    harbour.passes()
    assert harbour.desk.starts("s2") == ""


def test_nor_by_a_session_that_inherited_it_on_another_machine(harbour: Harbour) -> None:
    harbour.laptop.starts("s1")
    harbour.laptop.works("s1")
    harbour.passes()
    harbour.desk.starts("s2")
    harbour.desk.works("s2", "continue", "Looking at the crane.")
    harbour.passes()
    stage = harbour.laptop.stage
    forget(stage.store, stage.home / "holdfast", OneSession("s1"), stage.now)
    # Until the desk has heard of it, the laptop knows what of the desk's session was forgotten here.
    at_once = harbour.laptop.starts("at-once")
    assert "Looking at the crane" in at_once
    assert missing(at_once) == list(HANDED_ON)
    harbour.laptop.ends("at-once")
    harbour.passes()
    harbour.passes()
    for desk in (harbour.desk, harbour.laptop):
        brief = desk.starts(f"after-{desk.name}")
        assert "Looking at the crane" in brief
        assert missing(brief) == list(HANDED_ON)
    texts = [text.text for text in harbour.desk.stage.store.texts()]
    assert not [text for text in texts if "weigh at the hook" in text]


def test_a_handoff_reaches_the_person_whom_it_names_and_no_one_else(harbour: Harbour) -> None:
    harbour.laptop.starts("s1")
    harbour.laptop.works("s1")
    session = harbour.laptop.stage.store.session("s1")
    assert session is not None
    engine = harbour.laptop.stage.engine()
    made = handoff.create(
        engine, harbour.laptop.project, session, (), "Finish the crane", HandoffWords(), "bob"
    )
    harbour.passes()
    brief = harbour.of_bob.starts("b1")
    assert "A handoff for the user waits (from ann on laptop, 0 s old): “Finish the crane”" in brief
    received = handoff.find(handoff.handoffs_here(harbour.of_bob.stage.engine(), harbour.of_bob.project), "")
    assert received.name == made.name
    assert RULE in received.text
    handoff.pick_up(harbour.of_bob.stage.engine(), received, None)
    assert harbour.of_bob.starts("b2") == ""
    assert "handoff for the user" not in harbour.desk.starts("s2")


def test_what_one_remembers_for_the_team_the_other_finds(harbour: Harbour) -> None:
    stage = harbour.laptop.stage
    kept = remember(
        stage.engine(),
        harbour.laptop.project,
        MemoryRequest("The load cell answers on port 4173"),
        source="cli",
    )
    find: Callable[[Desk], list[str]] = lambda desk: [  # noqa: E731 - said twice below
        each.source for each in recall(desk.stage.engine(), desk.project, Query("load cell port"))
    ]
    harbour.passes()
    assert find(harbour.of_bob) == []
    with stage.store.writing():
        stage.store.mark_for_team(kept.memory.id, stage.now)
    harbour.passes()
    assert find(harbour.of_bob) == ["memory of ann on laptop"]
