"""The regression finds the weights of the least cost, wherever it starts, and stays finite."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.core.evaluation.regression import BIAS, PENALTY, Row, fit

NAMES = ("by user", "recent", "length")
ROWS = st.lists(
    st.builds(
        Row,
        st.dictionaries(st.sampled_from(NAMES), st.floats(-3, 3), max_size=3),
        st.booleans(),
        st.floats(0.1, 5),
    ),
    min_size=1,
    max_size=25,
)


def cost(rows: Sequence[Row], weights: Mapping[str, float]) -> float:
    """What the regression is to make as small as possible, by its definition."""
    total = PENALTY / 2 * sum(weight**2 for name, weight in weights.items() if name != BIAS)
    for row in rows:
        logit = weights[BIAS] + sum(weights[name] * value for name, value in row.features.items())
        total += row.weight * math.log1p(math.exp(-logit if row.is_positive else logit))
    return total


def test_without_features_the_bias_is_the_odds() -> None:
    rows = [Row({}, is_positive=True, weight=3.0), Row({}, is_positive=False, weight=1.0)]
    assert fit(rows) == pytest.approx({BIAS: math.log(3)}, abs=0.001)


def test_a_feature_of_what_is_positive_weighs_more_than_one_of_both() -> None:
    rows = [
        Row({"sign": float(place % 2 == 0), "noise": float(place % 3 == 0)}, place % 2 == 0, 1.0)
        for place in range(120)
    ]
    weights = fit(rows)
    assert weights["sign"] > 1.0
    assert abs(weights["noise"]) < 0.05


@given(ROWS, st.sampled_from((BIAS, *NAMES)), st.sampled_from((-0.05, 0.05)))
def test_any_other_weight_costs_more(rows: list[Row], name: str, by: float) -> None:
    both = [*rows, Row({}, is_positive=True, weight=1.0), Row({}, is_positive=False, weight=1.0)]
    weights = dict.fromkeys(NAMES, 0.0) | fit(both)
    assert cost(both, weights) < cost(both, {**weights, name: weights[name] + by})


@example([Row({"by user": 2.0}, False, 1.0), Row({"recent": -1.0}, True, 3.0)])  # noqa: FBT003
@given(ROWS)
def test_where_the_search_starts_does_not_matter(rows: list[Row]) -> None:
    both = [*rows, Row({}, is_positive=True, weight=1.0), Row({}, is_positive=False, weight=1.0)]
    start = {"by user": 4.0, "recent": -4.0, BIAS: 3.0, "unknown": 1.0}
    assert fit(both, start) == pytest.approx(fit(both), abs=0.005)


@pytest.mark.parametrize("rows", [[], [Row({"sign": 1.0}, is_positive=True, weight=1.0)]])
def test_rows_of_one_kind_give_finite_weights(rows: list[Row]) -> None:
    assert all(math.isfinite(weight) for weight in fit(rows).values())


def test_a_larger_penalty_gives_smaller_weights() -> None:
    rows = [Row({"sign": float(positive)}, is_positive=positive, weight=1.0) for positive in (True, False)]
    assert 0 < fit(rows, penalty=100.0)["sign"] < fit(rows, penalty=1.0)["sign"]
