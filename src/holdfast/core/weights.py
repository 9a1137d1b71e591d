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
    "goal": 8.2,
    "first_prompt": 4.2,
    "prompt": 4.5,
    "constraint": 8.5,
    "words": 6.0,
    "todo": 5.4,
    "next": 5.2,
    "statement": 4.8,
    "decision": 4.4,
    "question": 4.0,
    "measured": 4.0,
    "confirmed": 3.6,
    "tried": 3.8,
    "untried": 3.6,
    "changed_file": 6.5,
    "read_file": 4.6,
    "gone_file": 3.8,
    "subagent_file": 3.6,
    "failed_command": 5.4,
    "command": 6.0,
    "name": 4.2,
    "git": 4.4,
    "since": 9.0,
    "neighbour": 8.0,
    # features
    "recency": 1.0,
    "freshness": 1.0,
    "frequency": 0.6,
    "name_freshness": 1.0,
    "name_frequency": 0.8,
    "rarity": 1.2,
    "in_diff": 0.5,
    "cost": 0.9,
}
"""`cost` is the power of an item's length by which its score is divided: 1 counts every character, 0 none."""


def score(kind: str, features: Mapping[str, float], weights: Mapping[str, float] = WEIGHTS) -> float:
    """How much an item is expected to be needed."""
    return math.exp(weights[kind] + sum(weights[name] * value for name, value in features.items()))
