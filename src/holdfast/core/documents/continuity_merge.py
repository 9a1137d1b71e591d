"""Merge a session's summary into a continuity document that a person may have edited meanwhile.

A person's lines stay where and as they are. Only items that Holdfast wrote are replaced, and an item that a
person removed is not added again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Final

from holdfast.core.documents.continuity import (
    TITLES,
    Document,
    LayerName,
    Part,
    Section,
    Summary,
    blank,
    entries,
    key,
)
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass

ITEMS_MOST: Final = 20
"""How many items of Holdfast's a section may have; the oldest are dropped."""
REFUSED_MOST: Final = 400


@dataclass(frozen=True, slots=True)
class Written:
    """What Holdfast wrote into a document: the keys of its items, and of those that a person removed."""

    items: Mapping[Part, tuple[str, ...]] = field(default_factory=lambda: {})
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """The updated document, and which of its items Holdfast wrote."""

    document: Document
    written: Written


def replaced(layer: LayerName, summary: Summary) -> Merged:
    """A new document with this summary as its only content."""
    return merged(blank(layer), summary, Written())


def merged(document: Document, summary: Summary, written: Written) -> Merged:
    """The document with a session's summary added, and a person's lines untouched."""
    refused = _refused(document, written)
    items: dict[Part, tuple[str, ...]] = {}
    for part in Part:
        section = document.section(part)
        own_keys = frozenset(written.items.get(part, ()))
        old = [text for _, text in entries(section) if key(text) in own_keys]
        user_keys = {key(text) for _, text in entries(section)} - own_keys
        still_valid = _still_valid(part, old, summary)
        new_items = _each_once([*still_valid, *summary.of(part)], user_keys | set(refused))[-ITEMS_MOST:]
        if part is Part.GOAL and user_keys:
            new_items = []  # A person set the goal.
        document = _with_items(document, part, new_items, own_keys)
        items[part] = tuple(map(key, new_items))
    return Merged(document, Written({part: rows for part, rows in items.items() if rows}, refused))


def subject(item: str) -> str:
    """What an item is about: the command or file in its first backticks, or its whole text."""
    quote = _QUOTED.search(item)
    return quote[1] if quote else key(item)


_QUOTED: Final = re.compile(r"`([^`]+)`")


def _still_valid(part: Part, old: list[str], summary: Summary) -> list[str]:
    """The items written before that are still valid."""
    if part is Part.GOAL:
        return [] if summary.goal else old
    if part is Part.NEXT:
        # Earlier next steps are outdated as soon as a later session has any content.
        return [] if not summary.is_empty() else old
    settled = {subject(item) for other in _SETTLED_BY.get(part, ()) for item in summary.of(other)}
    settled |= {subject(item) for item in summary.of(part)}
    return [item for item in old if subject(item) not in settled]


_SETTLED_BY: Final[Mapping[Part, tuple[Part, ...]]] = {
    Part.CONFIRMED: (Part.FAILED,),
    Part.FAILED: (Part.CONFIRMED,),
    Part.UNTRIED: (Part.CONFIRMED, Part.FAILED),
}
"""The latest outcome of a command wins, and what was tried is no longer untried."""


def _refused(document: Document, written: Written) -> tuple[str, ...]:
    """The keys of items that Holdfast wrote and a person removed, now or earlier."""
    present = {part: {key(text) for _, text in entries(document.section(part))} for part in Part}
    removed = (item for part, rows in written.items.items() for item in rows if item not in present[part])
    return tuple(dict.fromkeys((*written.refused, *removed)))[-REFUSED_MOST:]


def _each_once(items: Iterable[str], known: set[str]) -> list[str]:
    by_key: dict[str, str] = {}
    for item in items:
        if key(item) and key(item) not in known:
            by_key.setdefault(key(item), one_line(item))
    return list(by_key.values())


def _with_items(document: Document, part: Part, items: list[str], own_keys: frozenset[str]) -> Document:
    """The document with these items in a section, after the person's; they replace Holdfast's old ones."""
    section = document.section(part)
    if [text for _, text in entries(section) if key(text) in own_keys] == items:
        return document
    if section is None:
        section = Section(f"## {TITLES[part]}", (), part)
        document = _with_section(document, section)
    dropped = {place for lines, text in entries(section) if key(text) in own_keys for place in lines}
    lines = [line for place, line in enumerate(section.lines) if place not in dropped]
    while lines and not lines[-1].strip():
        lines.pop()
    lines += [f"- {item}" for item in items]
    changed = replace(section, lines=(*lines, ""))
    rows = tuple(changed if other.part is part else other for other in document.sections)
    return replace(document, sections=rows)


def _with_section(document: Document, section: Section) -> Document:
    """The document with a new section, before the first one that follows it in the usual order."""
    order = list(Part)
    after = [
        place
        for place, other in enumerate(document.sections)
        if other.part is not None and section.part and order.index(other.part) > order.index(section.part)
    ]
    place = after[0] if after else len(document.sections)
    rows = (*document.sections[:place], section, *document.sections[place:])
    return replace(document, sections=rows)
