"""Continuity: the working state of a project as Markdown that a person may edit, in six sections.

A document keeps every line as it was written, so that parsing and rendering it changes nothing.
`merge_summary` adds a session's summary to it: a person's lines stay where and as they are, only items that
Holdfast wrote are replaced, and an item that a person removed is not added again. `files.continuity` knows
where the files are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Final

from holdfast.core.text.markdown import BlockKind, entry_groups, lenient_blocks, without_item_mark
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass


class ContinuityPart(StrEnum):
    """The sections, by their names in JSON."""

    GOAL = "goal"
    CONFIRMED = "confirmedWorking"
    FAILED = "triedAndFailed"
    UNTRIED = "notYetTried"
    NEXT = "incompleteNext"
    NOTES = "filesDecisionsEnvironment"


class LayerName(StrEnum):
    """The two layers: what all worktrees of a project share, and what applies to one worktree."""

    SHARED = "project"
    LOCAL = "project-local"


TITLES: Final[Mapping[ContinuityPart, str]] = {
    ContinuityPart.GOAL: "Goal",
    ContinuityPart.CONFIRMED: "Confirmed working",
    ContinuityPart.FAILED: "Tried and failed",
    ContinuityPart.UNTRIED: "Not yet tried",
    ContinuityPart.NEXT: "Incomplete / next",
    ContinuityPart.NOTES: "Files, decisions, environment",
}
LAYER_TITLES: Final[Mapping[LayerName, str]] = {
    LayerName.SHARED: "Continuity shared by all worktrees",
    LayerName.LOCAL: "Continuity of this worktree",
}
_KNOWN: Final[Mapping[str, ContinuityPart]] = {
    **{re.sub(r"\W+", "", title).lower(): part for part, title in TITLES.items()},
    **{part.lower(): part for part in ContinuityPart},
    "next": ContinuityPart.NEXT,
    "incomplete": ContinuityPart.NEXT,
}
_FENCE: Final = "---"
_SECTION_LEVEL: Final = 2
ITEMS_MOST: Final = 20
"""How many items of Holdfast's a section may have; the oldest are dropped."""
REFUSED_MOST: Final = 400


@dataclass(frozen=True, slots=True)
class LayerSummary:
    """The content of one layer: the goal, and the items of every other section."""

    goal: str = ""
    items: Mapping[ContinuityPart, tuple[str, ...]] = field(default_factory=lambda: {})

    def of(self, part: ContinuityPart) -> tuple[str, ...]:
        """The items of a section; the goal's section has the goal as its only item."""
        if part is ContinuityPart.GOAL:
            return (self.goal,) if self.goal else ()
        return self.items.get(part, ())

    def is_empty(self) -> bool:
        """Whether there is neither a goal nor an item."""
        return not any(self.of(part) for part in ContinuityPart)


@dataclass(frozen=True, slots=True)
class ContinuitySection:
    """A heading and the lines below it; `part` is None for a section that the user added."""

    heading: str
    lines: tuple[str, ...]
    part: ContinuityPart | None


@dataclass(frozen=True, slots=True)
class ContinuityDocument:
    """A file, line by line: the lines above the first section, and the sections."""

    head: tuple[str, ...]
    sections: tuple[ContinuitySection, ...]
    newline: str = "\n"
    ends: bool = True
    """Whether the last line ends with a newline."""

    def section(self, part: ContinuityPart) -> ContinuitySection | None:
        """The section of that name, if there is one."""
        return next((section for section in self.sections if section.part is part), None)


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a text cannot be updated without losing something in it."""

    reason: str


@dataclass(frozen=True, slots=True)
class WrittenItems:
    """What Holdfast wrote into a document: the keys of its items, and of those that a person removed."""

    items: Mapping[ContinuityPart, tuple[str, ...]] = field(default_factory=lambda: {})
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergedContinuity:
    """The updated document, and which of its items Holdfast wrote."""

    document: ContinuityDocument
    written: WrittenItems


def parse(text: str) -> ContinuityDocument | Unusable:
    """The document in a text."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if "\0" in text:
        return Unusable("it is not text")
    if newline == "\r\n" and text.replace("\r\n", "").count("\n"):
        return Unusable("some of its lines end in CR LF and some in LF")
    lines = text.split(newline)
    ends = lines[-1] == ""
    lines = lines[:-1] if ends else lines
    if lines[:1] == [_FENCE] and _FENCE not in lines[1:]:
        return Unusable(f"its front matter begins with `{_FENCE}` in line 1 and does not end")
    document = ContinuityDocument((), (), newline, ends)
    return _without_duplicates(_with_sections(document, lines))


def render(document: ContinuityDocument) -> str:
    """The text of a document."""
    lines = [*document.head]
    for section in document.sections:
        lines += (section.heading, *section.lines)
    return document.newline.join(lines) + (document.newline if document.ends and lines else "")


