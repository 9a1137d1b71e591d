"""Ledger: a worktree's state in a Markdown file that people and agents edit, read and changed without loss.

A file is split into lines and put together again exactly as it was, whatever it contains. What is known of
the format (title, time, sections, entries, the mark for unconfirmed entries) is read from those lines, and an
edit changes single entries, their marks or the time; every other line stays as it is. `ledger_content` fills
a ledger; `ledger_update` decides what to change in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import pairwise
from typing import Final

from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.markdown import BETWEEN_ENTRIES, entry_groups, lenient_blocks, without_item_mark
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass

TITLE: Final = "# Session Ledger"
MARK: Final = "`UNCONFIRMED`"


class LedgerPart(StrEnum):
    """The parts of a ledger; each value is the name of a field of `Ledger`."""

    GOAL = "goal"
    CONSTRAINTS = "constraints"
    DECISIONS = "decisions"
    DONE = "done"
    NOW = "now"
    NEXT = "next"
    QUESTIONS = "questions"
    FILES = "files"
    IDS = "ids"
    COMMANDS = "commands"


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One entry of a ledger; `why` is the reason for its UNCONFIRMED mark, if one is given."""

    text: str
    unconfirmed: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The content of a ledger, part by part."""

    goal: tuple[LedgerEntry, ...] = ()
    constraints: tuple[LedgerEntry, ...] = ()
    decisions: tuple[LedgerEntry, ...] = ()
    done: tuple[LedgerEntry, ...] = ()
    now: tuple[LedgerEntry, ...] = ()
    next: tuple[LedgerEntry, ...] = ()
    questions: tuple[LedgerEntry, ...] = ()
    files: tuple[LedgerEntry, ...] = ()
    ids: tuple[LedgerEntry, ...] = ()
    commands: tuple[LedgerEntry, ...] = ()

    def of(self, part: LedgerPart) -> tuple[LedgerEntry, ...]:
        """The entries of a part."""
        entries: tuple[LedgerEntry, ...] = getattr(self, part.value)
        return entries

    def having(self, part: LedgerPart, entries: Iterable[LedgerEntry]) -> Ledger:
        """The same ledger with these entries in that part."""
        return replace(self, **{part.value: tuple(entries)})

    def unconfirmed(self) -> tuple[LedgerEntry, ...]:
        """Every entry that is marked as unconfirmed."""
        return tuple(entry for part in LedgerPart for entry in self.of(part) if entry.unconfirmed)


@dataclass(frozen=True, slots=True)
class LedgerSection:
    """A heading and the lines below it, as in the file; the heading of what precedes all others is empty."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LedgerDocument:
    """A file as its exact lines, by section."""

    sections: tuple[LedgerSection, ...]


def parse(text: str) -> LedgerDocument:
    """The document in a text; `render` gives back exactly the same text."""
    lines: list[str] = _LINES.findall(text)
    starts = [block.first for block in lenient_blocks(lines) if block.divides and block.text]
    before = LedgerSection("", tuple(lines[: starts[0]] if starts else lines))
    ranges = pairwise((*starts, len(lines)))
    return LedgerDocument(
        (before, *(LedgerSection(lines[start], tuple(lines[start + 1 : end])) for start, end in ranges))
    )


def render(document: LedgerDocument) -> str:
    """The file's text."""
    return "".join(line for section in document.sections for line in (section.heading, *section.lines))


def is_ledger(text: str) -> bool:
    """Whether a text is a ledger by its first heading; an empty text counts as one."""
    first = next((section.heading for section in parse(text).sections if section.heading), "")
    return not text.strip() or bool(_IS_TITLE.match(first))


def conflict(text: str) -> int:
    """The number of the line in which a merge conflict begins; 0 if there is none."""
    lines = text.splitlines()
    if not any(line.startswith(">>>>>>> ") for line in lines):
        return 0
    return next((place for place, line in enumerate(lines, 1) if line.startswith("<<<<<<< ")), 0)


