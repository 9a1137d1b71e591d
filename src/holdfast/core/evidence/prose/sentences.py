"""Sentences: splits a text of the user or the agent into statements.

Code, tables, logs, quoted blocks and headings are no statements; each statement has the headings and lead-ins
above it. `reader` decides what a statement means. Everything here takes linear time.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Enum, auto
from itertools import pairwise
from typing import Final, NamedTuple

from holdfast.core.text.patterns import compiled


class Statement(NamedTuple):
    """A sentence or list item, the headings and lead-ins above it in lower case, and its checkbox mark."""

    text: str
    under: tuple[str, ...]
    box: str
    explains: bool
    """Whether it is a further sentence of a list item, which explains the first one."""

    @property
    def is_lead_in(self) -> bool:
        """Whether it only announces what follows."""
        return self.text[-1] in ":："


class _Kind(Enum):
    GAP = auto()
    HEADING = auto()
    ITEM = auto()
    TEXT = auto()


class _Block(NamedTuple):
    """A heading, list item or paragraph, with its indent; a gap if something was left out."""

    kind: _Kind
    text: str = ""
    indent: int = 0
    box: str = ""


_GAP: Final = _Block(_Kind.GAP)
_FENCES: Final = ("```", "~~~")
_CODE_INDENT: Final = 4
_SENTENCE_END: Final = ".!?…。！？:：;；"
_WRAP_WIDTHS: Final = range(50, 131)
"""A line of this length that ends in mid-sentence was wrapped by an editor."""

_BULLET: Final = compiled(
    r"""(?:(?:[-*+•‣◦–→]|\d{1,3}[.)]|[(（]\d{1,2}[)）]|[a-zA-Z]\))[ \t]+|\d{1,2}、[ \t]*|[①-⑳][ \t]*
        |\[(?P<box>[ xX])\][ \t]+)++""",
    re.VERBOSE,
)
_HEADING: Final = compiled(r"#{1,6}(?:\s|$)")
_BOLD_HEADING: Final = compiled(r"\*\*[^*]{1,80}(?<![.!?。！？])\*\*[:：]?")
_EMPHASIS: Final = compiled(
    r"(?<![A-Za-z0-9_*/.`])(\*{1,3})(?=[^\s*])([^*]+)(?<=\S)\1(?![A-Za-z0-9_*/`]|\.\w)"
    r"|(?<!\w)(__)(?=[^\s_])([^_`]* [^_`]*)(?<=\S)__(?!\w)"
)
_NOISE: Final = compiled(
    r"""[|>{}│├└┌─┃╭╰╔║❯➜⎿]|</?[a-zA-Z!]|[\])]+[,;]?$|[-=_*~+.]{3}|@@|"[^"]{1,60}"\s*:|[$%]\s+[a-z.]
    |\d{1,2}:\d\d:\d\d|\d{4}-\d\d-\d\d[T ]\d\d:|\[?(?:INFO|WARN|WARNING|ERROR|DEBUG|TRACE|FATAL)\b[\]:]?\s
    |[\w.]{1,80}+(?:(?<=Error)|(?<=Exception)|(?<=Warning)):|(?:fatal|error|warning):\s|npm\s(?:ERR|WARN)
    |Traceback\s\(|File\s"|at\s\S{1,120}\s?\(|E\s{2,}\S|(?:PASSED|FAILED|PASS|FAIL)\s\S{1,200}[:/.]
    |diff\s--git|index\s[0-9a-f]{6,40}\.\.|[\w./-]{1,200}+:\d{1,6}:
    |[\w.-]{1,40}+@[\w.-]{1,60}+[:\s].{0,80}[$%\#]\s|(?:const|let|var)\s[\w{[]{1,60}+\s?[^=]{0,40}=
    |(?:async\s)?def\s\w+\(|class\s\w+[(:{]|(?:func|function|fn)\s\w+\(|[\w.]{1,60}+\s[:+]?=\s
    |import\s[\w.{},*\s]{1,80}(?:from\s|;|$)|from\s[\w.]{1,80}\simport\s""",
    re.VERBOSE,
)
"""The beginning of a line of code, a log, a table, a quotation or a horizontal rule."""
_CODE_END: Final = ("{", "=>", ");", "};", "},", "],")

_BOUNDARY: Final = compiled(
    r"[.!?…。！？]+[\"'”’)\]」』）]*(?:(?=\s|$)|(?<=[。！？])|(?<=[。！？][\"'”’」』）]))"
)
_CHINESE_END: Final = compiled(r"[。！？]")
_ABBREVIATION: Final = compiled(
    r"(?:^|[\s(\[\"'])(?:e\.?g|i\.?e|vs|cf|approx|incl|resp|fig|eq|a\.k\.a|w\.r\.t|mr|mrs|dr|st)$",
    re.IGNORECASE,
)
_MAY_END: Final = compiled(r"(?:^|[\s(])(?:etc|al|inc|ltd|\d{1,3})$", re.IGNORECASE)
_EDGES: Final = compiled(r"^[\W\d]+|\W+$")
_LETTER: Final = compiled(r"[^\W\d_]")


def statements(text: str) -> list[Statement]:
    """The statements of a text, in order."""
    result: list[Statement] = []
    heading: tuple[str, ...] = ()
    leads: list[tuple[int, str]] = []
    for block in _blocks(text):
        if block.kind is _Kind.HEADING:
            heading, leads = (_name(block.text),), []
            continue
        level = block.indent if block.kind is _Kind.ITEM else -1
        while leads and leads[-1][0] >= level:
            leads.pop()
        under = (*heading, *(lead for _, lead in leads)) if leads else heading
        pieces = _split(_plain(block.text))
        is_item = block.kind is _Kind.ITEM
        result += [
            Statement(piece, under, block.box, is_item and place > 0) for place, piece in enumerate(pieces)
        ]
        if pieces and result[-1].is_lead_in:
            leads.append((level, _name(pieces[-1])))
    return result


def _name(heading: str) -> str:
    return _EDGES.sub("", heading.lower().replace("’", "'"))


def _blocks(text: str) -> Iterator[_Block]:
    """The blocks of a text; lines that an editor wrapped are joined."""
    first = _GAP
    parts: list[str] = []
    for line in _lines(text):
        if parts and line.kind is _Kind.TEXT and _wraps(parts[-1]):
            parts.append(line.text)
            continue
        if parts:
            yield first._replace(text=" ".join(parts)) if len(parts) > 1 else first
            parts = []
        if line.kind is _Kind.HEADING:
            yield line
        elif line.kind is not _Kind.GAP:
            first, parts = line, [line.text]
    if parts:
        yield first._replace(text=" ".join(parts))


def _wraps(line: str) -> bool:
    return line[-1] in ",，、" or (len(line) in _WRAP_WIDTHS and line[-1] not in _SENTENCE_END)


def _lines(text: str) -> Iterator[_Block]:
    """Each line as a block; fenced or indented code is a gap."""
    fence = ""
    previous = _GAP
    for line in text.splitlines():
        bare = line.strip()
        mark = bare[:3]
        if fence:
            fence = "" if mark == fence else fence
            continue
        if mark in _FENCES and bare.count(mark) == 1:
            fence = mark
        block = _block(bare, len(line) - len(line.lstrip())) if bare and not fence else _GAP
        if block.kind is _Kind.TEXT and block.indent >= _CODE_INDENT and previous.kind is _Kind.GAP:
            block = _GAP
        if bare or previous.kind is not _Kind.ITEM:
            previous = block  # an indented paragraph after a list item and an empty line is no code
        yield block


def _block(bare: str, indent: int) -> _Block:
    if _is_heading(bare):
        return _Block(_Kind.HEADING, bare)
    if _is_noise(bare):
        return _GAP
    bullet = _BULLET.match(bare)
    if not bullet:
        return _Block(_Kind.TEXT, bare, indent)
    text = bare[bullet.end() :]
    if not text or _is_noise(text) or _HEADING.match(text):
        return _GAP
    return _Block(_Kind.ITEM, text, indent, bullet["box"] or "")


def _is_heading(bare: str) -> bool:
    if bare[0] == "#":
        return _HEADING.match(bare) is not None
    return bare[:2] == "**" and _BOLD_HEADING.fullmatch(bare) is not None


def _is_noise(bare: str) -> bool:
    return _NOISE.match(bare) is not None or bare.endswith(_CODE_END)


def _plain(text: str) -> str:
    """The text without Markdown emphasis; asterisks in code spans and file patterns stay."""
    before = ""
    while before != text and ("*" in text or "__" in text):
        before = text
        text = _EMPHASIS.sub(r"\2\4", text)
    return text


def _split(text: str) -> list[str]:
    """The sentences of one block; a full stop in a name, number, abbreviation or code ends none."""
    match = _BOUNDARY.search(text)
    if match is None or match.end() == len(text):
        return [text] if _LETTER.search(text) else []
    ends = [0]
    ticks = seen = 0
    paired = text.count("`") % 2 == 0
    for match in _BOUNDARY.finditer(text):
        ticks += text.count("`", seen, match.start())
        seen = match.start()
        if not (paired and ticks % 2) and _ends_sentence(text, match, ends[-1]):
            ends.append(match.end())
    ends.append(len(text))
    return [whole for start, end in pairwise(ends) if (whole := _whole(text[start:end].strip()))]


def _ends_sentence(text: str, match: re.Match[str], start: int) -> bool:
    mark = match.group()
    if not mark.isascii() and _CHINESE_END.search(mark):
        return True
    following = text[match.end() : match.end() + 4].lstrip()[:1]
    if mark[-1] not in ".!?…":  # a bracket or quotation ends here, perhaps without the sentence around it
        return not following or following.isupper()
    goes_on = following.islower()
    if mark != ".":
        return not (goes_on and (mark[0] == "…" or mark[:2] == ".."))
    at = match.start()
    if text[start:at].strip().isdigit() or _ABBREVIATION.search(text, max(0, at - 10), at):
        return False
    return not (goes_on and _MAY_END.search(text, max(0, at - 10), at))


def _whole(piece: str) -> str:
    """The sentence without a bullet from the middle of a line; empty if it has no words."""
    bullet = _BULLET.match(piece)
    text = piece[bullet.end() :] if bullet else piece
    if not _LETTER.search(text) or _is_noise(text) or _HEADING.match(text):
        return ""
    return text
