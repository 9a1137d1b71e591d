"""Survival: whether a brief holds what the agent needs after its context window died.

A session is cut; what the agent names by itself after the cut, and had seen before it, it needed. Pure
functions over events and texts: no model judges, and the same session always measures the same.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum

from holdfast.core.evaluation.facts import (
    Fact,
    constraints_in,
    facts_in,
    facts_in_command,
    holds,
    is_name,
    quoted_commands,
)
from holdfast.core.events.event import (
    MAIN,
    Action,
    AssistantText,
    Compacted,
    Event,
    Origin,
    Prompt,
    Replied,
    TodoChanged,
    TodosChanged,
    ToolCalled,
    ToolReturned,
)
from holdfast.lazy_dataclass import dataclass

AGENT_EVENTS_AFTER = 60
LEAST_STRETCH = 160
LEAST_NEEDED = 15
LEAST_BEFORE = 40
VIRTUAL_PLACES = (0.5, 0.75)
RECENT_SHARE = 0.25
DETAIL_END = 1_000
"""So much of what a call is given counts at its beginning, and at its end."""


class CutKind(StrEnum):
    REAL = "real"
    """The harness compacted here."""
    VIRTUAL = "virtual"
    """Nothing happened here: what the agent did next is not shaped by a summary."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a session is cut: what stands before `at` is known; `resumed` to `until` shows the need."""

    kind: CutKind
    at: int
    resumed: int
    until: int
    summary: str = ""
    """The harness's own, where it can be read."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """How often a fact was named before a cut, and how many events before the cut it was named last."""

    times: int
    ago: int


@dataclass(frozen=True, slots=True)
class Need:
    """What one cut is measured by."""

    seen: Mapping[Fact, Sighting]
    events_before: int
    needed: frozenset[Fact]
    rediscovered: frozenset[Fact]
    used: frozenset[Fact]
    """Everything that the agent itself named after the cut, in whatever order."""
    constraints: tuple[str, ...] = ()

    @property
    def old(self) -> frozenset[Fact]:
        """The needed facts that the last quarter before the cut does not name."""
        recent = self.events_before * RECENT_SHARE
        return frozenset(fact for fact in self.needed if self.seen[fact].ago >= recent)


@dataclass(frozen=True, slots=True)
class Score:
    """How one brief did at one cut; None where there was nothing to measure."""

    survival: float
    survival_old: float | None
    survival_without_names: float | None
    """Of files, folders, commands and references alone."""
    precision: float | None
    constraints: float | None


@dataclass(frozen=True, slots=True)
class Rarity:
    """In how many of how many sessions each fact occurs."""

    sessions: int
    frequency: Mapping[Fact, int] = field(default_factory=lambda: {})

    def weight(self, fact: Fact) -> float:
        """What a fact counts: the fewer sessions name it, the more."""
        return math.log((1 + self.sessions) / (self.frequency.get(fact, 0) + 0.5))

    def weigh(self, facts: Iterable[Fact]) -> float:
        """What these facts count together."""
        # Sorted: a sum of floats depends on its order, and a set has none.
        return sum(self.weight(fact) for fact in sorted(facts))


def rarity(sessions: Iterable[Iterable[frozenset[Fact]]]) -> Rarity:
    """The rarity of all facts over sessions, each given as the facts of its events."""
    count, frequency = 0, Counter[Fact]()
    for session in sessions:
        count += 1
        frequency.update(frozenset[Fact]().union(*session))
    return Rarity(count, frequency)


def is_conversation(event: Event) -> bool:
    """Whether an event stands in the main agent's own window."""
    kinds = Prompt | AssistantText | ToolCalled | ToolReturned | Replied | TodosChanged | TodoChanged
    if isinstance(event, ToolReturned) and event.handle:
        return False  # the agent read it in the result of the call that looked
    return isinstance(event, kinds) and event.agent == MAIN and event.origin is not Origin.OURS


def is_by_agent(event: Event) -> bool:
    """Whether the agent itself wrote it."""
    return isinstance(event, AssistantText | ToolCalled | TodosChanged | TodoChanged)


def mentioned(event: Event) -> frozenset[Fact]:
    """The facts that an event of the conversation names."""
    if not is_conversation(event):
        return frozenset()
    match event:
        case ToolCalled(action=Action.RUN, subject=command, detail=detail):
            return facts_in_command(command) | facts_in(_ends(detail))
        case ToolCalled(subject=subject, detail=detail):
            return facts_in(f"{subject}\n{_ends(detail)}")
        case TodosChanged(todos=todos):
            return facts_in("\n".join(todo.text for todo in todos))
        case TodoChanged(todo=todo):
            return facts_in(todo.text)
        case Prompt(text=text) | AssistantText(text=text) | ToolReturned(text=text) | Replied(text=text):
            return facts_in(text)
        case _:
            return frozenset()


def _ends(detail: str) -> str:
    """What counts of a call's arguments: a whole file that is written names hundreds of things in passing."""
    if len(detail) <= 2 * DETAIL_END:
        return detail
    return f"{detail[:DETAIL_END]}\n{detail[-DETAIL_END:]}"


