"""Scores: how well a session continued earlier work, by which facts it names and who named them first.

The rule is that of `survival`, applied to real sessions: a fact that the agent names by itself it still knew;
one that a tool or the user had to bring back it had lost. Sessions with and without a brief are compared.
Pure functions over events: the same session always gets the same score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from holdfast.core.evaluation.facts import Fact, facts_in
from holdfast.core.evaluation.survival import (
    AGENT_EVENTS_AFTER,
    Mean,
    facts_of_event,
    is_by_agent,
    is_conversation,
    mean,
)
from holdfast.core.events.event import Event, ToolCalled, ToolReturned
from holdfast.core.session.score import SessionScore, Start
from holdfast.core.text.untrusted import is_own_tool
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Beginning:
    """A place in a session after which the agent had only what it was given: a start or a compaction."""

    place: int
    """The index of the first event after it."""
    known: frozenset[Fact]
    """The facts named before: in the continued session, or in this one before a compaction."""
    items: tuple[str, ...] = ()
    """The items of the brief; empty if there was none."""


@dataclass(frozen=True, slots=True)
class FactCounts:
    """What is counted after one or several beginnings."""

    agent_events: int = 0
    brief_items: int = 0
    brief_items_used: int = 0
    needed: int = 0
    rediscovered: int = 0
    novel: int = 0

    def __add__(self, other: FactCounts) -> FactCounts:
        return FactCounts(
            self.agent_events + other.agent_events,
            self.brief_items + other.brief_items,
            self.brief_items_used + other.brief_items_used,
            self.needed + other.needed,
            self.rediscovered + other.rediscovered,
            self.novel + other.novel,
        )


def count_facts(events: Sequence[Event], beginnings: Sequence[Beginning]) -> FactCounts:
    """How many facts the agent still knew, had lost and was newly given, over all its beginnings."""
    holdfast_calls = own_calls(events)
    ends = [*(beginning.place for beginning in beginnings[1:]), len(events)]
    total = FactCounts()
    for beginning, end in zip(beginnings, ends, strict=True):
        following = (
            event for event in events[beginning.place : end] if _call_of(event) not in holdfast_calls
        )
        total += _after(following, beginning)
    return total


@dataclass(frozen=True, slots=True)
class AgentRecall:
    """A text that the agent recalled, and when."""

    at: int
    text: str


def recalls(events: Iterable[Event], recalled: Sequence[AgentRecall]) -> tuple[int, int]:
    """How many recalled texts had facts not named before, and how many of those texts the agent then used."""
    waiting = sorted(recalled, key=lambda text: text.at)
    named, new, used = set[Fact](), list[frozenset[Fact]](), 0
    for event in filter(is_conversation, events):
        while waiting and waiting[0].at <= event.at:
            if fresh := facts_in(waiting.pop(0).text) - named:
                new.append(fresh)
        facts = facts_of_event(event)
        named |= facts
        if is_by_agent(event):
            unused = [facts_of_text for facts_of_text in new if not facts_of_text & facts]
            used += len(new) - len(unused)
            new = unused
    return used + len(new), used


def own_calls(events: Iterable[Event]) -> frozenset[str]:
    """The calls of Holdfast's own tools; facts that they return do not count as rediscovered."""
    return frozenset(
        event.call for event in events if isinstance(event, ToolCalled) and is_own_tool(event.tool)
    )


def named_in(events: Iterable[Event]) -> frozenset[Fact]:
    """Every fact that the conversation in these events names."""
    return frozenset[Fact]().union(*map(facts_of_event, events))


def _call_of(event: Event) -> str:
    return event.call if isinstance(event, ToolCalled | ToolReturned) else ""


def _after(events: Iterable[Event], beginning: Beginning) -> FactCounts:
    by_agent, brought, used, agent_events = set[Fact](), set[Fact](), set[Fact](), 0
    for event in filter(is_conversation, events):
        facts = facts_of_event(event)
        fresh = facts - by_agent - brought
        if not is_by_agent(event):
            brought |= fresh
            continue
        by_agent |= fresh
        used |= facts
        agent_events += 1
        if agent_events == AGENT_EVENTS_AFTER:
            break
    item_facts = [facts for item in beginning.items if (facts := facts_in(item))]
    brief_facts = frozenset[Fact]().union(*item_facts)
    return FactCounts(
        agent_events,
        brief_items=len(item_facts),
        brief_items_used=sum(bool(facts & used) for facts in item_facts),
        needed=len(by_agent & beginning.known),
        rediscovered=len((brought & beginning.known) - brief_facts),
        novel=len(brought - beginning.known - brief_facts),
    )


# ---------------------------------------------------------------- many sessions together


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


MEASURES: Final[Mapping[str, Callable[[SessionScore], float | None]]] = {
    "brief_items_used": lambda score: _share(score.brief_items_used, score.brief_items),
    "rediscovered": lambda score: _share(score.rediscovered, score.needed + score.rediscovered),
    "novel_context_count": lambda score: (
        float(score.novel_context_count) if score.needed + score.rediscovered else None
    ),
    "memories_used": lambda score: _share(score.memories_used, score.memories_recalled),
}
"""The measures by which sessions are compared, mostly shares; None if there was nothing to measure."""


def compare_by_start(scores: Iterable[SessionScore]) -> dict[Start, dict[str, Mean]]:
    """The mean of every measure, for sessions with and without a brief."""
    scores = tuple(scores)
    return {
        start: {
            name: mean(measure(session) for session in scores if session.start is start)
            for name, measure in MEASURES.items()
        }
        for start in Start
    }
