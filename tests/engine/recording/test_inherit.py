"""Inheriting: by which starts a session takes over another one's work, and how that is stored."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.documents.handoff_content import HandoffWords
from holdfast.core.evidence.kinds import NoteKind
from holdfast.core.evidence.trail import Trail
from holdfast.core.session.session import Trigger
from holdfast.engine.documents import handoff
from holdfast.engine.recording.inherit import inherit_work
from holdfast.engine.repository.git import identity
from holdfast.engine.tools.session_tools import recover
from holdfast.settings import Config, Redact
from holdfast.stores.base import Store
from tests.engine.stage import HOUR, MINUTE, Stage

GOAL = "Make the harbour crane unload by weight, code name Bluebell."
DECISION = "Decision: weigh at the hook instead of at the ramp, because the ramp bends."


@pytest.fixture
def begun(stage: Stage) -> Stage:
    stage.write("a", ("prompt", GOAL), ("says", DECISION))
    stage.payload("a", "end", reason="other")
    return stage


def trail_of(store: Store, key: str) -> Trail:
    session = store.session(key)
    assert session is not None
    return session.trail


def decided(stage: Stage, key: str) -> list[tuple[str, str]]:
    return [(note.text, note.inherited) for note in trail_of(stage.store, key).noted(NoteKind.DECISION)]


EXPECTED = [(DECISION, "a")]


def test_with_the_brief_of_a_start(begun: Stage) -> None:
    begun.payload("b", "start", source="startup")
    assert decided(begun, "b") == EXPECTED
    begun.payload("c", "start", source="clear", previous="a")
    assert decided(begun, "c") == EXPECTED


def test_not_without_a_brief(begun: Stage) -> None:
    begun.now += 5 * HOUR
    assert begun.payload("b", "start", source="startup") == ""
    assert decided(begun, "b") == []


def test_a_session_in_which_nothing_happened_is_not_continued_instead(begun: Stage) -> None:
    begun.payload("b", "start", source="startup")
    begun.payload("b", "end", reason="other")
    assert "session a" in begun.payload("c", "start", source="startup")
    assert begun.store.checkpoints_of_session("b", 1) == []


def test_a_fork_inherits_what_its_parent_inherited(begun: Stage) -> None:
    begun.payload("b", "start", source="startup")
    path = begun.write("b", ("prompt", "continue"), ("says", "Decision: paint it red instead of grey."))
    begun.payload("b", "stop")
    begun.transcript("c").write_bytes(path.read_bytes())
    begun.payload("c", "start", source="fork")
    assert decided(begun, "c") == [*EXPECTED, ("Decision: paint it red instead of grey.", "")]


def test_by_asking_for_it(begun: Stage) -> None:
    begun.now += MINUTE
    begun.payload("b", "prompt", text="continue", transcript="")
    given = recover(begun.engine(), identity(begun.project("app")), begun.store.session("b"))
    assert given is not None
    assert decided(begun, "b") == EXPECTED


def test_by_picking_up_a_handoff_whatever_was_typed_before(begun: Stage) -> None:
    project = identity(begun.project("app"))
    session = begun.store.session("a")
    assert session is not None
    written = handoff.create(begun.engine(), project, session, (), "Finish the crane", HandoffWords())
    begun.now += 5 * HOUR
    begun.payload("b", "prompt", text="Please read the handoff and do what it says.", transcript="")
    handoff.pick_up(begun.engine(), written, begun.store.session("b"))
    assert decided(begun, "b") == EXPECTED
    goal = trail_of(begun.store, "b").goal
    assert goal is not None
    assert goal.text == GOAL


def test_never_from_another_project(begun: Stage) -> None:
    begun.payload("b", "prompt", text="continue", transcript="", cwd=begun.project("other"))
    with begun.store.writing():
        inherit_work(begun.engine(), "b", "a")
    assert decided(begun, "b") == []


def test_what_an_older_redactor_stored_is_redacted_first(begun: Stage) -> None:
    begun.config = Config(redact=Redact(deny=("Bluebell",)))
    begun.payload("b", "start", source="startup")
    goal = trail_of(begun.store, "b").goal
    assert goal is not None
    assert "harbour crane" in goal.text
    assert "Bluebell" not in goal.text


def test_the_agents_digest_is_handed_on_until_the_work_is_another(begun: Stage) -> None:
    with begun.store.writing():
        checkpoint = begun.store.checkpoints_of_session("a", 1)[0]
        begun.store.add_checkpoint(
            replace(checkpoint, id="own", trigger=Trigger.AGENT, words="The crane weighs at the hook now.")
        )
    for key, text in (("b", "continue"), ("c", "continue"), ("d", "Write a manual for the keeper.")):
        begun.now += MINUTE
        assert "The crane weighs at the hook now." in begun.payload(key, "start", source="startup")
        begun.write(key, ("prompt", text))
        begun.payload(key, "end", reason="other")
    assert "The crane weighs at the hook now." not in begun.payload("e", "start", source="startup")
