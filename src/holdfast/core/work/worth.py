"""Worth: how likely the one who takes over needs a statement, by a small model with a table of weights.

A statement has features (who said it, its section, how recent it is, its cues, whether its names come up
again). Their weights were fitted to sessions for which it is known what a good handover says;
`holdfast eval handover --tune` fits them again and prints a new table. The worth is the chance, from 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from operator import mul
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
    number_weights = [weights.get(name, 0.0) for name in NUMBERS]
    bias = weights.get("bias", 0.0)
    weighed: list[Statement] = []
    for row, numbers in zip(rows, _numbers_of(rows, setting), strict=True):
        total = sum(weights.get(label, 0.0) for label in _place_labels(row.origin, row.section, row.kind))
        total = sum(map(mul, numbers, number_weights), total)
        for label in _wording_labels(row.text, row.heading):
            total += weights.get(label, 0.0)
        weighed.append(replace(row, worth=chance(total + bias)))
    return weighed


def features_of(rows: Sequence[Statement], setting: Setting) -> list[dict[str, float]]:
    """The features of each of a session's statements; they depend on what the others name."""
    return [
        {
            **dict.fromkeys(_place_labels(row.origin, row.section, row.kind), 1.0),
            **dict(zip(NUMBERS, numbers, strict=True)),
            **dict.fromkeys(_wording_labels(row.text, row.heading), 1.0),
        }
        for row, numbers in zip(rows, _numbers_of(rows, setting), strict=True)
    ]


def chance(total: float) -> float:
    """The chance that a statement is needed whose features, each times its weight, have this sum."""
    return 1.0 / (1.0 + math.exp(-max(min(total, 30.0), -30.0)))


@lru_cache(REMEMBERED)  # a work state is computed at every checkpoint
def things_in(text: str) -> frozenset[str]:
    """The things that a text names, in one spelling."""
    things = (*names.names(text), *names.references(text), *(_file(path) for path in names.paths(text)))
    return frozenset(name.lower().removesuffix("()") for name in things)


def _file(path: str) -> str:
    return "/".join(path.rstrip("/").rsplit("/", 2)[-2:])


def _numbers_of(rows: Sequence[Statement], setting: Setting) -> Iterator[tuple[float, ...]]:
    """The features of each statement that are numbers, in the order of `NUMBERS`."""
    things = [things_in(row.text) for row in rows]
    for row, about, overtaken in zip(rows, things, _overtaken(rows, things), strict=True):
        yield _numbers(row, about, overtaken, setting)


def _numbers(row: Statement, about: frozenset[str], overtaken: float, setting: Setting) -> tuple[float, ...]:
    text, step, place = row.text, row.step, row.place
    turns_ago = max(setting.turns - row.turn, 0)
    length = len(text) or 1
    again = recent = 0
    for name in about:
        named_at = setting.named_at.get(name, -1)
        again += named_at > step
        recent += named_at > setting.steps - TAIL_STEPS
    return (
        math.exp(-turns_ago / TURNS_FRESH),
        math.log1p(max(setting.steps - step, 0)) / STEPS_UNIT,
        step / max(setting.steps, 1),
        turns_ago == 0,
        turns_ago == 1,
        row.turn <= 1,
        row.at >= setting.prompted_at,
        place == 0,
        min(place, 20) / 20,
        row.is_last,
        bool(row.source) and row.source == setting.last_record,
        math.log(length / USUAL_CHARS),
        length < SHORT,
        length > LONG,
        min(len(about), MOST_NAMES) / 3,
        min(again, MOST_AGAIN) / 2,
        min(recent, MOST_AGAIN) / 2,
        overtaken,
        "“" in text or '"' in text,
    )


NUMBERS: Final = (
    "turns ago",
    "steps ago",
    "how far",
    "this turn",
    "last turn",
    "first turn",
    "since the prompt",
    "begins",
    "place",
    "ends",
    "last message",
    "length",
    "short",
    "long",
    "names",
    "named again",
    "named lately",
    "overtaken",
    "quotes",
)
"""The features that are numbers, of which each statement has all, in the order of `_numbers`."""


@cache
def _place_labels(origin: StatementSource, section: Section, kind: NoteKind | None) -> tuple[str, ...]:
    """The features by source, section and kind."""
    return f"from {origin}", f"section {section}", f"{origin} {section}", f"kind {kind or origin}"


@lru_cache(REMEMBERED)
def _wording_labels(text: str, heading: str) -> tuple[str, ...]:
    """The features by the words of a statement and of the heading that it stands under."""
    hint = heading_hint(heading)
    # In a fixed order: the sum of floats depends on it.
    return *(f"cue {cue}" for cue in sorted(cues_in(text))), *([f"under {hint}"] if hint else [])


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
