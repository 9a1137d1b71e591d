"""Add to a brief what goes with it at a start: the continuity block, and a ledger that came with a clone.

The block leaves out what the brief already says. The brief takes precedence, because it was compared with
the current files and branch.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from holdfast.core.brief.brief_input import BriefInput, Item, Reason
from holdfast.core.brief.compose import Brief, compose, compose_news
from holdfast.core.documents.continuity_merge import subject
from holdfast.core.documents.continuity_startup import Loaded, Row, startup
from holdfast.core.documents.repository_ledger import KIND as REPOSITORY_LEDGER
from holdfast.core.documents.repository_ledger import block
from holdfast.core.text.untrusted import OVERHEAD, fence

SECTION: Final = "Session Continuity"
KIND: Final = "continuity"
STRANGE_SECTION: Final = "Ledger of the repository"
ALIKE_CHARS: Final = 100
"""Two sentences that agree in so many first characters count as the same, shortened differently."""


def written(brief_input: BriefInput, budget: int) -> Brief:
    """The brief with its blocks; only the news where the model still has its history."""
    news = brief_input.reason in (Reason.RESUME, Reason.FORK, Reason.PARALLEL)
    below = block(brief_input.strange, budget) if brief_input.strange and not news else ""
    room = budget - len(below) - len("\n") if below else budget
    brief = compose_news(brief_input, room) if news else compose(brief_input, room)
    brief = _with_block(brief, brief_input.loaded, brief_input.now) if brief_input.loaded else brief
    return _with_strange_ledger(brief, brief_input, below) if below and brief.text else brief


def narrowed(brief_input: BriefInput, share: float) -> BriefInput:
    """The same input with the continuity block limited to a share of its size."""
    if brief_input.loaded is None:
        return brief_input
    limits = replace(brief_input.loaded.limits, chars=int(brief_input.loaded.limits.chars * share))
    return replace(brief_input, loaded=replace(brief_input.loaded, limits=limits))


def _with_block(brief: Brief, loaded: Loaded, now: int) -> Brief:
    room = loaded.limits.chars - len(brief.text) - OVERHEAD - 1
    brief_text = _text_of(item for item in brief.items if item.rendered)
    within = replace(loaded, limits=replace(loaded.limits, chars=room))
    beside = startup(within, lambda text: _says(brief_text, text))
    items = (*brief.items, *(_item(row, now) for row in beside.rows))
    if not beside.text:
        return Brief(brief.text, items)
    fenced = fence(beside.text.rstrip("\n"))
    return Brief(f"{brief.text}\n{fenced}" if brief.text else fenced, items)


def _with_strange_ledger(brief: Brief, brief_input: BriefInput, below: str) -> Brief:
    path = brief_input.strange.path if brief_input.strange else ""
    item = Item(STRANGE_SECTION, path, brief_input.now, path, REPOSITORY_LEDGER, path, rendered=True)
    return Brief(f"{brief.text}\n{below}", (*brief.items, item))


def _item(row: Row, now: int) -> Item:
    """The receipt's item for a row of the block."""
    return Item(
        SECTION, row.text, now, row.source, KIND, row.text, rendered=not row.omitted, omitted=row.omitted
    )


def _text_of(items: Iterable[Item]) -> str:
    return "\n".join(text for item in items for text in (item.text, item.key, item.path) if text).casefold()


def _says(brief_text: str, text: str) -> bool:
    """Whether the brief mentions a row's subject: the quoted command or file, or its sentence's beginning."""
    about = subject(text) if text.startswith("`") else text
    start = about.strip(" .`").casefold()[:ALIKE_CHARS]
    place = brief_text.find(start) if start else -1
    while place >= 0:
        behind = brief_text[place + len(start) : place + len(start) + 1]
        if len(start) == ALIKE_CHARS or not (behind.isalnum() or behind in ("_", "-", "/")):
            return True
        place = brief_text.find(start, place + 1)
    return False
