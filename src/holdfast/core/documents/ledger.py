"""Ledger: a worktree's state in a Markdown file that people and agents edit, read and written without loss.

A file is split into lines and put together again exactly as it was, whatever it contains. What is known of
the format (title, time, sections, entries, the mark for unconfirmed entries) is read from those lines.
`work.ledger_content` fills a ledger; `ledger_merge` merges it with the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Final

from holdfast.core.documents.markdown import COMMENT, inside
from holdfast.core.text.patterns import compiled
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass

TITLE: Final = "# Session Ledger"
MARK: Final = "`UNCONFIRMED`"


class Part(StrEnum):
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
class Entry:
    """One entry of a ledger; `why` is the reason for its UNCONFIRMED mark, if one is given."""

    text: str
    unconfirmed: bool = False
    why: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """The content of a ledger, part by part."""

    goal: tuple[Entry, ...] = ()
    constraints: tuple[Entry, ...] = ()
    decisions: tuple[Entry, ...] = ()
    done: tuple[Entry, ...] = ()
    now: tuple[Entry, ...] = ()
    next: tuple[Entry, ...] = ()
    questions: tuple[Entry, ...] = ()
    files: tuple[Entry, ...] = ()
    ids: tuple[Entry, ...] = ()
    commands: tuple[Entry, ...] = ()

    def of(self, part: Part) -> tuple[Entry, ...]:
        """The entries of a part."""
        entries: tuple[Entry, ...] = getattr(self, part.value)
        return entries

    def having(self, part: Part, entries: Iterable[Entry]) -> Ledger:
        """The same ledger with these entries in that part."""
        return replace(self, **{part.value: tuple(entries)})

    def unconfirmed(self) -> tuple[Entry, ...]:
        """Every entry that is marked as unconfirmed."""
        return tuple(entry for part in Part for entry in self.of(part) if entry.unconfirmed)


@dataclass(frozen=True, slots=True)
class Section:
    """A heading and the lines below it, as in the file; the heading of what precedes all others is empty."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """A file as its exact lines, by section."""

    sections: tuple[Section, ...]


def parse(text: str) -> Document:
    """The document in a text; `render` gives back exactly the same text."""
    sections: list[Section] = []
    heading, lines = "", list[str]()
    all_lines: list[str] = _LINES.findall(text)
    for line, within in zip(all_lines, inside(all_lines), strict=True):
        if not within and _HEADING.match(line):
            sections.append(Section(heading, tuple(lines)))
            heading, lines = line, []
        else:
            lines.append(line)
    return Document((*sections, Section(heading, tuple(lines))))


def render(document: Document) -> str:
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


def read(document: Document) -> Ledger:
    """The content of the file's ledger sections; others are ignored."""
    entries_by_part: dict[str, list[Entry]] = {}
    for section in document.sections:
        for block in blocks(section.lines):
            for part, entries in _entries_in(section, block):
                entries_by_part.setdefault(part.value, []).extend(entries)
    return Ledger(**{part: tuple(entries) for part, entries in entries_by_part.items()})


def written(ledger: Ledger, updated: str) -> str:
    """The text of a new file with this content."""
    lines = [TITLE, "", stamp(updated)]
    for heading, part in LAYOUT:
        lines += ["", heading]
        if part is not None:
            lines += entry_lines(part, ledger.of(part))
    lines += [item_line(part, ledger.of(part)) for part in LABELS]
    return "\n".join(lines) + "\n"


def updated(document: Document) -> str:
    """The file's "last updated" text, unparsed; empty if it has none."""
    for section in document.sections[:2]:
        for line in section.lines:
            if match := STAMP.match(line):
                return match[1].strip()
    return ""


def stamp(updated: str) -> str:
    """The line that says when a ledger was updated."""
    return f"_Last updated: {updated}_"


# ---------------------------------------------------------------- sections and the blocks in them

_LINES: Final = compiled(r"[^\n]*\n|[^\n]+")
_HEADING: Final = compiled(r" {0,3}#{1,6}[ \t]+\S")
_IS_TITLE: Final = compiled(r"#[ \t]+session ledger\b", re.IGNORECASE)
STAMP: Final = compiled(r"\s*[_*]*last updated:\s*([^_*\n]*)[_*]*\s*$", re.IGNORECASE)
_BULLET: Final = compiled(r" ?(?:[-*+]|\d{1,3}[.)])(?:[ \t]+|$)", re.MULTILINE)
_RULE: Final = compiled(r" {0,3}(?:-[ \t]*){3,}$|\*{3,}\s*$|_{3,}\s*$")
_PARTS: Final = {
    "goal": Part.GOAL,
    "goals": Part.GOAL,
    "constraints/assumptions": Part.CONSTRAINTS,
    "constraints and assumptions": Part.CONSTRAINTS,
    "constraints": Part.CONSTRAINTS,
    "assumptions": Part.CONSTRAINTS,
    "key decisions": Part.DECISIONS,
    "decisions": Part.DECISIONS,
    "done": Part.DONE,
    "now": Part.NOW,
    "next": Part.NEXT,
    "next steps": Part.NEXT,
    "open questions": Part.QUESTIONS,
    "questions": Part.QUESTIONS,
}
_WORKING_SET: Final = "working set"
LABELS: Final = {Part.FILES: "Files", Part.IDS: "IDs", Part.COMMANDS: "Commands"}
_LABEL: Final = compiled(r"[*_]*(files?|ids?|commands?)[*_]*:[*_]*[ \t]*", re.IGNORECASE)
_BY_LABEL: Final = {"file": Part.FILES, "id": Part.IDS, "command": Part.COMMANDS}
LAYOUT: Final = (
    ("## Goal", Part.GOAL),
    ("## Constraints/Assumptions", Part.CONSTRAINTS),
    ("## Key Decisions", Part.DECISIONS),
    ("## State", None),
    ("### Done", Part.DONE),
    ("### Now", Part.NOW),
    ("### Next", Part.NEXT),
    ("## Open Questions", Part.QUESTIONS),
    ("## Working Set", None),
)


