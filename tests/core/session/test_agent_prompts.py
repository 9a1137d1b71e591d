"""What an agent is asked and advised as its window fills."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events.event import (
    Action,
    Compacted,
    CompactionSign,
    DigestGiven,
    Event,
    Origin,
    Remembered,
)
from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.prose.statement_rules import says_nothing
from holdfast.core.session.agent_prompts import (
    ADVICE,
    LEDGER_ADVICE,
    Advice,
    Flush,
    FlushPolicy,
    after_asking,
    due_advice,
    due_threshold,
    ends_the_day,
    marks_after,
)
from holdfast.core.session.pressure import FLUSH_MARKER, THRESHOLDS, Delivery, Threshold
from holdfast.core.session.session import Session
from tests.core.scenes import KEY, NOON, after, called, prompt, returned, said, session
from tests.tables import every_row

DEFAULT = FlushPolicy()
MOST_PROMPT_CHARS = 400


def percents_due(flush: Flush, percent: int, policy: FlushPolicy = DEFAULT) -> int:
    found = due_threshold(flush, policy, percent)
    return found.percent if found else 0


@pytest.mark.parametrize("threshold", THRESHOLDS)
def test_each_asks_for_the_sections_of_a_handover_by_name_and_in_few_words(threshold: Threshold) -> None:
    places = [threshold.text.index(section.value.capitalize()) for section in Section]
    assert places == sorted(places)
    assert "`session_digest`" in threshold.text
    assert len(threshold.text) <= MOST_PROMPT_CHARS


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
    after_90 = after_asking(Flush(), DEFAULT, THRESHOLDS[2], NOON)
    assert after_90 == Flush((50, 75, 90), NOON)


@given(st.lists(st.integers(0, 120), max_size=12))
def test_each_is_asked_at_most_once_in_a_window(pressures: list[int]) -> None:
    flush, given_out = Flush(), list[int]()
    for pressure in pressures:
        if found := due_threshold(flush, DEFAULT, pressure):
            given_out.append(found.percent)
            flush = after_asking(flush, DEFAULT, found, NOON)
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
        (Threshold(50, "Write."), f"{FLUSH_MARKER}\nWrite.", True),
        (Threshold(50, "[SYSTEM: x]\nWrite."), "[SYSTEM: x]\nWrite.", True),
    ],
)
def test_how_it_is_said(threshold: Threshold, text: str, *, urgent: bool) -> None:
    assert (threshold.text, threshold.is_urgent) == (text, urgent)


def remembered_or_digest(kind: type[Remembered | DigestGiven], origin: Origin) -> Event:
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
        ((remembered_or_digest(Remembered, Origin.ASSISTANT),), True),
        ((remembered_or_digest(DigestGiven, Origin.ASSISTANT),), True),
        ((remembered_or_digest(Remembered, Origin.HUMAN),), False),
        ((remembered_or_digest(DigestGiven, Origin.HUMAN),), False),
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
    assert not after_asking(done, DEFAULT, THRESHOLDS[1], NOON + 9).actioned


def test_a_compaction_resets_what_was_asked_and_not_whether_it_was_done() -> None:
    boundary = Compacted(
        session=KEY, record="b", at=NOON + 9, origin=Origin.HARNESS, sign=CompactionSign.BOUNDARY
    )
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


def names(rows: tuple[Advice, ...]) -> list[str]:
    return [row.name for row in rows]


@pytest.mark.parametrize(
    ("percent", "compactions", "prompt", "expected"),
    [
        (69, 1, "go on", []),
        (70, 0, "go on", ["ledger"]),
        (85, 0, "go on", ["ledger and clear"]),
        (10, 2, "go on", ["ledger and fresh start"]),
        (90, 3, "go on", ["ledger and clear", "ledger and fresh start"]),
        (5, 0, "that's it for today", ["ledger for tomorrow"]),
    ],
)
def test_who_keeps_a_ledger_is_told_when_to_save_it(
    percent: int, compactions: int, prompt: str, expected: list[str]
) -> None:
    assert names(due_advice((), percent, compactions, LEDGER_ADVICE, prompt)) == expected


def test_each_row_is_given_once_in_a_window_and_the_lesser_one_not_after_the_greater() -> None:
    known = marks_after((), due_advice((), 86, 0, LEDGER_ADVICE), 0)
    assert due_advice(known, 86, 0, LEDGER_ADVICE) == ()
    assert names(due_advice(known, 71, 1, LEDGER_ADVICE)) == ["ledger"]


def test_without_a_ledger_only_a_fresh_start_is_advised() -> None:
    assert due_advice((), 95, 1) == ()
    assert names(due_advice((), 95, 2)) == names(ADVICE)
    assert all("ledger" not in row.text for row in ADVICE)


@pytest.mark.parametrize(
    ("prompt", "ends"),
    [
        ("That's all for today, thanks", True),
        ("let's call it a day", True),
        ("we will continue tomorrow", True),
        ("good night", True),
        ("今天到此为止", True),
        ("明天继续", True),
        ("mend the day picker", False),
        ("the report shows the end of the month", False),
        ("go on", False),
        ("good night " + "x" * 500, False),
    ],
)
def test_a_user_who_stops_for_today_is_understood(prompt: str, ends: bool) -> None:  # noqa: FBT001
    assert ends_the_day(prompt) is ends
