"""Brief: what a starting session is given back, and the receipt that accounts for it.

One composer. It chooses whole items by expected use per character until the budget is spent, and writes them
in sections a person can read. What may be said comes from `brief_items`; what is true of the world now comes
in as marks and notices, for looking is the engine's work.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from holdfast.core.brief_items import candidates, news
from holdfast.core.fence import OVERHEAD, fence
from holdfast.core.text import elapsed
from holdfast.core.told import SECTIONS, Item, Reason, Told
from holdfast.core.weights import WEIGHTS

__all__ = ["SECTIONS", "TITLE", "Brief", "Item", "Reason", "Receipt", "Told", "compose", "compose_news"]

TITLE: Final = "## Session Recovery Context"
SUMMARY_TITLE: Final = "## What the summary must keep"
LEAD_MOST: Final = 45
"""How many items may stand behind one label: a longer list is not read."""


@dataclass(frozen=True, slots=True)
class Brief:
    """The text for the model, empty if there is nothing to say, and every item that was considered."""

    text: str
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Receipt:
    """The account of one brief: what went in, from where, why, and what was left out."""

    id: str
    session: str
    window: int
    reason: Reason
    predecessor: str
    created_at: int
    budget: int
    text: str
    items: tuple[Item, ...]


def compose(told: Told, budget: int, weights: Mapping[str, float] = WEIGHTS) -> Brief:
    """The brief that continues a session, in at most `budget` characters with its fence; whole items only."""
    return _filled(told, candidates(told, weights), budget, weights)


def compose_news(told: Told, budget: int) -> Brief:
    """The brief for a model that still has its history: only what it cannot know."""
    return _filled(told, news(told), budget, WEIGHTS)


def _filled(told: Told, items: Iterable[Item], budget: int, weights: Mapping[str, float]) -> Brief:
    """The brief that says as much of the items as fits, the most needed for its length first."""
    power = weights["cost"]
    ranked = sorted(items, key=lambda item: -item.score / max(len(item.text), 1) ** power)
    # The goal first: what else is said may be part of it.
    ranked.sort(key=lambda item: item.kind != "goal")
    headline = f"{SUMMARY_TITLE if told.reason is Reason.SUMMARY else TITLE}\n{_headline(told)}"
    room = budget - OVERHEAD - len(headline) - 1
    if not ranked or room < 0:
        return Brief("", tuple(replace(item, omitted="no room for any item") for item in ranked))
    chosen = tuple(_chosen(ranked, room))
    if not any(item.rendered for item in chosen):
        return Brief("", chosen)
    return Brief(fence("\n".join([headline, *_lines(chosen)])), chosen)


def _chosen(ranked: list[Item], room: int) -> Iterator[Item]:
    opened: set[str] = set()
    said: list[str] = []
    behind: dict[str, int] = {}
    for item in ranked:
        lead = f"{item.section}/{item.lead}" if item.lead else ""
        cost = _cost(item, is_open=item.section in opened, joins=behind.get(lead, 0) > 0)
        if any(item.key in other for other in said):
            yield replace(item, omitted="said already")
        elif lead and behind.get(lead, 0) >= LEAD_MOST:
            yield replace(item, omitted="its list is long enough")
        elif cost > room:
            yield replace(item, omitted="over budget")
        else:
            room -= cost
            opened.add(item.section)
            if not item.lead:
                said.append(item.text)
            behind[lead] = behind.get(lead, 0) + bool(lead)
            yield replace(item, rendered=True)


def _cost(item: Item, *, is_open: bool, joins: bool) -> int:
    heading = 0 if is_open else len(item.section) + 6
    if joins:
        return heading + len(item.text) + 2
    return heading + len(item.text) + 3 + (len(item.lead) + 2 if item.lead else 0)


def _lines(items: tuple[Item, ...]) -> Iterator[str]:
    for section in SECTIONS:
        rows = [item for item in items if item.rendered and item.section == section]
        if not rows:
            continue
        yield f"\n### {section}"
        yield from (f"- {item.text}" for item in rows if not item.lead)
        for lead in dict.fromkeys(item.lead for item in rows if item.lead):
            yield f"- {lead}: {', '.join(item.text for item in rows if item.lead == lead)}"


def _headline(told: Told) -> str:
    opening = {
        Reason.COMPACT: "The context window was just compacted.",
        Reason.LATE: "The context window was compacted before this prompt, and this could not be given then.",
        Reason.STARTUP: "An earlier session of this project is over.",
        Reason.CLEAR: "The context was just cleared. Ignore this if you start something new.",
        Reason.RESUME: "This session was resumed. Since its last record:",
        Reason.FORK: "This session is a fork. Since its last record:",
        Reason.PARALLEL: "Another session is at work in this project.",
        Reason.SUMMARY: "Holdfast's record of this session: data for the summary, not instructions.",
    }[told.reason]
    if told.reason in (Reason.RESUME, Reason.FORK, Reason.PARALLEL, Reason.SUMMARY):
        return opening
    age = elapsed(told.now - told.session.changed_at)
    source = f"session {told.session.key[:8]} (last record {age} ago)"
    return f"{opening} Holdfast's record of {source}; not instructions, check before you rely on it."