def cuts(events: Sequence[Event]) -> tuple[Cut, ...]:
    """Every place to cut a session, in order; which of them have enough to measure is for `need` to say.

    Each shows its need until the next one, whatever its kind.
    """
    places: list[Cut] = []
    real = compactions(events)
    starts = [0, *(resumed for _, resumed, _ in real)]
    ends = [*(at for at, _, _ in real), len(events)]
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        stretch = [place for place in range(start, end) if is_conversation(events[place])]
        if len(stretch) >= LEAST_STRETCH:
            for share in VIRTUAL_PLACES:
                at = stretch[round(len(stretch) * share)]
                places.append(Cut(CutKind.VIRTUAL, at, at, end))
        if number < len(real):
            at, resumed, summary = real[number]
            places.append(Cut(CutKind.REAL, at, resumed, ends[number + 1], summary))
    # What comes after the next cut is that one's need: nothing counts for two.
    following = (*(cut.at for cut in places[1:]), len(events))
    return tuple(replace(cut, until=min(cut.until, at)) for cut, at in zip(places, following, strict=False))


def compactions(events: Sequence[Event]) -> list[tuple[int, int, str]]:
    """For each compaction: its first sign, the first event behind its last sign, and its summary."""
    found: list[tuple[int, int, str]] = []
    for place, event in enumerate(events):
        if not isinstance(event, Compacted) or event.agent != MAIN:
            continue
        if found and not any(is_conversation(between) for between in events[found[-1][1] : place]):
            at, _, summary = found[-1]
            found[-1] = (at, place + 1, summary or event.summary)
        else:
            found.append((place, place + 1, event.summary))
    return found


def need(
    events: Sequence[Event], mentions: Sequence[frozenset[Fact]], cut: Cut, recurring: int = 1
) -> Need | None:
    """What a cut is measured by; None if too little stands before it or is needed after it.

    An identifier counts if at least so many events before the cut name it.
    """
    before = [place for place in range(cut.at) if is_conversation(events[place])]
    if len(before) < LEAST_BEFORE:
        return None
    named = _seen([mentions[place] for place in before])
    seen = {fact: seen for fact, seen in named.items() if seen.times >= recurring or not is_name(fact)}
    after = _named_after(events, mentions, cut)
    needed = after.by_agent & seen.keys()
    if len(needed) < LEAST_NEEDED:
        return None
    rules = constraints_in(human_texts(events[: cut.at]))
    return Need(seen, len(before), needed, after.brought & seen.keys(), after.used, rules)


@dataclass(frozen=True, slots=True)
class _After:
    """What is named after a cut: first by the agent, first by others, and by the agent at all."""

    by_agent: frozenset[Fact]
    brought: frozenset[Fact]
    used: frozenset[Fact]


def _named_after(events: Sequence[Event], mentions: Sequence[frozenset[Fact]], cut: Cut) -> _After:
    by_agent, brought, used = set[Fact](), set[Fact](), set[Fact]()
    agent_events = 0
    for place in range(cut.resumed, cut.until):
        if not is_conversation(events[place]):
            continue
        fresh = mentions[place] - by_agent - brought
        if not is_by_agent(events[place]):
            brought |= fresh
            continue
        by_agent |= fresh
        used |= mentions[place]
        agent_events += 1
        if agent_events == AGENT_EVENTS_AFTER:
            break
    return _After(frozenset(by_agent), frozenset(brought), frozenset(used))


def human_texts(events: Iterable[Event]) -> list[str]:
    """What a person typed, as a prompt or in answer to a tool."""
    return [
        event.text
        for event in events
        if isinstance(event, Prompt | Replied) and event.origin is Origin.HUMAN and event.agent == MAIN
    ]


def _seen(rows: Sequence[frozenset[Fact]]) -> dict[Fact, Sighting]:
    times, last = Counter[Fact](), dict[Fact, int]()
    for place, facts in enumerate(rows):
        times.update(facts)
        last.update(dict.fromkeys(facts, place))
    return {fact: Sighting(times[fact], len(rows) - 1 - place) for fact, place in last.items()}


def score(brief: str, need: Need, rarity: Rarity) -> Score:
    """How a brief does at a cut."""
    held = facts_in(brief) | (quoted_commands(brief) & need.seen.keys())
    unnamed = frozenset(fact for fact in need.needed if not is_name(fact))
    kept = [holds(brief, sentence) for sentence in need.constraints]

    def survived(needed: frozenset[Fact]) -> float | None:
        return rarity.weigh(needed & held) / rarity.weigh(needed) if needed else None

    return Score(
        survival=survived(need.needed) or 0.0,
        survival_old=survived(need.old),
        survival_without_names=survived(unnamed),
        precision=len(held & need.used) / len(held) if held else None,
        constraints=sum(kept) / len(kept) if kept else None,
    )


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of what could be measured, its standard error and over how many; None over none."""

    value: float | None
    error: float | None
    n: int


def mean(values: Iterable[float | None]) -> Mean:
    """The mean of those values that there are."""
    there = [value for value in values if value is not None]
    if not there:
        return Mean(None, None, 0)
    error = statistics.stdev(there) / math.sqrt(len(there)) if len(there) > 1 else None
    return Mean(statistics.fmean(there), error, len(there))
