"""Keep a brief readable: replace names by sentences where there are too many names for the plain words.

A label in front of fifty names does not make them readable. The last names make room for sentences that did
not fit before, as far as there are any.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Final

from holdfast.core.brief.brief_input import OVER_BUDGET, Item
from holdfast.core.brief.layout import lines, written
from holdfast.core.text.strings import contains_whole, plain_share
from holdfast.lazy_dataclass import dataclass

PLAIN_SHARE: Final = 0.4
"""The least share of plain words among all words."""
TRIMMED_MOST: Final = 64
"""The most names to remove. Where that is not enough there is little prose, and names are worth more."""
TRIMMED: Final = "too many names for the words"


@dataclass(frozen=True, slots=True)
class Sheet:
    """A brief's first lines, and how many characters may follow them."""

    headline: str
    room: int

    def reads_well(self, items: Sequence[Item]) -> bool:
        return plain_share("\n".join((self.headline, *lines(items)))) >= PLAIN_SHARE

    def holds(self, items: Sequence[Item]) -> bool:
        return written(items) <= self.room


def readable(chosen: tuple[Item, ...], sheet: Sheet) -> tuple[Item, ...]:
    """All items, with those chosen that leave enough plain words; their order stays."""
    if sheet.reads_well(chosen):
        return chosen
    listed = [place for place, item in enumerate(chosen) if item.rendered and item.lead][-TRIMMED_MOST:]
    counts = range(1, len(listed) + 1)
    # The more names are left out, the larger the share of plain words.
    enough = bisect_left(counts, 1, key=lambda n: int(sheet.reads_well(_without(chosen, listed[-n:]))))
    if enough == len(counts):
        return chosen
    trimmed = listed[-counts[enough] :]
    items = _without(chosen, trimmed)
    sentences = [place for place, item in enumerate(items) if not item.lead and item.omitted == OVER_BUDGET]
    for place in (*sentences, *trimmed):
        longer = [*items[:place], replace(items[place], rendered=True, omitted=""), *items[place + 1 :]]
        if not _is_repeated(items[place], items) and sheet.holds(longer) and sheet.reads_well(longer):
            items = longer
    return tuple(items)


def _without(chosen: tuple[Item, ...], places: Collection[int]) -> list[Item]:
    """The items with those at some places left out."""
    return [
        replace(item, rendered=False, omitted=TRIMMED) if place in places else item
        for place, item in enumerate(chosen)
    ]


def _is_repeated(item: Item, others: Sequence[Item]) -> bool:
    """Whether one of the other sentences says the same."""
    return any(contains_whole(other.text, item.key) for other in others if other.rendered and not other.lead)
