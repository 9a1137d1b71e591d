"""Promotion: nothing goes on without a person's yes, and an instruction never beyond a proposal."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast.core.documents.continuity import Part, Summary
from holdfast.core.documents.promotion import (
    Candidate,
    Destination,
    Refused,
    ReviewState,
    Step,
    candidates,
    is_applied,
    lane_of,
    moved,
    proposal,
    rebuilt,
)

SUMMARY = Summary(
    "Mend it",
    {
        Part.CONFIRMED: ("`make test` passed", "The cache is warm after one run."),
        Part.NEXT: ("Write the docs",),
        Part.NOTES: ("Never touch vendor/.", "`src/a.py` edited", "We decided on SQLite."),
    },
)
DURABLE, RULE, _ = candidates(SUMMARY, "continuity:project", blocked=False, at=1)


def test_what_lasts_is_put_up_and_what_is_of_the_day_is_not() -> None:
    result = candidates(SUMMARY, "continuity:project", blocked=False, at=1)
    assert [(one.text, one.lane) for one in result] == [
        ("The cache is warm after one run.", Destination.DURABLE),
        ("Never touch vendor/.", Destination.INSTRUCTION),
        ("We decided on SQLite.", Destination.DURABLE),
    ]


@pytest.mark.parametrize(
    ("candidate", "steps", "standing"),
    [
        (DURABLE, [Step.APPROVE, Step.PROMOTE], ReviewState.PROMOTED),
        (RULE, [Step.APPROVE, Step.PROMOTE], ReviewState.WAITING),
        (RULE, [Step.APPROVE, Step.PROMOTE, Step.VERIFY], ReviewState.APPLIED),
        (DURABLE, [Step.REJECT, Step.APPROVE], ReviewState.APPROVED),
        (replace(DURABLE, standing=ReviewState.BLOCKED), [Step.ADOPT, Step.APPROVE], ReviewState.APPROVED),
    ],
)
def test_a_candidate_goes_step_by_step(
    candidate: Candidate, steps: list[Step], standing: ReviewState
) -> None:
    for step in steps:
        after = moved(candidate, step)
        assert isinstance(after, Candidate)
        candidate = after
    assert candidate.standing is standing


@pytest.mark.parametrize(
    ("standing", "step"),
    [
        (ReviewState.PENDING, Step.PROMOTE),
        (ReviewState.BLOCKED, Step.APPROVE),
        (ReviewState.BLOCKED, Step.PROMOTE),
        (ReviewState.REJECTED, Step.PROMOTE),
        (ReviewState.PROMOTED, Step.PROMOTE),
        (ReviewState.APPROVED, Step.VERIFY),
    ],
)
def test_no_step_is_skipped(standing: ReviewState, step: Step) -> None:
    refused = moved(replace(DURABLE, standing=standing), step)
    assert isinstance(refused, Refused)
    assert DURABLE.id in refused.reason
    assert refused.hint


def test_another_build_keeps_what_was_decided_and_drops_what_nobody_looked_at() -> None:
    approved = replace(DURABLE, standing=ReviewState.APPROVED)
    assert rebuilt([approved, RULE], []) == [approved]
    assert rebuilt([approved], [DURABLE, RULE]) == [approved, RULE]


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
    one = candidates(Summary("", {Part.NOTES: ("Never touch vendor/.",)}), "s", blocked=False, at=0)[0]
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
    assert lane_of(text) is lane
