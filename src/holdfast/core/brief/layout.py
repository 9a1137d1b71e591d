"""Lay out the items of a brief, compute how many characters they take, and keep the brief readable.

Each sentence has a line of its own. Things are listed behind labels, files of one directory together, and
names in the line of the file that they belong to. Where there are too many names for the plain words, the
last names make room for sentences that did not fit before. `compose` selects the items.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field, replace
from typing import Final

from holdfast.core.brief.brief_input import IN_USE, OVER_BUDGET, REPORTED, SECTIONS, STATE, Item
from holdfast.core.documents import ledger_brief
from holdfast.core.evidence.kinds import KINDS, Ending
from holdfast.core.text.strings import contains_whole, plain_share
from holdfast.lazy_dataclass import dataclass

NAMES_BESIDE: Final = 6
"""A file with at least so many names has a line of its own that lists them."""


@dataclass(slots=True)
class PageState:
    """What has been written so far, as far as it affects the cost of one more item."""

    sections: set[str] = field(default_factory=set[str])
    leads: set[str] = field(default_factory=set[str])
    lists: Counter[str] = field(default_factory=Counter[str])
    """How many things each label lists; the names of each file are counted separately."""
    folders: set[str] = field(default_factory=set[str])

    def write(self, item: Item) -> None:
        """Add an item."""
        self.sections.add(item.section)
        if item.lead:
            self.leads.add(label(item))
            self.lists[label(item) + item.beside] += 1
        self.folders.update(label(item) + folder for folder in folders_of(item.path))

    def in_line_with(self, item: Item) -> int:
        """How many things are already in the line that this item would join."""
        beside = self.lists[label(item) + item.beside]
        if item.beside and beside >= NAMES_BESIDE:
            return beside
        return sum(
            count
            for place, count in self.lists.items()
            if place == label(item) or (place.startswith(label(item)) and count < NAMES_BESIDE)
        )

    def cost(self, item: Item) -> int:
        """How many characters this item would add."""
        cost = len(item.text) + (0 if item.section in self.sections else len(f"\n\n### {item.section}"))
        if not item.lead:
            return cost + len("\n- ")
        cost += len(", ") if label(item) in self.leads else len(f"\n- {item.lead}: ")
        shared = next((name for name in folders_of(item.path) if label(item) + name in self.folders), "")
        return cost - max(len(shared) - len("{}"), 0)


def label(item: Item) -> str:
    """The key of the list that an item belongs to: its section and label."""
    return f"{item.section}/{item.lead}/"


def folders_of(path: str) -> Iterator[str]:
    """The directories that contain a path, the nearest first."""
    end = path.rfind("/")
    while end > 0:
        yield path[: end + 1]
        end = path.rfind("/", 0, end)


def lines(items: Sequence[Item]) -> Iterator[str]:
    """The lines of the chosen items, section by section."""
    for section in SECTIONS:
        rows = [item for item in items if item.rendered and item.section == section]
        if not rows:
            continue
        rows.sort(key=_place)
        yield f"\n### {section}"
        yield from (f"- {item.text}" for item in rows if not item.lead)
        homes = _homes(rows)
        for item in rows:
            if item.path in homes:
                yield f"- {item.lead}: {item.text} ({', '.join(homes[item.path])})"
        listed = [item for item in rows if item.lead and not {item.path, item.beside} & homes.keys()]
        for lead in dict.fromkeys(item.lead for item in listed):
            yield f"- {lead}: {', '.join(grouped_paths([item.text for item in listed if item.lead == lead]))}"


def written_length(items: Sequence[Item]) -> int:
    """How many characters the chosen items take when written."""
    return sum(len(line) + 1 for line in lines(items))


_STATE_NOTES: Final = tuple(row for row in KINDS.values() if row.brief.part == STATE)
_KINDS: Final = (
    *ledger_brief.LEADING_KINDS,
    ledger_brief.LEDGER_MORE,
    *(row.item for row in _STATE_NOTES if row.ends is Ending.DONE),
    *("todo", "running", "last_said", "statement"),
    *(row.item for row in _STATE_NOTES if row.ends is not Ending.DONE),
    *("git", "where"),
)
_LEADS: Final = (
    *(REPORTED, "Edited", "Wrote", "Deleted", "Subagents edited", "Subagents wrote", "Subagents deleted"),
    *("Read", "Also named", IN_USE),
    *("Passed", "Started", "Also run"),
)


def _place(item: Item) -> tuple[int, int, int]:
    """The sort key of an item in its section, the same in every brief; equal items keep their rank order."""
    return (
        _LEADS.index(item.lead) if item.lead in _LEADS else -1,
        _KINDS.index(item.kind) if item.kind in _KINDS else -1,
        # "Before that" refers to the line above.
        -item.at if item.kind == "statement" else 0,
    )


def _homes(rows: list[Item]) -> dict[str, list[str]]:
    """The names to list in a file's own line, for each file with enough of them."""
    paths = {item.path for item in rows if item.path}
    names: dict[str, list[str]] = {}
    for item in rows:
        if item.beside in paths:
            names.setdefault(item.beside, []).append(item.text)
    return {path: texts for path, texts in names.items() if len(texts) >= NAMES_BESIDE}


def grouped_paths(texts: Sequence[str]) -> Iterator[str]:
    """A list in which paths share a prefix where that saves most: `src/{a.py, b/c.py}`."""
    paths = [text for text in texts if text[-1:] not in ("`", "/") and "://" not in text]
    folders = Counter(folder for path in paths for folder in folders_of(path))
    saved = {folder: (times - 1) * len(folder) - 2 for folder, times in folders.items()}
    best = max(saved, key=lambda folder: (saved[folder], folder), default="")
    if not best or saved[best] <= 0:
        yield from texts
        return
    inside = [path for path in paths if path.startswith(best)]
    yield f"{best}{{{', '.join(text[len(best) :] for text in inside)}}}"
    yield from grouped_paths([text for text in texts if text not in inside])


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
        return written_length(items) <= self.room


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
