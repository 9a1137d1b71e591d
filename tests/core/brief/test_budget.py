"""Budgets: which limit holds for which text, and that all parts together keep it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.budget import AnswerLimit, Budget, BudgetSettings, budget_for
from holdfast.core.brief.compose import compose_for_start
from holdfast.core.documents.continuity import ContinuityPart, LayerName, LayerSummary
from holdfast.core.documents.continuity_startup import LayerContent, StartupInput
from holdfast.core.documents.ledger import Ledger, LedgerEntry
from holdfast.core.documents.ledger_brief import RepositoryLedger
from holdfast.core.text.untrusted import OVERHEAD
from tests.core.scenes import NOON, worked

DEFAULT = BudgetSettings(2_000, 6_000, 60)
LARGE = BudgetSettings(20_000, 50_000, 60)
NARROW = BudgetSettings(2_000, 700, 5)
CAPPED = BudgetSettings(2_000, 6_000, 60, brief_is_capped=True)
HARNESS = AnswerLimit(10_000, len)
RESENDING = AnswerLimit(10_000, len, is_resent=True)
LOADED = StartupInput(
    (
        LayerContent(
            LayerName.LOCAL,
            "mine.md",
            LayerSummary("", {ContinuityPart.NEXT: tuple(f"ask Ada about port {n}" for n in range(300))}),
        ),
    ),
    (),
)
STRANGE = RepositoryLedger("ledger.md", Ledger(decisions=tuple(LedgerEntry(f"Gate {n}") for n in range(90))))


@pytest.mark.parametrize(
    ("reason", "settings", "limit", "budget"),
    [
        (Reason.STARTUP, DEFAULT, HARNESS, Budget(2_000, 6_000, 60, may_grow=True)),
        (Reason.CLEAR, DEFAULT, HARNESS, Budget(2_000, 6_000, 60, may_grow=True)),
        (Reason.STARTUP, CAPPED, HARNESS, Budget(2_000, 6_000, 60)),
        (Reason.CLEAR, DEFAULT, RESENDING, Budget(2_000, 6_000, 60)),
        (Reason.COMPACT, DEFAULT, None, Budget(2_000, 6_000, 60)),
        (Reason.LATE, DEFAULT, HARNESS, Budget(2_000, 6_000, 60)),
        (Reason.SUMMARY, DEFAULT, HARNESS, Budget(1_500, 6_000, 60)),
        (Reason.SUMMARY, NARROW, HARNESS, Budget(700, 700, 5)),
        (Reason.ASKED, DEFAULT, None, Budget(6_000, 6_000, 60)),
        (Reason.STARTUP, NARROW, HARNESS, Budget(700, 700, 5, may_grow=True)),
        (Reason.COMPACT, LARGE, HARNESS, Budget(10_000, 10_000, 60)),
        (Reason.COMPACT, LARGE, None, Budget(20_000, 50_000, 60)),
    ],
)
def test_the_smallest_of_all_limits_holds(
    reason: Reason, settings: BudgetSettings, limit: AnswerLimit | None, budget: Budget
) -> None:
    assert budget_for(reason, settings, limit) == budget


WHOLE = replace(BriefInput(Reason.STARTUP, worked(), NOON), startup=LOADED, repository_ledger=STRANGE)


@given(brief=st.integers(200, 4_000), more=st.integers(0, 6_000), may_grow=st.booleans())
def test_brief_continuity_and_a_strangers_ledger_together_keep_the_total(
    brief: int,
    more: int,
    may_grow: bool,  # noqa: FBT001
) -> None:
    budget = Budget(brief, brief + more, 500, may_grow)
    assert len(compose_for_start(WHOLE, budget).text) <= brief + more


def blocks(brief_input: BriefInput, budget: Budget) -> list[int]:
    """The sizes of the fenced blocks that are given."""
    return [len(block) for block in compose_for_start(brief_input, budget).text.split("</holdfast-recall>")]


def test_a_brief_grows_into_what_the_other_blocks_leave() -> None:
    alone, beside = replace(WHOLE, startup=None, repository_ledger=None), replace(WHOLE, startup=LOADED)
    small = Budget(400, 3_000, 12)
    grown = replace(small, may_grow=True)
    assert blocks(alone, small)[0] <= 400 < blocks(alone, grown)[0]
    reserved, *others = blocks(beside, small)
    larger, *unchanged = blocks(beside, grown)
    assert unchanged == others
    assert reserved <= 400 < larger


def test_a_brief_does_not_grow_where_the_continuity_needs_the_rest() -> None:
    budget = Budget(400, 1_500, 300)
    without_ledger = replace(WHOLE, repository_ledger=None)
    assert blocks(without_ledger, replace(budget, may_grow=True)) == blocks(without_ledger, budget)


def test_each_part_gets_what_the_others_leave() -> None:
    budget = Budget(2_000, 6_000, 60)
    assert budget.repository_ledger == 500
    assert Budget(20_000, 20_000).repository_ledger == 1_200
    assert budget.brief_beside("") == 2_000
    assert budget.brief_beside("x" * 499) == 1_500
    assert budget.grown_beside("x" * 499, 0) == 1_500
    growing = replace(budget, may_grow=True)
    assert (growing.brief_most, budget.brief_most) == (6_000, 2_000)
    assert growing.repository_ledger == 500
    assert growing.grown_beside("", 0) == 6_000
    assert growing.grown_beside("x" * 499, 1_000) == 4_500
    assert growing.grown_beside("", 5_000) == 2_000
    assert budget.continuity("x" * 1_999, "").chars == 4_000 - OVERHEAD
    assert budget.continuity("x" * 1_999, "y" * 499).chars == 3_500 - OVERHEAD
    assert budget.continuity().chars == 6_000 - OVERHEAD


def test_an_answer_that_is_too_large_makes_all_parts_smaller() -> None:
    by_bytes = AnswerLimit(1_000, lambda text: len(text.encode()))
    answer = "é" * 1_000
    assert by_bytes.fits(answer[:500])
    assert not by_bytes.fits(answer)
    assert Budget(800, 1_000, 60).reduced(by_bytes, answer) == Budget(400, 500, 60)


@pytest.mark.parametrize(
    ("texts", "fits"), [(("ab", "cd"), True), (("abc", "cd"), False), (("", "abcdef"), True)]
)
def test_texts_are_counted_with_the_empty_line_between_them(texts: tuple[str, ...], fits: bool) -> None:  # noqa: FBT001
    assert AnswerLimit(6, len).fits(*texts) is fits
