"""Suggested queries: queries at the end of a brief after a compaction, each of which `recall` would answer.

Searched by words alone, because the user waits for the brief; `recall` finds those results too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.compose import Brief
from holdfast.core.brief.suggested_queries import SuggestedQuery, likely, unlike
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


def with_offers(engine: Engine, told: BriefInput, brief: Brief) -> BriefInput:
    """The input with suggested queries for what a compaction just removed and `recall` would find."""
    if told.reason not in (Reason.COMPACT, Reason.LATE) or not brief.text:
        return told
    return replace(
        told, offers=tuple(offer.query for offer in islice(_answered(engine, told, brief), OFFERED))
    )


def _answered(engine: Engine, told: BriefInput, brief: Brief) -> Iterator[SuggestedQuery]:
    given = list[SuggestedQuery]()
    for offer in islice(likely(told, brief), LOOKED_UP):
        if unlike(offer, given) and _is_answered(engine, told, offer, brief):
            given.append(offer)
            yield offer


def _is_answered(engine: Engine, told: BriefInput, offer: SuggestedQuery, brief: Brief) -> bool:
    """Whether a search finds a text with most of the words that is not in the brief."""
    where = within(told.session.project)
    if offer.durable:
        where = replace(where, kinds=(MEMORY, memory_files.KIND))
    words = query_words(offer.query)
    found = [hit.id for hit in engine.store.search(words, where, HITS_LOOKED_AT)]
    gone = engine.store.superseded_among(found)
    documents = engine.store.around([id for id in found if id not in gone], 0, where)
    told_already = identity(brief.text)
    return any(
        2 * sum(word.lower() in document.text.lower() for word in words) >= len(words)
        and identity(document.text) not in told_already
        for document in documents
    )
