"""Weights: how much an item of a brief is expected to be needed, in one table.

The score of an item is exp(weight of its kind + the sum of weight × feature); per character it decides who
goes in.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

WEIGHTS: Final[Mapping[str, float]] = {
    # kinds
    "goal": 7.2,
    "first_prompt": 3.2,
    "prompt": 3.5,
    "constraint": 8.2,
    "words": 6.0,
    "todo": 8.0,
    "next": 6.8,
    "statement": 5.2,
    "decision": 4.4,
    "question": 4.0,
    "measured": 6.0,
    "confirmed": 6.0,
    "tried": 3.8,
    "untried": 3.6,
    "changed_file": 6.5,
    "read_file": 6.2,
    "gone_file": 3.8,
    "subagent_file": 3.6,
    "failed_command": 5.9,
    "command": 7.0,
    "name": 3.2,
    "git": 4.4,
    "since": 9.0,
    "neighbour": 8.0,
    # features
    "recency": 1.1,
    "freshness": 0.4,
    "frequency": 0.8,
    "name_freshness": 2.0,
    "name_frequency": 0.8,
    "rarity": 1.2,
    "in_diff": 0.5,
    "latest": 4.0,
    "cost": 0.64,
}
"""`cost` is the power of an item's length by which its score is divided: 1 counts every character, 0 none."""


def score(kind: str, features: Mapping[str, float], weights: Mapping[str, float] = WEIGHTS) -> float:
    """How much an item is expected to be needed."""
    return math.exp(weights[kind] + sum(weights[name] * value for name, value in features.items()))
