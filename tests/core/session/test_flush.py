"""What an agent is asked to write down, when, in which words, and whether it did."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import Action, Compacted, DigestGiven, Event, Origin, Remembered, Sign
from holdfast.core.evidence.prose.signs import says_nothing
from holdfast.core.session.flush import Flush, FlushPolicy, asked, due
from holdfast.core.session.session import Session
from holdfast.core.session.thresholds import MARKER, THRESHOLDS, Delivery, Threshold
from tests.core.scenes import KEY, NOON, after, called, prompt, returned, said, session
from tests.tables import every_row

DEFAULT = FlushPolicy()


def percents_due(flush: Flush, percent: int, policy: FlushPolicy = DEFAULT) -> int:
    found = due(flush, policy, percent)
    return found.percent if found else 0


@pytest.mark.parametrize(
    ("before", "percent", "asks"),
    [
        ((), 49, 0),
        ((), 50, 50),
        ((), 74, 50),
        ((50,), 74, 0),
        ((50,), 75, 75),
        ((50, 75), 89, 0),
        ((50, 75), 90, 90),
        ((50, 75, 90), 140, 0),
        ((), 95, 90),
        ((90,), 60, 50),
    ],
)
def test_what_is_due_is_the_most_pressing_that_was_not_asked(
    before: tuple[int, ...], percent: int, asks: int
) -> None:
    assert percents_due(Flush(before), percent) == asks


def test_what_lies_below_what_was_asked_is_not_asked_any_more() -> None:
    after_90 = asked(Flush(), DEFAULT, THRESHOLDS[2], NOON)
    assert after_90 == Flush((50, 75, 90), NOON)


@given(st.lists(st.integers(0, 120), max_size=12))
def test_each_is_asked_at_most_once_in_a_window(pressures: list[int]) -> None:
    flush, given_out = Flush(), list[int]()
    for pressure in pressures:
        if found := due(flush, DEFAULT, pressure):
            given_out.append(found.percent)
            flush = asked(flush, DEFAULT, found, NOON)
    assert len(set(given_out)) == len(given_out)
    assert max(pressures, default=0) < 50 or max(given_out) == max(
        one.percent for one in THRESHOLDS if one.percent <= max(pressures)
    )


def test_without_once_per_window_it_is_asked_as_long_as_the_pressure_lasts() -> None:
    policy = FlushPolicy(once_per_window=False)
    assert percents_due(Flush((50, 75)), 80, policy) == 75


def test_nothing_is_asked_where_that_is_off() -> None:
    assert percents_due(Flush(), 95, FlushPolicy(enabled=False)) == 0


def test_what_is_only_shown_is_left_out_where_it_is_not_to_be_shown() -> None:
    policy = FlushPolicy(show_in_system_prompt=False)
    assert [percents_due(Flush(), percent, policy) for percent in (60, 80, 91)] == [0, 0, 90]


@pytest.mark.parametrize(
    ("threshold", "text", "urgent"),
    [
        (Threshold(50, "Write.", Delivery.SYSTEM), "Write.", False),
        (Threshold(50, "Write.", Delivery.USER), "Write.", True),
        (Threshold(50, "Write."), f"{MARKER}\nWrite.", True),
        (Threshold(50, "[SYSTEM: x]\nWrite."), "[SYSTEM: x]\nWrite.", True),
    ],
)
def test_how_it_is_said(threshold: Threshold, text: str, *, urgent: bool) -> None:
    assert (threshold.text, threshold.is_urgent) == (text, urgent)


def told(kind: type[Remembered | DigestGiven], origin: Origin) -> Event:
    return kind(session=KEY, record="m1", at=NOON + 5, origin=origin, text="port 8080")


def wrote(path: str, action: Action = Action.WRITE, *, ok: bool = True) -> tuple[Event, ...]:
    at = NOON + 5
    return called("c1", action, path, at), returned("c1", ok=ok, at=at)


def was_asked() -> Session:
    return replace(session(), flush=Flush((50,), NOON))


@every_row(
    ("events", "actioned"),
    [
        (wrote("memory/2026-11-16.md"), True),
        (wrote("/home/you/app/memory/2026-11-16.md", Action.EDIT), True),
        (wrote("/home/you/.harness/projects/app/memory/MEMORY.md"), True),
        (wrote("mkdir -p memory && echo 'port 8080' >> memory/2026-11-16.md", Action.RUN), True),
        (wrote("memory/2026-11-16.md", ok=False), False),
        (wrote("memory/2026-11-16.md", Action.READ), False),
        (wrote("memory/2026-11-16.md", Action.DELETE), False),
        (wrote("src/memory.py"), False),
        (wrote("src/memoryless/a.md"), False),
        ((told(Remembered, Origin.ASSISTANT),), True),
        ((told(DigestGiven, Origin.ASSISTANT),), True),
        ((told(Remembered, Origin.HUMAN),), False),
        ((told(DigestGiven, Origin.HUMAN),), False),
        ((said("I wrote it down.", "a1", NOON + 5),), False),
    ],
)
def test_the_agent_did_as_it_was_asked_if_it_wrote_something_down(
    events: tuple[Event, ...], *, actioned: bool
) -> None:
    assert after(was_asked(), *events).flush.actioned is actioned


def test_what_was_written_before_it_was_asked_for_does_not_count() -> None:
    assert not after(session(), *wrote("memory/a.md")).flush.actioned
    later = replace(session(), flush=Flush((50,), NOON + 60_000))
    assert not after(later, *wrote("memory/a.md")).flush.actioned


def test_asking_again_asks_for_something_new() -> None:
    done = after(was_asked(), *wrote("memory/a.md")).flush
    assert not asked(done, DEFAULT, THRESHOLDS[1], NOON + 9).actioned


def test_a_compaction_resets_what_was_asked_and_not_whether_it_was_done() -> None:
    boundary = Compacted(session=KEY, record="b", at=NOON + 9, origin=Origin.HARNESS, sign=Sign.BOUNDARY)
    done = after(was_asked(), *wrote("memory/a.md")).flush
    assert done.actioned
    assert after(was_asked(), *wrote("memory/a.md"), boundary).flush == replace(done, asked=())


@pytest.mark.parametrize("text", ["NO_REPLY", " NO_REPLY\n", "`NO_REPLY`", "**NO_REPLY**."])
def test_an_answer_that_says_nothing_leaves_no_trace(text: str) -> None:
    before = after(session(), prompt("Fix the retries", "p1"), said("They start at zero.", "a1"))
    assert says_nothing(text)
    assert after(before, said(text, "a2")).trail == before.trail


@pytest.mark.parametrize("text", ["NO_REPLY is what I would say.", "The constant NO_REPLY", "", "no reply"])
def test_an_answer_that_only_speaks_of_it_is_an_answer(text: str) -> None:
    assert not says_nothing(text)
