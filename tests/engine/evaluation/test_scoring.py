"""Sessions are scored from what is kept: recovered ones by their briefs, cold ones by what was there."""

from __future__ import annotations

from holdfast.core.session.score import SessionScore, Start
from holdfast.engine.evaluation.scoring import AGENT_EVENTS_LEAST, scores_of
from holdfast.engine.memory.recall import note_recalled
from holdfast.stores.base import SearchDocument
from tests.engine.stage import HOUR, MINUTE, Stage

STEPS = [("says", f"step {number}") for number in range(AGENT_EVENTS_LEAST)]


def worked(stage: Stage, session: str, *lines: tuple[str, str]) -> None:
    """A session from its start to its end."""
    stage.payload(session, "start", source="startup")
    stage.write(session, *lines)
    stage.payload(session, "end", reason="other")
    stage.now += MINUTE


def scores(stage: Stage) -> dict[str, SessionScore]:
    return {score.session: score for score in scores_of(stage.engine(), stage.store.sessions(99))}


def test_a_session_that_was_given_a_brief_is_scored_by_it(stage: Stage) -> None:
    worked(stage, "s1", ("prompt", "Fix retry.py"), ("edits", "retry.py"), *STEPS)
    worked(stage, "s2", ("prompt", "go on"), ("says", "I go on with retry.py"), *STEPS)
    score = scores(stage)["s2"]
    assert score.start is Start.RECOVERED
    assert score.brief_items >= score.brief_items_used >= 1
    assert (score.needed, score.rediscovered) == (1, 0)
    assert (score.harness, score.scored_at) == ("playhouse", stage.now)


def test_a_cold_session_is_scored_by_the_one_before_it(stage: Stage) -> None:
    worked(stage, "s1", ("prompt", "Fix retry.py"), ("edits", "retry.py"), *STEPS)
    stage.now += 9 * HOUR
    worked(stage, "s2", ("fails", "cat retry.py"), ("says", "Ah, retry.py"), *STEPS)
    score = scores(stage)["s2"]
    assert (score.start, score.brief_items) == (Start.COLD, 0)
    assert score.needed + score.rediscovered > 0
    first = scores(stage)["s1"]
    assert (first.start, first.needed, first.rediscovered) == (Start.COLD, 0, 0)


def test_a_compaction_is_a_beginning_with_all_before_it_known(stage: Stage) -> None:
    stage.payload("s1", "start", source="startup")
    stage.write("s1", ("prompt", "Fix retry.py"), ("edits", "retry.py"), *STEPS)
    stage.payload("s1", "compaction")
    stage.now += MINUTE
    stage.write("s1", ("boundary", ""))
    stage.payload("s1", "start", source="compact")
    stage.write("s1", ("says", "I go on with retry.py"), *STEPS)
    stage.payload("s1", "prompt", text="go on")
    score = scores(stage)["s1"]
    assert score.start is Start.RECOVERED
    assert score.needed == 1
    assert score.brief_items_used >= 1


def test_a_score_is_kept_and_worked_out_again_only_when_the_session_went_on(stage: Stage) -> None:
    worked(stage, "s1", ("prompt", "Fix retry.py"), *STEPS)
    first = scores(stage)["s1"]
    assert stage.store.scores(9) == [first]
    stage.now += MINUTE
    assert scores(stage)["s1"] == first
    stage.payload("s1", "start", source="resume")
    stage.write("s1", ("prompt", "go on"), ("says", "one more step"))
    stage.payload("s1", "prompt", text="go on")
    stage.now += MINUTE
    assert scores(stage)["s1"].agent_events == first.agent_events + 1


def test_a_session_in_which_hardly_anything_happened_is_not_scored(stage: Stage) -> None:
    worked(stage, "s1", ("prompt", "Fix it"), ("says", "Done."))
    assert scores(stage) == {}
    assert stage.store.scores(9) == []


def test_what_the_agent_was_told_when_it_asked_is_scored_by_whether_it_used_it(stage: Stage) -> None:
    stage.payload("s1", "start", source="startup")
    session = stage.store.session("s1")
    with stage.store.writing():
        stage.store.add_document(SearchDocument("d1", "memory", "p", "The budget is in retry.py"))
        stage.store.add_document(SearchDocument("d2", "memory", "p", "The clock is in clock.py"))
    note_recalled(stage.engine(), session, ["d1", "d2", "gone since"])
    note_recalled(stage.engine(), None, ["d1"])
    stage.now += MINUTE
    stage.write("s1", ("says", "Then I look at retry.py"), *STEPS)
    stage.payload("s1", "prompt", text="go on")
    score = scores(stage)["s1"]
    assert (score.memories_recalled, score.memories_used) == (2, 1)
