"""Weights: how much an item of a brief is expected to be needed, in one table.

The weights of notes are in `evidence.kinds`, with everything else that depends on their kind.
The score of a thing (a file, a command, a name) is how likely it is needed, by a logistic model over the
features. The score of a sentence depends on its kind and falls with each newer one. The brief includes the
items with the best score per character.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Final, TypeAlias

from holdfast.core.brief.brief_input import Item
from holdfast.core.evidence.kinds import KINDS, KindTable

Weights: TypeAlias = Mapping[str, float]


def weights_of(kinds: KindTable) -> Weights:
    """The weights of the kinds of notes."""
    return {row.item: row.weight for row in kinds.values()}


SENTENCES: Final[Weights] = {
    **weights_of(KINDS),
    "goal": 3.0,
    "first_prompt": 1.0,
    "prompt": 0.0,
    "prompt_before": 2.2,
    "first_rule": 3.7,
    "words": 4.0,
    "todo": 4.0,
    "running": 3.2,
    "reported": 0.4,
    "last_said": 3.6,
    "statement": 1.2,
    "answer": 3.6,
    "last_answer": 4.8,
    "last_failure": 3.8,
    "failed_command": 3.0,
    "refused": 3.4,
    "look_up": 1.6,
    "subagent_file": 0.9,
    "where": 4.0,
    "latest_file": 3.7,
    "git": 2.1,
    "since": 5.5,
    "neighbour": 5.0,
}
"""The highest score of a sentence of each kind, as a logarithm."""

THINGS: Final[Weights] = {
    "changed_file": -0.4,
    "read_file": -1.1,
    "named_file": -2.2,
    "gone_file": -2.1,
    "folder": -2.1,
    "command": 1.05,
    "earlier_command": 0.2,
    "name": -2.5,
    "reference": -1.9,
    "option": -2.1,
}
"""How likely a thing of each kind is needed if it was named once just now, as log odds."""

FEATURES: Final[Weights] = {
    "recency": 3.9,
    "standing": 1.1,
    "age": 1.5,
    "freshness": 0.4,
    "use": 0.8,
    "name_freshness": 0.45,
    "name_use": 1.3,
    "in_diff": 0.5,
    "cost": 0.85,
}
"""`cost` is the power of an item's length by which its score is divided: 1 counts every character, 0 none."""

WEIGHTS: Final[Weights] = {**SENTENCES, **THINGS, **FEATURES}
THING_VALUE: Final = 18.0


def with_score(item: Item, weights: Weights = WEIGHTS, **features: float) -> Item:
    """The item with its score; its key is its text unless it has another."""
    return replace(item, key=item.key or item.text, score=score(item.kind, features, weights))


def score(kind: str, features: Mapping[str, float], weights: Weights = WEIGHTS) -> float:
    """How much an item is expected to be needed."""
    total = weights[kind] + sum(weights[name] * value for name, value in features.items())
    return THING_VALUE / (1 + math.exp(-total)) if kind in THINGS else math.exp(total)
