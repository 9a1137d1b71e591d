"""Redaction: a text with the values of its secrets replaced by `[REDACTED:kind]`.

Secrets are known by their shape, their name or their place; the rules stand in `core.redact_rules`. No state,
no allow list, no knowledge of where the text comes from. Most texts hold no secret, so each rule begins with
a plain search for a literal, and a pattern is tried only where that stands.
"""

import re
import string
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from operator import itemgetter
from typing import Final

from holdfast.core import redact_rules as rules

# Raised whenever the rules change, so that what an older redactor stored can be found and redacted again.
VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class _Span:
    """A secret's place in a text. Where two overlap, the lower rank names the kind."""

    start: int
    end: int
    kind: str
    rank: int


def redact(text: str) -> str:
    """The text without the values of secrets. Redacting what is redacted changes nothing."""
    # What stood beside a secret may read differently beside its marker, so look until nothing is found. Every
    # span begins outside of all markers, so each round leaves fewer other characters, and this ends.
    while spans := sorted(_unmarked(text, _secrets(text)), key=lambda span: (span.start, span.rank)):
        text = _replaced(text, spans)
    return text


def _unmarked(text: str, spans: Iterator[_Span]) -> Iterator[_Span]:
    """The spans that hold more than markers of ours, none of them cutting one."""
    markers = [marker.span() for marker in rules.MARKER.finditer(text)] if "[REDACTED:" in text else []
    for span in spans:
        start, end = span.start, span.end
        for marker in markers[bisect_right(markers, start, key=itemgetter(1)) :]:
            if marker[0] >= end:
                break
            start = marker[1] if marker[0] <= start else start
            end = max(end, marker[1])
        if start < end:
            yield _Span(start, end, span.kind, span.rank)


def _replaced(text: str, spans: list[_Span]) -> str:
    pieces: list[str] = []
    position = 0
    for span in _merged(spans):
        pieces += (text[position : span.start], f"[REDACTED:{span.kind}]")
        position = span.end
    pieces.append(text[position:])
    return "".join(pieces)


def _merged(spans: list[_Span]) -> Iterator[_Span]:
    """The spans without overlaps, in order."""
    last = spans[0]
    for span in spans[1:]:
        if span.start >= last.end:
            yield last
            last = span
        else:
            named = min(last, span, key=lambda overlapping: overlapping.rank)
            last = _Span(last.start, max(last.end, span.end), named.kind, named.rank)
    yield last


def _secrets(text: str) -> Iterator[_Span]:
    # ASCII has one byte for each character, so that a place in one is the same place in the other.
    flat = text.encode("ascii", "replace")
    lower = flat.lower()
    if b"private key" in lower:
        yield from _private_keys(text)
    if b"LS0tLS1CRUdJTi" in flat:
        yield from (_Span(*found.span(), "private-key", 0) for found in rules.ENCODED_PEM.finditer(text))
    yield from _keys_by_shape(text, flat.translate(_TOKEN_CHARACTERS))
    if b"://" in lower:
        yield from _in_urls(text, lower)
    if b"bearer" in lower:
        yield from _bearers(text, lower)
    for anchor in rules.NAME_ANCHORS:
        if anchor in lower:
            yield from _by_name(text, lower, anchor)
    if b" -" in lower:
        yield from _in_commands(text, lower)


def _places(where: bytes, what: bytes) -> Iterator[int]:
    place = where.find(what)
    while place >= 0:
        yield place
        place = where.find(what, place + len(what))


def _private_keys(text: str) -> Iterator[_Span]:
    """Whole PEM blocks, or what there is of one that was cut off. Mere talk of them holds no key."""
    edges = list(rules.PEM_EDGE.finditer(text))
    for edge, following in zip_longest(edges, edges[1:]):
        if edge["edge"] == "END":
            continue
        closed = following and following["edge"] == "END" and following.end() - edge.end() < rules.PEM_LONGEST
        rest = following if closed else rules.PEM_REST.match(text, edge.end())
        if rest and rules.KEY_MATERIAL.search(text, edge.end(), rest.end()):
            yield _Span(edge.start(), rest.end(), "private-key", 0)


# One byte for every character that may stand in a key, another for every one that may not.
_TOKEN_CHARACTERS: Final = bytes(
    ord("k") if chr(byte) in string.ascii_letters + string.digits + "_-.~" else ord(" ")
    for byte in range(256)
)
_RUN: Final = b"k" * rules.SHORTEST_RUN


def _keys_by_shape(text: str, shape: bytes) -> Iterator[_Span]:
    """Keys that show by their own form whose they are."""
    start = shape.find(_RUN)
    while start >= 0:
        end = shape.find(b" ", start + rules.SHORTEST_RUN)
        end = len(shape) if end < 0 else end
        if _may_hold_key(text[start:end]) or text[start - 1 : start] in rules.ESCAPES:
            for found in rules.SHAPES.finditer(text, start, end):
                yield _Span(*found.span(), rules.KINDS[(found.lastindex or 0) - 1], 1)
        start = shape.find(_RUN, end)


