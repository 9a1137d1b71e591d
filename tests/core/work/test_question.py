"""The question for a model: bounded whatever happened, the work state first, the newest words whole."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evidence.kinds import Section
from holdfast.core.work.question import ASSIGNMENT, QUESTION_CHARS, SessionMessage, Speaker, question
from holdfast.core.work.state import Statement, WorkState
from holdfast.core.work.written import section_of_heading

NOON = 1_800_014_400_000
STATE = WorkState(
    "Mend the lexer",
    (
        Statement(Section.GOAL, "Mend the lexer.", NOON, by_user=True, worth=0.9),
        Statement(Section.DONE, "The token table is written.", NOON + 60_000, worth=0.6),
        Statement(Section.NEXT, "Skip comments.", NOON + 120_000, worth=0.6),
    ),
)
STATEMENTS = st.builds(
    Statement,
    st.sampled_from(Section),
    st.text(max_size=900),
    st.integers(-9, 1 << 60),
    worth=st.floats(0, 1),
)
SIZES = st.integers(0, 70_000) | st.integers(0, 900)
MESSAGES = st.lists(
    st.builds(
        lambda speaker, size, end: SessionMessage(speaker, "x" * size + end),
        st.sampled_from(Speaker),
        SIZES,
        st.text(max_size=9),
    )
)


def user(text: str) -> SessionMessage:
    return SessionMessage(Speaker.USER, text)


def agent(text: str) -> SessionMessage:
    return SessionMessage(Speaker.AGENT, text)


def result(text: str) -> SessionMessage:
    return SessionMessage(Speaker.RESULT, text)


def test_it_asks_for_the_nine_sections_and_then_gives_state_candidates_and_turns() -> None:
    asked = question(STATE, (user("Mend the lexer."), agent("On it.")))
    assert asked.startswith(ASSIGNMENT)
    assert (
        asked[len(ASSIGNMENT) :]
        == """

# Work state by rule

Title: Mend the lexer

## Goal
- Mend the lexer.

## Done
- The token table is written.

## Next
- Skip comments.

# All candidates, oldest first (time in UTC, section)

- 2027-01-15 12:00 goal, the user: Mend the lexer.
- 2027-01-15 12:01 done: The token table is written.
- 2027-01-15 12:02 next: Skip comments.

# The conversation

USER: Mend the lexer.

AGENT: On it."""
    )


def test_every_section_that_it_asks_for_is_understood_in_an_answer() -> None:
    headings = [line.removeprefix("## ") for line in ASSIGNMENT.splitlines() if line.startswith("## ")]
    assert [section_of_heading(heading) for heading in headings] == list(Section)


@given(st.lists(STATEMENTS, max_size=300), MESSAGES, st.text(max_size=50).map(lambda text: text * 400))
def test_it_is_never_longer_than_it_may_be(
    statements: list[Statement], messages: list[SessionMessage], earlier: str
) -> None:
    asked = question(WorkState("t" * 60, tuple(statements)), messages, earlier)
    assert len(asked) <= QUESTION_CHARS
    assert asked.startswith(ASSIGNMENT)


@given(MESSAGES)
def test_the_last_messages_are_there_in_their_order_and_the_newest_words_whole(
    messages: list[SessionMessage],
) -> None:
    numbered = [replace(message, text=f"<{n}> {message.text}") for n, message in enumerate(messages)]
    asked = question(STATE, numbered)
    last = asked.rpartition("# The last messages")[2]
    shown = [n for n, message in enumerate(numbered) if f"\n\n{message.speaker}: <{n}>" in last]
    assert shown == list(range(len(numbered) - len(shown), len(numbered)))
    if numbered and numbered[-1].speaker in (Speaker.USER, Speaker.AGENT) and len(numbered[-1].text) < 30_000:
        assert asked.endswith(numbered[-1].text.strip())


def test_calls_and_results_are_the_shorter_the_more_there_are() -> None:
    few = question(STATE, [user("Go."), *(result("y" * 3_000) for _ in range(3))])
    assert few.count("y") >= 9_000
    many = question(STATE, [user("Go."), *(result("begin" + "y" * 3_000 + "end") for _ in range(40))])
    assert (many.count("RESULT: begin"), many.count("yend")) == (40, 40)
    assert many.count("y") < 60_000


def test_of_a_long_session_the_users_words_and_the_conclusions_stay_from_its_beginning() -> None:
    messages = [
        user("Mend the lexer, but never touch vendor."),
        agent("I will look around."),
        agent("The lexer is mended."),
        user("Now the writer."),
        *(message for n in range(200) for message in (agent(f"Step {n}: {'z' * 200}"), result("y" * 400))),
    ]
    asked = question(STATE, messages)
    before, _, last = asked.partition("# The last messages")
    assert "USER: Mend the lexer, but never touch vendor." in before
    assert "AGENT: The lexer is mended." in before
    assert "I will look around." not in asked
    assert "Step 199: " in last
    assert " more messages, calls and results are left out.)" in before
    assert len(asked) > QUESTION_CHARS - 2_000, "no room is wasted"


def test_of_a_message_that_is_too_long_the_beginning_and_the_end_stay() -> None:
    asked = question(STATE, (user("old"), agent(f"begin {'x' * 90_000} end")))
    assert "AGENT: begin xxx" in asked
    assert asked.endswith("xxx end")
    assert "\n[…]\n" in asked
    assert "USER: old" in asked


def test_of_too_many_candidates_those_worth_least_are_left_out() -> None:
    many = tuple(
        Statement(Section.DECISIONS, f"{number}: {'word ' * 40}", NOON + number, worth=number % 2)
        for number in range(400)
    )
    asked = question(WorkState("", many), ())
    kept = [number for number in range(400) if f"decisions: {number}: " in asked]
    assert kept
    assert all(number % 2 for number in kept)
    assert f"({400 - len(kept)} more are left out.)" in asked


@pytest.mark.parametrize("at", [0, -1, 1 << 62])
def test_a_time_that_is_none_is_not_shown(at: int) -> None:
    assert "\n- goal: Go.\n" in question(WorkState("", (Statement(Section.GOAL, "Go.", at),)), ()) + "\n"
