"""Views: a text as it reads once escapes are resolved, base64 is decoded and split parts are joined."""

from __future__ import annotations

import base64
import binascii
import re
import string
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Final

from holdfast.core.redaction.blocks import EncodedDocument, documents, is_inside
from holdfast.core.redaction.prefilter import TextPage
from holdfast.core.redaction.spans import Span
from holdfast.core.redaction.values import is_drawn, is_scrambled
from holdfast.core.text.lazy_patterns import compiled
from holdfast.lazy_dataclass import dataclass

# A letter or a digit that JSON or a string of code has escaped.
_ESCAPED: Final = compiled(r"\\(?:u00|x)(?P<code>[46][1-9a-fA-F]|[57][0-9aA]|5[fF]|2[dD]|3[0-9])")
# The seam of a string that goes on: joined by a sign or none, in the same line or the next; a line that a
# backslash continues.
_SEAM: Final = compiled(
    r"""(?P<quote>["'`\\])(?<=[\w+/=.~-].)(?:
        (?<=\\)\r?\n[ \t]{0,40}
      | (?<!\\)[ \t]{0,3}
          (?: (?:\+|\.\.?|&|<>|\|\|)[ \t]{0,3}(?:\\?\r?\n[ \t]{0,40})?
            | \\?\r?\n[ \t]{0,40}(?:(?:\+|\.\.?|&)[ ]?)? )
          [rbfu]?(?P=quote) )(?=[\w+/=.~-])""",
    re.VERBOSE,
)


@dataclass(frozen=True, slots=True)
class View:
    """A part of a text as it is to be read, and where its changed places stand in the text."""

    text: str
    seams: tuple[tuple[int, int], ...]
    """Where the view begins and where each change ends: in the view, and in the text."""

    def in_text(self, spans: Iterable[Span]) -> Iterator[Span]:
        """The finds of this view, at their places in the text."""
        for span in spans:
            yield replace(span, start=self._original(span.start), end=self._original(span.end))

    def _original(self, place: int) -> int:
        shown, original = self.seams[bisect_right(self.seams, place, key=itemgetter(0)) - 1]
        return original + place - shown


def views(page: TextPage) -> Iterator[View]:
    """The parts of a text that read otherwise than they stand; most texts have none."""
    text, flat = page.text, page.flat
    escapes = _BACKSLASH in flat
    if escapes and _ESCAPED.search(text):
        yield from _views(text, _ESCAPED.finditer(text))
    if (
        (escapes and _SEAM_OF_BACKSLASHES.search(flat))
        or (_PLUS in flat and _PERHAPS_SIGNS.search(flat) and _SEAM_OF_SIGNS.search(text))
        or _SEAM_OF_POINTS.search(flat)
        or (_PERHAPS_LINES.search(flat) and _SEAM_OF_LINES.search(text))
    ):
        yield from _views(text, _SEAM.finditer(text))
    if len(text) > WIDTHS[0] and _WRAPPED.search(text):
        yield from _views(text, _breaks_of_keys(text))


