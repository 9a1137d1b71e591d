"""Redaction: a text with the values of its secrets replaced by `[REDACTED:kind]`, whole or as it arrives.

A long text is cut into segments of whole lines; `rules` finds the secrets in each. A stream is redacted the
same way wherever the borders between its pieces fall: when nothing more comes for a while, whole lines are
returned earlier. What has been returned is never taken back. No rule looks at a later line to judge an
earlier one, except for private keys and strings that continue in the next line, and these wait until their
end has come.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from holdfast.core.redaction.blocks import LONGEST, is_left_open, may_go_on, private_passages
from holdfast.core.redaction.rules import NO_LISTS, Lists, search
from holdfast.core.redaction.spans import PRIVATE, Span, in_original, marker, merge_spans, replace_spans
from holdfast.core.redaction.views import WIDTHS

SEGMENT: Final = 1 << 16
LONGEST_LINE: Final = 1 << 22
"""A line of more characters is cut at a blank, or anywhere."""
CONTEXT: Final = 1 << 11
"""How much of what stands before a segment is read with it."""
__all__ = ["NO_LISTS", "VERSION", "Lists", "Span", "redact", "redact_parts", "secrets_in"]
# Raised whenever the rules change, so that what an older redactor stored can be found and redacted again.
VERSION: Final = 6


def redact(text: str, salt: bytes = b"", lists: Lists = NO_LISTS) -> str:
    """The text without the values of secrets. Redacting what is redacted changes nothing.

    With a salt, every marker has a tag by which a reader can tell two secrets apart.
    """
    spans = secrets_in(text, salt, lists)
    return replace_spans(text, spans, salt) if spans else text


def redact_parts(parts: Sequence[str], salt: bytes = b"", lists: Lists = NO_LISTS) -> tuple[str, ...]:
    """The parts of one message, without secrets in any of them, or over the border between two."""
    shown = tuple(parts)
    while (redacted := _parts_once(shown, salt, lists)) != shown:
        shown = redacted
    return shown


def secrets_in(text: str, salt: bytes = b"", lists: Lists = NO_LISTS) -> list[Span]:
    """The places of the secrets in a text, in order and apart."""
    spans = search(text, salt, lists) if len(text) < SEGMENT else list(_in_segments(text, salt, lists))
    if not spans or not any(span.kind == PRIVATE for span in spans):
        return spans
    # A tag was found: what it hides is not to be looked at, however long it is.
    passages = list(private_passages(text))
    spans = list(_in_segments(replace_spans(text, passages, salt), salt, lists))
    return merge_spans([*passages, *in_original(text, passages, salt, spans)])


def redact_stream(arriving: Iterable[str | None], lists: Lists = NO_LISTS) -> Iterator[str]:
    """The text that arrives, without secrets; None in it says that nothing more came for a while."""
    text, start, shown = "", 0, 0
    for piece in _public(arriving):
        if piece is None:
            cut = before_open_line(text, start, before_open_key(text, start, text.rfind("\n") + 1))
            if cut > start:
                lines = _shown(text, start, cut, lists)
                yield lines[shown:]
                shown = len(lines)
            continue
        text += piece
        while (end := segment_end(text, start)) is not None:
            yield _shown(text, start, end, lists)[shown:]
            first = context_start(text, end)
            text, start, shown = text[first:], end - first, 0
    yield _shown(text, start, len(text), lists)[shown:]


def _in_segments(text: str, salt: bytes, lists: Lists) -> Iterator[Span]:
    start, end = 0, segment_end(text, 0)
    while end is not None:
        yield from in_segment(text, start, end, salt, lists)
        start, end = end, segment_end(text, end)
    yield from in_segment(text, start, len(text), salt, lists)


def in_segment(text: str, start: int, end: int, salt: bytes, lists: Lists) -> Iterator[Span]:
    """The secrets of one segment, which is read with what stands before it."""
    first = context_start(text, start)
    for span in search(text[first:end], salt, lists):
        if span.end + first > start:
            yield replace(span, start=max(start, span.start + first), end=span.end + first)


def _parts_once(parts: tuple[str, ...], salt: bytes, lists: Lists) -> tuple[str, ...]:
    whole = "".join(parts)
    spans, start = secrets_in(whole, salt, lists), 0
    for part in parts:
        alone = secrets_in(part, salt, lists)
        spans += [replace(span, start=span.start + start, end=span.end + start) for span in alone]
        start += len(part)
    spans, start = merge_spans(spans), 0
    redacted: list[str] = []
    for part in parts:
        redacted.append(_part(whole, start, start + len(part), spans, salt))
        start += len(part)
    return tuple(redacted)


def _part(whole: str, start: int, end: int, spans: Sequence[Span], salt: bytes) -> str:
    """One part of the whole; a secret that reaches into it from another leaves its marker in both."""
    pieces, place = list[str](), start
    for span in spans:
        if span.start < end and span.end > start:
            pieces += (whole[place : span.start], marker(span, whole, salt))
            place = min(span.end, end)
    return "".join([*pieces, whole[place:end]])


def _shown(text: str, start: int, end: int, lists: Lists) -> str:
    """What is seen of the text between these places."""
    spans = list(in_segment(text, start, end, b"", lists))
    return replace_spans(text[:end], spans, b"")[start:]


def _public(arriving: Iterable[str | None]) -> Iterator[str | None]:
    """The same in whole lines, with a marker for every private passage."""
    held, opened = "", False
    for piece in arriving:
        if piece is None:
            yield None
            continue
        held += piece
        whole = held.rfind("\n") + 1 or (len(held) if len(held) >= LONGEST_LINE else 0)
        if whole:
            lines, held = held[:whole], held[whole:]
            public, opened = _without_passages(lines, opened=opened)
            yield public
    yield _without_passages(held, opened=opened)[0]


def _without_passages(text: str, *, opened: bool) -> tuple[str, bool]:
    """The text without its private passages, and whether the last of them is still open."""
    passages = list(private_passages(text, opened=opened))
    if not passages:
        return text, False
    public = replace_spans(text, passages, b"")
    if opened:
        # The marker of the passage that goes on has been given already.
        public = public.removeprefix("[REDACTED:private]")
    return public, is_left_open(text, passages[-1])


def segment_end(text: str, start: int) -> int | None:
    """Where the segment ends that begins here; None if that needs more text."""
    newline = text.find("\n", start + SEGMENT - 1, start + LONGEST_LINE)
    if newline >= 0:
        end = before_open_key(text, start, newline + 1)
        held = before_open_line(text, start, end)
        return held if held > start else end
    if len(text) < start + LONGEST_LINE:
        return None
    blank = text.rfind(" ", start + LONGEST_LINE - CONTEXT, start + LONGEST_LINE)
    return blank + 1 if blank >= 0 else start + LONGEST_LINE


def context_start(text: str, start: int) -> int:
    """From where a segment is read: the beginning of a line some way before it."""
    earliest = start - CONTEXT
    return 0 if earliest < 0 else max(earliest, text.find("\n", earliest, start) + 1)


def before_open_key(text: str, start: int, end: int) -> int:
    """The same end, or the beginning of the line where a private key begins whose end has not come."""
    for begins, ends in _BRACKETS:
        begin = text.rfind(begins, max(start, end - LONGEST), end)
        if begin >= 0 and text.find(ends, begin, end) < 0:
            line = text.rfind("\n", start, begin) + 1
            end = line if line > start else end
    return end


def before_open_line(text: str, start: int, end: int) -> int:
    """The same end, or the beginning of the first of the last lines that go on in the next one.

    Such a line ends with a string that is joined to another or with a backslash, is as wide as a terminal, or
    may be one of a document's.
    """
    while end > start:
        line = max(start, text.rfind("\n", start, end - 1) + 1)
        full = end - 1 - line in WIDTHS and _ENDS_IN_TOKEN.search(text, end - 5, end)
        if (
            not full
            and not _GOES_ON.search(text, max(start, end - _LONGEST_SEAM), end)
            and not may_go_on(text, end)
        ):
            return end
        end = line
    return end


_ENDS_IN_TOKEN: Final = re.compile(r"[A-Za-z0-9_+/-]{4}\n\Z", re.ASCII)
_GOES_ON: Final = re.compile(r"""[\w+/=.~-](?:["'`][ \t]{0,3}(?:[+.&<>|]{1,2}[ \t]{0,3})?\\?|\\)\r?\n\Z""")
_LONGEST_SEAM: Final = 20
# What begins and ends a private key: in PEM, and the lines of PuTTY's own format.
_BRACKETS: Final = (("-----BEGIN ", "-----END "), ("Private-Lines:", "Private-MAC:"))