def _may_hold_key(run: str) -> bool:
    if run[:3] in rules.BEGINNINGS or not rules.BEGINNINGS.isdisjoint(rules.INNER_BEGINNINGS.findall(run)):
        return True
    return len(run) > rules.SHORTEST_MARKED and rules.MARKED.search(run) is not None


def _in_urls(text: str, lower: bytes) -> Iterator[_Span]:
    for place in _places(lower, b"://"):
        found = rules.URL.match(text, place)
        if found and found.lastgroup and not rules.REFERENCE.match(found[found.lastgroup]):
            yield _Span(*found.span(found.lastgroup), found.lastgroup.replace("_", "-"), 2)


def _bearers(text: str, lower: bytes) -> Iterator[_Span]:
    for place in _places(lower, b"bearer"):
        found = rules.BEARER.match(text, place)
        if found and rules.looks_random(found["value"]):
            yield _Span(*found.span("value"), "bearer-token", 2)


def _in_commands(text: str, lower: bytes) -> Iterator[_Span]:
    """Credentials behind flags that only the command makes one: `mysql -p…`, `curl -u user:…`."""
    for anchor in rules.FLAG_ANCHOR.finditer(lower):
        found = rules.COMMAND_FLAGS.match(text, anchor.start())
        if found and found.lastgroup and not rules.stands_for_another(found[found.lastgroup]):
            line = text[max(0, found.start() - 400) : found.end()].replace("\\\n", "  ").rpartition("\n")[2]
            if rules.COMMAND_OF_FLAG[found.lastgroup].search(line):
                yield _Span(*found.span(found.lastgroup), "password", 3)


def _by_name(text: str, lower: bytes, anchor: bytes) -> Iterator[_Span]:
    """Values of names that say secret: `NAME=value`, `"name": "value"`, `--name value`."""
    place = lower.find(anchor)
    while place >= 0:
        found = rules.ASSIGNMENT.match(text, place)
        span = _assigned(text, found) if found else _told(text, place)
        if span:
            yield span
        place = lower.find(anchor, max(place + len(anchor), span.end if span else 0))


def _assigned(text: str, found: re.Match[str]) -> _Span | None:
    """The secret of an assignment, unless the name or the value says that it is none."""
    owner = _owner(text, found.start())
    name = owner + found["name"]
    name_start = found.start() - len(owner)
    announced = rules.announced_by(_opening_before(text, name_start) + name)
    if announced is None:
        return None
    group = next(group for group in ("quoted", "escaped", "bare") if found[group])
    start, value, proof = found.start(group), found[group], announced.proof
    if scheme := rules.SCHEME.match(value):
        start, value, proof = start + scheme.end(), value[scheme.end() :], rules.Proof.RANDOMNESS
    judge = rules.is_secret
    if group == "bare":
        value = rules.TRAILING.sub("", value)
        # NAME=value of a shell, an .env or an .ini file: there a bare word is text, never code.
        line_start = name_start == 0 or text[name_start - 1] == "\n"
        if found["bind"] != "=" or found["gap"] or not (line_start or name.isupper()):
            judge = rules.is_secret_unquoted
    return _span_of(text, start, value, announced.kind) if judge(value, proof) else None


def _told(text: str, place: int) -> _Span | None:
    """The secret after a flag (`--password X`), a login (`login me password X`) or "the password is"."""
    owner = _owner(text, place)
    found, judge = rules.FLAG.match(text, place), rules.is_secret
    if not owner.startswith("-") and not (found and _follows_login(text, found)):
        found = rules.PROSE.match(text, place)
        judge = (
            rules.is_secret if found and (found["quote"] or found["argument"]) else rules.is_secret_unquoted
        )
    announced = rules.announced_by(owner + found["name"]) if found else None
    if found is None or announced is None:
        return None
    value = rules.TRAILING.sub("", found["value"])
    return (
        _span_of(text, found.start("value"), value, announced.kind) if judge(value, announced.proof) else None
    )


def _span_of(text: str, start: int, value: str, kind: str) -> _Span:
    end = start + len(value)
    rest = rules.UNQUOTED_REST.match(text, end) if len(value) >= rules.LONGEST_JUDGED else None
    return _Span(start, rest.end() if rest else end, kind, 4)


def _follows_login(text: str, found: re.Match[str]) -> bool:
    before = max(0, found.start() - 130)
    return found["name"] == "password" and bool(rules.AFTER_LOGIN.search(text, before, found.start()))


_NAME_CHARACTERS: Final = string.ascii_letters + string.digits + "_-.$"


def _owner(text: str, place: int) -> str:
    """What stands in the name before this place: `GITHUB_` of `GITHUB_TOKEN`."""
    before = text[max(0, place - 40) : place]
    return before[len(before.rstrip(_NAME_CHARACTERS)) :]


def _opening_before(text: str, place: int) -> str:
    """The word before a name if it makes a key one that opens something: `API ` of `API key: …`."""
    before = text[max(0, place - 20) : place]
    word = before[len(before[:-1].rstrip(string.ascii_letters)) :]
    return word if word.endswith(" ") and word[:-1].lower() in rules.OPENING else ""
