"""Work is handed on from session to session, until it is done, overturned or replaced."""

from __future__ import annotations

import pytest

from holdfast.core.session.session import Process
from holdfast.engine.privacy.forget import OneSession, forget
from tests.engine.conftest import stage
from tests.engine.stage import MINUTE, Stage

__all__ = ["stage"]

GONE = Process(2**22 - 1, 1)
GOAL = "Make the harbour crane unload containers by weight."
RULE = "Never lower the boom while the ramp is open."
PORT = "The simulator listens on port 4173."
DECISION = "Decision: weigh at the hook instead of at the ramp, because the ramp bends."
NEXT = "Next, I will calibrate the load cell of the second crane."
STEP = "I will calibrate the load cell"
HANDED_ON = (GOAL, RULE, "4173", "weigh at the hook instead of at the ramp", STEP)


@pytest.fixture
def begun(stage: Stage) -> Stage:
    """A first session with a goal, a rule, a port, a decision and a next step."""
    stage.payload("s1", "start", source="startup", process=GONE)
    stage.write("s1", ("prompt", f"{GOAL} {RULE}"), ("says", f"{PORT} {DECISION}\n\n{NEXT}"))
    stage.payload("s1", "end", reason="other", process=GONE)
    return stage


def continued(stage: Stage, session: str, prompt: str = "continue", source: str = "startup") -> str:
    """A session that is given a brief, does as it is told, is compacted and ends; returns that brief."""
    stage.now += MINUTE
    brief = stage.payload(session, "start", source=source, process=GONE)
    stage.write(session, ("prompt", prompt))
    stage.payload(session, "prompt", text=prompt, process=GONE)
    stage.write(session, ("says", "Looking at the crane."))
    stage.payload(session, "compaction", process=GONE)
    assert stage.payload(session, "start", source="compact", process=GONE)
    return brief


def ended(stage: Stage, session: str) -> None:
    stage.payload(session, "end", reason="other", process=GONE)


def missing(brief: str) -> list[str]:
    return [text for text in HANDED_ON if text not in brief]


def test_a_session_that_only_continues_hands_on_what_it_was_given(begun: Stage) -> None:
    assert missing(continued(begun, "s2")) == []
    ended(begun, "s2")
    assert missing(begun.payload("s3", "start", source="startup")) == []


def test_also_within_the_session_after_a_compaction(begun: Stage) -> None:
    begun.payload("s2", "start", source="startup", process=GONE)
    begun.write("s2", ("prompt", "continue"), ("boundary", ""))
    assert missing(begun.payload("s2", "start", source="compact", process=GONE)) == []


@pytest.mark.parametrize("dies", [False, True], ids=["each ends", "each is killed"])
def test_over_five_hops(begun: Stage, dies: bool) -> None:  # noqa: FBT001
    for number in range(2, 7):
        assert missing(continued(begun, f"s{number}")) == []
        if not dies:
            ended(begun, f"s{number}")
    assert missing(begun.payload("s7", "start", source="startup")) == []


def test_over_clears(begun: Stage) -> None:
    for number in range(2, 6):
        begun.now += MINUTE
        previous, session = f"s{number - 1}", f"s{number}"
        brief = begun.payload(session, "start", source="clear", previous=previous, process=GONE)
        assert missing(brief) == []
        begun.write(session, ("prompt", "continue"))
        begun.payload(session, "stop", process=GONE)


def test_what_is_finished_on_the_way_is_not_handed_on(begun: Stage) -> None:
    assert missing(continued(begun, "s2")) == []
    begun.write("s2", ("says", "Verified: the load cell of the second crane is calibrated."))
    ended(begun, "s2")
    assert missing(begun.payload("s3", "start", source="startup")) == [STEP]


def test_who_starts_something_new_is_not_dragged_back(begun: Stage) -> None:
    request = "Write a manual for the lighthouse keeper."
    continued(begun, "s2", request)
    ended(begun, "s2")
    brief = begun.payload("s3", "start", source="startup")
    assert request in brief
    assert missing(brief) == [GOAL, STEP]


def test_a_start_that_is_reported_again_brings_nothing_back(begun: Stage) -> None:
    assert missing(continued(begun, "s2")) == []
    begun.write("s2", ("says", "Verified: the load cell of the second crane is calibrated."))
    begun.payload("s2", "stop", process=GONE)
    begun.payload("s2", "start", source="startup", process=GONE)
    ended(begun, "s2")
    assert STEP in missing(begun.payload("s3", "start", source="startup"))


def test_a_start_that_nobody_answered_is_made_up_for(begun: Stage) -> None:
    begun.now += MINUTE
    begun.spooled("s2", "start", source="startup", process=GONE)
    begun.write("s2", ("prompt", "continue"))
    assert missing(begun.payload("s2", "prompt", text="continue", process=GONE)) == []
    ended(begun, "s2")
    assert missing(begun.payload("s3", "start", source="startup")) == []


def test_forgetting_a_session_removes_what_others_inherited_from_it(begun: Stage) -> None:
    for session in ("s2", "s3"):
        continued(begun, session)
        ended(begun, session)
    texts = "\n".join(text.text for text in begun.store.texts())
    assert [text for text in HANDED_ON if text not in texts] == []
    forget(begun.store, begun.home, OneSession("s1"), begun.now)
    texts = "\n".join(text.text for text in begun.store.texts())
    assert [text for text in HANDED_ON if text in texts] == []
    assert all("s1" not in session.trail.inherits for session in begun.store.sessions(10))
    assert missing(begun.payload("s4", "start", source="startup")) == list(HANDED_ON)


def test_what_a_later_session_said_stays_when_an_earlier_one_is_forgotten(begun: Stage) -> None:
    continued(begun, "s2")
    begun.write("s2", ("says", "Decision: paint the boom yellow instead of red, because fog is grey."))
    ended(begun, "s2")
    continued(begun, "s3")
    ended(begun, "s3")
    forget(begun.store, begun.home, OneSession("s1"), begun.now)
    brief = begun.payload("s4", "start", source="startup")
    assert "paint the boom yellow" in brief
    assert missing(brief) == list(HANDED_ON)
