"""Markdown: a text as its blocks, each with its lines and the headings above it; the only reader of Markdown.

The rules are those of CommonMark, and of GitHub for tables, with these differences, each on purpose:

- In a file that a person edits (`lenient_blocks`), a fence or comment that never ends begins nothing, so that
  one mark too many does not hide the rest; and the end of a fence may be indented at will.
- Elsewhere, a fence with a language inside another one (`bash` inside `markdown`) is nested, if every fence
  then has an end. Agents write so; CommonMark takes the end of the inner one for that of both, and then the
  second end for a beginning, which hides what follows.
- The only HTML is a comment: other tags are text, because agents write tags of their own around it.
- What is quoted with `>` is one block of its own, whose inside is not read; a line without `>` is not in it.
- A line without `|` ends a table: agents write their next sentence right below one.
- A line ends at every sign that Unicode calls the end of a line, because some terminals break it there.
- Link definitions are text, and so are items nested deeper than `MOST_NESTED`.

Time is linear in the length of the text. What is inside a block (emphasis, links) is not read here.
docs/decisions/0014 says why no library does this.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum, auto
from typing import Final, NamedTuple, TypeAlias

from holdfast.core.text.lazy_patterns import compiled

MOST_NESTED: Final = 20


class BlockKind(Enum):
    """What a block is."""

    HEADING = auto()
    ITEM = auto()
    """A list item: its first paragraph. What else is in the item follows as blocks of their own."""
    PARAGRAPH = auto()
    CODE = auto()
    """Fenced, with a mark, or indented, without one."""
    COMMENT = auto()
    QUOTE = auto()
    TABLE_ROW = auto()
    """One row as it is written; the first also has the line below it, which makes it a table."""
    RULE = auto()
    BLANK = auto()


class Block(NamedTuple):
    """Lines that belong together. Every line is in one block, except that an item may begin with another."""

    kind: BlockKind
    text: str
    """Without marks and fences; lines below the first keep their indentation."""
    first: int
    last: int
    """The numbers of its first and last line, counted from 0."""
    under: tuple[str, ...]
    """The headings above it, the highest level first; none that is inside a list item."""
    depth: int = 0
    """How many list items it is in; an item is in itself."""
    indent: int = 0
    """The column of its first character."""
    mark: str = ""
    """`-` or `2.` of an item, the fence of code, `##` of a heading, or the `=` or `-` below it."""
    language: str = ""

    @property
    def level(self) -> int:
        """The level of a heading."""
        return len(self.mark) if self.mark[:1] == "#" else 1 + (self.mark == "-")

    @property
    def number(self) -> int | None:
        """The number of an item in a numbered list."""
        return int(self.mark[:-1]) if self.mark[:-1].isdecimal() else None

    @property
    def is_fenced(self) -> bool:
        """Whether this is code between fences."""
        return self.kind is BlockKind.CODE and bool(self.mark)

    @property
    def divides(self) -> bool:
        """Whether a file is divided here: at headings with `#`.

        A line of dashes below a text makes it a heading too, but people mean a rule or front matter by it.
        """
        return self.kind is BlockKind.HEADING and not self.depth and self.mark[0] == "#"


BETWEEN_ENTRIES: Final = (BlockKind.BLANK, BlockKind.COMMENT, BlockKind.RULE)
"""What separates the entries of a list."""


def blocks(text: str) -> list[Block]:
    """The blocks of a text, in order; a fence or comment without an end goes on to the end."""
    lines = lines_of(text)
    if len(lines) == 1 and lines[0] and lines[0][0] not in _SPECIAL:
        # Most messages are one line.
        return [Block(BlockKind.PARAGRAPH, lines[0].rstrip(" \t"), 0, 0, ())]
    reader = _Reader()
    as_written = reader.read(lines)
    if not reader.has_inner_fence:
        return as_written
    nesting = _Reader(nests_fences=True)
    nested = nesting.read(lines)
    return as_written if nesting.unended else nested


def lenient_blocks(lines: Sequence[str]) -> list[Block]:
    """The blocks of these lines, with or without their ends; a fence or comment that never ends is text."""
    bare = [line.rstrip("\r\n") for line in lines]
    return _Reader(is_lenient=True).read(bare)


def lines_of(text: str) -> list[str]:
    """The lines of a text, without their ends; these are the lines that a block's numbers count."""
    return text.splitlines()


