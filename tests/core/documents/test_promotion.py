"""Promotion: nothing goes on without a person's yes, and an instruction never beyond a proposal."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.documents.continuity import ContinuityPart, LayerSummary
from holdfast.core.documents.promotion import (
    Destination,
    PromotionCandidate,
    ReviewState,
    ReviewStep,
    StepRefused,
    candidates,
    destination_of,
    is_applied,
    proposal,
    rebuild_candidates,
    take_step,
)

SUMMARY = LayerSummary(
    "Mend it",
    {
        ContinuityPart.CONFIRMED: ("`make test` passed", "The cache is warm after one run."),
        ContinuityPart.NEXT: ("Write the docs",),
        ContinuityPart.FAILED: ("The first migration lost rows.",),
        ContinuityPart.NOTES: (
            "Never touch vendor/.",
            "`src/a.py` edited",
            "Where: port 5433",
            "We decided on SQLite.",
        ),
    },
)
RULE, DURABLE = candidates(SUMMARY, "continuity:project", (), blocked=False, at=1)


def test_rules_and_decisions_are_put_up_and_what_is_done_failed_or_open_is_not() -> None:
    result = candidates(SUMMARY, "continuity:project", (), blocked=False, at=1)
    assert [(one.text, one.lane) for one in result] == [
        ("Never touch vendor/.", Destination.INSTRUCTION),
        ("We decided on SQLite.", Destination.DURABLE),
    ]


def test_what_a_person_wrote_counts_as_it_is() -> None:
    summary = LayerSummary("Mend it", {ContinuityPart.NOTES: ("The port is 5433", "The cache is warm")})
    result = candidates(summary, "continuity:project", ("The port is 5433",), blocked=False, at=1)
    assert [one.text for one in result] == ["The port is 5433"]


@pytest.mark.parametrize(
    ("candidate", "steps", "standing"),
    [
        (DURABLE, [ReviewStep.APPROVE, ReviewStep.PROMOTE], ReviewState.PROMOTED),
        (RULE, [ReviewStep.APPROVE, ReviewStep.PROMOTE], ReviewState.WAITING),
        (RULE, [ReviewStep.APPROVE, ReviewStep.PROMOTE, ReviewStep.VERIFY], ReviewState.APPLIED),
        (DURABLE, [ReviewStep.REJECT, ReviewStep.APPROVE], ReviewState.APPROVED),
        (
            replace(DURABLE, standing=ReviewState.BLOCKED),
            [ReviewStep.ADOPT, ReviewStep.APPROVE],
            ReviewState.APPROVED,
        ),
    ],
)
def test_a_candidate_goes_step_by_step(
    candidate: PromotionCandidate, steps: list[ReviewStep], standing: ReviewState
) -> None:
    for step in steps:
        after = take_step(candidate, step)
        assert isinstance(after, PromotionCandidate)
        candidate = after
    assert candidate.standing is standing


@pytest.mark.parametrize(
    ("standing", "step"),
    [
        (ReviewState.PENDING, ReviewStep.PROMOTE),
        (ReviewState.BLOCKED, ReviewStep.APPROVE),
        (ReviewState.BLOCKED, ReviewStep.PROMOTE),
        (ReviewState.REJECTED, ReviewStep.PROMOTE),
        (ReviewState.PROMOTED, ReviewStep.PROMOTE),
        (ReviewState.APPROVED, ReviewStep.VERIFY),
    ],
)
def test_no_step_is_skipped(standing: ReviewState, step: ReviewStep) -> None:
    refused = take_step(replace(DURABLE, standing=standing), step)
    assert isinstance(refused, StepRefused)
    assert DURABLE.id in refused.reason
    assert refused.hint


def test_another_build_keeps_what_was_decided_and_drops_what_nobody_looked_at() -> None:
    approved = replace(DURABLE, standing=ReviewState.APPROVED)
    assert rebuild_candidates([approved, RULE], []) == [approved]
    assert rebuild_candidates([approved], [DURABLE, RULE]) == [approved, RULE]


@pytest.mark.parametrize("before", ["", "# Rules\n", "# Rules", "a\n\nb\n"])
def test_a_proposal_only_adds_a_line(before: str) -> None:
    result = proposal(RULE, "AGENTS.md", before)
    added = [
        line for line in result.patch.splitlines() if line.startswith("+") and not line.startswith("+++")
    ]
    assert added[-1] == "+- Never touch vendor/."
    assert is_applied(RULE, before + "\n* never touch\n  vendor/\n")
    assert not is_applied(RULE, before)


@pytest.mark.parametrize("before", ["", "# Rules\n", "# Rules\n\n- Be brief.", "\n"])
def test_a_patch_can_be_applied_and_then_says_it(tmp_path: Path, before: str) -> None:
    one = candidates(
        LayerSummary("", {ContinuityPart.NOTES: ("Never touch vendor/.",)}), "s", (), blocked=False, at=0
    )[0]
    (tmp_path / "AGENTS.md").write_text(before)
    patch = proposal(one, "AGENTS.md", before).patch
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "apply", "-"], input=patch.encode(), cwd=tmp_path, check=True)
    after = (tmp_path / "AGENTS.md").read_text()
    assert after.endswith("- Never touch vendor/.\n")
    assert is_applied(one, after)


@pytest.mark.parametrize(
    ("text", "lane"),
    [
        ("Never touch vendor/.", Destination.INSTRUCTION),
        ("Always run the linter before a commit.", Destination.INSTRUCTION),
        ("I decided to keep the newest, because a drill always takes that one.", Destination.DURABLE),
        ("The lexer is generated.", Destination.DURABLE),
    ],
)
def test_what_tells_agents_what_to_do_is_an_instruction(text: str, lane: Destination) -> None:
    assert destination_of(text) is lane
