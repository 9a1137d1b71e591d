"""Labels: which statements count as needed, by questions, by a summary, and by what the agent used."""

from __future__ import annotations

import re

import pytest

from holdfast.core.evaluation.handover import ExpectedContent, Question
from holdfast.core.evaluation.labels import (
    NUGGET_WEIGHT,
    TRAP_WEIGHT,
    LabelSource,
    StatementVerdict,
    SummarySentences,
    label_by_questions,
    label_by_use,
    label_by_verdict,
)
from tests.tables import every_row


def content(expression: str) -> ExpectedContent:
    return ExpectedContent(expression, (re.compile(expression, re.IGNORECASE),))


QUESTIONS = (
    Question("goal-1", "goal", (content("checkout"), content("rounding"))),
    Question("next-1", "next", (content("invoices"),)),
    Question("done-1", "done", ()),
)
TRAPS = (content("float is fine"),)


@every_row(
    ("text", "is_needed", "weight"),
    [
        ("The checkout is slow", True, NUGGET_WEIGHT / 2 / 3),
        ("The checkout has a\nrounding fault", True, NUGGET_WEIGHT / 3),
        ("Rounding in the checkout, then the invoices", True, NUGGET_WEIGHT * 2 / 3),
        ("Something else", False, 1.0),
        ("For invoices float is fine", False, TRAP_WEIGHT),
    ],
)
def test_a_statement_counts_by_the_share_of_answers_that_it_holds_alone(
    text: str, *, is_needed: bool, weight: float
) -> None:
    label = label_by_questions(text, QUESTIONS, TRAPS)
    assert label.is_needed is is_needed
    assert label.weight == pytest.approx(weight)


SUMMARY = """## Done
- The rounding of `order_total` in `checkout.py` was moved to the end.
- Invoices follow. The parser was left alone.
"""


@every_row(
    ("text", "is_needed"),
    [
        ("Moved the rounding of `order_total` to the end", True),
        ("`order_total` was renamed, because nobody understood the old spelling", False),
        ("The rounding was moved to the end of `other_total`", False),
        ("The parser of `order_total` was left alone, invoices follow", False),
        ("The rounding was moved to the end", None),
        ("", None),
    ],
)
def test_a_summary_covers_what_one_of_its_sentences_says_about_the_same_thing(
    text: str, *, is_needed: bool | None
) -> None:
    label = SummarySentences(SUMMARY).label(text)
    assert (label.is_needed if label else None) is is_needed


@every_row(
    ("text", "is_needed"),
    [
        ("Rounding is in `checkout.py`", True),
        ("Rounding is in `invoice.py`", False),
        ("Rounding is somewhere", None),
    ],
)
def test_used_is_what_names_a_thing_that_the_agent_named_again(text: str, *, is_needed: bool | None) -> None:
    label = label_by_use(text, frozenset({"checkout.py"}))
    assert (label.is_needed if label else None) is is_needed


@pytest.mark.parametrize(
    ("verdict", "is_needed"),
    [
        (StatementVerdict.NEEDED, True),
        (StatementVerdict.USEFUL, True),
        (StatementVerdict.IDLE, False),
        (StatementVerdict.NOISE, False),
        (StatementVerdict.OUTDATED, False),
    ],
)
def test_a_reader_says_what_is_needed(verdict: StatementVerdict, *, is_needed: bool) -> None:
    label = label_by_verdict(verdict)
    assert (label.source, label.is_needed) == (LabelSource.READERS, is_needed)


def test_of_what_readers_judge_the_needed_counts_most_and_the_outdated_more_than_the_idle() -> None:
    needed, outdated, idle = (
        label_by_verdict(one).weight
        for one in (StatementVerdict.NEEDED, StatementVerdict.OUTDATED, StatementVerdict.IDLE)
    )
    assert needed > outdated > idle