def entry_groups(lines: Sequence[str]) -> Iterator[tuple[range, BlockKind]]:
    """The lines of a file that a person edits in groups, each with the kind of its first block.

    A list item with what is indented below it is one group, and so is a paragraph. Blank lines, comments and
    rules are between them.
    """
    start, kind = -1, BlockKind.BLANK
    for block in lenient_blocks(lines):
        is_item = block.kind is BlockKind.ITEM and block.depth == 1
        goes_on = kind not in BETWEEN_ENTRIES and block.kind not in BETWEEN_ENTRIES and not is_item
        if block.first == start or goes_on:
            continue
        if start >= 0:
            yield range(start, block.first), kind
        start, kind = block.first, block.kind
    if start >= 0:
        yield range(start, len(lines)), kind


def without_fenced_code(text: str) -> str:
    """A text with a blank line in place of each block of fenced code."""
    lines = lines_of(text)
    for block in reversed(blocks(text)):
        if block.is_fenced:
            lines[block.first : block.last + 1] = [""]
    return "\n".join(lines)


def without_item_mark(line: str) -> str:
    """A line, or an entry, without the mark of its list item."""
    bare = line.strip()
    match = _ITEM.match(bare)
    return bare[match.end() :].strip() if match else bare


# ---------------------------------------------------------------- how lines become blocks

