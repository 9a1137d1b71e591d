"""Redaction: a text with the values of its secrets replaced by `[REDACTED:kind]`.

A long text is cut into segments of whole lines; `scan` looks for secrets in each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from holdfast.core.redaction.blocks import LONGEST, private_passages
from holdfast.core.redaction.documents import may_go_on
from holdfast.core.redaction.scan import NO_LISTS, Lists, search
from holdfast.core.redaction.spans import PRIVATE, Span, in_original, marker, merged, replaced
from holdfast.core.redaction.views import WIDTHS

SEGMENT: Final = 1 << 16
LONGEST_LINE: Final = 1 << 22
"""A line of more characters is cut at a blank, or anywhere."""
CONTEXT: Final = 1 << 11
"""How much of what stands before a segment is read with it."""


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


__all__ = ["NO_LISTS", "VERSION", "Lists", "Span", "redact", "redact_parts", "secrets_in"]

# Raised whenever the rules change, so that what an older redactor stored can be found and redacted again.
VERSION: Final = 6


def redact(text: str, salt: bytes = b"", lists: Lists = NO_LISTS) -> str:
    """The text without the values of secrets. Redacting what is redacted changes nothing.

    With a salt, every marker has a tag by which a reader can tell two secrets apart.
    """
    spans = secrets_in(text, salt, lists)
    return replaced(text, spans, salt) if spans else text


def redact_parts(parts: Sequence[str], salt: bytes = b"", lists: Lists = NO_LISTS) -> tuple[str, ...]:
    """The parts of one message, without secrets in any of them, or over the border between two."""
    shown = tuple(parts)
    while (redacted := _parts_once(shown, salt, lists)) != shown:
        shown = redacted
    return shown


def secrets_in(text: str, salt: bytes = b"", lists: Lists = NO_LISTS) -> list[Span]:
    """The places of the secrets in a text, in order and apart."""
    found = search(text, salt, lists) if len(text) < SEGMENT else list(_in_segments(text, salt, lists))
    if not found or not any(span.kind == PRIVATE for span in found):
        return found
    # A tag was found: what it hides is not to be looked at, however long it is.
    passages = list(private_passages(text))
    found = list(_in_segments(replaced(text, passages, salt), salt, lists))
    return merged([*passages, *in_original(text, passages, salt, found)])


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
    spans, start = merged(spans), 0
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