def read(document: LedgerDocument) -> Ledger:
    """The content of the file's ledger sections; others are ignored."""
    entries_by_part: dict[str, list[LedgerEntry]] = {}
    for section in document.sections:
        for block in blocks(section.lines):
            for part, entries in _entries_in(section, block):
                entries_by_part.setdefault(part.value, []).extend(entries)
    return Ledger(**{part: tuple(entries) for part, entries in entries_by_part.items()})


def new_ledger_text(ledger: Ledger, updated: str) -> str:
    """The text of a new file with this content."""
    lines = [TITLE, "", last_updated_line(updated)]
    for heading, part in LAYOUT:
        lines += ["", heading]
        if part is not None:
            lines += entry_lines(part, ledger.of(part))
    lines += [item_line(part, ledger.of(part)) for part in LABELS]
    return "\n".join(lines) + "\n"


def last_updated(document: LedgerDocument) -> str:
    """The file's "last updated" text, unparsed; empty if it has none."""
    for section in document.sections[:2]:
        for line in section.lines:
            if match := STAMP.match(line):
                return match[1].strip()
    return ""


def last_updated_line(updated: str) -> str:
    """The line that says when a ledger was updated."""
    return f"_Last updated: {updated}_"


# ---------------------------------------------------------------- sections and the blocks in them

_LINES: Final = compiled(r"[^\n]*\n|[^\n]+")
_IS_TITLE: Final = compiled(r"#[ \t]+session ledger\b", re.IGNORECASE)
STAMP: Final = compiled(r"\s*[_*]*last updated:\s*([^_*\n]*)[_*]*\s*$", re.IGNORECASE)
_PARTS: Final = {
    "goal": LedgerPart.GOAL,
    "goals": LedgerPart.GOAL,
    "constraints/assumptions": LedgerPart.CONSTRAINTS,
    "constraints and assumptions": LedgerPart.CONSTRAINTS,
    "constraints": LedgerPart.CONSTRAINTS,
    "assumptions": LedgerPart.CONSTRAINTS,
    "key decisions": LedgerPart.DECISIONS,
    "decisions": LedgerPart.DECISIONS,
    "done": LedgerPart.DONE,
    "now": LedgerPart.NOW,
    "next": LedgerPart.NEXT,
    "next steps": LedgerPart.NEXT,
    "open questions": LedgerPart.QUESTIONS,
    "questions": LedgerPart.QUESTIONS,
}
_WORKING_SET: Final = "working set"
LABELS: Final = {LedgerPart.FILES: "Files", LedgerPart.IDS: "IDs", LedgerPart.COMMANDS: "Commands"}
_LABEL: Final = compiled(r"[*_]*(files?|ids?|commands?)[*_]*:[*_]*[ \t]*", re.IGNORECASE)
_BY_LABEL: Final = {"file": LedgerPart.FILES, "id": LedgerPart.IDS, "command": LedgerPart.COMMANDS}
LAYOUT: Final = (
    ("## Goal", LedgerPart.GOAL),
    ("## Constraints/Assumptions", LedgerPart.CONSTRAINTS),
    ("## Key Decisions", LedgerPart.DECISIONS),
    ("## State", None),
    ("### Done", LedgerPart.DONE),
    ("### Now", LedgerPart.NOW),
    ("### Next", LedgerPart.NEXT),
    ("## Open Questions", LedgerPart.QUESTIONS),
    ("## Working Set", None),
)


@dataclass(frozen=True, slots=True)
class LedgerBlock:
    """Lines that belong together: an entry, or what is between entries."""

    lines: tuple[str, ...]
    is_entry: bool

    @property
    def text(self) -> str:
        """The entry's text without its bullet."""
        return without_item_mark("".join(self.lines))


def part_of(section: LedgerSection) -> LedgerPart | None:
    """Which part a section is about, by its heading."""
    return _PARTS.get(_name(section))


def is_working_set(section: LedgerSection) -> bool:
    """Whether this is the section of files, ids and commands."""
    return _name(section) == _WORKING_SET


