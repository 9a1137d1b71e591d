"""What an agent that asks is given back."""

from __future__ import annotations

from holdfast.engine.repository.git import identity
from holdfast.engine.tools.digest import Digest, give_digest
from holdfast.engine.tools.recover import Recovered, recover
from tests.engine.stage import HOUR, MINUTE, Stage


def asked(stage: Stage, session: str = "") -> Recovered | None:
    return recover(stage.engine(), identity(stage.project("app")), stage.store.session(session))


def play(stage: Stage, session: str, task: str) -> None:
    stage.payload(session, "start", source="startup", transcript="")
    stage.payload(session, "prompt", text=task, transcript="")


def test_a_compacted_session_gets_its_own_record(stage: Stage) -> None:
    play(stage, "a", "write the parser")
    stage.payload("a", "end", reason="other", transcript="")
    play(stage, "b", "write the printer")
    stage.payload("b", "start", source="compact", transcript="")
    found = asked(stage, "b")
    assert found is not None
    assert "write the printer" in found.text
    assert "write the parser" not in found.text


def test_as_often_as_it_asks_and_without_taking_the_brief_from_the_session(stage: Stage) -> None:
    play(stage, "a", "write the parser")
    assert asked(stage, "a") == asked(stage, "a") != None  # noqa: E711 - one line for all three
    assert stage.store.receipts("a", 10) == []
    assert "write the parser" in stage.payload("a", "start", source="compact", transcript="")


def test_a_new_session_gets_the_one_that_it_continues(stage: Stage) -> None:
    play(stage, "a", "write the parser")
    give_digest(stage.engine(), "a", Digest("The parser is half done."))
    stage.payload("a", "end", reason="other", transcript="")
    stage.now += 10 * MINUTE
    play(stage, "b", "go on")
    found = asked(stage, "b")
    assert found is not None
    assert "As you asked. Holdfast's record of session a, 10 min old" in found.text
    assert "The parser is half done." in found.text
    assert found.account.startswith("From session a (ended, last record 10 min ago): ")


def test_a_caller_without_a_session_gets_what_a_new_one_would(stage: Stage) -> None:
    play(stage, "a", "write the parser")
    stage.payload("a", "end", reason="other", transcript="")
    found = asked(stage)
    assert found is not None
    assert "write the parser" in found.text


def test_another_session_at_work_is_only_named(stage: Stage) -> None:
    play(stage, "a", "write the parser")
    found = asked(stage)
    assert found is not None
    assert "Another session is at work" in found.text
    assert "write the parser" not in found.text


def test_nothing_is_nothing(stage: Stage) -> None:
    assert asked(stage) is None
    assert asked(stage, "a") is None


def test_what_is_too_old_is_not_offered(stage: Stage) -> None:
    play(stage, "a", "write the parser")
    stage.payload("a", "end", reason="other", transcript="")
    stage.now += 5 * HOUR
    assert asked(stage) is None
