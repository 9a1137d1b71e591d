"""Merging: how what a session has done enters a document that a person may have edited meanwhile.

A person's lines stay where and as they are. Only what was written here before is replaced, and what a person
took out is not put back.
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
"""So many items of ours a section holds; the oldest go."""
REFUSED_MOST: Final = 400


@dataclass(frozen=True, slots=True)
class Written:
    """What of a document is ours: the keys of the items that were written, and of those a person took out."""

    items: Mapping[Part, tuple[str, ...]] = field(default_factory=lambda: {})
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Merged:
    """A document with what is new in it, and what of it is ours now."""

    document: Document
    written: Written


def replaced(layer: LayerName, summary: Summary) -> Merged:
    """A document that says this and nothing else."""
    return merged(blank(layer), summary, Written())


def merged(document: Document, summary: Summary, written: Written) -> Merged:
    """The document with what a session has to say, and a person's lines untouched."""
    refused = _refused(document, written)
    items: dict[Part, tuple[str, ...]] = {}
    for part in Part:
        section = document.section(part)
        ours = frozenset(written.items.get(part, ()))
        old = [text for _, text in entries(section) if key(text) in ours]
        theirs = {key(text) for _, text in entries(section)} - ours
        kept = _kept(part, old, summary)
        wanted = _each_once([*kept, *summary.of(part)], theirs | set(refused))[-ITEMS_MOST:]
        if part is Part.GOAL and theirs:
            wanted = []  # A person said what the goal is.
        document = _with_items(document, part, wanted, ours)
        items[part] = tuple(map(key, wanted))
    return Merged(document, Written({part: rows for part, rows in items.items() if rows}, refused))


def subject(item: str) -> str:
    """What an item is about: the command or file in its first quotes, or all that it says."""
    found = _QUOTED.search(item)
    return found[1] if found else key(item)


_QUOTED: Final = re.compile(r"`([^`]+)`")


def _kept(part: Part, old: list[str], summary: Summary) -> list[str]:
    """What was written before and still holds."""
    if part is Part.GOAL:
        return [] if summary.goal else old
    if part is Part.NEXT:
        # Next steps of an earlier time are stale as soon as anything is known of a later one.
        return [] if not summary.is_empty() else old
    settled = {subject(item) for other in _SETTLED_BY.get(part, ()) for item in summary.of(other)}
    settled |= {subject(item) for item in summary.of(part)}
    return [item for item in old if subject(item) not in settled]


_SETTLED_BY: Final[Mapping[Part, tuple[Part, ...]]] = {
    Part.CONFIRMED: (Part.FAILED,),
    Part.FAILED: (Part.CONFIRMED,),
    Part.UNTRIED: (Part.CONFIRMED, Part.FAILED),
}
"""The latest outcome of the same thing wins, and what was tried is no longer untried."""


def _refused(document: Document, written: Written) -> tuple[str, ...]:
    """What was written and is not there any more, now and before: a person took it out."""
    there = {part: {key(text) for _, text in entries(document.section(part))} for part in Part}
    gone = (item for part, rows in written.items.items() for item in rows if item not in there[part])
    return tuple(dict.fromkeys((*written.refused, *gone)))[-REFUSED_MOST:]


def _each_once(items: Iterable[str], known: set[str]) -> list[str]:
    found: dict[str, str] = {}
    for item in items:
        if key(item) and key(item) not in known:
            found.setdefault(key(item), one_line(item))
    return list(found.values())


def _with_items(document: Document, part: Part, wanted: list[str], ours: frozenset[str]) -> Document:
    """The document in which a section has these items of ours, behind those of a person."""
    section = document.section(part)
    if [text for _, text in entries(section) if key(text) in ours] == wanted:
        return document
    if section is None:
        section = Section(f"## {TITLES[part]}", (), part)
        document = _with_section(document, section)
    dropped = {place for lines, text in entries(section) if key(text) in ours for place in lines}
    lines = [line for place, line in enumerate(section.lines) if place not in dropped]
    while lines and not lines[-1].strip():
        lines.pop()
    lines += [f"- {item}" for item in wanted]
    changed = replace(section, lines=(*lines, ""))
    rows = tuple(changed if other.part is part else other for other in document.sections)
    return replace(document, sections=rows)


def _with_section(document: Document, section: Section) -> Document:
    """With one more section, before the first that comes after it."""
    order = list(Part)
    after = [
        place
        for place, other in enumerate(document.sections)
        if other.part is not None and section.part and order.index(other.part) > order.index(section.part)
    ]
    place = after[0] if after else len(document.sections)
    rows = (*document.sections[:place], section, *document.sections[place:])
    return replace(document, sections=rows)