def label_of(block: LedgerBlock) -> LedgerPart | None:
    """Which list of the working set a block is; None for any other block."""
    match = _LABEL.match(block.text)
    return _BY_LABEL[match[1].lower().rstrip("s")] if match and block.is_entry else None


def blocks(lines: Sequence[str]) -> Iterator[LedgerBlock]:
    """The lines of a section, all of them, in blocks: an entry is a bullet or a paragraph."""
    for places, kind in entry_groups(lines):
        yield LedgerBlock(tuple(lines[places.start : places.stop]), kind not in BETWEEN_ENTRIES)


def _name(section: LedgerSection) -> str:
    return one_line(section.heading.strip().strip("#*_: \t")).lower().replace(" / ", "/")


def _entries_in(
    section: LedgerSection, block: LedgerBlock
) -> Iterator[tuple[LedgerPart, tuple[LedgerEntry, ...]]]:
    part = part_of(section)
    if part is not None and block.is_entry and block.text:
        yield part, (entry_of(block.text),)
    elif is_working_set(section) and (label := label_of(block)):
        yield label, tuple(map(entry_of, items_of(block)))


# ---------------------------------------------------------------- entries

_OWN_MARK: Final = compiled(r"(.*) `UNCONFIRMED`(?: \(([^()`]*)\))?")
ANY_MARK: Final = compiled(r" ?[`*_\[(]{0,4}\bUNCONFIRMED\b[`*_\])]{0,4} ?:? ?(?:\(([^()`]*)\))?")
_ITEM: Final = compiled(r"(?:`[^`]*`|[^,`\n]|`)+")
_ABOUT: Final = compiled(r"[`*_\s]+")


def entry_of(text: str) -> LedgerEntry:
    """The entry in a text; the UNCONFIRMED mark is recognised in any spelling."""
    line = one_line(text)
    if match := _OWN_MARK.fullmatch(line):
        return LedgerEntry(match[1], unconfirmed=True, why=match[2] or "")
    if match := ANY_MARK.search(line):
        rest = f"{line[: match.start()]} {line[match.end() :]}"
        return LedgerEntry(rest.strip(), unconfirmed=True, why=match[1] or "")
    return LedgerEntry(line)


def text_with_mark(entry: LedgerEntry) -> str:
    """The entry's text with its mark, if it has one."""
    if not entry.unconfirmed:
        return entry.text
    return f"{entry.text} {MARK}" + (f" ({entry.why})" if entry.why else "")


def key_of(text: str) -> str:
    """The text by which entries are compared: without marks, quotes, case and final punctuation."""
    return _ABOUT.sub(" ", entry_of(text).text).casefold().strip(" .;:-–—")


def items_of(block: LedgerBlock) -> tuple[str, ...]:
    """The items of a list in the working set: separated by commas, or as bullets below."""
    return tuple(item for line in items_by_line(block) for item in line)


def items_by_line(block: LedgerBlock) -> list[list[str]]:
    """The items of each line of such a list, down to the last line that is not blank."""
    first, *below = _LABEL.sub("", block.text, count=1).split("\n")
    lines = (first, *map(without_item_mark, below))
    return [[item.strip() for item in _ITEM.findall(line) if item.strip()] for line in lines]


def item_line(part: LedgerPart, entries: Iterable[LedgerEntry]) -> str:
    """A list of the working set in one line."""
    return f"- {LABELS[part]}: {', '.join(map(text_with_mark, entries))}".rstrip()


def entry_lines(part: LedgerPart, entries: tuple[LedgerEntry, ...]) -> list[str]:
    """The lines of a part: bullets, or plain text for a single goal, "now" or "next" entry."""
    texts = [text_with_mark(entry) for entry in entries]
    alone = part in (LedgerPart.GOAL, LedgerPart.NOW, LedgerPart.NEXT) and len(texts) == 1
    return texts if alone and not _STARTS_A_BLOCK.match(texts[0]) else [f"- {text}" for text in texts]


_STARTS_A_BLOCK: Final = compiled(r"[-*+#<>|=`~_]|\d+[.)]")


_WORKING_SET_HEADING: Final = "## Working Set"


