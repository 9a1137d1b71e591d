"""Documents: base64 in four or more full lines, which is an image, a certificate or a bundle.

What stands in its middle is no key, however random it is; a key that was wrapped has fewer lines. Lines end
as those of a file do, or as in a string that has its newlines escaped.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from heapq import merge
from operator import attrgetter
from typing import Final

from holdfast.core.text.patterns import compiled
from holdfast.lazy_dataclass import dataclass

_LINE: Final = r"[A-Za-z0-9+/]{60,400}+"
_END: Final = r"""(?=[\s"'\\=]|\Z)"""
_LINE_BREAK: Final = r"(?P<break>\n[ \t>|]{0,40}+)"
_ESCAPED_BREAK: Final = r"(?P<break>\\n)"
_MORE: Final = 3
"""So many lines after the first make a document."""


@dataclass(frozen=True, slots=True)
class Document:
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


NO_LINES: Final = Document(0, 0, 1, 0, 0)
_NOWHERE: Final = 1 << 60
NO_MORE_LINES: Final = Document(_NOWHERE, _NOWHERE, 1, 0, _NOWHERE)


def documents(text: str) -> Iterator[Document]:
    """The documents of a text, in order."""
    if len(text) >= _SHORTEST:
        yield from merge(*(_documents(text, *patterns) for patterns in _PATTERNS), key=_START)


def end_of_first_line(text: str, document: Document) -> int:
    """Where the first line of a document ends, without its carriage return."""
    end = text[document.start - 2 : document.start]
    return document.start - 2 + len(end.removesuffix("\r").removesuffix("\\r"))


def is_inside(within: Sequence[Document], place: int) -> bool:
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


def _documents(text: str, lines: re.Pattern[str], line: re.Pattern[str]) -> Iterator[Document]:
    found = lines.search(text)
    while found:
        start = found.start()
        document = _document_at(found)
        if document and _FIRST.search(text, max(0, start - _LONGEST_FIRST), start):
            end = document.end
            while (another := line.match(text, end)) and another.end() - end == document.width:
                end = another.end()
            rest = _SHORTER_LINE.match(text, end)
            yield replace(document, end=end, whole=rest.end() if rest else end)
            start = end - 1
        found = lines.search(text, start + 1)


def _document_at(found: re.Match[str] | None) -> Document | None:
    """What follows the first line, if its lines are of one width."""
    if found is None:
        return None
    start, width, margin = found.start(), found.end("line") - found.start(), len(found["break"])
    same = found.end() - start == _MORE * width and found.start("last") - start == (_MORE - 1) * width
    return Document(start, found.end(), width, margin, found.end()) if same else None


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
