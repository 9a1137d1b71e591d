"""The table by which a brief is chosen: pinned, so that it changes only on purpose."""

from __future__ import annotations

import math

import pytest

from holdfast.core.brief.compose import BriefInput, Reason, compose
from holdfast.core.brief.weights import THING_VALUE, WEIGHTS, score
from tests.core.scenes import NOON, worked
from tests.tables import every_row

PINNED = {
    "goal": 3.0,
    "first_rule": 3.7,
    "constraint": 3.1,
    "todo": 4.0,
    "next": 4.2,
    "last_said": 3.6,
    "answer": 3.6,
    "statement": 1.2,
    "decision": 3.5,
    "tried": 3.0,
    "failed_command": 3.0,
    "changed_file": -0.4,
    "command": 1.05,
    "look_up": 1.6,
    "name": -2.5,
    "name_use": 1.3,
    "name_freshness": 0.45,
    "latest_file": 3.7,
    "cost": 0.85,
}


@every_row(("name", "weight"), PINNED.items())
def test_what_decides_most_is_pinned(name: str, weight: float) -> None:
    assert WEIGHTS[name] == weight


def test_every_item_is_weighed_by_the_table() -> None:
    for item in compose(BriefInput(Reason.COMPACT, worked(), NOON), 20_000).items:
        assert item.kind in WEIGHTS
        assert item.score > 0


def test_a_thing_is_worth_what_its_odds_say() -> None:
    even = {**WEIGHTS, "name": 0.0}
    assert score("name", {}, even) == pytest.approx(THING_VALUE / 2)
    assert score("name", {"name_use": 9e9}) == pytest.approx(THING_VALUE)
    assert score("name", {"name_use": 2.0}) > score("name", {"name_use": 1.0})


def test_a_sentence_is_worth_what_its_kind_is_worth() -> None:
    assert score("next", {}) == pytest.approx(math.exp(WEIGHTS["next"]))
    assert score("next", {"recency": -1.0}) < score("next", {})


def test_another_table_makes_another_choice() -> None:
    told = BriefInput(Reason.COMPACT, worked(), NOON)
    lawless = {**WEIGHTS, "constraint": -20.0, "first_rule": -20.0}
    assert "use a monotonic clock instead" in compose(told, 400).text
    assert "use a monotonic clock instead" not in compose(told, 400, lawless).text
