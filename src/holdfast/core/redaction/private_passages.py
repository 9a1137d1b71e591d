"""Private passages: what a person put between `<private>` and `</private>`.

Nothing in it is looked at: it goes whole, with its tags. Without a closing tag it reaches to the end. A tag
alone between backticks is talk about tags.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction.rules import Rule, page_of, searches_for
from holdfast.core.redaction.spans import PRIVATE, Rank, Span

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
