"""Runs: long stretches of token characters in a text, and which of them are keys.

A run is a key if it has a provider's form or one of the general shapes (`core.redaction.shapes`), or if what
stands before it says so (`core.redaction.words_before`). Texts are full of runs that are none, names, paths,
ids and hashes, so what is cheap to ask is asked first.
"""

import re
import string
from collections.abc import Iterator
from typing import Final

from holdfast.core.redaction import shapes
from holdfast.core.redaction.documents import NO_LINES, NO_MORE_LINES, Document, documents
from holdfast.core.redaction.encoded import encoded_at
from holdfast.core.redaction.forms import LED, SIGNED
from holdfast.core.redaction.randomness import is_mixed, is_scrambled
from holdfast.core.redaction.rules import Page
from holdfast.core.redaction.spans import Rank, Span
from holdfast.core.redaction.words_before import (
    announced_after,
    announced_before,
    announced_nearby,
    is_named_hash,
    is_part_of_path,
    is_service_id,
    names_something_open,
    stands_alone,
)
from holdfast.core.text.patterns import compiled

# One byte for every character that may stand in a key, another for every one that may not.
_TOKEN_CHARACTERS: Final = bytes(
    ord("k") if chr(byte) in shapes.TOKEN_CHARACTERS else ord(" ") for byte in range(256)
)
_RUN: Final = b"k" * shapes.SHORTEST_RUN
# A longer run is a document in base64: a key in it is found only at its beginning.
_LONGEST_KEY: Final = 400
_LONGEST_MARKED: Final = 20_000
_SHORTEST_INNER: Final = 16
_LONGEST_STRETCH: Final = 20
_LENGTH_OF_UUID: Final = 36


def keys_by_shape(page: Page) -> Iterator[Span]:
    """The keys among the runs of a text."""
    text, flat, name_at = page.text, page.flat, _NAME.match
    runs = flat.translate(_TOKEN_CHARACTERS)
    start, of_base64, lines = runs.find(_RUN), documents(text), NO_LINES
    while start >= 0:
        # Asked here, not in a function: most runs are names without a digit, and end at these questions.
        name = name_at(flat, start)
        end = name.end() if name else start
        if name and name.lastindex:
            while lines.end <= start:
                lines = next(of_base64, NO_MORE_LINES)
            if lines.start < start:
                yield from _in_lines(text, lines)
                start = runs.find(_RUN, lines.end)
                continue
            end = runs.find(b" ", max(end, start + shapes.SHORTEST_RUN))
            end = len(runs) if end < 0 else end
            yield from _keys_in(page, start, end)
            if document := _DOCUMENT.match(flat, end):
                end = document.end()
        elif (
            text[start : start + 3] in shapes.WITHOUT_DIGITS
            or flat[start - 1] in _ESCAPES
            or _LETTERS_BEHIND_PREFIX.match(flat, start, end)
        ):
            yield from _keys_in(page, start, end)
        elif end - start == len(_SECURE_STRING) and page.lower[start:end] == _SECURE_STRING:
            yield from _after_secure_string(text, end)
        start = runs.find(_RUN, end)


# What a run begins with, up to its first digit; the group is there if it has one.
_NAME: Final = compiled(
    b"[%b]*+([0-9])?" % re.escape(shapes.TOKEN_CHARACTERS.replace(string.digits, "")).encode()
)
# Letters of both sorts behind a prefix: a key that happens to have no digit.
_LETTERS_BEHIND_PREFIX: Final = compiled(
    rb"[A-Za-z]{2,8}[_-](?=[A-Z]{0,40}[a-z])(?=[a-z]{0,40}[A-Z])[A-Za-z]{24,80}+\Z"
)
# Base64 is broken into runs by plus signs and slashes. What goes on after a plus sign is a document: nothing
# in its middle is a key.
_DOCUMENT: Final = compiled(rb"(?=/?[A-Za-z0-9/]{0,80}\+)[A-Za-z0-9+/]{20,}+={0,2}")
# What a run may begin with that is none of it: the letters of an escaped newline, a percent escape or a
# terminal colour.
_ESCAPES: Final = frozenset(b"\\%[")
_ESCAPE: Final = compiled(r"\\(?:[nrtbf]|u[0-9a-fA-F]{4})|%[0-9A-Fa-f]{2}|\[\d{1,3}m")


def _in_lines(text: str, document: Document) -> Iterator[Span]:
    """What is found in a document: a key or a text at the beginning of a line, and private keys."""
    size = document.width - document.margin
    for line in document.lines():
        if known := shapes.known_at(text, line):
            yield known
        if _BASE64_OF_TEXT.match(text, line):
            yield Span(line, line + shapes.SHORTEST_RUN, ENCODED, Rank.HINT)
    # A line may end in the middle of a mark.
    first = text[document.start - size : document.start]
    joined = first + "".join(text[line : line + size] for line in document.lines())
    for mark in shapes.LONG_MARKS:
        if (place := joined.find(mark)) >= 0:
            lines, column = divmod(place, size)
            start = (
                document.start + document.width * (lines - 1) + document.margin
                if lines
                else document.start - size
            )
            yield Span(start + column, document.whole, "private-key", Rank.FORM)


