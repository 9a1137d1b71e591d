"""Offers: what an agent that was just compacted would most likely ask `recall` for.

Chosen by rule: what is remembered about its goal, which no brief of a session tells, and then what the brief
had no room for, the most needed first. Whether anything would be found is for the engine to look up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from holdfast.core.brief.brief_input import OVER, BriefInput
from holdfast.core.brief.compose import Brief
from holdfast.core.text.strings import query_terms
from holdfast.lazy_dataclass import dataclass

WORDS_MOST: Final = 4
WORDS_LEAST: Final = 2
"""A single word finds too much."""
QUERY_CHARS: Final = 30
"""What the line takes is taken from what the agent needs at once, so that it is short."""


@dataclass(frozen=True, slots=True)
class SuggestedQuery:
    """A query, and whether only what was said to be worth keeping answers it."""

    query: str
    durable: bool = False

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.query.lower().split())


def likely(told: BriefInput, brief: Brief) -> Iterator[SuggestedQuery]:
    """The queries that fit what the brief does not tell, the likeliest first."""
    goal = told.session.trail.goal
    left_out = [item for item in brief.items if item.omitted == OVER and not item.lead]
    left_out.sort(key=lambda item: -item.score)
    offers = [
        SuggestedQuery(_query(goal.text if goal else ""), durable=True),
        *(SuggestedQuery(_query(item.key or item.text)) for item in left_out),
    ]
    for offer in offers:
        if len(offer.words) >= WORDS_LEAST:
            yield offer


def unlike(offer: SuggestedQuery, others: Iterable[SuggestedQuery]) -> bool:
    """Whether it asks for something else than the others do: most of its words are in none of them."""
    return all(2 * len(offer.words & other.words) < len(offer.words) for other in others)


def _query(text: str) -> str:
    """The first content words of a text, as many as make a short query."""
    words = query_terms(text, WORDS_MOST).split()
    while len(words) > 1 and len(" ".join(words)) > QUERY_CHARS:
        words.pop()
    return " ".join(words) if len(" ".join(words)) <= QUERY_CHARS else ""