@dataclass(frozen=True, slots=True)
class PartChange:
    """A part's existing entries after the change, in order (None for a removed one), and the new ones."""

    existing: tuple[LedgerEntry | None, ...]
    new: tuple[LedgerEntry, ...]


def entry_texts(document: LedgerDocument, part: LedgerPart) -> list[str]:
    """The texts of a part's entries, from the first section for that part."""
    section = _section(document, part)
    if section is None:
        return []
    if part in LABELS:
        block = _list_of(section, part)
        return list(items_of(block)) if block else []
    return [block.text for block in blocks(section.lines) if block.is_entry]


def change_part(document: LedgerDocument, part: LedgerPart, change: PartChange) -> LedgerDocument:
    """The file after the change."""
    section = _section(document, part)
    if section is None:
        return _inserted(document, part, change.new) if change.new else document
    renewed = _items_changed if part in LABELS else _entries_changed
    return _replaced(document, section, renewed(section, part, change))


def set_last_updated(document: LedgerDocument, updated: str) -> LedgerDocument:
    """The file with a new "last updated" time, in its existing line or below the title."""
    newline = _newline(document)
    line = last_updated_line(updated) + newline
    for section in document.sections[:2]:
        for place, old in enumerate(section.lines):
            if STAMP.match(old):
                return _replaced(
                    document, section, (*section.lines[:place], line, *section.lines[place + 1 :])
                )
    title = next((section for section in document.sections if section.heading), document.sections[0])
    below = title.lines if title.lines and not title.lines[0].strip() else (newline, *title.lines)
    return _replaced(document, title, (newline, line, *below))


def confirm_statement(document: LedgerDocument, statement: str) -> LedgerDocument:
    """The file without the UNCONFIRMED mark on every entry that contains this statement."""
    statement_key = key_of(statement)
    for part in LedgerPart:
        keys = [key_of(text) for text in entry_texts(document, part)]
        entries = [entry_of(text) for text in entry_texts(document, part)]
        cleared = [
            LedgerEntry(entry.text) if statement_key and statement_key in key else entry
            for key, entry in zip(keys, entries, strict=True)
        ]
        if cleared != entries:
            document = change_part(document, part, PartChange(tuple(cleared), ()))
    return document


# ---------------------------------------------------------------- sections with entries


def _entries_changed(section: LedgerSection, part: LedgerPart, change: PartChange) -> Sequence[str]:
    lines: list[str] = []
    results = iter(change.existing)
    for block in blocks(section.lines):
        entry = next(results) if block.is_entry else None
        if not block.is_entry or (not block.text and not change.new):
            lines += block.lines
        elif entry is not None:
            lines += block.lines if entry_of(block.text) == entry else _remarked(block.lines, entry)
    alone = not any(change.existing)
    new = entry_lines(part, change.new) if alone else [f"- {text_with_mark(entry)}" for entry in change.new]
    return _appended(lines, new, _ending(section))


def _remarked(lines: Sequence[str], entry: LedgerEntry) -> list[str]:
    """The lines of an entry with its mark updated, and nothing else changed."""
    bare = [_unmarked(line) for line in lines]
    if entry.unconfirmed:
        text, ending = _cut(bare[-1])
        bare[-1] = text_with_mark(replace(entry, text=text.rstrip())) + ending
    return bare


def _unmarked(line: str) -> str:
    text, ending = _cut(line)
    if not ANY_MARK.search(text):
        return line
    rest = ANY_MARK.sub(" ", text)
    return (rest if text[:1].isspace() else rest.lstrip()).rstrip() + ending


def _appended(lines: list[str], new: Iterable[str], ending: str) -> list[str]:
    """The lines with new ones after the last that is not blank."""
    added = [line + ending for line in new]
    if not added:
        return lines
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return [*map(_with_newline, lines[:end]), *added, *lines[end:]]


# ---------------------------------------------------------------- the lists of the working set


