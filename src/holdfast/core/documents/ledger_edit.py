"""Edit a ledger's file in place: single entries, their marks, its time; every other line stays as it is.

`ledger_merge` decides what to change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from holdfast.core.documents.ledger import (
    ANY_MARK,
    LABELS,
    LAYOUT,
    STAMP,
    Block,
    Document,
    Entry,
    Part,
    Section,
    blocks,
    entry_lines,
    entry_of,
    is_working_set,
    item_line,
    items_by_line,
    items_of,
    key_of,
    label_of,
    marked,
    part_of,
    render,
    stamp,
)
from holdfast.lazy_dataclass import dataclass

_WORKING_SET: Final = "## Working Set"


@dataclass(frozen=True, slots=True)
class Change:
    """A part's existing entries after the change, in order (None for a removed one), and the new ones."""

    existing: tuple[Entry | None, ...]
    new: tuple[Entry, ...]


def texts(document: Document, part: Part) -> list[str]:
    """The texts of a part's entries, from the first section for that part."""
    section = _section(document, part)
    if section is None:
        return []
    if part in LABELS:
        block = _list_of(section, part)
        return list(items_of(block)) if block else []
    return [block.text for block in blocks(section.lines) if block.is_entry]


def changed(document: Document, part: Part, change: Change) -> Document:
    """The file after the change."""
    section = _section(document, part)
    if section is None:
        return _inserted(document, part, change.new) if change.new else document
    renewed = _items_changed if part in LABELS else _entries_changed
    return _replaced(document, section, renewed(section, part, change))


def stamped(document: Document, updated: str) -> Document:
    """The file with a new "last updated" time, in its existing line or below the title."""
    newline = _newline(document)
    line = stamp(updated) + newline
    for section in document.sections[:2]:
        for place, old in enumerate(section.lines):
            if STAMP.match(old):
                return _replaced(
                    document, section, (*section.lines[:place], line, *section.lines[place + 1 :])
                )
    title = next((section for section in document.sections if section.heading), document.sections[0])
    below = title.lines if title.lines and not title.lines[0].strip() else (newline, *title.lines)
    return _replaced(document, title, (newline, line, *below))


def confirmed(document: Document, statement: str) -> Document:
    """The file without the UNCONFIRMED mark on every entry that contains this statement."""
    statement_key = key_of(statement)
    for part in Part:
        keys = [key_of(text) for text in texts(document, part)]
        entries = [entry_of(text) for text in texts(document, part)]
        cleared = [
            Entry(entry.text) if statement_key and statement_key in key else entry
            for key, entry in zip(keys, entries, strict=True)
        ]
        if cleared != entries:
            document = changed(document, part, Change(tuple(cleared), ()))
    return document


# ---------------------------------------------------------------- sections with entries


def _entries_changed(section: Section, part: Part, change: Change) -> Sequence[str]:
    lines: list[str] = []
    results = iter(change.existing)
    for block in blocks(section.lines):
        entry = next(results) if block.is_entry else None
        if not block.is_entry or (not block.text and not change.new):
            lines += block.lines
        elif entry is not None:
            lines += block.lines if entry_of(block.text) == entry else _remarked(block.lines, entry)
    alone = not any(change.existing)
    new = entry_lines(part, change.new) if alone else [f"- {marked(entry)}" for entry in change.new]
    return _appended(lines, new, _ending(section))


def _remarked(lines: Sequence[str], entry: Entry) -> list[str]:
    """The lines of an entry with its mark updated, and nothing else changed."""
    bare = [_unmarked(line) for line in lines]
    if entry.unconfirmed:
        text, ending = _cut(bare[-1])
        bare[-1] = marked(replace(entry, text=text.rstrip())) + ending
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


def _items_changed(section: Section, part: Part, change: Change) -> Sequence[str]:
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


def _item_lines(part: Part, block: Block, change: Change, ending: str) -> Iterator[str]:
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
            yield from (f"  - {marked(entry)}{ending}" for entry in here)
    yield from (f"  - {marked(entry)}{ending}" for entry in change.new)


def _list_of(section: Section, part: Part) -> Block | None:
    return next((block for block in blocks(section.lines) if label_of(block) is part), None)


# ---------------------------------------------------------------- sections


def _section(document: Document, part: Part) -> Section | None:
    """The first section for a part."""
    sections = document.sections
    if part in LABELS:
        return next((section for section in sections if is_working_set(section)), None)
    return next((section for section in sections if part_of(section) is part), None)


def _replaced(document: Document, section: Section, lines: Sequence[str]) -> Document:
    new = Section(_with_newline(section.heading) if lines else section.heading, tuple(lines))
    return Document(tuple(new if other is section else other for other in document.sections))


def _inserted(document: Document, part: Part, entries: tuple[Entry, ...]) -> Document:
    """The file with a new section for a part that has none, at its usual place."""
    ending = _newline(document)
    heading = _WORKING_SET if part in LABELS else next(title for title, about in LAYOUT if about is part)
    rows = [item_line(part, entries)] if part in LABELS else entry_lines(part, entries)
    section = Section(heading + ending, tuple(row + ending for row in (*rows, "")))
    place = _place(document, heading)
    last = document.sections[place - 1]
    lines = [_with_newline(line) for line in last.lines]
    blank = () if lines and not lines[-1].strip() else (ending,)
    before = Section(_with_newline(last.heading), (*lines, *blank))
    return Document((*document.sections[: place - 1], before, section, *document.sections[place:]))


def _place(document: Document, heading: str) -> int:
    """The index for a new section: before the first one that usually follows it, or at the end."""
    order = [title for title, _ in LAYOUT]
    later = {title.strip("# ").lower() for title in order[order.index(heading) + 1 :]}
    names = (section.heading.strip().strip("#").strip().lower() for section in document.sections)
    return next((place for place, name in enumerate(names) if name in later), len(document.sections))


def _newline(document: Document) -> str:
    """The file's line ending."""
    return "\r\n" if "\r\n" in render(document) else "\n"


def _ending(section: Section) -> str:
    return "\r\n" if section.heading.endswith("\r\n") else "\n"


def _with_newline(line: str) -> str:
    return line if not line or line.endswith("\n") else f"{line}\n"


def _cut(line: str) -> tuple[str, str]:
    """A line without its ending, and the ending."""
    text = line.rstrip("\r\n")
    return text, line[len(text) :]