def _keys_in(page: Page, start: int, end: int) -> Iterator[Span]:
    """The keys of a run: of known forms, one after the other, and what may hide in the rest."""
    text = page.text
    if page.flat[start - 1] in _ESCAPES and (escape := _ESCAPE.match(text, start - 1)):
        start = escape.end()
    while known := shapes.known_at(text, start):
        yield known
        yield from _companion(text, known)
        start = known.end
    if end - start < shapes.SHORTEST_RUN:
        return
    if text[start - 1 : start] == "+":
        yield from _in_base64(text, start, text[start:end])
    elif not _NO_KEY.match(text, start, end):
        yield from _hidden(text, start, text[start:end])
    elif _LETTERS_BEHIND_PREFIX.match(page.flat, start, end) and shapes.may_be_prefixed_key(text[start:end]):
        yield Span(start, end, "api-key", Rank.HINT)
    elif end - start == _LENGTH_OF_UUID and text[start + 8] == "-":
        run = text[start:end]
        kind = "api-key" if is_service_id(text, start) else announced_nearby(text, start, run)
        if kind := kind or announced_after(text, end, run):
            yield Span(start, end, kind, Rank.HINT)


# Every fourth character of base64 tells whether it encodes ASCII that can be seen.
_BASE64_OF_TEXT: Final = compiled(r"(?:[I-Za-f][A-Za-z0-9]{3}){4}")
ENCODED: Final = "encoded-secret"
"""The kind of what may be base64 of a text that has a secret in it, until somebody has looked."""
# A run without a digit; a date; a UUID; a hash that says so; words and small numbers, as the names of files,
# releases and tests have them.
_NO_KEY: Final = compiled(
    r"""[^0-9]*+\Z | \d{4}-\d\d-\d\d | [0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}- | sha\d{1,3}-
      | (?:[A-Za-z]++|[0-9]{1,4}+(?![0-9A-Za-z]))
        (?:[._~-]++(?:[A-Za-z]++|[0-9]{1,4}+(?![0-9A-Za-z]))?+)*+\Z""",
    re.VERBOSE,
)


def _companion(text: str, known: Span) -> Iterator[Span]:
    """The secret half of a pair, which has no form of its own and stands near the open half."""
    if known.kind == "aws-access-key":
        found = _AWS_SECRET.search(text, known.end, known.end + 200)
        if found and is_mixed(found[0]) and is_scrambled(found[0]):
            yield Span(*found.span(), "aws-secret", Rank.FORM)