def _items_changed(section: LedgerSection, part: LedgerPart, change: PartChange) -> Sequence[str]:
    entries = (*(entry for entry in change.existing if entry is not None), *change.new)
    ending = _ending(section)
    listed = _list_of(section, part)
    if listed is None:
        return _appended(list(section.lines), [item_line(part, entries)] if entries else [], ending)
    if entries == tuple(map(entry_of, items_of(listed))):
        return section.lines
    lines: list[str] = []
    for block in blocks(section.lines):
        if block != listed:
            lines += block.lines
        elif len(block.lines) == 1:
            lines.append(item_line(part, entries) + ending)
        else:
            lines += _item_lines(part, block, change, ending)
    return lines


def _item_lines(part: LedgerPart, block: LedgerBlock, change: PartChange, ending: str) -> Iterator[str]:
    """A list of several lines: lines with unchanged items stay as they are, and new items come last."""
    results = iter(change.existing)
    items_per_line = items_by_line(block)
    items_per_line += [[]] * (len(block.lines) - len(items_per_line))
    for place, (line, items) in enumerate(zip(block.lines, items_per_line, strict=True)):
        after = [next(results) for _ in items]
        stays = after == [entry_of(item) for item in items]
        here = [entry for entry in after if entry is not None]
        if stays:
            yield _with_newline(line)
        elif place == 0:
            yield item_line(part, here) + ending
        else:
            yield from (f"  - {text_with_mark(entry)}{ending}" for entry in here)
    yield from (f"  - {text_with_mark(entry)}{ending}" for entry in change.new)


def _list_of(section: LedgerSection, part: LedgerPart) -> LedgerBlock | None:
    return next((block for block in blocks(section.lines) if label_of(block) is part), None)


# ---------------------------------------------------------------- sections


def _section(document: LedgerDocument, part: LedgerPart) -> LedgerSection | None:
    """The first section for a part."""
    sections = document.sections
    if part in LABELS:
        return next((section for section in sections if is_working_set(section)), None)
    return next((section for section in sections if part_of(section) is part), None)


def _replaced(document: LedgerDocument, section: LedgerSection, lines: Sequence[str]) -> LedgerDocument:
    new = LedgerSection(_with_newline(section.heading) if lines else section.heading, tuple(lines))
    return LedgerDocument(tuple(new if other is section else other for other in document.sections))


def _inserted(document: LedgerDocument, part: LedgerPart, entries: tuple[LedgerEntry, ...]) -> LedgerDocument:
    """The file with a new section for a part that has none, at its usual place."""
    ending = _newline(document)
    heading = (
        _WORKING_SET_HEADING if part in LABELS else next(title for title, about in LAYOUT if about is part)
    )
    rows = [item_line(part, entries)] if part in LABELS else entry_lines(part, entries)
    section = LedgerSection(heading + ending, tuple(row + ending for row in (*rows, "")))
    place = _place(document, heading)
    last = document.sections[place - 1]
    lines = [_with_newline(line) for line in last.lines]
    blank = () if lines and not lines[-1].strip() else (ending,)
    before = LedgerSection(_with_newline(last.heading), (*lines, *blank))
    return LedgerDocument((*document.sections[: place - 1], before, section, *document.sections[place:]))


def _place(document: LedgerDocument, heading: str) -> int:
    """The index for a new section: before the first one that usually follows it, or at the end."""
    order = [title for title, _ in LAYOUT]
    later = {title.strip("# ").lower() for title in order[order.index(heading) + 1 :]}
    names = (section.heading.strip().strip("#").strip().lower() for section in document.sections)
    return next((place for place, name in enumerate(names) if name in later), len(document.sections))


def _newline(document: LedgerDocument) -> str:
    """The file's line ending."""
    return "\r\n" if "\r\n" in render(document) else "\n"


def _ending(section: LedgerSection) -> str:
    return "\r\n" if section.heading.endswith("\r\n") else "\n"


def _with_newline(line: str) -> str:
    return line if not line or line.endswith("\n") else f"{line}\n"


def _cut(line: str) -> tuple[str, str]:
    """A line without its ending, and the ending."""
    text = line.rstrip("\r\n")
    return text, line[len(text) :]
