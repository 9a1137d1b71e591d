"""Worth: how likely the one who takes over needs a statement, by a small model with a table of weights.

A statement has features (who said it, its section, how recent it is, its cues, whether its names come up
again). Their weights were fitted to sessions for which it is known what a good handover says;
`holdfast eval handover --tune` fits them again and prints a new table. The worth is the chance, from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Final, TypeAlias

from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.evidence.prose.cues import REMEMBERED, cues_in, heading_hint
from holdfast.core.evidence.trail import Trail
from holdfast.core.text import names
from holdfast.core.work.state import Statement, StatementSource
from holdfast.lazy_dataclass import dataclass, replace

Features: TypeAlias = Mapping[str, float]
Weights: TypeAlias = Mapping[str, float]
TURNS_FRESH: Final = 3.0
STEPS_UNIT: Final = 5.0
USUAL_CHARS: Final = 80
SHORT, LONG = 40, 240
TAIL_STEPS: Final = 12
MOST_NAMES: Final = 6
MOST_AGAIN: Final = 4


@dataclass(frozen=True, slots=True)
class Setting:
    """What the features of a statement refer to: how far the session is, and when things were named."""

    turns: int
    steps: int
    prompted_at: int
    """When the user last wrote."""
    last_record: str
    """The agent's last message."""
    named_at: Mapping[str, int]
    """The step at which each thing was last named."""


def setting_of(trail: Trail) -> Setting:
    """The setting of a session's statements."""
    named = {mention.name.lower(): mention.step for mention in trail.mentions}
    return Setting(
        turns=trail.turns,
        steps=trail.steps,
        prompted_at=trail.prompts[-1].at if trail.prompts else 0,
        last_record=trail.statements[-1].record if trail.statements else "",
        named_at=named,
    )


def with_worth(statements: Iterable[Statement], setting: Setting, weights: Weights) -> list[Statement]:
    """The statements with their worth."""
    rows = list(statements)
    return [
        replace(row, worth=chance(row_features, weights))
        for row, row_features in zip(rows, features_of(rows, setting), strict=True)
    ]


def features_of(rows: Sequence[Statement], setting: Setting) -> list[dict[str, float]]:
    """The features of each of a session's statements; they depend on what the others name."""
    things = [things_in(row.text) for row in rows]
    overtaken = _overtaken(rows, things)
    return [
        features(row, about, late, setting) for row, about, late in zip(rows, things, overtaken, strict=True)
    ]


def chance(present: Features, weights: Weights) -> float:
    """The chance that a statement with these features is needed."""
    total = 0.0
    for name, value in present.items():
        if value:
            total += weights.get(name, 0.0) * value
    total += weights.get("bias", 0.0)
    return 1.0 / (1.0 + math.exp(-max(min(total, 30.0), -30.0)))


@lru_cache(REMEMBERED)  # a work state is computed at every checkpoint
def things_in(text: str) -> frozenset[str]:
    """The things that a text names, in one spelling."""
    things = (*names.names(text), *names.references(text), *(_file(path) for path in names.paths(text)))
    return frozenset(name.lower().removesuffix("()") for name in things)


def _file(path: str) -> str:
    return "/".join(path.rstrip("/").rsplit("/", 2)[-2:])


def features(row: Statement, about: frozenset[str], overtaken: float, setting: Setting) -> dict[str, float]:
    """The features of a statement; what is absent counts as 0."""
    turns_ago = max(setting.turns - row.turn, 0)
    steps_ago = max(setting.steps - row.step, 0)
    length = max(len(row.text), 1)
    again = recent = 0
    for name in about:
        named_at = setting.named_at.get(name, -1)
        again += named_at > row.step
        recent += named_at > setting.steps - TAIL_STEPS
    present = {
        **_place_features(row.origin, row.section, row.kind),
        "turns ago": math.exp(-turns_ago / TURNS_FRESH),
        "steps ago": math.log1p(steps_ago) / STEPS_UNIT,
        "how far": row.step / max(setting.steps, 1),
        "this turn": float(turns_ago == 0),
        "last turn": float(turns_ago == 1),
        "first turn": float(row.turn <= 1),
        "since the prompt": float(row.at >= setting.prompted_at),
        "begins": float(row.place == 0),
        "place": min(row.place, 20) / 20,
        "ends": float(row.is_last),
        "last message": float(bool(row.source) and row.source == setting.last_record),
        "length": math.log(length / USUAL_CHARS),
        "short": float(length < SHORT),
        "long": float(length > LONG),
        "names": min(len(about), MOST_NAMES) / 3,
        "named again": min(again, MOST_AGAIN) / 2,
        "named lately": min(recent, MOST_AGAIN) / 2,
        "overtaken": overtaken,
        "quotes": float("“" in row.text or '"' in row.text),
    }
    present.update(_cue_features(row.text))
    hint = heading_hint(row.heading)
    if hint:
        present[f"under {hint}"] = 1.0
    return present


@cache
def _place_features(origin: StatementSource, section: Section, kind: NoteKind | None) -> Features:
    """The features by source, section and kind, of which there are few."""
    labels = (f"from {origin}", f"section {section}", f"{origin} {section}", f"kind {kind or origin}")
    return dict.fromkeys(labels, 1.0)


@lru_cache(REMEMBERED)
def _cue_features(text: str) -> Features:
    # In a fixed order: the sum of floats depends on it.
    return dict.fromkeys((f"cue {cue}" for cue in sorted(cues_in(text))), 1.0)


def _overtaken(rows: Sequence[Statement], things: Sequence[frozenset[str]]) -> list[float]:
    """For each statement, the largest share of its things that one later statement names."""
    places: dict[str, list[int]] = {}
    for place, about in enumerate(things):
        for name in about:
            places.setdefault(name, []).append(place)
    shares: list[float] = []
    for row, about in zip(rows, things, strict=True):
        shared: dict[int, int] = {}
        if row.origin in _BY_AGENT:
            for name in about:
                for place in places[name]:
                    if rows[place].at > row.at and rows[place].origin in _OVERTAKES:
                        shared[place] = shared.get(place, 0) + 1
        shares.append(max(shared.values(), default=0) / len(about) if about else 0.0)
    return shares


_BY_AGENT: Final = frozenset(
    {StatementSource.MESSAGE, StatementSource.CLOSING, StatementSource.SUMMARY, StatementSource.SUBAGENT}
)
_OVERTAKES: Final = frozenset(
    {StatementSource.MESSAGE, StatementSource.CLOSING, StatementSource.COMMIT, StatementSource.PROMPT}
)
