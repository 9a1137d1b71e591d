"""Suggested queries: queries at the end of a brief after a compaction, each of which `recall` would answer.

Searched by words alone, because the user waits for the brief; `recall` finds those results too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.compose import Brief, SuggestedQuery, is_new_query, suggest_queries
from holdfast.core.memory.memory import identity
from holdfast.core.memory.ranking import query_words
from holdfast.engine.engine import Engine
from holdfast.engine.index import memory_files
from holdfast.engine.index.scope import within
from holdfast.engine.recording.memorize import KIND as MEMORY

OFFERED: Final = 2
LOOKED_UP: Final = 12
"""The most queries that are tried."""
HITS_LOOKED_AT: Final = 3


def with_suggested_queries(engine: Engine, brief_input: BriefInput, brief: Brief) -> BriefInput:
    """The input with suggested queries for what a compaction just removed and `recall` would find."""
    if brief_input.reason not in (Reason.COMPACT, Reason.LATE) or not brief.text:
        return brief_input
    return replace(
        brief_input,
        offers=tuple(offer.query for offer in islice(_answered(engine, brief_input, brief), OFFERED)),
    )


def _answered(engine: Engine, brief_input: BriefInput, brief: Brief) -> Iterator[SuggestedQuery]:
    suggested = list[SuggestedQuery]()
    for offer in islice(suggest_queries(brief_input, brief), LOOKED_UP):
        if is_new_query(offer, suggested) and _is_answered(engine, brief_input, offer, brief):
            suggested.append(offer)
            yield offer


def _is_answered(engine: Engine, brief_input: BriefInput, offer: SuggestedQuery, brief: Brief) -> bool:
    """Whether a search finds a text with most of the words that is not in the brief."""
    where = within(brief_input.session.project)
    if offer.durable:
        where = replace(where, kinds=(MEMORY, memory_files.KIND))
    words = query_words(offer.query)
    hits = [hit.id for hit in engine.store.search(words, where, HITS_LOOKED_AT)]
    superseded = engine.store.superseded_among(hits)
    documents = engine.store.around([id for id in hits if id not in superseded], 0, where)
    told_already = identity(brief.text)
    return any(
        2 * sum(word.lower() in document.text.lower() for word in words) >= len(words)
        and identity(document.text) not in told_already
        for document in documents
    )
