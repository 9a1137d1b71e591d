"""Spans: the places of secrets in a text, and the markers that stand there instead.

Arithmetic of places and nothing else: what is a secret is decided by the rules. Places are counted in the
text as it was given, however often it was looked at.
"""

from __future__ import annotations

import base64
import hashlib
import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from enum import IntEnum
from operator import attrgetter, itemgetter
from typing import Final

from holdfast.lazy_dataclass import dataclass

# A marker of ours, with a tag or without; and the plain one that other programs leave.
MARKER: Final = re.compile(r"\[REDACTED(?::[a-z0-9-]{1,40}(?::[a-z2-7]{2})?)?\]")
MARKER_BEGINS: Final = "[REDACTED"
PRIVATE: Final = "private"
VARIABLE: Final = "env-"
"""How the kind of a variable begins; its name follows."""


class Rank(IntEnum):
    """How surely a rule knows the kind of what it found; the first of those that overlap names it."""

    CERTAIN = 0
    FORM = 1
    PLACE = 2
    PREFIX = 3
    NAME = 4
    HINT = 5


@dataclass(frozen=True, slots=True)
class Span:
    """A secret's place in a text."""

    start: int
    end: int
    kind: str
    rank: Rank


def marker(span: Span, text: str, salt: bytes) -> str:
    """What stands in the secret's place. With a salt, the same secret shows the same tag."""
    if not salt or span.kind == PRIVATE or span.kind.startswith(VARIABLE):
        return f"[REDACTED:{span.kind}]"
    return f"[REDACTED:{span.kind}:{tag(text[span.start : span.end], salt)}]"


def tag(value: str, salt: bytes) -> str:
    """Two characters that tell two secrets of a session apart, and are too few to test a guess with."""
    key = hashlib.blake2s(salt).digest()
    keyed = hashlib.blake2s(value.encode("utf-8", "surrogatepass"), key=key, digest_size=5)
    return base64.b32encode(keyed.digest()).decode()[:2].lower()


def replace_spans(text: str, spans: Sequence[Span], salt: bytes) -> str:
    """The text with a marker in the place of each span; the spans are in order and apart."""
    pieces: list[str] = []
    position = 0
    for span in spans:
        pieces += (text[position : span.start], marker(span, text, salt))
        position = span.end
    pieces.append(text[position:])
    return "".join(pieces)


def merge_spans(spans: Iterable[Span]) -> list[Span]:
    """The spans in order, those that overlap made one."""
    apart: list[Span] = []
    for span in sorted(spans, key=attrgetter("start", "rank")):
        last = apart[-1] if apart else None
        if last is None or span.start >= last.end:
            apart.append(span)
        else:
            named = min(last, span, key=attrgetter("rank"))
            apart[-1] = replace(named, start=last.start, end=max(last.end, span.end))
    return apart


def outside_markers(text: str, spans: Iterable[Span]) -> Iterator[Span]:
    """The spans without the markers that they reach into or over: what is one stays one."""
    markers = [match.span() for match in MARKER.finditer(text)] if MARKER_BEGINS in text else []
    for span in spans:
        start, number = span.start, bisect_right(markers, span.start, key=itemgetter(1))
        while number < len(markers) and markers[number][0] < span.end:
            opened, closed = markers[number]
            if start < opened:
                yield replace(span, start=start, end=opened)
            start, number = closed, number + 1
        if start < span.end:
            yield replace(span, start=start)


def in_original(text: str, spans: Sequence[Span], salt: bytes, new_spans: Iterable[Span]) -> Iterator[Span]:
    """Where in the text the `new_spans` stand, which were found with `spans` already replaced."""
    ends: list[int] = []
    """Where each marker ends in the text that was looked at."""
    shift = 0
    for span in spans:
        shift += len(marker(span, text, salt)) - (span.end - span.start)
        ends.append(span.end + shift)

    def original(place: int) -> int:
        before = bisect_right(ends, place)
        return place if before == 0 else spans[before - 1].end + place - ends[before - 1]

    for one in new_spans:
        yield replace(one, start=original(one.start), end=original(one.end))


def whole_characters(text: str, span: Span) -> Span:
    """The span with all of the characters that it begins and ends in: accents, surrogate pairs."""
    start, end = span.start, span.end
    while start > 0 and _continues(text, start):
        start -= 1
    while end < len(text) and _continues(text, end):
        end += 1
    return span if (start, end) == (span.start, span.end) else replace(span, start=start, end=end)


def _continues(text: str, place: int) -> bool:
    """Whether the character at this place belongs to the one before it."""
    character = text[place]
    if character < "\u0300":
        return False
    if "\udc00" <= character <= "\udfff":
        return "\ud800" <= text[place - 1] <= "\udbff"
    joined = character == "\u200d" or text[place - 1] == "\u200d"
    return joined or unicodedata.category(character).startswith("M")
