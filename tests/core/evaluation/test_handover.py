"""A brief is scored by the nuggets it holds and the traps it states."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.evaluation.handover import (
    CutScore,
    ExpectedContent,
    HandoverScore,
    Question,
    QuestionScore,
    mean_share,
    score_brief,
    without_nuggets_in,
)
from tests.tables import every_row


def statement(text: str, *expressions: str) -> ExpectedContent:
    patterns = tuple(re.compile(expression, re.IGNORECASE) for expression in expressions or (text,))
    return ExpectedContent(text, patterns)


def question(kind: str, *nuggets: str, id: str = "q") -> Question:
    return Question(id, kind, tuple(statement(nugget) for nugget in nuggets))


def scored(brief: str, *questions: Question, traps: tuple[str, ...] = (), budget: int = 2_000) -> CutScore:
    return score_brief("01", brief, budget, questions, [statement(trap) for trap in traps])


def cut(name: str, *shares: tuple[str, float], traps: int = 0, stated: int = 0) -> CutScore:
    questions = tuple(QuestionScore(f"{name}-{kind}", kind, share, ()) for kind, share in shares)
    return CutScore(name, questions, traps, ("a trap",) * stated, is_over_budget=False)


@every_row(
    ("brief", "share", "missing"),
    [
        ("", 0.0, ("port 8080", "retry twice")),
        ("It listens on port 8080.", 0.5, ("retry twice",)),
        ("Port 8080, and RETRY TWICE.", 1.0, ()),
        ("port\n   8080", 0.5, ("retry twice",)),
        ("port 80 80", 0.0, ("port 8080", "retry twice")),
    ],
)
def test_a_question_counts_by_the_share_of_its_nuggets(
    brief: str, share: float, missing: tuple[str, ...]
) -> None:
    (score,) = scored(brief, question("goal", "port 8080", "retry twice")).questions
    assert (score.share, score.missing) == (share, missing)


def test_one_expression_that_matches_is_enough() -> None:
    nugget = statement("the port", "port 8080", r"listens on \d+")
    (score,) = scored("It listens on 9090", Question("q", "goal", (nugget,))).questions
    assert score.share == 1


def test_a_question_without_nuggets_does_not_count() -> None:
    score = scored("port 8080", question("goal"), question("now", "port 8080"))
    assert [each.kind for each in score.questions] == ["now"]
    assert scored("port 8080", question("goal")).share is None


def test_a_trap_misleads_only_where_the_brief_states_it() -> None:
    score = scored("The trailer is lost.", traps=("the trailer is lost", "tests fail"))
    assert (score.traps, score.traps_stated) == (2, ("the trailer is lost",))


@every_row(
    ("brief", "budget", "share", "is_over"),
    [
        ("at 8080", 7, 1.0, False),
        ("at 8080\n", 7, 1.0, False),
        ("\n at 8080", 9, 1.0, False),
        ("now at 8080", 8, 0.0, True),
        ("at 8080 now", 7, 1.0, True),
    ],
)
def test_what_exceeds_the_budget_does_not_count(brief: str, budget: int, share: float, is_over: bool) -> None:  # noqa: FBT001
    score = scored(brief, question("goal", "8080"), budget=budget)
    assert (score.share, score.is_over_budget) == (share, is_over)


def test_beside_a_summary_only_what_it_lacks_counts() -> None:
    questions = (question("goal", "port 8080", "retry twice"), question("now", "port 8080"))
    rest = without_nuggets_in(questions, "It is\nport\n8080.")
    assert [[nugget.text for nugget in each.nuggets] for each in rest] == [["retry twice"], []]
    assert scored("retry twice", *rest).share == 1
    assert without_nuggets_in(questions, "") == questions


def test_means_are_over_questions_and_the_error_is_over_cuts() -> None:
    result = HandoverScore(
        (
            cut("01", ("goal", 1.0), ("now", 0.0), ("goal", 0.5), traps=2, stated=1),
            cut("02", ("goal", 0.0), traps=4),
            cut("03"),
        )
    )
    assert [each.share for each in result.cuts] == [0.5, 0.0, None]
    assert result.total == 0.375
    assert result.kinds == {"goal": 0.5, "now": 0.0}
    assert list(result.kinds) == ["goal", "now"]
    assert result.misled == 0.167
    # The deviation of 0.5 and 0 is 0.354; over the root of two cuts that is 0.25.
    assert result.error == 0.25


@every_row(
    ("result", "total", "error", "misled"),
    [
        (HandoverScore(()), None, None, None),
        (HandoverScore((cut("01"),)), None, None, None),
        (HandoverScore((cut("01", ("goal", 0.25), traps=1),)), 0.25, None, 0.0),
        (HandoverScore((cut("01", ("goal", 0.25)), cut("02"))), 0.25, None, None),
    ],
)
def test_what_cannot_be_measured_is_no_number(
    result: HandoverScore, total: float | None, error: float | None, misled: float | None
) -> None:
    assert (result.total, result.error, result.misled) == (total, error, misled)


@pytest.mark.parametrize(
    ("shares", "mean"),
    [([], None), ([1 / 3], 0.333), ([2 / 3, 1], 0.833), ([0.0625], 0.062), ([0.1875], 0.188)],
)
def test_a_mean_is_rounded_to_three_decimals(shares: list[float], mean: float | None) -> None:
    assert mean_share(shares) == mean


@given(brief=st.text(max_size=60), budget=st.integers(1, 60))
def test_more_room_never_loses_a_nugget(brief: str, budget: int) -> None:
    questions = tuple(question("goal", letter) for letter in "abc")
    smaller, larger = (scored(brief, *questions, budget=size) for size in (budget, budget + 1))
    assert all(
        less.share <= more.share for less, more in zip(smaller.questions, larger.questions, strict=True)
    )
