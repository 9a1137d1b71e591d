"""What stands beside the brief at a start: the block of the continuity, and a ledger that came with a clone.

The block is without what the brief says already. Which of the two says it is decided here, and nowhere else:
the brief comes first, for it was checked against the world.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from holdfast.core.brief.brief_input import BriefInput, Item, Reason
from holdfast.core.brief.compose import Brief, compose, compose_news
from holdfast.core.documents.continuity_merge import subject
from holdfast.core.documents.continuity_startup import Loaded, Row, startup
from holdfast.core.documents.repository_ledger import KIND as STRANGE
from holdfast.core.documents.repository_ledger import block
from holdfast.core.events.fence import OVERHEAD, fence

SECTION: Final = "Session Continuity"
KIND: Final = "continuity"
STRANGE_SECTION: Final = "Ledger of the repository"
ALIKE_CHARS: Final = 100
"""Two sentences that begin alike for so long are one, cut off at another place."""


def written(told: BriefInput, budget: int) -> Brief:
    """The brief for what is told: the whole picture, or only the news where the model has its history."""
    news = told.reason in (Reason.RESUME, Reason.FORK, Reason.PARALLEL)
    below = block(told.strange, budget) if told.strange and not news else ""
    room = budget - len(below) - len("\n") if below else budget
    brief = compose_news(told, room) if news else compose(told, room)
    brief = _with_block(brief, told.loaded, told.now) if told.loaded else brief
    return _with_strange_ledger(brief, told, below) if below and brief.text else brief


def narrowed(told: BriefInput, share: float) -> BriefInput:
    """The same with so much less room for what stands beside the brief."""
    if told.loaded is None:
        return told
    limits = replace(told.loaded.limits, chars=int(told.loaded.limits.chars * share))
    return replace(told, loaded=replace(told.loaded, limits=limits))


def _with_block(brief: Brief, loaded: Loaded, now: int) -> Brief:
    room = loaded.limits.chars - len(brief.text) - OVERHEAD - 1
    said = _said(item for item in brief.items if item.rendered)
    within = replace(loaded, limits=replace(loaded.limits, chars=room))
    beside = startup(within, lambda text: _says(said, text))
    items = (*brief.items, *(_item(row, now) for row in beside.rows))
    if not beside.text:
        return Brief(brief.text, items)
    fenced = fence(beside.text.rstrip("\n"))
    return Brief(f"{brief.text}\n{fenced}" if brief.text else fenced, items)


def _with_strange_ledger(brief: Brief, told: BriefInput, below: str) -> Brief:
    path = told.strange.path if told.strange else ""
    item = Item(STRANGE_SECTION, path, told.now, path, STRANGE, path, rendered=True)
    return Brief(f"{brief.text}\n{below}", (*brief.items, item))


def _item(row: Row, now: int) -> Item:
    """How a receipt accounts for a row of the block."""
    return Item(
        SECTION, row.text, now, row.source, KIND, row.text, rendered=not row.omitted, omitted=row.omitted
    )


def _said(items: Iterable[Item]) -> str:
    return "\n".join(text for item in items for text in (item.text, item.key, item.path) if text).casefold()


def _says(said: str, text: str) -> bool:
    """Whether what a row is about is told: the command or file in its quotes, or how its sentence begins."""
    about = subject(text) if text.startswith("`") else text
    start = about.strip(" .`").casefold()[:ALIKE_CHARS]
    place = said.find(start) if start else -1
    while place >= 0:
        behind = said[place + len(start) : place + len(start) + 1]
        if len(start) == ALIKE_CHARS or not (behind.isalnum() or behind in ("_", "-", "/")):
            return True
        place = said.find(start, place + 1)
    return False
