"""Continuity: the working state of a project as Markdown that a person may edit, in six sections.

A document keeps every line as it was written, so that parsing and rendering it changes nothing.
`continuity_merge` merges a session's summary into it; `files.continuity` knows where the files are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, replace
from enum import StrEnum
from typing import Final

from holdfast.core.documents.markdown import inside
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass


class Part(StrEnum):
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


TITLES: Final[Mapping[Part, str]] = {
    Part.GOAL: "Goal",
    Part.CONFIRMED: "Confirmed working",
    Part.FAILED: "Tried and failed",
    Part.UNTRIED: "Not yet tried",
    Part.NEXT: "Incomplete / next",
    Part.NOTES: "Files, decisions, environment",
}
LAYER_TITLES: Final[Mapping[LayerName, str]] = {
    LayerName.SHARED: "Continuity shared by all worktrees",
    LayerName.LOCAL: "Continuity of this worktree",
}
_KNOWN: Final[Mapping[str, Part]] = {
    **{re.sub(r"\W+", "", title).lower(): part for part, title in TITLES.items()},
    **{part.lower(): part for part in Part},
    "next": Part.NEXT,
    "incomplete": Part.NEXT,
}
_FENCE: Final = "---"
_HEADING: Final = re.compile(r"##\s+(?P<title>.*?)\s*#*\s*")
_BULLET: Final = re.compile(r"[-*+]\s+|\d+[.)]\s+")


@dataclass(frozen=True, slots=True)
class Summary:
    """The content of one layer: the goal, and the items of every other section."""

    goal: str = ""
    items: Mapping[Part, tuple[str, ...]] = field(default_factory=lambda: {})

    def of(self, part: Part) -> tuple[str, ...]:
        """The items of a section; the goal's section has the goal as its only item."""
        if part is Part.GOAL:
            return (self.goal,) if self.goal else ()
        return self.items.get(part, ())

    def is_empty(self) -> bool:
        """Whether there is neither a goal nor an item."""
        return not any(self.of(part) for part in Part)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the lines below it; `part` is None for a section that the user added."""

    heading: str
    lines: tuple[str, ...]
    part: Part | None


@dataclass(frozen=True, slots=True)
class Document:
    """A file, line by line: the lines above the first section, and the sections."""

    head: tuple[str, ...]
    sections: tuple[Section, ...]
    newline: str = "\n"
    ends: bool = True
    """Whether the last line ends with a newline."""

    def section(self, part: Part) -> Section | None:
        """The section of that name, if there is one."""
        return next((section for section in self.sections if section.part is part), None)


@dataclass(frozen=True, slots=True)
class Unusable:
    """Why a text cannot be updated without losing something in it."""

    reason: str


def parse(text: str) -> Document | Unusable:
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
    document = Document((), (), newline, ends)
    return _without_duplicates(_with_sections(document, lines))


def render(document: Document) -> str:
    """The text of a document."""
    lines = [*document.head]
    for section in document.sections:
        lines += (section.heading, *section.lines)
    return document.newline.join(lines) + (document.newline if document.ends and lines else "")


def blank(layer: LayerName) -> Document:
    """A document with headings and no content."""
    head = (_FENCE, f"layer: {layer}", _FENCE, "", f"# {LAYER_TITLES[layer]}", "")
    return Document(head, tuple(Section(f"## {TITLES[part]}", ("",), part) for part in Part))


def is_blank(document: Document) -> bool:
    """Whether a document has only front matter and headings."""
    head = document.head
    if head[:1] == (_FENCE,):
        head = head[head.index(_FENCE, 1) + 1 :]
    lines = (*head, *(line for section in document.sections for line in section.lines))
    return not any(line.strip() and not line.startswith("#") for line in lines)


def stamped(document: Document, **fields: str) -> Document:
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


def stamp(document: Document, name: str) -> str:
    """The value of a field of the front matter; empty if it is missing."""
    if document.head[:1] != (_FENCE,):
        return ""
    for line in document.head[1 : document.head.index(_FENCE, 1)]:
        key, _, value = line.partition(":")
        if key.strip() == name:
            return value.strip()
    return ""


def summary_of(document: Document) -> Summary:
    """The content of a document, without its layout."""
    items = {part: tuple(text for _, text in entries(document.section(part))) for part in Part}
    goal = " ".join(items.pop(Part.GOAL))
    return Summary(goal, {part: texts for part, texts in items.items() if texts})


def entries(section: Section | None) -> Iterator[tuple[range, str]]:
    """Every item of a section: its line numbers within the section, and its text in one line.

    An item is a bullet with the lines indented below it, or a paragraph.
    """
    if section is None:
        return
    start: int | None = None
    within = (*inside(section.lines), False)
    for place, line in enumerate((*section.lines, "")):
        if within[place]:
            continue
        begins = bool(line.strip()) and (bool(_BULLET.match(line)) or start is None)
        if start is not None and (begins or not line.strip()):
            yield _entry(section, range(start, place))
            start = None
        if begins:
            start = place


def key(item: str) -> str:
    """The normalised text by which items are compared."""
    return one_line(item).casefold().rstrip(".")


def _entry(section: Section, lines: range) -> tuple[range, str]:
    text = " ".join(section.lines[place].strip() for place in lines)
    return lines, _BULLET.sub("", text, count=1).strip()


def _with_sections(document: Document, lines: Sequence[str]) -> Document:
    head: list[str] = []
    sections: list[tuple[str, list[str]]] = []
    for line, within in zip(lines, inside(lines), strict=True):
        if not within and _HEADING.fullmatch(line):
            sections.append((line, []))
        elif sections:
            sections[-1][1].append(line)
        else:
            head.append(line)
    rows = (Section(heading, tuple(below), _part(heading)) for heading, below in sections)
    return replace(document, head=tuple(head), sections=tuple(rows))


def _part(heading: str) -> Part | None:
    match = _HEADING.fullmatch(heading)
    return _KNOWN.get(re.sub(r"\W+", "", match["title"]).lower()) if match else None


def _without_duplicates(document: Document) -> Document | Unusable:
    """The document, or `Unusable` if a section occurs twice, as it is unclear which one to update."""
    seen: set[Part] = set()
    for section in document.sections:
        if section.part in seen:
            return Unusable(f"`{section.heading.strip()}` is the second section of its kind")
        if section.part is not None:
            seen.add(section.part)
    return document
