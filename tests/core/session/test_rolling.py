"""Checkpoints on the way: when one is due, and what it says in fields."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.events.event import Compacted, CompactionSign, Origin
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.evidence.trail import Trail
from holdfast.core.session.rolling import (
    Outline,
    Rolling,
    RollingPolicy,
    after_checkpoint,
    is_checkpoint_due,
    outline_of,
)
from holdfast.core.session.session import Policy, Session, TakeCheckpoint, Trigger, advance, work_of
from holdfast.core.work.state import Statement, WorkState
from tests.core.scenes import KEY, NOON, after, prompt, said, session, worked
from tests.core.session.test_pressure import usage
from tests.tables import every_row

DEFAULT = RollingPolicy()


@every_row(
    ("rolling", "used", "percent", "prompts", "is_due"),
    [
        (Rolling(), 40_000, 20, 3, False),
        (Rolling(), 50_000, 25, 3, True),
        (Rolling((25,)), 60_000, 30, 3, False),
        (Rolling((25,)), 100_000, 50, 3, True),
        (Rolling((25, 50)), 199_000, 99, 3, True),
        (Rolling((25, 50, 75)), 199_000, 99, 3, False),
        (Rolling(), 12_000, 6, 14, False),
        (Rolling(), 12_000, 6, 15, True),
        (Rolling(prompts=15), 12_000, 6, 29, False),
        (Rolling(prompts=15), 12_000, 6, 30, True),
        (Rolling(), 9_999, 31, 15, False),
        (Rolling(), 10_000, 31, 0, True),
    ],
)
def test_when_one_is_due(rolling: Rolling, used: int, percent: int, prompts: int, *, is_due: bool) -> None:
    assert is_checkpoint_due(rolling, DEFAULT, used, percent, prompts) is is_due


def test_one_serves_all_shares_that_were_passed_at_once() -> None:
    assert after_checkpoint(Rolling(), DEFAULT, 80, 4) == Rolling((25, 50, 75), 4)


def test_none_is_due_where_they_are_off() -> None:
    assert not is_checkpoint_due(Rolling(), RollingPolicy(enabled=False), 199_000, 99, 90)


def triggers(state: Session, *used: int) -> tuple[Session, list[int]]:
    """The session after these counts, and those of them at which a checkpoint was to be taken."""
    at: list[int] = []
    for number, tokens in enumerate(used):
        state, effects = advance(state, usage(tokens, record=f"u{number}"), Policy())
        at += [tokens] if effects == (TakeCheckpoint(Trigger.THRESHOLD),) else []
    return state, at


def test_a_filling_window_is_saved_once_at_each_share() -> None:
    filling = (20_000, 45_000, 51_000, 60_000, 101_000, 140_000, 151_000, 190_000)
    assert triggers(worked(), *filling)[1] == [51_000, 101_000, 151_000]


def test_a_new_window_is_saved_again() -> None:
    state, _ = triggers(worked(), 51_000, 151_000)
    boundary = Compacted(
        session=KEY, record="b", at=NOON, origin=Origin.HARNESS, sign=CompactionSign.BOUNDARY
    )
    _, again = triggers(after(state, boundary), 30_000, 52_000)
    assert again == [52_000]


def test_the_answer_to_the_fifteenth_prompt_saves_a_window_that_does_not_fill() -> None:
    state = after(session(), *(prompt(f"step {n}", f"p{n}") for n in range(14)))
    state, early = triggers(state, 15_000)
    state = after(state, prompt("step 14", "p14"))
    state, late = triggers(replace(state), 15_100, 15_200)
    assert (early, late) == ([], [15_100])


def test_a_session_of_which_nothing_was_seen_is_not_saved() -> None:
    assert triggers(session(), 51_000)[1] == []


def test_the_fields_of_one() -> None:
    state = after(
        worked(),
        said("I decided to use a monotonic clock in `retry.py`. Should the limit be configurable?", "a9"),
    )
    outline = outline_of(work_of(state), state.trail, 51_000, 7)
    assert (outline.tokens, outline.messages) == (51_000, 7)
    assert "Fix the flaky retry test" in outline.summary
    assert any("monotonic clock" in one for one in outline.key_decisions)
    assert any("configurable" in one for one in outline.open_questions)
    assert any("retry" in topic for topic in outline.topics)


def test_of_nothing_there_is_nothing_to_say() -> None:
    assert outline_of(WorkState(), Trail(), 0, 0) == Outline()


def test_the_summary_says_goal_now_and_next() -> None:
    state = WorkState(
        statements=(
            Statement(Section.GOAL, "Mend the retry", 1),
            Statement(Section.DONE, "The test is written", 2),
            Statement(Section.NOW, "Editing retry.py", 3),
            Statement(Section.NEXT, "Tag it", 4),
            Statement(Section.NEXT, "A regex might do", 5, kind=NoteKind.UNTRIED),
        )
    )
    assert outline_of(state, Trail(), 0, 0).summary == (
        "Goal: Mend the retry\nNow: Editing retry.py\nNext: Tag it; Not tried yet: A regex might do"
    )