_AWS_SECRET: Final = compiled(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")


def _after_secure_string(text: str, end: int) -> Iterator[Span]:
    """The password that a command of PowerShell, itself as long as a run, takes as it is typed."""
    if value := _SECURE_VALUE.match(text, end):
        yield Span(*value.span("value"), "password", Rank.PLACE)


_SECURE_STRING: Final = b"convertto-securestring"
_SECURE_VALUE: Final = compiled(
    r"""(?:[ ]-[A-Za-z]{1,20}){0,3}+[ ]\\{0,3}["']?(?P<value>[^\s"'$(\\-][^\s"'\\]{3,200})""", re.ASCII
)


def _hidden(text: str, start: int, run: str) -> Iterator[Span]:
    """A key that does not begin where its run begins, or whose beginning says nothing."""
    # A full stop behind it ends a sentence.
    run = run.rstrip(".")
    if _BASE64_OF_TEXT.match(run):
        yield Span(start, start + len(run), ENCODED, Rank.HINT)
    if text[start - 2 : start] in shapes.LEADS or run[32:33] == "-":
        yield from filter(None, (shapes.forms(LED).match(text, start),))
    if _HASH.match(run):
        if kind := (
            announced_before(text, start, run)
            or announced_nearby(text, start, run)
            or announced_after(text, start + len(run), run)
        ):
            yield Span(start, start + len(run), kind, Rank.HINT)
        return
    if run.partition("_")[0] in shapes.IDS and shapes.is_id(run):
        return
    if len(run) > shapes.SHORTEST_MARKED and _is_marked(run):
        marked = shapes.forms(shapes.MARKED_FORMS).search(text, start, start + len(run) + _LONGEST_MARKED)
        if marked and marked.start < start + len(run):
            yield marked
    if len(run) <= _LONGEST_KEY:
        yield from _shaped(text, start, run)


def _shaped(text: str, start: int, run: str) -> Iterator[Span]:
    """A key of a general shape, or of a known one that begins inside of its run or before it."""
    end = start + len(run)
    if is_named_hash(text, start) or names_something_open(text, start, end):
        return
    if text[start - 1 : start] in _BASE64_SIGNS or text[end : end + 1] in _BASE64_SIGNS:
        yield from _in_base64(text, start, run)
    if not run.isalnum():
        yield from _inside(text, start, run)
        if shapes.is_prefixed_key(run) or shapes.has_two_random_halves(run):
            yield Span(start, end, "api-key", Rank.PREFIX)
            return
    if kind := announced_before(text, start, run):
        yield Span(start, end, kind, Rank.HINT)
        return
    first, last = _base64_around(text, start, end)
    if last - first <= _LONGEST_KEY and (
        kind := announced_nearby(text, first, text[first:last])
        or announced_after(text, last, text[first:last])
    ):
        yield Span(first, last, kind, Rank.HINT)
    elif _is_key(text[first:last]) and stands_alone(text, first, last) and not encoded_at(text, first):
        yield Span(first, last, "api-key", Rank.HINT)
    elif is_part_of_path(text, start, end) and (shapes.is_key_alone(run) or shapes.may_be_prefixed_key(run)):
        yield Span(start, end, "api-key", Rank.HINT)


def _is_key(run: str) -> bool:
    """Whether a whole word or string is a key by its shape."""
    if "+" in run or "/" in run:
        return shapes.is_key_of_base64(run)
    return shapes.is_key_alone(run) or shapes.may_be_prefixed_key(run)


def _base64_around(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the value begins and ends that signs of base64 have broken into runs, of which this is one."""
    if text[start - 1 : start] in _JOINS_BASE64:
        before = text[max(0, start - _LONGEST_KEY) : start]
        start -= len(before) - len(before.rstrip(_BASE64_CHARACTERS))
        prefix = _PREFIX_BEFORE.search(text, max(0, start - _LONGEST_PREFIX), start)
        if prefix and not shapes.is_id(prefix[0]):
            start = prefix.start()
    more = _MORE_BASE64.match(text, end)
    return start, more.end() if more else end


_PREFIX_BEFORE: Final = compiled(r"(?<![\w.-])(?:[A-Za-z0-9]{1,10}[_.-]){1,2}+\Z", re.ASCII)
_LONGEST_PREFIX: Final = 24
_JOINS_BASE64: Final = frozenset("+/")
_BASE64_CHARACTERS: Final = string.ascii_letters + string.digits + "+/"
_MORE_BASE64: Final = compiled(r"(?:[+/][A-Za-z0-9+/]{0,400}+)?={0,2}", re.ASCII)


_HASH: Final = compiled(r"[0-9a-f]++\Z")


def _is_marked(run: str) -> bool:
    """Whether it has one of the marks of keys that begin like anything else."""
    # One plain search after the other is faster here than a pattern of them all.
    for mark in shapes.MARKS if len(run) <= _LONGEST_KEY else shapes.LONG_MARKS:  # noqa: SIM110
        if mark in run:
            return True
    return False


def _inside(text: str, start: int, run: str) -> Iterator[Span]:
    for inner in _INNER.finditer(run, 0, len(run) - _SHORTEST_INNER):
        if known := shapes.known_at(text, start + inner.end()):
            yield known


# After these a key could begin inside of a run.
_INNER: Final = compiled(r"[_.~-]")


def _in_base64(text: str, start: int, run: str) -> Iterator[Span]:
    """A key of base64 that a slash or a plus sign breaks into runs, of which this is the first."""
    before = text[max(0, start - _LONGEST_STRETCH - 2) : start]
    rest = before.rstrip(_BASE64)
    # The first letter after a backslash is that of an escaped newline.
    first = start - len(before) + len(rest) + rest.endswith("\\")
    if not is_mixed(run):
        return
    if start - first > _LONGEST_STRETCH:
        first, last = _base64_around(text, start, start + len(run))
        if shapes.is_key_of_base64(text[first:last]) and stands_alone(text, first, last):
            yield Span(first, last, "api-key", Rank.HINT)
    elif first < start and (known := shapes.known_at(text, first)):
        yield known
    elif signed := shapes.forms(SIGNED).match(text, first):
        yield signed
    elif text[start - 1 : start] == "+" and first < start:
        first, last = _base64_around(text, start, start + len(run))
        if kind := announced_nearby(text, first, text[first:last]):
            yield Span(first, last, kind, Rank.HINT)
        elif shapes.is_key_of_base64(text[first:last]) and stands_alone(text, first, last):
            yield Span(first, last, "api-key", Rank.HINT)


_BASE64: Final = string.ascii_letters + string.digits + "+/-_"
_BASE64_SIGNS: Final = frozenset("+/=")