# Asked first, because most texts have no seam, and these searches are fast; a single byte is found fastest.
_BACKSLASH: Final = ord("\\")
_PLUS: Final = ord("+")
_SEAM_OF_BACKSLASHES: Final = compiled(rb"\\\n")
_SEAM_OF_SIGNS: Final = compiled(r"""\+(?:(?<=["'`]\+)|(?<=["'`][ ]\+))\s{0,40}["'`]""")
_SEAM_OF_LINES: Final = compiled(
    r"""\n(?<=["'`+.&\\\r]\n)[ \t]{0,40}(?:[+.&]{1,2}[ ]?)?[rbfu]?["'`](?=[\w+/=.~-])"""
)
_SEAM_OF_POINTS: Final = compiled(rb"""\.(?:[ ](?:(?<='[ ]\.[ ])'|(?<="[ ]\.[ ])"))""")
# How these begin, in bytes, which are searched faster.
_PERHAPS_SIGNS: Final = compiled(rb"""\+(?:(?<=["'`]\+)|(?<=["'`][ ]\+))""")
_PERHAPS_LINES: Final = compiled(rb"""\n(?<=["'`+.&\\\r]\n)[ \t]{0,40}(?:[+.&]{1,2}[ ]?)?[rbfu]?["'`]""")
# How wide terminals are.
WIDTHS: Final = (80, 100, 120, 132, 160)
_WRAPPED: Final = compiled(r"\n(?=[A-Za-z0-9_+/-]{4})(?<=[A-Za-z0-9_+/-]{4}\n)", re.ASCII)
_BROKEN: Final = compiled(r"[A-Za-z0-9_+/.-]{4,200}+", re.ASCII)
_SHORTEST_BROKEN: Final = 20
_AROUND: Final = 400
"""So much of the lines around a change is read with it."""


def _views(text: str, changes: Iterable[re.Match[str]]) -> Iterator[View]:
    together: list[re.Match[str]] = []
    for change in changes:
        if together and change.start() - together[-1].end() > _AROUND:
            yield _view(text, together)
            together = []
        together.append(change)
    if together:
        yield _view(text, together)


def _breaks_of_keys(text: str) -> Iterator[re.Match[str]]:
    """Where full lines end in the middle of a key, and not in that of a document."""
    within: list[EncodedDocument] | None = None
    for change in _WRAPPED.finditer(text):
        end = change.start()
        line = text[text.rfind("\n", max(0, end - WIDTHS[-1] - 1), end) + 1 : end]
        if len(line) in WIDTHS:
            within = list(documents(text)) if within is None else within
            if not is_inside(within, end) and _breaks_key(line, change):
                yield change


def _breaks_key(line: str, change: re.Match[str]) -> bool:
    """Whether a line ends here in the middle of characters that a machine drew."""
    rest = _BROKEN.match(change.string, change.end())
    broken = line[len(line.rstrip(_TOKEN)) :] + (rest[0] if rest else "")
    return len(broken) >= _SHORTEST_BROKEN and (is_scrambled(broken) or is_drawn(broken))


_TOKEN: Final = string.ascii_letters + string.digits + "_+/.-"


def _view(text: str, changes: Sequence[re.Match[str]]) -> View:
    first, last = changes[0].start(), changes[-1].end()
    start = max(first - _AROUND, text.rfind("\n", max(0, first - _AROUND), first) + 1, 0)
    end = text.find("\n", last, last + _AROUND)
    end = min(len(text), last + _AROUND) if end < 0 else end
    pieces, seams, place, size = list[str](), [(0, start)], start, 0
    for change in changes:
        shown = chr(int(change["code"], 16)) if "code" in change.re.groupindex else ""
        pieces += (text[place : change.start()], shown)
        size += change.start() - place + len(shown)
        seams.append((size, change.end()))
        place = change.end()
    return View("".join([*pieces, text[place:end]]), tuple(seams))


_REST: Final = compiled(r"[A-Za-z0-9+/]{0,8000}+={0,2}", re.ASCII)
_PAIR: Final = compiled(r"[A-Za-z][\w.@+-]{1,60}:[^\s:/,{}\[\]]{4,60}\n?\Z", re.ASCII)
# So many characters at least say something.
_PRINTABLE: Final = compiled(r"[\t\n\r -~]{8,9000}\Z")


def encoded_at(text: str, start: int) -> tuple[int, str] | None:
    """Where the base64 ends that begins here, and the plain text that it encodes; None if it encodes none."""
    match = _REST.match(text, start)
    run = match[0].rstrip("=") if match else ""
    try:
        plain = base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return None
    return (start + len(match[0]), plain) if match and _PRINTABLE.match(plain) else None


def is_pair(plain: str) -> bool:
    """Whether it is nothing but `user:password`."""
    return _PAIR.match(plain) is not None