def blank(layer: LayerName) -> ContinuityDocument:
    """A document with headings and no content."""
    head = (_FENCE, f"layer: {layer}", _FENCE, "", f"# {LAYER_TITLES[layer]}", "")
    return ContinuityDocument(
        head, tuple(ContinuitySection(f"## {TITLES[part]}", ("",), part) for part in ContinuityPart)
    )


def is_blank(document: ContinuityDocument) -> bool:
    """Whether a document has only front matter and headings."""
    head = document.head
    if head[:1] == (_FENCE,):
        head = head[head.index(_FENCE, 1) + 1 :]
    lines = (*head, *(line for section in document.sections for line in section.lines))
    return not any(line.strip() and not line.startswith("#") for line in lines)


def with_front_matter(document: ContinuityDocument, **fields: str) -> ContinuityDocument:
    """The document with these fields set in its front matter; other fields stay."""
    head = list(document.head)
    if head[:1] != [_FENCE]:
        head = [_FENCE, _FENCE, *head]
    end = head.index(_FENCE, 1)
    for name, value in fields.items():
        line = f"{name}: {value}"
        at = next((at for at in range(1, end) if head[at].partition(":")[0].strip() == name), None)
        if at is None:
            head.insert(end, line)
            end += 1
        else:
            head[at] = line
    return replace(document, head=tuple(head))


def front_matter_field(document: ContinuityDocument, name: str) -> str:
    """The value of a field of the front matter; empty if it is missing."""
    if document.head[:1] != (_FENCE,):
        return ""
    for line in document.head[1 : document.head.index(_FENCE, 1)]:
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def summary_of(document: ContinuityDocument) -> LayerSummary:
    """The content of a document, without its layout."""
    items = {part: tuple(text for _, text in entries(document.section(part))) for part in ContinuityPart}
    goal = " ".join(items.pop(ContinuityPart.GOAL))
    return LayerSummary(goal, {part: texts for part, texts in items.items() if texts})


def entries(section: ContinuitySection | None) -> Iterator[tuple[range, str]]:
    """Every item of a section: its line numbers within the section, and its text in one line.

    An item is a bullet with the lines indented below it, or a paragraph.
    """
    if section is None:
        return
    for places, kind in entry_groups(section.lines):
        text = without_item_mark(" ".join(section.lines[place].strip() for place in places))
        if kind is not BlockKind.BLANK and text:
            yield places, text


def key(item: str) -> str:
    """The normalised text by which items are compared."""
    return one_line(item).casefold().rstrip(".")


def document_with_summary(layer: LayerName, summary: LayerSummary) -> MergedContinuity:
    """A new document with this summary as its only content."""
    return merge_summary(blank(layer), summary, WrittenItems())


def merge_summary(
    document: ContinuityDocument, summary: LayerSummary, written: WrittenItems
) -> MergedContinuity:
    """The document with a session's summary added, and a person's lines untouched."""
    refused = _refused(document, written)
    by_user = {part: _items_of_user(document, written, part) for part in ContinuityPart}
    items: dict[ContinuityPart, tuple[str, ...]] = {}
    for part in ContinuityPart:
        section = document.section(part)
        own_keys = frozenset(written.items.get(part, ()))
        old = [text for _, text in entries(section) if key(text) in own_keys]
        parts = OUTCOMES if part in OUTCOMES else (part,)
        user_keys = {key(text) for other in parts for text in by_user[other]}
        still_valid = _still_valid(part, old, summary)
        new_items = _each_once([*still_valid, *summary.of(part)], user_keys | set(refused))[-ITEMS_MOST:]
        if part is ContinuityPart.GOAL and user_keys:
            new_items = []  # A person set the goal.
        document = _with_items(document, part, new_items, own_keys)
        items[part] = tuple(map(key, new_items))
    return MergedContinuity(
        document, WrittenItems({part: rows for part, rows in items.items() if rows}, refused)
    )


def items_of_user(document: ContinuityDocument, written: WrittenItems) -> tuple[str, ...]:
    """The items of a document that a person wrote or changed."""
    return tuple(item for part in ContinuityPart for item in _items_of_user(document, written, part))


def item_subject(item: str) -> str:
    """What an item is about: the command or file in its first backticks, or its whole text."""
    quote = _QUOTED.search(item)
    return quote[1] if quote else key(item)


def _items_of_user(
    document: ContinuityDocument, written: WrittenItems, part: ContinuityPart
) -> tuple[str, ...]:
    own_keys = written.items.get(part, ())
    return tuple(text for _, text in entries(document.section(part)) if key(text) not in own_keys)


