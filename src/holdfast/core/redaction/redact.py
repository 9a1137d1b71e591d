"""Redaction: a text with the values of its secrets replaced by `[REDACTED:kind]`.

Secrets are known by their form, their name or their place; `core.redaction.scan` has the rules. No state, and
no knowledge of where a text comes from. What arrives in pieces is `core.redaction.stream`'s work.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from holdfast.core.redaction.private_passages import private_passages
from holdfast.core.redaction.scan import NO_LISTS, Lists, search
from holdfast.core.redaction.segments import SEGMENT, context_start, segment_end
from holdfast.core.redaction.spans import PRIVATE, Span, in_original, marker, merged, replaced

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
