"""Read a work state that somebody wrote: an agent's digest, a model's answer, a harness's summary.

Such a text has headings or labels for the sections of a handover: `## Goal`, `**Next**`, `Decisions: …`,
`4. Errors and fixes:`. What stands below no known heading is left to the caller. Time is linear in the length
of the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Final, NamedTuple

from holdfast.core.evidence.kinds import Section
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.markdown import Block, BlockKind, blocks
from holdfast.core.text.strings import one_line

HEADING_CHARS: Final = 80
"""A longer line is no heading and no label."""
CODE_LINES: Final = 5
"""Longer code is an excerpt of a file or a log, not the command or the error that a sentence is about."""

_WORDS: Final = {
    Section.GOAL: r"(?:overall |main |current )?(?:goals?|objectives?)|tasks?|primary request and intent"
    r"|requests?|intent|overview|what the user wants|(?:任务)?目标|任务|需求",
    Section.RULES: r"rules?|constraints?|(?:user )?preferences|(?:the )?user['’]?s rules|all user messages"
    r"|规则|约束|限制|要求",
    Section.DONE: r"done(?: so far)?|completed?(?: work| tasks| steps)?|finished|accomplished|progress"
    r"|what (?:was|is|has been) done|verified|已?完成(?:的?工作)?|进展",
    Section.NOW: r"now|(?:the )?(?:current )?(?:state|status)|current(?: work| task)?|in progress|doing"
    r"|summary|where (?:the work stands|we are|it stands)|当前(?:状态|工作)?|现状|进行中|正在进行",
    Section.NEXT: r"(?:what['’]?s |the )?next(?: steps?| actions?)?|remaining(?: work| tasks| steps)?"
    r"|to-? ?dos?|pending(?: tasks| work)?|still open|open (?:items|tasks)|optional next steps?"
    r"|下一步(?:计划)?|待办(?:事项)?|剩余(?:工作)?",
    Section.DECISIONS: r"(?:key |technical |design |important )*(?:decisions?|concepts|findings|insights)"
    r"(?: made| taken)?|root causes?|why|(?:关键)?(?:决定|决策)|结论",
    Section.FAILURES: r"failures?|failed(?: approaches| attempts)?|errors(?: and fixes)?"
    r"|problems?(?: solving)?|(?:known |open )?issues|blockers?|失败|错误|报错|阻塞",
    Section.QUESTIONS: r"(?:open |unanswered )?questions?(?: for the user)?|unknowns?|waiting for the user"
    r"|(?:待确认|未解决)?的?问题|疑问",
    Section.WHERE: r"where(?: things are| to look)?|(?:relevant |key |changed )?files(?: and code sections)?"
    r"|working set|artifacts?|paths|(?:useful |key )?commands?|(?:相关|关键)?文件|位置|命令",
}
_HEADING: Final = compiled(
    r"[\W\d_]*(?:"
    + "|".join(rf"(?P<{section.name}>{words})" for section, words in _WORDS.items())
    + r")(?: ?[(（][^()（）]*[)）])?[\W_]*",
    re.IGNORECASE,
)
_LABEL: Final = compiled(rf"([^:：\n]{{1,{HEADING_CHARS}}})(?::(?=[\s*_]|$)|：)[*_]*\s*")
_BOLD: Final = compiled(
    rf"\s*(?:\d{{1,2}}[.)] ?)?(\*\*|__)([^*_\n]{{1,{HEADING_CHARS}}})\1\s*(?:[—–-]\s+|(?=$))"
)
_PROMPT_SIGN: Final = compiled(r"\$ +")
_CELL_END: Final = compiled(r"(?<!\\)\|")
_PLAIN_LANGUAGES: Final = ("", "sh", "bash", "zsh", "shell", "console", "text", "txt", "log")
"""Languages of a fence whose lines are commands or messages."""


def section_of_heading(heading: str) -> Section | None:
    """The section that a heading or label stands for, if it is one."""
    match = _HEADING.fullmatch(heading) if len(heading) <= HEADING_CHARS else None
    return Section[match.lastgroup] if match and match.lastgroup else None


def sections_in(text: str) -> tuple[tuple[Section | None, str], ...]:
    """The paragraphs, list items and short code of a text, each with the section of its heading or label."""
    return tuple(_Reader().read(dedent(text)))


class _Label(NamedTuple):
    """The beginning of a line that names a section, and what follows it."""

    section: Section | None
    """None for a line in bold that names no section: another heading."""
    rest: str
    is_bold: bool


class _Scope(NamedTuple):
    """How far a label applies."""

    section: Section
    depth: int
    """How deep in lists the label is; 0 outside of them."""
    is_numbered: bool
    is_alone: bool
    """Whether nothing follows on its line, as with a heading."""
    is_bold: bool
    is_aside: bool
    """Whether it is a sentence with a label in another section, such as `Why: …` below `## Done`."""

    def is_over(self, block: Block) -> bool:
        """Whether the label does not apply to this block, which follows it."""
        if not self.depth:
            return self.is_aside
        if block.kind is BlockKind.ITEM:
            is_sibling = block.depth == self.depth and (block.number is not None) == self.is_numbered
            return block.depth < self.depth or is_sibling
        return block.depth < self.depth and not self.is_alone


class _Reader:
    """Goes through a text, and remembers which headings and labels apply."""

    def __init__(self) -> None:
        self.scopes: list[_Scope] = []
        self.headings: tuple[str, ...] = ()
        self.under: Section | None = None

    def read(self, text: str) -> Iterator[tuple[Section | None, str]]:
        for block in blocks(text):
            match block.kind:
                case BlockKind.HEADING:
                    yield from self.heading(block)
                case BlockKind.PARAGRAPH | BlockKind.ITEM | BlockKind.QUOTE:
                    self.enter(block)
                    yield from self.paragraph(block)
                case BlockKind.CODE | BlockKind.TABLE_ROW:
                    self.enter(block)
                    lines = _cells(block) if block.kind is BlockKind.TABLE_ROW else _code_lines(block)
                    yield from ((self.section, line) for line in lines)
                case _:
                    pass

    @property
    def section(self) -> Section | None:
        return self.scopes[-1].section if self.scopes else self.under

    def enter(self, block: Block) -> None:
        """Leave the labels and headings that do not apply to this block."""
        while self.scopes and self.scopes[-1].is_over(block):
            self.scopes.pop()
        if block.under != self.headings:
            self.headings = block.under
            sections = (_section_of_title(heading) for heading in reversed(block.under))
            self.under = next((section for section in sections if section), None)

    def heading(self, block: Block) -> Iterator[tuple[Section | None, str]]:
        """A heading ends all labels; it may hold a sentence: `## Goal: mend the parser`."""
        self.scopes.clear()
        label = None if section_of_heading(block.text) else _label(block.text)
        if label and label.section and label.rest.strip():
            yield label.section, one_line(label.rest)

    def paragraph(self, block: Block) -> Iterator[tuple[Section | None, str]]:
        """The texts of a block: one, or one for each label at the beginning of a line."""
        pending: list[str] = []
        for number, line in enumerate(block.text.split("\n")):
            label = _label(line)
            if label is None or not (label.section or self.ends_bold_scope(label)):
                pending.append(line)
                continue
            yield from self.texts(pending)
            # A line without indentation below an item is not meant as a part of it.
            is_outside = number > 0 and not line[:1].isspace()
            self.open(label, block, 0 if is_outside else block.depth)
            pending = [label.rest]
        yield from self.texts(pending)

    def texts(self, lines: list[str]) -> Iterator[tuple[Section | None, str]]:
        if text := one_line("\n".join(lines)):
            yield self.section, text

    def ends_bold_scope(self, label: _Label) -> bool:
        """Whether this is another heading in bold, like the one that began the section."""
        return label.is_bold and any(scope.is_bold for scope in self.scopes)

    def open(self, label: _Label, block: Block, depth: int) -> None:
        while self.scopes and self.scopes[-1].depth >= depth:
            self.scopes.pop()
        if label.section is None:
            return
        is_numbered, is_alone = block.number is not None, not label.rest.strip()
        is_aside = not is_alone and not label.is_bold and self.under is not None
        self.scopes.append(_Scope(label.section, depth, is_numbered, is_alone, label.is_bold, is_aside))


def _label(line: str) -> _Label | None:
    """The label at the beginning of a line: `Goal: …`, `**Goal:** …`, `**Goal** - …`, `**Goal**`."""
    is_bold = line.lstrip(" \t0123456789.)")[:2] in ("**", "__")
    if (match := _LABEL.match(line)) and (section := section_of_heading(match[1])):
        return _Label(section, line[match.end() :], is_bold)
    if is_bold and (match := _BOLD.match(line)):
        section, rest = section_of_heading(match[2]), line[match.end() :]
        return _Label(section, rest, is_bold) if section or not rest else None
    return None


def _section_of_title(heading: str) -> Section | None:
    """The section of a heading, also of one that holds a sentence."""
    if section := section_of_heading(heading):
        return section
    label = _label(heading)
    return label.section if label else None


def _code_lines(block: Block) -> Iterator[str]:
    """The commands or messages in a short block of code, each as it stands."""
    lines = [line.strip() for line in block.text.split("\n") if line.strip()]
    if len(lines) > CODE_LINES or block.language.lower() not in _PLAIN_LANGUAGES:
        return
    for line in lines:
        command = _PROMPT_SIGN.sub("", line, count=1) if line.startswith("$") else line
        yield command if "`" in command else f"`{command}`"


def _cells(row: Block) -> Iterator[str]:
    """A row of a table as a text; its first row only names the columns."""
    cells = [one_line(cell) for cell in _CELL_END.split(row.text)]
    if row.first == row.last and (text := "; ".join(filter(None, cells))):
        yield text
