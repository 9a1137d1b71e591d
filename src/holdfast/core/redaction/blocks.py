"""Blocks: private keys, what a person put between `<private>` tags, and documents in base64.

A document is base64 in four or more full lines: an image, a certificate or a bundle. What stands in its
middle is no key, however random it is; a key that was wrapped has fewer lines. Lines end as those of a file
do, or as in a string that has its newlines escaped.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import merge
from operator import attrgetter
from typing import Final

from holdfast.core.redaction.prefilter import Rule, page_of, searches_for
from holdfast.core.redaction.spans import PRIVATE, Rank, Span
from holdfast.core.text.lazy_patterns import compiled
from holdfast.lazy_dataclass import dataclass

KIND: Final = "private-key"
LONGEST: Final = 20_000
_LONGEST_EDGE: Final = 80

_EDGE: Final = compiled(
    r"-{4,5} ?(?P<edge>BEGIN|END)[ A-Z0-9_-]{0,60}?PRIVATE KEY(?: BLOCK)? ?-{4,5}", re.IGNORECASE
)
# A key that was cut off: base64 in lines, with whatever a diff, a log, a listing with numbers or a string
# literal puts around a line, and the lines that some formats put before it.
_REST: Final = compiled(
    r"""(?: (?: [\s"'`+|>#*,;:)(→]|\\[nrt"'\\]|\\u[0-9a-fA-F]{4}|<br>|\d{1,6}(?=[\s→:|\\])
              | (?:Version|Comment|Charset|Hash|Proc-Type|DEK-Info):[^\n\\"']{0,100} ){0,40}+
            [A-Za-z0-9+/=]{16,200}+ ){1,400}+""",
    re.VERBOSE,
)
_MATERIAL: Final = compiled(r"[A-Za-z0-9+/]{16}")
# PuTTY's own format keeps the private half after a line that counts its lines.
_PUTTY: Final = compiled(
    r"""private-lines:[ ]?\d{1,3}(?:\s|\\[nr]){1,4}+
        (?P<lines>(?:[A-Za-z0-9+/=]{1,64}+(?![\w:-])(?:\s|\\[nr]){0,4}+){1,200}+)""",
    re.IGNORECASE | re.VERBOSE,
)


def _block(text: str, place: int) -> Iterator[Span]:
    """The block that begins with a line which says PRIVATE KEY here. Mere talk of one holds no key."""
    edge = _EDGE.search(text, max(0, place - _LONGEST_EDGE), place + _LONGEST_EDGE)
    if edge is None or edge.start() > place or edge["edge"].upper() == "END":
        return
    following = _EDGE.search(text, edge.end(), edge.end() + LONGEST)
    closed = following and following["edge"].upper() == "END"
    rest = following if closed else _REST.match(text, edge.end())
    if rest and _MATERIAL.search(text, edge.end(), rest.end()):
        yield Span(edge.start(), rest.end(), KIND, Rank.CERTAIN)


def _putty(text: str, place: int) -> Iterator[Span]:
    if match := _PUTTY.match(text, place):
        yield Span(*match.span("lines"), KIND, Rank.CERTAIN)


KEY_RULES: Final = (
    Rule(b"private key", rb"(?:\ block)?\ ?----", _block),
    Rule(b"private-lines:", b"", _putty),
)


_OPEN: Final = re.compile(r"(?:<|\\u003c)private(?:[ \t][^<>\n]{0,100})?(?:>|\\u003e)", re.IGNORECASE)
_CLOSE: Final = re.compile(r"(?:<|\\u003c)\\?/private[ \t]{0,3}(?:>|\\u003e)", re.IGNORECASE)


def private_passages(text: str, *, opened: bool = False) -> Iterator[Span]:
    """The passages of a text, in order; the first from its beginning if that lies in one.

    A passage that is not closed reaches to the end of the text.
    """
    page = page_of(text)
    openings = iter(sorted(tag.start for search in _TAGS for tag in search.spans(page)))
    start = 0 if opened else next(openings, None)
    while start is not None:
        closed = _CLOSE.search(text, start)
        end = closed.end() if closed else len(text)
        yield Span(start, end, PRIVATE, Rank.CERTAIN)
        start = next((place for place in openings if place >= end), None)


def is_left_open(text: str, passage: Span) -> bool:
    """Whether a passage reaches to the end of the text for want of a closing tag."""
    return passage.end == len(text) and not _CLOSE.search(text, passage.start)


def _tag(text: str, place: int) -> Iterator[Span]:
    """The opening tag at this place: what follows it is for `private_passages`."""
    tag = _OPEN.match(text, place)
    if tag and not _is_talk(text, tag):
        yield Span(*tag.span(), PRIVATE, Rank.CERTAIN)


def _is_talk(text: str, tag: re.Match[str]) -> bool:
    return text[tag.start() - 1 : tag.start()] == "`" and text[tag.end() : tag.end() + 1] == "`"


PRIVATE_RULES: Final = (
    Rule(b"<private", rb"[ \t>]", _tag),
    Rule(rb"\u003cprivate", rb"(?:[ \t]|\\u003e)", _tag),
)
_TAGS: Final = searches_for(PRIVATE_RULES)


_LINE: Final = r"[A-Za-z0-9+/]{60,400}+"
_END: Final = r"""(?=[\s"'\\=]|\Z)"""
_LINE_BREAK: Final = r"(?P<break>\n[ \t>|]{0,40}+)"
_ESCAPED_BREAK: Final = r"(?P<break>\\n)"
_MORE: Final = 3
"""So many lines after the first make a document."""


@dataclass(frozen=True, slots=True)
class EncodedDocument:
    """The lines of a document after its first: from where that one breaks to the end of the last full one."""

    start: int
    end: int
    width: int
    """Of each line, with the break before it."""
    margin: int
    """Of that, what stands before the characters of the line."""
    whole: int
    """Where it ends with its last line, which may be a shorter one."""

    def lines(self) -> range:
        """Where the characters of each line begin."""
        return range(self.start + self.margin, self.end, self.width)


NO_LINES: Final = EncodedDocument(0, 0, 1, 0, 0)
_NOWHERE: Final = 1 << 60
NO_MORE_LINES: Final = EncodedDocument(_NOWHERE, _NOWHERE, 1, 0, _NOWHERE)


def documents(text: str) -> Iterator[EncodedDocument]:
    """The documents of a text, in order."""
    if len(text) >= _SHORTEST:
        yield from merge(*(_documents(text, *patterns) for patterns in _PATTERNS), key=_START)


def end_of_first_line(text: str, document: EncodedDocument) -> int:
    """Where the first line of a document ends, without its carriage return."""
    end = text[document.start - 2 : document.start]
    return document.start - 2 + len(end.removesuffix("\r").removesuffix("\\r"))


def is_inside(within: Sequence[EncodedDocument], place: int) -> bool:
    """Whether one of these documents has a line that breaks or ends at this place."""
    number = bisect_right(within, place, key=_START)
    return number > 0 and place <= within[number - 1].end


def goes_on(text: str, end: int) -> bool:
    """Whether a line that ends here is the first of a document."""
    if text.startswith(("\r", "\\r"), end):
        end = text.index("r" if text[end] == "\\" else "\r", end) + 1
    return any(_document_at(lines.match(text, end)) for lines, _ in _PATTERNS)


def may_go_on(text: str, end: int) -> bool:
    """Whether the line that ends before this place may be one of a document, if nobody knows the next."""
    return _LAST_LINE.search(text, max(0, end - _LONGEST_FIRST), end) is not None


def _documents(text: str, lines: re.Pattern[str], line: re.Pattern[str]) -> Iterator[EncodedDocument]:
    match = lines.search(text)
    while match:
        start = match.start()
        document = _document_at(match)
        if document and _FIRST.search(text, max(0, start - _LONGEST_FIRST), start):
            end = document.end
            while (another := line.match(text, end)) and another.end() - end == document.width:
                end = another.end()
            rest = _SHORTER_LINE.match(text, end)
            yield replace(document, end=end, whole=rest.end() if rest else end)
            start = end - 1
        match = lines.search(text, start + 1)


def _document_at(match: re.Match[str] | None) -> EncodedDocument | None:
    """What follows the first line, if its lines are of one width."""
    if match is None:
        return None
    start, width, margin = match.start(), match.end("line") - match.start(), len(match["break"])
    same = match.end() - start == _MORE * width and match.start("last") - start == (_MORE - 1) * width
    return EncodedDocument(start, match.end(), width, margin, match.end()) if same else None


def _patterns(line_break: str, carriage: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """What finds the lines after a first one, and one line more."""
    line = f"{_LINE}(?:{carriage})?+{_END}"
    again = f"(?P=break){line}"
    return (
        compiled(f"(?P<line>{line_break}{line}){again}(?P<last>{again})", re.ASCII),
        compiled(f"{line_break}{line}", re.ASCII),
    )


_SHORTEST: Final = 240
_START: Final = attrgetter("start")
_PATTERNS: Final = (_patterns(_LINE_BREAK, r"\r"), _patterns(_ESCAPED_BREAK, r"\\r"))
_FIRST: Final = compiled(r"[A-Za-z0-9+/]{60}(?:\r|\\r)?\Z", re.ASCII)
_LONGEST_FIRST: Final = 62
# The last line of a document. A short word without the signs that base64 ends with may be anything.
_SHORTER_LINE: Final = compiled(
    r"(?:\r?\n[ \t>|]{0,40}+|(?:\\r)?\\n)"
    rf"(?:[A-Za-z0-9+/]{{20,400}}+={{0,2}}|[A-Za-z0-9+/]{{1,19}}={{1,2}}){_END}",
    re.ASCII,
)
# The last line so far, if more of a document may follow. Hashes end many lines that are none.
_LAST_LINE: Final = compiled(r"(?![0-9a-f]{60})[A-Za-z0-9+/]{60}\r?\n\Z", re.ASCII)
