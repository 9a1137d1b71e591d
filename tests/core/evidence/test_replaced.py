"""What is renewed is what `dataclasses.replace` would make of it."""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.events.world import Project
from holdfast.core.evidence.replaced import renewed
from holdfast.core.evidence.trail import Trail, Utterance
from holdfast.core.session.session import begin

SESSION = begin("s1", "any", Project("/proj", "/proj", "", "", "/proj"), 1_000)


def test_a_renewed_session_differs_in_the_given_fields_alone() -> None:
    after = renewed(SESSION, prompt_count=2, trail=Trail(steps=3))
    assert after == replace(SESSION, prompt_count=2, trail=Trail(steps=3))
    assert SESSION.prompt_count == 0


def test_a_renewed_trail_differs_in_the_given_fields_alone() -> None:
    trail, goal = Trail(steps=3), Utterance("make it faster", 1_000)
    assert renewed(trail, goal=goal) == replace(trail, goal=goal)
    assert trail.goal is None
