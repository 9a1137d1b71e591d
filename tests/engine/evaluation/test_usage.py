"""Statistics count what is stored, and say of each brief how much the agent used of it, if that is known."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdfast.core.session.session import Phase
from holdfast.engine.evaluation.usage import statistics
from holdfast.engine.upkeep.hook_times import HookTimes, hook_times, note_hook_times, times_of
from tests.engine.stage import HOUR, MINUTE, Stage

STEPS = [("says", f"step {number}") for number in range(5)]


def stats_of(stage: Stage, days: int = 30) -> Any:  # noqa: ANN401 - each field of its own type
    return statistics(stage.engine(), days)


def compacted(stage: Stage) -> None:
    """A session that edited two files, lost its context and was given a brief."""
    stage.payload("s1", "start", source="startup")
    stage.write("s1", ("prompt", "Fix retry.py and clock.py"), ("edits", "retry.py"), *STEPS)
    stage.payload("s1", "compaction")
    stage.now += MINUTE
    stage.write("s1", ("boundary", ""))
    stage.payload("s1", "start", source="compact")
    stage.now += MINUTE


def test_an_empty_store_has_nothing_and_pretends_nothing(stage: Stage) -> None:
    row = stats_of(stage)
    assert row["sessions"] == {"count": 0, "imported": 0, "by_harness": {}, "stored": 0}
    assert row["compactions"] == {"seen": 0, "survived": 0, "imported": 0}
    assert row["crashes"] == {"seen": 0, "survived": 0}
    assert (row["use"]["share"], row["cost"]["hook_events"], row["cost"]["hook_ms_p95"]) == (None, None, None)
    assert len(row["by_day"]) == 30


def test_a_compaction_that_a_brief_followed_is_survived_and_its_use_is_known_later(stage: Stage) -> None:
    compacted(stage)
    before = stats_of(stage)
    assert before["compactions"] == {"seen": 1, "survived": 1, "imported": 0}
    assert (before["briefs"]["count"], before["briefs"]["by_reason"]) == (1, {"compact": 1})
    assert (before["use"]["share"], before["use"]["briefs_unknown"]) == (None, 1)
    stage.write("s1", ("says", "I go on with retry.py"), *STEPS)
    stage.payload("s1", "end", reason="other")
    use = stats_of(stage)["use"]
    assert (use["briefs_known"], use["briefs_unknown"]) == (1, 0)
    assert use["names"] >= 2
    assert use["used"] == 1, "retry.py, and not clock.py"
    assert use["share"] == round(1 / use["names"], 4)
    (brief,) = use["by_brief"]
    assert (brief["session_key"], brief["used"]) == ("s1", 1)


def test_a_crash_is_survived_if_another_session_was_given_its_work(stage: Stage) -> None:
    compacted(stage)
    session = stage.store.session("s1")
    assert session is not None
    with stage.store.writing():
        stage.store.put_session(replace(session, phase=Phase.ORPHANED))
    assert stats_of(stage)["crashes"] == {"seen": 1, "survived": 0}
    stage.payload("s2", "start", source="startup")
    assert stats_of(stage)["crashes"] == {"seen": 1, "survived": 1}


def test_only_the_days_that_are_asked_for_count(stage: Stage) -> None:
    compacted(stage)
    stage.now += 48 * HOUR
    assert (stats_of(stage, 1)["sessions"]["count"], stats_of(stage, 3)["sessions"]["count"]) == (0, 1)
    days = stats_of(stage, 3)["by_day"]
    assert [(day["sessions"], day["briefs"]) for day in days] == [(1, 1), (0, 0), (0, 0)]


def test_times_of_hook_events_are_added_up_by_day(stage: Stage) -> None:
    note_hook_times(stage.store, stage.now, [0.5, 4, 4, 4])
    note_hook_times(stage.store, stage.now + 24 * HOUR, [9_000])
    times = hook_times(stage.store, stage.now + 24 * HOUR, 2)
    assert (times.events, times.percentile(0.5), times.percentile(0.99), times.total) == (5, 5, None, 9_012)
    assert hook_times(stage.store, stage.now, 1) == times_of([0.5, 4, 4, 4])
    assert HookTimes().percentile(0.5) is None
    cost = stats_of(stage)["cost"]
    assert (cost["hook_events"], cost["hook_ms_p50"]) == (4, 5)