@dataclass(frozen=True, slots=True)
class Block:
    """Lines that belong together: an entry, or what is between entries."""

    lines: tuple[str, ...]
    is_entry: bool

    @property
    def text(self) -> str:
        """The entry's text without its bullet."""
        whole = "".join(self.lines).strip()
        bullet = _BULLET.match(whole)
        return whole[bullet.end() :].strip() if bullet else whole


def part_of(section: Section) -> Part | None:
    """Which part a section is about, by its heading."""
    return _PARTS.get(_name(section))


def is_working_set(section: Section) -> bool:
    """Whether this is the section of files, ids and commands."""
    return _name(section) == _WORKING_SET


def label_of(block: Block) -> Part | None:
    """Which list of the working set a block is; None for any other block."""
    match = _LABEL.match(block.text)
    return _BY_LABEL[match[1].lower().rstrip("s")] if match and block.is_entry else None


def blocks(lines: Sequence[str]) -> Iterator[Block]:
    """The lines of a section, all of them, in blocks: an entry is a bullet or a paragraph."""
    current: list[str] = []
    for line, within in zip(lines, inside(lines), strict=True):
        starts = not line.strip() or _BULLET.match(line) or line.lstrip().startswith(COMMENT)
        if current and not within and (starts or not _is_entry(current)):
            yield Block(tuple(current), _is_entry(current))
            current = []
        current.append(line)
    if current:
        yield Block(tuple(current), _is_entry(current))


def _is_entry(lines: list[str]) -> bool:
    first = lines[0].lstrip()
    return bool(first) and not first.startswith(COMMENT) and not _RULE.match(lines[0])


def _name(section: Section) -> str:
    return one_line(section.heading.strip().strip("#*_: \t")).lower().replace(" / ", "/")


def _entries_in(section: Section, block: Block) -> Iterator[tuple[Part, tuple[Entry, ...]]]:
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


def entry_of(text: str) -> Entry:
    """The entry in a text; the UNCONFIRMED mark is recognised in any spelling."""
    line = one_line(text)
    if match := _OWN_MARK.fullmatch(line):
        return Entry(match[1], unconfirmed=True, why=match[2] or "")
    if match := ANY_MARK.search(line):
        rest = f"{line[: match.start()]} {line[match.end() :]}"
        return Entry(rest.strip(), unconfirmed=True, why=match[1] or "")
    return Entry(line)


def marked(entry: Entry) -> str:
    """The entry's text with its mark, if it has one."""
    if not entry.unconfirmed:
        return entry.text
    return f"{entry.text} {MARK}" + (f" ({entry.why})" if entry.why else "")


def key_of(text: str) -> str:
    """The text by which entries are compared: without marks, quotes, case and final punctuation."""
    return _ABOUT.sub(" ", entry_of(text).text).casefold().strip(" .;:-–—")


def items_of(block: Block) -> tuple[str, ...]:
    """The items of a list in the working set: separated by commas, or as bullets below."""
    return tuple(item for line in items_by_line(block) for item in line)


def items_by_line(block: Block) -> list[list[str]]:
    """The items of each line of such a list, down to the last line that is not blank."""
    first, *below = _LABEL.sub("", block.text, count=1).split("\n")
    lines = (first, *(Block((line,), is_entry=True).text for line in below))
    return [[item.strip() for item in _ITEM.findall(line) if item.strip()] for line in lines]


def item_line(part: Part, entries: Iterable[Entry]) -> str:
    """A list of the working set in one line."""
    return f"- {LABELS[part]}: {', '.join(map(marked, entries))}".rstrip()


def entry_lines(part: Part, entries: tuple[Entry, ...]) -> list[str]:
    """The lines of a part: bullets, or plain text for a single goal, "now" or "next" entry."""
    texts = [marked(entry) for entry in entries]
    alone = part in (Part.GOAL, Part.NOW, Part.NEXT) and len(texts) == 1
    return texts if alone and not _STARTS_A_BLOCK.match(texts[0]) else [f"- {text}" for text in texts]


_STARTS_A_BLOCK: Final = compiled(r"[-*+#<>|=`~_]|\d+[.)]")
