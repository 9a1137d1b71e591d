"""What is said of a ledger, after saving and at the next start."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.compose import compose
from holdfast.core.documents.ledger import Ledger, LedgerEntry
from holdfast.core.documents.ledger_brief import LeadingLedger, ledger_questions, save_confirmation
from holdfast.core.documents.ledger_update import staleness
from tests.core.scenes import MINUTE, NOON, session, worked

LEDGER = Ledger(
    goal=(LedgerEntry("Round totals half up"),),
    constraints=(
        LedgerEntry("Never touch legacy.py"),
        LedgerEntry("Ada wants tabs", unconfirmed=True, why="inferred"),
    ),
    decisions=(LedgerEntry("Decimal instead of float", unconfirmed=True),),
    done=(LedgerEntry("The parser"), LedgerEntry("The lexer")),
    now=(
        LedgerEntry("Mending total() in src/totals.py, which is a long story by now"),
        LedgerEntry("and its test"),
    ),
    next=(LedgerEntry("Tax rounding"),),
    files=(
        LedgerEntry("`src/totals.py`", unconfirmed=True, why="changed since"),
        LedgerEntry("`src/tax.py`"),
    ),
)
LEAD = LeadingLedger(".agents/session_ledger.md", LEDGER, NOON - 5 * MINUTE)
NOW = "Mending total() in src/totals.py, which is a long story by now"
FOCUS = f"The ledger shows “{NOW}” in progress: is this still the focus?"


def brief_input(lead: LeadingLedger = LEAD, **changes: object) -> BriefInput:
    return replace(BriefInput(Reason.CLEAR, worked(), NOON + MINUTE, leading_ledger=lead), **changes)  # type: ignore[arg-type]


def test_the_confirmation_after_saving() -> None:
    assert save_confirmation("x.md", LEDGER) == (
        "Checkpoint saved to x.md\n- Goal: Round totals half up\n- State: 2 done, now: "
        "Mending total() in src/totals.py, which is a long story by now, next: Tax rounding"
    )
    assert (
        save_confirmation("x.md", Ledger())
        == "Checkpoint saved to x.md\n- Goal: -\n- State: 0 done, now: -, next: -"
    )


@pytest.mark.parametrize(
    ("ledger", "expected"),
    [
        (
            LEDGER,
            (
                FOCUS,
                "`src/totals.py`: UNCONFIRMED (changed since): is it as you want it?",
                "I see “Ada wants tabs” marked UNCONFIRMED (inferred): can you confirm it?",
            ),
        ),
        (
            Ledger(now=(LedgerEntry("sums"),)),
            ("The ledger shows “sums” in progress: is this still the focus?",),
        ),
        (
            Ledger(goal=(LedgerEntry("sums"),)),
            ("The ledger shows “sums” in progress: is this still the focus?",),
        ),
        (Ledger(), ()),
    ],
)
def test_one_to_three_questions_confirm_a_ledger(ledger: Ledger, expected: tuple[str, ...]) -> None:
    assert ledger_questions(ledger) == expected


def test_the_ledger_leads_the_brief() -> None:
    text = compose(brief_input(), 2_000).text
    opening = text.index("### Ledger\n- `.agents/session_ledger.md`, saved here 6 min ago.")
    now, asked, following = (
        text.index(words) for words in ("- Now: Mending total()", f"- Ask: {FOCUS}", "- Next: Tax")
    )
    assert opening < now < text.index("- Now: and its test") < asked < following
    assert "then resume from Now" in text
    assert "Ignore this if you start something new" in text
    assert following < text.index("### Goal") < text.index("### Failures")
    assert "STALE" not in text


def test_nothing_is_said_twice() -> None:
    goal = worked().trail.goal
    assert goal is not None
    lead = replace(
        LEAD, ledger=replace(LEDGER, goal=(LedgerEntry(goal.text),), next=(LedgerEntry("Tax rounding"),))
    )
    text = compose(brief_input(lead), 4_000).text
    assert text.count(goal.text) == 1


def test_whatever_the_budget_the_brief_keeps_it_and_begins_with_what_is_now() -> None:
    for budget in (300, 500, 800, 1_200):
        brief = compose(brief_input(), budget)
        assert len(brief.text) <= budget
        assert not brief.text or "### Ledger" in brief.text
    assert "- Now: Mending" in compose(brief_input(), 500).text


def test_a_stale_one_says_so_and_leaves_room() -> None:
    stale = replace(LEAD, stale="the session worked on for 2 h after it was saved")
    text = compose(brief_input(stale), 2_000).text
    assert "STALE: the session worked on for 2 h after it was saved." in text
    assert "- Now: Mending" in text


def test_alone_it_speaks_for_itself() -> None:
    cleared = compose(brief_input(session=session()), 2_000).text
    assert "just cleared" in cleared
    assert "record of session" not in cleared
    started = compose(brief_input(session=session(), reason=Reason.STARTUP), 2_000).text
    assert "Work here was left with a ledger." in started


@pytest.mark.parametrize(
    ("saved_at", "worked_until", "now", "stale"),
    [
        (NOON, NOON, NOON, ""),
        (NOON, NOON + 4 * MINUTE, NOON + 10 * MINUTE, ""),
        (NOON, NOON + 60 * MINUTE, NOON + 61 * MINUTE, "the session worked on for 1 h after it was saved"),
        (NOON, 0, NOON + 3 * 24 * 60 * MINUTE, ""),
        (NOON, 0, NOON + 8 * 24 * 60 * MINUTE, "it is 8 days old"),
    ],
)
def test_fresh_and_stale_are_told_apart(saved_at: int, worked_until: int, now: int, stale: str) -> None:
    assert staleness(saved_at, worked_until, now) == stale
