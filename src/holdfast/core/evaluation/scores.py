"""Scores: how a session went on from what was there before it, by what it names and who named it first.

The rule is `survival`'s, on a session as it really was: what the agent names by itself it still knew, what a
tool or a person had to bring back it had lost. A session that was given a brief beside one that was given
none is the natural comparison. Pure functions over events: the same session always scores the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from holdfast.core.evaluation.facts import Fact, facts_in
from holdfast.core.evaluation.survival import (
    AGENT_EVENTS_AFTER,
    Mean,
    is_by_agent,
    is_conversation,
    mean,
    mentioned,
)
from holdfast.core.events.event import Event, ToolCalled, ToolReturned
from holdfast.core.events.fence import is_own_tool
from holdfast.core.session.score import SessionScore, Start
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Beginning:
    """A place in a session from which on the agent had only what it was given."""

    place: int
    """That of the first event behind it."""
    known: frozenset[Fact]
    """What was named before: by the session that it continues, or by itself before a compaction."""
    items: tuple[str, ...] = ()
    """What the brief said, item by item; nothing if there was none."""


@dataclass(frozen=True, slots=True)
class Counts:
    """What is counted behind a beginning, or behind several."""

    agent_events: int = 0
    brief_items: int = 0
    brief_items_used: int = 0
    needed: int = 0
    rediscovered: int = 0
    novel: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.agent_events + other.agent_events,
            self.brief_items + other.brief_items,
            self.brief_items_used + other.brief_items_used,
            self.needed + other.needed,
            self.rediscovered + other.rediscovered,
            self.novel + other.novel,
        )


def counted(events: Sequence[Event], beginnings: Sequence[Beginning]) -> Counts:
    """What the agent still knew, had lost and was brought behind each of its beginnings, in order."""
    ours = own_calls(events)
    ends = [*(beginning.place for beginning in beginnings[1:]), len(events)]
    total = Counts()
    for beginning, end in zip(beginnings, ends, strict=True):
        hook_event = (event for event in events[beginning.place : end] if _call_of(event) not in ours)
        total += _after(hook_event, beginning)
    return total


@dataclass(frozen=True, slots=True)
class RecalledText:
    """Something that the agent was told when it asked, and when."""

    at: int
    text: str


def recalls(events: Iterable[Event], told: Sequence[RecalledText]) -> tuple[int, int]:
    """How much the agent was told that nobody had named before, and how much of that it then used."""
    waiting = sorted(told, key=lambda each: each.at)
    named, new, used = set[Fact](), list[frozenset[Fact]](), 0
    for event in filter(is_conversation, events):
        while waiting and waiting[0].at <= event.at:
            if fresh := facts_in(waiting.pop(0).text) - named:
                new.append(fresh)
        facts = mentioned(event)
        named |= facts
        if is_by_agent(event):
            unused = [one for one in new if not one & facts]
            used += len(new) - len(unused)
            new = unused
    return used + len(new), used


def own_calls(events: Iterable[Event]) -> frozenset[str]:
    """The calls of tools that are ours: what they return was not found out again."""
    return frozenset(
        event.call for event in events if isinstance(event, ToolCalled) and is_own_tool(event.tool)
    )


def named_in(events: Iterable[Event]) -> frozenset[Fact]:
    """Everything that is named in the conversation of these events."""
    return frozenset[Fact]().union(*map(mentioned, events))


def _call_of(event: Event) -> str:
    return event.call if isinstance(event, ToolCalled | ToolReturned) else ""


def _after(events: Iterable[Event], beginning: Beginning) -> Counts:
    by_agent, brought, used, agent_events = set[Fact](), set[Fact](), set[Fact](), 0
    for event in filter(is_conversation, events):
        facts = mentioned(event)
        fresh = facts - by_agent - brought
        if not is_by_agent(event):
            brought |= fresh
            continue
        by_agent |= fresh
        used |= facts
        agent_events += 1
        if agent_events == AGENT_EVENTS_AFTER:
            break
    telling = [facts for item in beginning.items if (facts := facts_in(item))]
    told = frozenset[Fact]().union(*telling)
    return Counts(
        agent_events,
        brief_items=len(telling),
        brief_items_used=sum(bool(facts & used) for facts in telling),
        needed=len(by_agent & beginning.known),
        rediscovered=len((brought & beginning.known) - told),
        novel=len(brought - beginning.known - told),
    )


# ---------------------------------------------------------------- many sessions together


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


MEASURES: Final[Mapping[str, Callable[[SessionScore], float | None]]] = {
    "brief_items_used": lambda one: _share(one.brief_items_used, one.brief_items),
    "rediscovered": lambda one: _share(one.rediscovered, one.needed + one.rediscovered),
    "novel_context_count": lambda one: (
        float(one.novel_context_count) if one.needed + one.rediscovered else None
    ),
    "memories_used": lambda one: _share(one.memories_used, one.memories_recalled),
}
"""What sessions are compared by, mostly as shares; None where there was nothing to use or to know."""


def compared(scores: Iterable[SessionScore]) -> dict[Start, dict[str, Mean]]:
    """The mean of every measure, over sessions that were given a brief and over those that were not."""
    scores = tuple(scores)
    return {
        start: {
            name: mean(measure(one) for one in scores if one.start is start)
            for name, measure in MEASURES.items()
        }
        for start in Start
    }
