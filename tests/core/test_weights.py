"""The table by which a brief is chosen: pinned, so that it changes only on purpose."""

from __future__ import annotations

import math

import pytest

from holdfast.core.brief import Reason, Told, compose
from holdfast.core.weights import WEIGHTS, score
from tests.core.scenes import NOON, worked

PINNED = {
    "goal": 7.2,
    "constraint": 8.2,
    "todo": 8.0,
    "command": 7.0,
    "failed_command": 5.9,
    "changed_file": 6.5,
    "read_file": 6.2,
    "name": 3.2,
    "latest": 4.0,
    "cost": 0.64,
}


@pytest.mark.parametrize(("name", "weight"), PINNED.items())
def test_what_decides_most_is_pinned(name: str, weight: float) -> None:
    assert WEIGHTS[name] == weight


def test_every_item_is_weighed_by_the_table() -> None:
    for item in compose(Told(Reason.COMPACT, worked(), NOON), 20_000).items:
        assert item.kind in WEIGHTS
        assert item.score > 0


def test_a_score_grows_with_its_features() -> None:
    assert score("name", {}) == pytest.approx(math.exp(WEIGHTS["name"]))
    assert score("name", {"name_frequency": 2.0}) > score("name", {"name_frequency": 1.0})


def test_another_table_makes_another_choice() -> None:
    told = Told(Reason.COMPACT, worked(), NOON)
    talkative = {**WEIGHTS, "statement": 20.0}
    assert "backoff starts at zero" in compose(told, 520, talkative).text
    assert "backoff starts at zero" not in compose(told, 520).text
