"""Recording says what it did: the session after a batch, and the checkpoints that it took."""

from __future__ import annotations

from holdfast.core.events.event import DigestGiven, Origin
from holdfast.core.events.world import Project
from holdfast.core.session.session import Trigger
from holdfast.engine.recording.record import Arrival, record
from tests.engine.stage import Stage

HERE = Project("/p", "/p", "p", "w", "/p")


def digest(name: str) -> DigestGiven:
    return DigestGiven(session="a", record=name, at=1, origin=Origin.ASSISTANT, text=f"words of {name}")


def test_it_returns_the_checkpoints_that_it_stored_in_order(stage: Stage) -> None:
    recorded = record(stage.engine(), Arrival("a", "playhouse", HERE, (digest("one"), digest("two"))))
    assert [taken.words for taken in recorded.checkpoints] == ["words of one", "words of two"]
    assert {taken.trigger for taken in recorded.checkpoints} == {Trigger.AGENT}
    assert {taken.id for taken in recorded.checkpoints} == {
        stored.id for stored in stage.store.checkpoints_of_session("a", 9)
    }
    assert recorded.session == stage.store.session("a")


def test_a_batch_that_is_reported_again_takes_no_checkpoint(stage: Stage) -> None:
    arrival = Arrival("a", "playhouse", HERE, (digest("one"),))
    first, again = record(stage.engine(), arrival), record(stage.engine(), arrival)
    assert len(first.checkpoints) == 1
    assert again.checkpoints == ()
