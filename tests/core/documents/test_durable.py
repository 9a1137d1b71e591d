"""Which notes last: rules, decisions and needs; no report of the work at hand."""

from __future__ import annotations

from holdfast.core.documents.durable import LONGEST, is_durable
from tests.tables import every_row

LASTING = [
    "Never touch vendor/.",
    "Always round half up.",
    "Use calendar months in UTC instead of 30 days.",
    "please never force-push",
    "Prefer typed builders over dictionaries.",
    "Do not import the store from core.",
    "We decided on SQLite.",
    "I decided to use ISO weeks, because calendars agree on those.",
    "Decision: keep the totals in Decimal, because floats drift.",
    "Migrations must be reversible.",
    "The hook response must nest `additionalContext` under `hookSpecificOutput`.",
    "All commits have to be signed.",
    "The tests need Docker.",
    "The report requires `pandoc`.",
    "The API listens on port 8080.",
    "Snapshots are kept in tests/snapshots.",
    "Every table always has an owner.",
    "We use Decimal for money.",
    "提交前必须运行测试",
]
PASSING = [
    "All 4 tests pass.",
    "I read the pruning code first.",
    "Use `len(summary.sessions)` instead of `summary.count`",
    "All the eligible tests now have `t.Parallel()`.",
    "`make test` passed",
    "Integration tests were cached.",
    "I see `sessionState` has `AgentType`.",
    "I must update the caller first.",
    "Let me never do that again.",
    "Added a hard cap of 80 characters; it must hold everywhere.",
    "Updated `a.py` to never return None",
    "The user asked me to always round up in the plan.",
    "Line 230: the action must be deferred.",
    "common.go:191 must define it.",
    "The function is defined but never called anywhere.",
    "The diagnostics must have been stale.",
    "This branch must be rebased.",
    "Should we always round?",
    "should all this go into common, we never use it there",
    "don't commit anything (said on refusing `git add`)",
    "Branch creation succeeded from `origin/main`.",
    "Git status shows that the plan must be committed; it is untracked.",
    "PR must be at https://example.invalid/pull/141",
    "Root cause | must | Fixed",
    "For now we never retry.",
    "Standing by for your decision, which must come first.",
    "Never " + "word " * LONGEST,
    "",
]


@every_row("note", LASTING)
def test_a_rule_a_decision_or_a_need_lasts(note: str) -> None:
    assert is_durable(note)


@every_row("note", PASSING)
def test_what_is_about_the_work_at_hand_does_not(note: str) -> None:
    assert not is_durable(note)
