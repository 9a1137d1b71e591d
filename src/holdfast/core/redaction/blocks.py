"""Blocks: private keys between BEGIN and END lines, and what a person put between `<private>` tags."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction.rules import Rule, page_of, searches_for
from holdfast.core.redaction.spans import PRIVATE, Rank, Span
from holdfast.core.text.patterns import compiled

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
    if found := _PUTTY.match(text, place):
        yield Span(*found.span("lines"), KIND, Rank.CERTAIN)


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
