"""Usage: what agents then used of the briefs that they were given, and the statistics that show it.

Computed on request from receipts and the events after them; nothing is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from holdfast.core.brief.compose import Receipt
from holdfast.core.evaluation.brief_use import brief_use
from holdfast.core.events.event import Event
from holdfast.core.session.score import BriefUse
from holdfast.engine.engine import Engine
from holdfast.engine.views import stats
from holdfast.engine.views.serialisation import Row

EVENTS_MOST: Final = 20_000
BRIEFS_MOST: Final = 100
"""The use of so many briefs is computed, the newest; of older ones it is unknown."""


def statistics(engine: Engine, days: int) -> Row:
    """What Holdfast kept, gave back and cost in the last days, for a person or a program."""
    since = stats.since(engine.clock(), days)
    briefs = stats.briefs_since(engine, since)
    ids = (brief.id for brief in briefs)
    return stats.stats(engine, days, dict(zip(ids, _uses(engine, briefs), strict=True)))


def _uses(engine: Engine, receipts: Sequence[Receipt]) -> list[BriefUse]:
    events = dict[str, list[Event]]()
    uses: list[BriefUse] = []
    for number, receipt in enumerate(receipts):
        if number >= BRIEFS_MOST:
            uses.append(BriefUse(0, None))
            continue
        if receipt.session not in events:
            events[receipt.session] = engine.store.events(receipt.session, EVENTS_MOST)
        uses.append(_use(receipt, receipts, events[receipt.session]))
    return uses


def _use(receipt: Receipt, others: Iterable[Receipt], events: Iterable[Event]) -> BriefUse:
    """The use of one brief until the session's next one."""
    next_at = min(
        (one.created_at for one in others if _is_later(one, receipt)),
        default=None,
    )
    following = (
        event
        for event in events
        if event.at > receipt.created_at and (next_at is None or event.at <= next_at)
    )
    return brief_use(following, (item.text for item in receipt.items if item.rendered))


def _is_later(one: Receipt, receipt: Receipt) -> bool:
    return one.session == receipt.session and one.created_at > receipt.created_at
