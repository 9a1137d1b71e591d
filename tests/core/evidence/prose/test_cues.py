"""Cues: what the words of a sentence hint at, by tables."""

from __future__ import annotations

from holdfast.core.evidence.kinds import Section
from holdfast.core.evidence.prose import cues
from holdfast.core.evidence.prose.cues import Cue
from tests.tables import every_row


@every_row(
    ("sentence", "expected"),
    [
        ("The root cause is a lock that nobody frees.", {Cue.FINDING}),
        ("ROOT CAUSE: the lock.", {Cue.FINDING}),
        ("We’ll use a queue rather than a lock.", {Cue.CHOICE}),
        ("The export is done and verified.", {Cue.DONE}),
        ("The import crashed with an error.", {Cue.FAIL}),
        ("The migration is still open.", {Cue.NEXT}),
        ("Want me to rename it?", {Cue.ASK}),
        ("Let me look at the lexer.", {Cue.NARRATION}),
        ("The suite takes 12 seconds.", {Cue.CHECK, Cue.NUMBER}),
        ("原因是锁没有释放", {Cue.FINDING}),
        ("A plain sentence about the shop.", set()),
    ],
)
def test_the_words_of_a_sentence_hint_at_something(sentence: str, expected: set[Cue]) -> None:
    assert cues.cues_in(sentence) - {Cue.RULE} == expected


@every_row(
    "sentence",
    [
        "Let me run the tests.",
        "Now I'll add the flag.",
        "OK, next let's wire it up.",
        "Now update the parser:",
        "让我看一下",
    ],
)
def test_what_is_announced_is_over_a_step_later(sentence: str) -> None:
    assert cues.announces(sentence)


@every_row("sentence", ["The till counts twice.", "I renamed the flag.", "Tests pass now."])
def test_what_is_reported_is_not_announced(sentence: str) -> None:
    assert not cues.announces(sentence)


@every_row(
    ("sentence", "is_momentary"),
    [
        ("It might be the clock.", True),
        ("The build is running.", True),
        ("I should check the lexer.", True),
        ("Waiting for the deploy.", True),
        ("The clock is read once at the start.", False),
        ("The till is mended.", False),
    ],
)
def test_intentions_guesses_and_waiting_hold_for_a_moment(sentence: str, *, is_momentary: bool) -> None:
    assert cues.is_momentary(sentence) == is_momentary


@every_row(
    ("sentence", "widely", "narrowly"),
    [
        ("The import fails on an empty row.", True, True),
        ("The flag does not reach the worker.", True, False),
        ("The import bug is fixed, all tests pass.", False, False),
        ("The till counts every sale.", False, False),
    ],
)
def test_a_problem_is_named_and_not_mended(sentence: str, *, widely: bool, narrowly: bool) -> None:
    assert cues.states_problem(sentence) == widely
    assert cues.states_problem(sentence, widely=False) == narrowly


@every_row(
    ("sentence", "passes", "status"),
    [
        ("All 12 tests pass.", True, True),
        ("Lint is clean.", True, True),
        ("Committed and pushed.", False, True),
        ("The parser reads it twice.", False, False),
        ("The test fails.", False, False),
    ],
)
def test_how_the_checks_stand(sentence: str, *, passes: bool, status: bool) -> None:
    assert cues.states_pass(sentence) == passes
    assert cues.states_status(sentence) == status


def test_a_lesson_outlives_its_problem() -> None:
    assert cues.states_lesson("The root cause was a stale lock.")
    assert not cues.states_lesson("The lock is missing.")


@every_row(
    ("prompt", "objects"),
    [
        ("No, that's not what I meant.", True),
        ("why did you touch the parser?", True),
        ("use a queue instead", True),
        ("Yes, go ahead.", False),
        ("Rename the flag everywhere.", False),
    ],
)
def test_the_user_objects(prompt: str, *, objects: bool) -> None:
    assert cues.objects(prompt) == objects


@every_row(
    ("sentence", "rules"),
    [
        ("Never write below vendor/.", True),
        ("The port should be 6380.", True),
        ("Should we keep it?", False),
        ("Rename the flag.", False),
    ],
)
def test_a_sentence_lays_something_down(sentence: str, *, rules: bool) -> None:
    assert cues.rules(sentence) == rules


@every_row(
    ("sentence", "is_bare"),
    [
        ("Can you run the tests?", True),
        ("run the tests", True),
        ("Move it, because the shop pays by rows.", False),
        (
            "I want the old colours back, in every list and on every page that the shop shows to a guest.",
            False,
        ),
    ],
)
def test_a_bare_request_says_neither_why_nor_how(sentence: str, *, is_bare: bool) -> None:
    assert cues.is_bare_request(sentence) == is_bare


@every_row(
    ("heading", "section"),
    [
        ("what was done", Section.DONE),
        ("remaining work", Section.NEXT),
        ("root cause", Section.DECISIONS),
        ("errors and fixes", Section.FAILURES),
        ("current work", Section.NOW),
        ("primary request and intent", Section.GOAL),
        ("all user messages", Section.RULES),
        ("where", Section.WHERE),
        ("", None),
        ("the till", None),
    ],
)
def test_a_heading_hints_at_a_section(heading: str, section: Section | None) -> None:
    assert cues.heading_hint(heading) is section


@every_row(
    ("sentence", "bare"),
    [
        ("Great! The till is mended.", "The till is mended."),
        ("Good catch, so the clock was wrong.", "The clock was wrong."),
        ("✅ The till is mended.", "The till is mended."),
        ("✅ `★` marks the current branch", "`★` marks the current branch"),
        ("Perfect", "Perfect"),
        ("The till is mended.", "The till is mended."),
    ],
)
def test_openings_that_say_nothing_go(sentence: str, bare: str) -> None:
    assert cues.without_filler(sentence) == bare


@every_row(
    ("prompt", "only_asks"),
    [
        ("Why does the till count twice?", True),
        ("so, where is the lexer??", True),
        ("Why not. Mend it.", False),
        ("Could you mend it?", False),
        ("what " + "? " * 100_000 + "a", False),
    ],
)
def test_a_prompt_may_ask_and_ask_for_nothing(prompt: str, *, only_asks: bool) -> None:
    assert cues.only_asks(prompt) is only_asks
