"""A session is scored by what it names, and by who named it first."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.evaluation.facts import Fact, facts_in
from holdfast.core.evaluation.scores import (
    AgentRecall,
    Beginning,
    FactCounts,
    compare_by_start,
    count_facts,
    named_in,
    own_calls,
    recalls,
)
from holdfast.core.evaluation.survival import AGENT_EVENTS_AFTER
from holdfast.core.events.event import Action, Event
from holdfast.core.session.score import SessionScore, Start
from tests.core.scenes import NOON, called, prompt, returned, said

BEFORE = facts_in("`retry_budget` in retry.py, `clock_skew` in clock.py, `drain_queue` in queue.py")


def seen(*events: Event, items: tuple[str, ...] = (), known: frozenset[Fact] = BEFORE) -> FactCounts:
    return count_facts(events, [Beginning(0, known, items)])


def recall(call: str, text: str) -> tuple[Event, Event]:
    asked = replace(called(call, Action.OTHER, "backoff"), tool="mcp__holdfast__recall")
    return asked, returned(call, text=text)


def test_what_the_agent_names_first_it_still_knew() -> None:
    result = seen(said("I go on with `retry_budget` in retry.py.", "a1"))
    assert (result.needed, result.rediscovered, result.agent_events) == (2, 0, 1)


def test_what_a_tool_or_a_person_brings_first_was_lost() -> None:
    result = seen(
        prompt("look at retry.py", "p1"),
        called("c1", Action.RUN, "rg -n budget"),
        returned("c1", text="clock.py:9: clock_skew = 3"),
        said("So `clock_skew` is in clock.py, beside retry.py.", "a1"),
    )
    assert (result.needed, result.rediscovered) == (0, 3)


def test_what_nobody_had_named_is_new() -> None:
    result = seen(returned("c1", text="brand_new.py:9: fresh_name = 3"), said("I see.", "a1"))
    assert (result.novel, result.rediscovered) == (len(facts_in("brand_new.py:9: fresh_name = 3")), 0)


def test_an_item_of_the_brief_is_used_if_the_agent_names_something_of_it() -> None:
    items = ("Edited retry.py", "Failed: `drain_queue`", "Be careful with everything")
    result = seen(said("retry.py next", "a1"), items=items)
    assert (result.brief_items, result.brief_items_used) == (2, 1)


def test_what_the_brief_showed_was_not_lost_though_a_tool_shows_it_first() -> None:
    result = seen(
        returned("c1", text="retry.py"),
        said("Right, retry.py.", "a1"),
        items=("Edited retry.py",),
    )
    assert (result.rediscovered, result.novel) == (0, 0)


def test_only_the_first_steps_behind_a_beginning_count() -> None:
    steps = [said("Working.", f"a{number}") for number in range(AGENT_EVENTS_AFTER)]
    result = seen(*steps, said("And now retry.py", "last"))
    assert (result.agent_events, result.needed) == (AGENT_EVENTS_AFTER, 0)


def test_each_beginning_is_counted_up_to_the_next() -> None:
    events = [said("retry.py", "a1"), said("clock.py", "a2"), said("queue.py", "a3")]
    both = count_facts(events, [Beginning(0, BEFORE), Beginning(2, BEFORE)])
    assert (both.agent_events, both.needed) == (3, 3)
    assert count_facts(events, [Beginning(0, frozenset()), Beginning(2, BEFORE)]).needed == 1


def test_what_we_recalled_is_neither_lost_nor_new() -> None:
    result = seen(*recall("c1", "retry.py and brand_new.py"), said("Thanks.", "a1"))
    assert (result.rediscovered, result.novel, result.agent_events) == (0, 0, 1)


RETRY, CLOCK = AgentRecall(NOON, "see retry.py"), AgentRecall(NOON, "see clock.py")


@pytest.mark.parametrize(
    ("told", "events", "told_and_used"),
    [
        ((), (said("retry.py", "a1"),), (0, 0)),
        ((RETRY,), (said("retry.py it is", "a1"),), (1, 1)),
        ((RETRY,), (said("no idea", "a1"),), (1, 0)),
        ((RETRY,), (prompt("retry.py?", "p1"),), (1, 0)),
        ((AgentRecall(NOON, "nothing of that name"),), (said("retry.py", "a1"),), (0, 0)),
        (
            (AgentRecall(NOON + 1, "see retry.py"),),
            (said("retry.py", "a0"), said("retry.py", "a1", NOON + 2)),
            (0, 0),
        ),
        ((RETRY, CLOCK), (said("clock.py", "a1"), said("clock.py", "a2")), (2, 1)),
        ((RETRY, CLOCK), (said("clock.py and retry.py", "a1"),), (2, 2)),
    ],
)
def test_what_was_reported_counts_if_it_was_new_and_is_used_if_the_agent_names_it(
    told: tuple[AgentRecall, ...], events: tuple[Event, ...], told_and_used: tuple[int, int]
) -> None:
    assert recalls(events, told) == told_and_used


def test_our_own_calls_are_known_by_their_tools() -> None:
    assert own_calls([*recall("c1", ""), called("c2", Action.RUN, "ls")]) == {"c1"}


def test_what_is_named_is_named_by_anybody() -> None:
    named = named_in([prompt("retry.py", "p1"), said("clock.py", "a1")])
    assert named == facts_in("retry.py") | facts_in("clock.py")


def test_recovered_and_cold_sessions_are_compared_by_means() -> None:
    warm = SessionScore("s1", "h", "p", 1, Start.RECOVERED, 60, 10, 5, 6, 2, 30, 2, 1)
    cold = SessionScore("s2", "h", "p", 1, Start.COLD, 60, 0, 0, 3, 9, 50, 0, 0)
    first = SessionScore("s3", "h", "p", 1, Start.COLD, 60, novel_context_count=900)
    means = compare_by_start([warm, cold, first])
    told = {start: {name: (mean.value, mean.n) for name, mean in of.items()} for start, of in means.items()}
    assert told == {
        Start.RECOVERED: {
            "brief_items_used": (0.5, 1),
            "rediscovered": (0.25, 1),
            "novel_context_count": (30.0, 1),
            "memories_used": (0.5, 1),
        },
        Start.COLD: {
            "brief_items_used": (None, 0),
            "rediscovered": (0.75, 1),
            "novel_context_count": (50.0, 1),
            "memories_used": (None, 0),
        },
    }