_TAB: Final = 4
_CODE: Final = 4
"""A line indented by so much begins nothing but code."""
_SPECIAL: Final = frozenset(" \t#`~<>-*+_=|:0123456789")
"""What a line can begin with that is not plain text."""
_HEADING: Final = compiled(r"(#{1,6})(?:[ \t]|$)")
_FENCE: Final = compiled(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_ITEM: Final = compiled(r"(?:[-*+]|[0-9]{1,9}[.)])(?=[ \t\n]|$)")
_DELIMITERS: Final = compiled(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?")
_BAR: Final = compiled(r"(?<!\\)\|")
_COMMENT: Final = "<!--"
_COMMENT_END: Final = "-->"

Ends: TypeAlias = Mapping[str, Sequence[int]]
"""For `, ~ and <: the length of the longest end of its kind in each line or below it, and below the last."""


class _Leaf(Enum):
    """What is open at the end of a line, and may go on in the next."""

    NONE = auto()
    TEXT = auto()
    FENCED = auto()
    INDENTED = auto()
    COMMENT = auto()
    QUOTE = auto()
    TABLE = auto()


class _Line(NamedTuple):
    """The rest of a line from a column on, and how many of the open list items it is in."""

    place: int
    body: str
    column: int
    items: int


class _Reader:
    """The state between two lines."""

    __slots__ = (
        "above",
        "blocks",
        "ends",
        "first",
        "has_inner_fence",
        "indent",
        "inner_fences",
        "is_item_empty",
        "is_lenient",
        "items",
        "kind",
        "language",
        "last",
        "leaf",
        "lines",
        "mark",
        "nests_fences",
        "parts",
        "under",
        "unended",
    )

    def __init__(self, *, is_lenient: bool = False, nests_fences: bool = False) -> None:
        self.is_lenient = is_lenient
        self.nests_fences = nests_fences
        self.inner_fences = 0
        """How many nested fences are open in the open one, if they nest."""
        self.has_inner_fence = False
        """Whether a line in fenced code would begin such code itself, with a language."""
        self.unended = 0
        """How many fences had no end so far."""
        self.ends: Ends | None = None
        """Computed when a fence or comment may begin that has to have an end."""
        self.lines: Sequence[str] = ()
        self.blocks: list[Block] = []
        self.above: list[tuple[int, str]] = []
        self.under: tuple[str, ...] = ()
        self.items: list[int] = []
        """The open list items, as the column where the content of each begins."""
        self.is_item_empty = False
        """Whether the last line began a list item without anything in it."""
        self.leaf = _Leaf.NONE
        self.parts: list[str] = []
        self.kind = BlockKind.PARAGRAPH
        self.first = self.last = self.indent = 0
        self.mark = self.language = ""

    def read(self, lines: Sequence[str]) -> list[Block]:
        """The blocks of all lines."""
        self.lines = lines
        for place, line in enumerate(lines):
            if line and line[0] not in _SPECIAL and self.leaf in _AT_PLAIN_TEXT:
                if self.leaf is not _Leaf.TEXT:
                    self.end_items(0)
                    self.begin(_Leaf.TEXT, BlockKind.PARAGRAPH, place, 0)
                self.parts.append(line)
                self.last = place
            else:
                self.read_line(place, line)
        self.end()
        return self.blocks

    def read_line(self, place: int, line: str) -> None:
        body = line.strip(" \t")
        column = line.find(body[0]) if body else 0
        if "\t" in line and column:
            column = _width(line[:column], 0)
        if self.leaf in _VERBATIM and self.goes_on(place, line, body, column):
            return
        if not body:
            self.blank(place)
            return
        items = len(self.items)
        while items and self.items[items - 1] > column:
            items -= 1
        self.read_body(_Line(place, body, column, items))

    def read_body(self, line: _Line) -> None:
        if self.starts(line):
            return
        if self.leaf is _Leaf.TEXT:
            self.add(line.place, " " * line.column + line.body)
        elif self.leaf is _Leaf.TABLE and line.items == len(self.items) and "|" in line.body:
            self.put(BlockKind.TABLE_ROW, line, line.body)
        else:
            self.end_items(line.items)
            self.begin(_Leaf.TEXT, BlockKind.PARAGRAPH, line.place, line.column)
            self.add(line.place, line.body)

    def starts(self, line: _Line) -> bool:
        """Whether a block other than a paragraph begins in this line; it is read if so."""
        if line.column - self.left(line) >= _CODE:
            return self.indented(line)
        start = _STARTS.get(line.body[0])
        return start is not None and start(self, line)

    def left(self, line: _Line) -> int:
        """The column where the content begins of the innermost item that the line is in."""
        return self.items[line.items - 1] if line.items else 0

    # ------------------------------------------------------------ leaves: begun, continued, ended

    def begin(self, leaf: _Leaf, kind: BlockKind, place: int, column: int) -> None:
        self.leaf, self.kind, self.indent, self.parts = leaf, kind, column, []
        self.first = self.last = place
        self.mark = self.language = ""
        self.is_item_empty = False

    def add(self, place: int, text: str) -> None:
        self.parts.append(text)
        self.last = place

    def end(self) -> None:
        """End what is open."""
        if self.leaf is not _Leaf.NONE and self.leaf is not _Leaf.TABLE:
            text = "\n".join(self.parts)
            text = text.rstrip(" \t") if self.leaf is _Leaf.TEXT else text
            self.blocks.append(
                Block(
                    self.kind,
                    text,
                    self.first,
                    self.last,
                    self.under,
                    len(self.items),
                    self.indent,
                    self.mark,
                    self.language,
                )
            )
        self.leaf = _Leaf.NONE

    def end_items(self, items: int) -> None:
        """End what is open, and the list items beyond the first so many."""
        if self.leaf is not _Leaf.NONE:
            self.end()
        if len(self.items) > items:
            del self.items[items:]

    def put(self, kind: BlockKind, line: _Line, text: str = "", mark: str = "") -> None:
        """Add a block of one line; what was open has ended."""
        self.blocks.append(
            Block(kind, text, line.place, line.place, self.under, len(self.items), line.column, mark)
        )
        self.is_item_empty = False

    def blank(self, place: int) -> None:
        self.end()
        if self.is_item_empty:
            self.items.pop()
            self.is_item_empty = False
        last = self.blocks[-1] if self.blocks else None
        if last is not None and last.kind is BlockKind.BLANK:
            self.blocks[-1] = last._replace(last=place)
        else:
            self.blocks.append(Block(BlockKind.BLANK, "", place, place, self.under, len(self.items)))

    def goes_on(self, place: int, line: str, body: str, column: int) -> bool:
        """Whether the open code or comment has this line too."""
        left = self.items[-1] if self.items else 0
        if body and column < left:
            self.end()
            return False
        if self.leaf is _Leaf.FENCED and body.startswith(self.mark):
            if not self.ends_fence(body, column - left):
                self.inner_fence(body, column - left)
            elif self.inner_fences:
                self.inner_fences -= 1
            else:
                self.last = place
                self.unended -= 1
                self.end()
                return True
        self.add(place, _dedented(line, left if self.leaf is _Leaf.COMMENT else self.indent))
        if self.leaf is _Leaf.COMMENT and _COMMENT_END in body:
            self.end()
        return True

    def ends_fence(self, body: str, indent: int) -> bool:
        return body == self.mark[0] * len(body) and (indent < _CODE or self.is_lenient)

    def inner_fence(self, body: str, indent: int) -> None:
        """A line in fenced code that begins with the same fence and is no end of it."""
        match = _FENCE.match(body)
        if match and indent < _CODE and (match[2] or match[4] or " ")[0].isalnum():
            self.has_inner_fence = True
            self.inner_fences += self.nests_fences

    def longest_end(self, mark: str, place: int) -> int:
        """The length of the longest end of its kind in this line or below it; 0 if there is none."""
        self.ends = self.ends or _longest_ends(self.lines)
        return self.ends[mark][place]

    # ------------------------------------------------------------ starts: each says whether its block begins

    def indented(self, line: _Line) -> bool:
        if self.leaf is _Leaf.TEXT:
            return False
        if self.leaf is not _Leaf.INDENTED or line.items != len(self.items):
            self.end_items(line.items)
            self.begin(_Leaf.INDENTED, BlockKind.CODE, line.place, line.column)
        self.add(line.place, " " * (line.column - self.left(line) - _CODE) + line.body)
        return True

    def heading(self, line: _Line) -> bool:
        match = _HEADING.match(line.body)
        if match is None:
            return False
        title = line.body[match.end() :].strip(" \t")
        bare = title.rstrip("#")
        if not bare or bare[-1] in " \t":
            title = bare.rstrip(" \t")
        self.end_items(line.items)
        self.put_heading(line, title, match[1])
        return True

    def put_heading(self, line: _Line, title: str, mark: str) -> None:
        heading = Block(
            BlockKind.HEADING, title, line.place, line.place, self.under, len(self.items), line.column, mark
        )
        if not self.items:
            level = heading.level
            higher = [(above, name) for above, name in self.above if above < level]
            heading = heading._replace(under=tuple(name for _, name in higher))
            self.above = [*higher, (level, title)]
            self.under = (*heading.under, title)
        self.blocks.append(heading)
        self.is_item_empty = False

    def underline(self, line: _Line) -> bool:
        """A line below a paragraph that makes a heading of it."""
        mark = line.body[0]
        if not self.is_in_paragraph(line) or line.body.strip(mark):
            return False
        first, title = self.first, "\n".join(self.parts).rstrip(" \t")
        if self.kind is BlockKind.ITEM:
            self.put_empty_item()
        self.leaf = _Leaf.NONE
        self.put_heading(line._replace(place=first, column=self.indent), title, mark)
        self.blocks[-1] = self.blocks[-1]._replace(last=line.place)
        return True

    def is_in_paragraph(self, line: _Line) -> bool:
        """Whether a paragraph is open that the line is in by its indentation."""
        return self.leaf is _Leaf.TEXT and line.items == len(self.items)

    def put_empty_item(self) -> None:
        """The open list item without its text, which turned out to be another block."""
        self.parts = [""]
        self.last = self.first
        self.end()

    def fence(self, line: _Line) -> bool:
        match = _FENCE.match(line.body)
        if match is None:
            return False
        mark: str = match[1] or match[3]
        if self.is_lenient and self.longest_end(mark[0], line.place + 1) < len(mark):
            return False
        info: str = match[2] or match[4] or ""
        self.end_items(line.items)
        self.begin(_Leaf.FENCED, BlockKind.CODE, line.place, line.column)
        self.mark, self.language = mark, next(iter(info.split()), "")
        self.inner_fences = 0
        self.unended += 1
        return True

    def comment(self, line: _Line) -> bool:
        if not line.body.startswith(_COMMENT):
            return False
        if self.is_lenient and not self.longest_end("<", line.place):
            return False
        self.end_items(line.items)
        self.begin(_Leaf.COMMENT, BlockKind.COMMENT, line.place, line.column)
        self.add(line.place, line.body)
        if _COMMENT_END in line.body:
            self.end()
        return True

    def quote(self, line: _Line) -> bool:
        if self.leaf is not _Leaf.QUOTE or line.items != len(self.items):
            self.end_items(line.items)
            self.begin(_Leaf.QUOTE, BlockKind.QUOTE, line.place, line.column)
        self.add(line.place, line.body[1:].removeprefix(" "))
        return True

    def rule(self, line: _Line) -> bool:
        if line.body[-1] != line.body[0]:
            return False
        marks = line.body.replace(" ", "").replace("\t", "")
        if len(marks) < len("---") or marks.strip(marks[0]):
            return False
        self.end_items(line.items)
        self.put(BlockKind.RULE, line)
        return True

    def dash(self, line: _Line) -> bool:
        if line.body[1:2] in (" ", "\t"):
            return self.rule(line) or self.item(line)
        return self.delimiters(line) or self.underline(line) or self.rule(line) or self.item(line)

    def star(self, line: _Line) -> bool:
        return self.rule(line) or self.item(line)

    def delimiters(self, line: _Line) -> bool:
        """A line below one with bars that makes it the first row of a table."""
        if not self.is_in_paragraph(line) or "|" not in self.parts[-1] or line.body[1:2] in ("", " ", "\t"):
            return False
        row = self.parts[-1].strip(" \t")
        indent = len(self.parts[-1]) - len(self.parts[-1].lstrip(" "))
        is_row = len(self.parts) == 1 or 0 <= indent - self.left(line) < _CODE
        if not is_row or not _DELIMITERS.fullmatch(line.body) or _cells(row) != _cells(line.body):
            return False
        above = line._replace(place=line.place - 1)
        self.parts.pop()
        if self.parts:
            self.last = above.place - 1
            self.end()
        elif self.kind is BlockKind.ITEM:
            self.put_empty_item()
        self.put(BlockKind.TABLE_ROW, above, row)
        self.blocks[-1] = self.blocks[-1]._replace(last=line.place)
        self.leaf = _Leaf.TABLE
        return True

    def item(self, line: _Line) -> bool:
        match = _ITEM.match(line.body)
        if match is None or line.items >= MOST_NESTED:
            return False
        mark, behind = match.group(), line.body[match.end() :]
        text = behind.lstrip(" \t")
        if self.is_in_paragraph(line) and (not text or (mark[0].isdecimal() and int(mark[:-1]) != 1)):
            return False
        end = line.column + len(mark)
        space = _width(behind[: len(behind) - len(text)], end)
        # Wider than that, it is code in the item.
        content = end + (space if text and space <= _CODE else 1)
        self.end_items(line.items)
        self.items.append(content)
        self.item_content(line, mark, _Line(line.place, text, end + space, line.items + 1))
        return True

    def item_content(self, line: _Line, mark: str, content: _Line) -> None:
        """What is behind an item's mark: its text, or another block that begins there."""
        at = len(self.blocks)
        if content.body and not self.starts(content):
            self.begin(_Leaf.TEXT, BlockKind.ITEM, line.place, line.column)
            self.mark = mark
            self.parts.append(content.body)
            return
        self.is_item_empty = not content.body
        self.blocks.insert(
            at,
            Block(BlockKind.ITEM, "", line.place, line.place, self.under, content.items, line.column, mark),
        )


_AT_PLAIN_TEXT: Final = (_Leaf.TEXT, _Leaf.NONE, _Leaf.INDENTED, _Leaf.QUOTE)
"""Plain text at the beginning of a line goes on with a paragraph, or ends these and begins one."""
_VERBATIM: Final = (_Leaf.FENCED, _Leaf.COMMENT)
_STARTS: Final[Mapping[str, Callable[[_Reader, _Line], bool]]] = {
    "#": _Reader.heading,
    "`": _Reader.fence,
    "~": _Reader.fence,
    "<": _Reader.comment,
    ">": _Reader.quote,
    "-": _Reader.dash,
    "*": _Reader.star,
    "+": _Reader.item,
    "_": _Reader.rule,
    "=": _Reader.underline,
    "|": _Reader.delimiters,
    ":": _Reader.delimiters,
    **dict.fromkeys("0123456789", _Reader.item),
}
"""What may begin with each character."""


def _width(space: str, column: int) -> int:
    """How many columns white space takes from a column on; a tab goes to the next multiple of four."""
    if "\t" not in space:
        return len(space)
    return len((" " * (column % _TAB) + space).expandtabs(_TAB)) - column % _TAB


def _dedented(line: str, columns: int) -> str:
    """A line without its indentation, up to so many columns."""
    lead = len(line) - len(line.lstrip(" \t"))
    for cut in range(lead):
        width = _width(line[:cut], 0)
        if width >= columns:
            return " " * (width - columns) + line[cut:]
    return " " * max(0, _width(line[:lead], 0) - columns) + line[lead:]


def _cells(row: str) -> int:
    """How many cells a row of a table has."""
    return len(_BAR.findall(row)) + 1 - row.startswith("|") - (row.endswith("|") and len(row) > 1)


def _longest_ends(lines: Sequence[str]) -> Ends:
    """Where code and comments can end."""
    longest = {"`": 0, "~": 0, "<": 0}
    ends = {mark: [0] for mark in longest}
    for line in reversed(lines):
        bare = line.strip(" \t")
        if _COMMENT_END in bare:
            longest["<"] = len(_COMMENT_END)
        elif bare[:3] in ("```", "~~~") and not bare.strip(bare[0]):
            longest[bare[0]] = max(longest[bare[0]], len(bare))
        for mark, lengths in ends.items():
            lengths.append(longest[mark])
    return {mark: lengths[::-1] for mark, lengths in ends.items()}
