"""Suggested queries: what an agent would most likely ask `recall` for after a compaction.

The first query is for memories about the goal, which no brief contains. The others are for what did not fit
into the brief, highest score first. The engine checks which of them return results.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from holdfast.core.brief.brief_input import OVER_BUDGET, BriefInput
from holdfast.core.brief.compose import Brief
from holdfast.core.text.strings import query_terms
from holdfast.lazy_dataclass import dataclass

WORDS_MOST: Final = 4
WORDS_LEAST: Final = 2
"""A single word matches too much."""
QUERY_CHARS: Final = 30
"""Queries are short, because their line takes space from what the agent needs at once."""


@dataclass(frozen=True, slots=True)
class SuggestedQuery:
    """A query, and whether to search memories only."""

    query: str
    durable: bool = False

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.query.lower().split())


def likely(brief_input: BriefInput, brief: Brief) -> Iterator[SuggestedQuery]:
    """Queries for what the brief does not say, the likeliest first."""
    goal = brief_input.session.trail.goal
    left_out = [item for item in brief.items if item.omitted == OVER_BUDGET and not item.lead]
    left_out.sort(key=lambda item: -item.score)
    queries = [
        SuggestedQuery(_query(goal.text if goal else ""), durable=True),
        *(SuggestedQuery(_query(item.key or item.text)) for item in left_out),
    ]
    for query in queries:
        if len(query.words) >= WORDS_LEAST:
            yield query


def unlike(query: SuggestedQuery, others: Iterable[SuggestedQuery]) -> bool:
    """Whether a query asks for something new: with no other query does it share half of its words."""
    return all(2 * len(query.words & other.words) < len(query.words) for other in others)


def _query(text: str) -> str:
    """A short query from the first content words of a text."""
    words = query_terms(text, WORDS_MOST).split()
    while len(words) > 1 and len(" ".join(words)) > QUERY_CHARS:
        words.pop()
    return " ".join(words) if len(" ".join(words)) <= QUERY_CHARS else ""
