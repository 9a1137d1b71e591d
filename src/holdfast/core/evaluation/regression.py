"""Logistic regression with a quadratic penalty, in plain Python: weights for the chance of being positive.

Newton's method: a few passes over the rows are enough, fewer still from the weights of nearly the same rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from operator import mul
from typing import Final, TypeAlias

from holdfast.lazy_dataclass import dataclass

BIAS: Final = "bias"
"""The weight that every row has; the only one without a penalty."""
PENALTY: Final = 10.0
"""How strongly weights are drawn to 0; the inverse of what others call C."""
PRECISION: Final = 0.0005
"""Weights that would move by less are final."""
MOST_STEPS: Final = 50
NO_WEIGHTS: Final[Mapping[str, float]] = {}
_SMALLEST: Final = 1e-6

_Matrix: TypeAlias = list[list[float]]


@dataclass(frozen=True, slots=True)
class Row:
    """An example: its features, whether it is positive, and how much it counts."""

    features: Mapping[str, float]
    is_positive: bool
    weight: float


def fit(
    rows: Iterable[Row], start: Mapping[str, float] = NO_WEIGHTS, penalty: float = PENALTY
) -> dict[str, float]:
    """The weight of each feature, and the bias, under which the rows are likeliest."""
    listed = list(rows)
    names = [BIAS, *sorted({name for row in listed for name in row.features} - {BIAS})]
    places = {name: place for place, name in enumerate(names)}
    encoded = [_encoded(row, places) for row in listed]
    weights = [start.get(name, 0.0) for name in names]
    cost, slope = _cost_and_slope(encoded, weights, penalty)
    for _ in range(MOST_STEPS):
        step = _solved(_factor(_curvature(encoded, weights, penalty)), slope)
        if max(map(abs, step)) < PRECISION:
            break
        weights, cost, slope = _stepped(encoded, weights, step, cost, penalty)
    return dict(zip(names, weights, strict=True))


@dataclass(frozen=True, slots=True)
class _Encoded:
    """A row by the places of its features, lowest first."""

    places: tuple[int, ...]
    values: tuple[float, ...]
    is_positive: bool
    weight: float

    def chance_and_total(self, weights: Sequence[float]) -> tuple[float, float]:
        total = sum(map(mul, map(weights.__getitem__, self.places), self.values))
        return 1.0 / (1.0 + math.exp(-max(min(total, 30.0), -30.0))), total


def _encoded(row: Row, places: Mapping[str, int]) -> _Encoded:
    pairs = sorted((places[name], value) for name, value in row.features.items() if value)
    columns, values = zip((0, 1.0), *pairs, strict=True)
    return _Encoded(columns, values, row.is_positive, row.weight)


def _stepped(
    rows: Sequence[_Encoded], weights: list[float], step: Sequence[float], cost: float, penalty: float
) -> tuple[list[float], float, list[float]]:
    """The weights after a step, halved until it does not cost more, with their cost and slope."""
    share = 1.0
    while True:
        moved = [weight - share * by for weight, by in zip(weights, step, strict=True)]
        new_cost, slope = _cost_and_slope(rows, moved, penalty)
        if new_cost <= cost or share < _SMALLEST:
            return moved, new_cost, slope
        share /= 2


def _cost_and_slope(
    rows: Sequence[_Encoded], weights: Sequence[float], penalty: float
) -> tuple[float, list[float]]:
    slope = [0.0, *(penalty * weight for weight in weights[1:])]
    cost = penalty / 2 * sum(weight * weight for weight in weights[1:])
    for row in rows:
        chance, total = row.chance_and_total(weights)
        wrong_by = -total if row.is_positive else total
        # The logarithm of 1 + e to this power, without a number that is too large.
        cost += row.weight * (max(wrong_by, 0.0) + math.log1p(math.exp(-abs(wrong_by))))
        pull = row.weight * (chance - row.is_positive)
        for place, value in zip(row.places, row.values, strict=True):
            slope[place] += pull * value
    return cost, slope


def _curvature(rows: Sequence[_Encoded], weights: Sequence[float], penalty: float) -> _Matrix:
    """The second derivatives, as far as they stand on or below the diagonal."""
    matrix = [[0.0] * (place + 1) for place in range(len(weights))]
    for place, line in enumerate(matrix):
        line[place] = penalty if place else _SMALLEST
    for row in rows:
        chance, _ = row.chance_and_total(weights)
        bend = row.weight * chance * (1.0 - chance)
        for last, (place, value) in enumerate(zip(row.places, row.values, strict=True), 1):
            line, product = matrix[place], bend * value
            for other, other_value in zip(row.places[:last], row.values, strict=False):
                line[other] += product * other_value
    return matrix


def _factor(matrix: _Matrix) -> _Matrix:
    """The lower triangle whose product with its own mirror is the matrix (Cholesky)."""
    lower: _Matrix = []
    for line in matrix:
        factors: list[float] = []
        for other, value in zip(lower, line, strict=False):
            factors.append((value - sum(map(mul, factors, other))) / other[-1])
        rest = line[-1] - sum(map(mul, factors, factors))
        lower.append([*factors, math.sqrt(max(rest, _SMALLEST**2))])
    return lower


def _solved(lower: _Matrix, right: Sequence[float]) -> list[float]:
    """The solution of the linear equations whose matrix has this factor."""
    solution: list[float] = []
    for line, value in zip(lower, right, strict=True):
        solution.append((value - sum(map(mul, line, solution))) / line[-1])
    for place in range(len(lower) - 1, -1, -1):
        line = lower[place]
        solution[place] /= line[place]
        for column in range(place):
            solution[column] -= line[column] * solution[place]
    return solution
