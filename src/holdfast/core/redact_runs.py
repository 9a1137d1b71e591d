"""Runs: long stretches of token characters in a text, and which of them are keys.

A run is a key if it has a provider's form (`core.redact_shapes`), if it is a prefix before random characters,
or if the name before it says so. Texts are full of runs that are none, names, paths, ids and hashes, so what
is cheap to ask is asked first.
"""

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core import redact_shapes as shapes
from holdfast.core.redact_before import announced_before
from holdfast.core.redact_page import Page
from holdfast.core.redact_spans import Rank, Span
from holdfast.core.redact_values import is_hex, is_mixed, is_scrambled

# One byte for every character that may stand in a key, another for every one that may not.
_TOKEN_CHARACTERS: Final = bytes(
    ord("k") if chr(byte) in shapes.TOKEN_CHARACTERS else ord(" ") for byte in range(256)
)
_RUN: Final = b"k" * shapes.SHORTEST_RUN
# A longer run is a document in base64: a key in it is found only at its beginning.
_LONGEST_KEY: Final = 400
_LONGEST_MARKED: Final = 20_000
_SHORTEST_INNER: Final = 16


def keys_by_shape(page: Page) -> Iterator[Span]:
    """The keys among the runs of a text."""
    text, runs = page.text, page.flat.translate(_TOKEN_CHARACTERS)
    start = runs.find(_RUN)
    while start >= 0:
        end = runs.find(b" ", start + shapes.SHORTEST_RUN)
        end = len(runs) if end < 0 else end
        if page.flat[start - 1] in _ESCAPES and (escape := _ESCAPE.match(text, start - 1)):
            start = escape.end()
        # Asked here, not in a function: most runs end at these two questions.
        if text[start : start + 3] in shapes.BY_BEGINNING or not _NO_KEY.match(text, start, end):
            yield from _keys_in(text, start, end)
        elif end - start == len(_SECURE_STRING):
            yield from _after_secure_string(text, start, end)
        start = runs.find(_RUN, end)


def _keys_in(text: str, start: int, end: int) -> Iterator[Span]:
    """The keys of a run: of known forms, one after the other, and what may hide in the rest."""
    while known := _known(text, start):
        yield known
        yield from _companion(text, known)
        start = known.end
    if end - start >= shapes.SHORTEST_RUN:
        yield from _hidden(text, start, text[start:end])


def _companion(text: str, known: Span) -> Iterator[Span]:
    """The secret half of a pair, which has no form of its own and stands near the open half."""
    if known.kind == "aws-access-key":
        found = _AWS_SECRET.search(text, known.end, known.end + 200)
        if found and is_mixed(found[0]) and is_scrambled(found[0]):
            yield Span(*found.span(), "aws-secret", Rank.FORM)


def _after_secure_string(text: str, start: int, end: int) -> Iterator[Span]:
    """The password that a command of PowerShell, itself as long as a run, takes as it is typed."""
    if text[start:end].lower() == _SECURE_STRING and (value := _SECURE_VALUE.match(text, end)):
        yield Span(*value.span("value"), "password", Rank.PLACE)


_SECURE_STRING: Final = "convertto-securestring"
_SECURE_VALUE: Final = re.compile(
    r"""(?:[ ]-[A-Za-z]{1,20}){0,3}+[ ]\\{0,3}["']?(?P<value>[^\s"'$(\\-][^\s"'\\]{3,200})""", re.ASCII
)
_AWS_SECRET: Final = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{40}(?![A-Za-z0-9+/=])")


def _known(text: str, place: int) -> Span | None:
    """The key of a published form that begins at this place."""
    of = shapes.BY_BEGINNING.get(text[place : place + shapes.LENGTH_OF_BEGINNING])
    return shapes.forms(of).match(text, place) if of else None


def _hidden(text: str, start: int, run: str) -> Iterator[Span]:
    """A key that does not begin where its run begins, or whose beginning says nothing."""
    if run.partition("_")[0] in shapes.IDS or _NO_KEY.match(run):
        return
    if text[start - 2 : start] in shapes.LEADS or run[32:33] == "-":
        yield from filter(None, (shapes.forms(shapes.LED).match(text, start),))
    if len(run) > shapes.SHORTEST_MARKED and not _HASH.match(run) and _is_marked(run):
        marked = shapes.forms(shapes.MARKED).search(text, start, start + len(run) + _LONGEST_MARKED)
        if marked and marked.start < start + len(run):
            yield marked
    if len(run) > _LONGEST_KEY:
        return
    if not run.isalnum():
        yield from _inside(text, start, run)
    if not run.isalnum() and _is_prefixed_key(run):
        yield Span(start, start + len(run), "api-key", Rank.PREFIX)
    elif kind := announced_before(text, start, run):
        yield Span(start, start + len(run), kind, Rank.HINT)


def _is_marked(run: str) -> bool:
    marks = shapes.MARKS if len(run) <= _LONGEST_KEY else shapes.LONG_MARKS
    return any(mark in run for mark in marks)


def _inside(text: str, start: int, run: str) -> Iterator[Span]:
    for inner in _INNER.finditer(run, 0, len(run) - _SHORTEST_INNER):
        if known := _known(text, start + inner.end()):
            yield known


# A run without a digit, a UUID, or a hash that says so.
_NO_KEY: Final = re.compile(r"[^0-9]*+\Z|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-|sha\d{1,3}-")
_HASH: Final = re.compile(r"[0-9a-f]++\Z")
# After these a key could begin inside of a run.
_INNER: Final = re.compile(r"[_.~-]")
# What a run may begin with that is none of it: the letters of an escaped newline, a percent escape or a
# terminal colour.
_ESCAPES: Final = frozenset(b"\\%[")
_ESCAPE: Final = re.compile(r"\\(?:[nrtbf]|u[0-9a-fA-F]{4})|%[0-9A-Fa-f]{2}|\[\d{1,3}m")


# A prefix of one to four short words before what may be random characters.
_PREFIXED: Final = re.compile(
    r"""(?P<first>[A-Za-z]{2,16})(?P<more>(?:[_.-][A-Za-z0-9]{1,11}(?![A-Za-z0-9])){0,3}+)[_.-]
        (?P<rest>[\w=-]{16,400})\Z""",
    re.ASCII | re.VERBOSE,
)


def _is_prefixed_key(run: str) -> bool:
    """Whether it is a prefix of short words before random characters: `acme_live_…`, `acmepat-…`."""
    found = _PREFIXED.match(run)
    if not found or found["first"] in shapes.IDS:
        return False
    words = {found["first"].lower(), *shapes.SEPARATORS.split(found["more"].lower())}
    rest = found["rest"]
    longest = max(shapes.SEPARATORS.split(rest), key=len)
    if not is_scrambled(longest):
        return False
    if is_mixed(longest) and not is_hex(longest):
        # Ids have the same form, but none of those in use is as long as thirty characters.
        return len(longest) >= 12 and (len(rest) >= 30 or bool(words & shapes.RANDOM_KEY_WORDS))
    if words & shapes.KEY_WORDS:
        return len(longest) >= 12 and len(rest) >= 20
    return len(longest) >= 32 and not is_hex(longest)