def _with_sections(document: ContinuityDocument, lines: Sequence[str]) -> ContinuityDocument:
    headings = [block for block in lenient_blocks(lines) if block.divides and block.level == _SECTION_LEVEL]
    ends = (*(heading.first for heading in headings), len(lines))
    sections = (
        ContinuitySection(lines[heading.first], tuple(lines[heading.first + 1 : end]), _part(heading.text))
        for heading, end in zip(headings, ends[1:], strict=True)
    )
    return replace(document, head=tuple(lines[: ends[0]]), sections=tuple(sections))


def _part(title: str) -> ContinuityPart | None:
    return _KNOWN.get(re.sub(r"\W+", "", title).lower())


def _without_duplicates(document: ContinuityDocument) -> ContinuityDocument | Unusable:
    """The document, or `Unusable` if a section occurs twice, as it is unclear which one to update."""
    seen: set[ContinuityPart] = set()
    for section in document.sections:
        if section.part in seen:
            return Unusable(f"`{section.heading.strip()}` is the second section of its kind")
        if section.part is not None:
            seen.add(section.part)
    return document


_QUOTED: Final = re.compile(r"`([^`]+)`")


def _still_valid(part: ContinuityPart, old: list[str], summary: LayerSummary) -> list[str]:
    """The items written before that are still valid."""
    if part is ContinuityPart.GOAL:
        return [] if summary.goal else old
    if part is ContinuityPart.NEXT:
        # Earlier next steps are outdated as soon as a later session has any content.
        return [] if not summary.is_empty() else old
    if part in OUTCOMES:
        moved = {key(item) for other in OUTCOMES if other is not part for item in summary.of(other)}
        old = [item for item in old if key(item) not in moved]
    settled = {item_subject(item) for other in _SETTLED_BY.get(part, ()) for item in summary.of(other)}
    settled |= {item_subject(item) for item in summary.of(part)}
    return [item for item in old if item_subject(item) not in settled]


_SETTLED_BY: Final[Mapping[ContinuityPart, tuple[ContinuityPart, ...]]] = {
    ContinuityPart.CONFIRMED: (ContinuityPart.FAILED,),
    ContinuityPart.FAILED: (ContinuityPart.CONFIRMED,),
    ContinuityPart.UNTRIED: (ContinuityPart.CONFIRMED, ContinuityPart.FAILED),
}
"""The latest outcome of a command wins, and what was tried is no longer untried."""


OUTCOMES: Final = (
    ContinuityPart.CONFIRMED,
    ContinuityPart.FAILED,
    ContinuityPart.UNTRIED,
    ContinuityPart.NEXT,
)
"""An item is in one of these at most, so that nothing is both done and open; a person's choice wins."""


def _refused(document: ContinuityDocument, written: WrittenItems) -> tuple[str, ...]:
    """The keys of items that Holdfast wrote and a person removed, now or earlier."""
    present = {part: {key(text) for _, text in entries(document.section(part))} for part in ContinuityPart}
    removed = (item for part, rows in written.items.items() for item in rows if item not in present[part])
    return tuple(dict.fromkeys((*written.refused, *removed)))[-REFUSED_MOST:]


def _each_once(items: Iterable[str], known: set[str]) -> list[str]:
    by_key: dict[str, str] = {}
    for item in items:
        if key(item) and key(item) not in known:
            by_key.setdefault(key(item), one_line(item))
    return list(by_key.values())


def _with_items(
    document: ContinuityDocument, part: ContinuityPart, items: list[str], own_keys: frozenset[str]
) -> ContinuityDocument:
    """The document with these items in a section, after the person's; they replace Holdfast's old ones."""
    section = document.section(part)
    if [text for _, text in entries(section) if key(text) in own_keys] == items:
        return document
    if section is None:
        section = ContinuitySection(f"## {TITLES[part]}", (), part)
        document = _with_section(document, section)
    dropped = {place for lines, text in entries(section) if key(text) in own_keys for place in lines}
    lines = [line for place, line in enumerate(section.lines) if place not in dropped]
    while lines and not lines[-1].strip():
        lines.pop()
    lines += [f"- {item}" for item in items]
    changed = replace(section, lines=(*lines, ""))
    rows = tuple(changed if other.part is part else other for other in document.sections)
    return replace(document, sections=rows)


def _with_section(document: ContinuityDocument, section: ContinuitySection) -> ContinuityDocument:
    """The document with a new section, before the first one that follows it in the usual order."""
    order = list(ContinuityPart)
    after = [
        place
        for place, other in enumerate(document.sections)
        if other.part is not None and section.part and order.index(other.part) > order.index(section.part)
    ]
    place = after[0] if after else len(document.sections)
    rows = (*document.sections[:place], section, *document.sections[place:])
    return replace(document, sections=rows)
