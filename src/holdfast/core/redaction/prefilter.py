"""Prefilter: find the few places of a text where a rule could match, fast, because most texts hold no secret.

`TextPage` is a text in the spellings that rules read, `Prefilter` what a rule is. The literals that rules
begin with are found in few searches; where none stands, no rule is tried. `rules` lists the rules.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final

from holdfast.core.redaction.spans import Span
from holdfast.core.text.lazy_patterns import compiled
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TextPage:
    """A text; the same with one byte for each character, so that places are the same; that in lower case.

    What is not ASCII is a question mark in the flat spellings.
    """

    text: str
    flat: bytes
    lower: bytes


def page_of(text: str) -> TextPage:
    """The text as the rules read it."""
    flat = text.encode() if text.isascii() else text.encode("ascii", "replace")
    return TextPage(text, flat, flat.lower())


@dataclass(frozen=True, slots=True)
class Rule:
    """A literal that stands near a secret, in small letters, how it goes on, and what is found there."""

    literal: bytes
    then: bytes
    """A pattern, written out with blanks, that catches no groups."""
    found_at: Callable[[str, int], Iterable[Span]]


@dataclass(frozen=True, slots=True)
class Search:
    """Rules whose literals share a few characters, so that one search finds them all."""

    shared: bytes
    where: re.Pattern[bytes]
    rules: tuple[tuple[int, Rule], ...]
    """Each with how many characters its literal has before those that are shared."""

    def spans(self, page: TextPage, start: int = 0) -> list[Span]:
        """What these rules find in a text, from a place where the first of them may stand."""
        spans: list[Span] = []
        until = [0] * len(self.rules)
        for match in self.where.finditer(page.lower, start):
            number = (match.lastindex or 1) - 1
            lead, rule = self.rules[number]
            place = match.start() - lead
            # What stands in a value announces nothing.
            if place >= until[number]:
                for span in rule.found_at(page.text, place):
                    spans.append(span)
                    until[number] = max(until[number], span.end)
        return spans


@dataclass(frozen=True, slots=True)
class Prefilter:
    """What is asked of a text first: whether anything of these searches can stand in it at all."""

    sign: int | None
    """A rare sign that all of their literals have, as a byte, which is found fastest; None without one."""
    where: re.Pattern[bytes]
    """Finds one of their literals, if any is there."""
    lead: int
    """How many characters of a literal may stand before the place where that finds it."""
    searches: tuple[tuple[int, Search], ...]
    """Each with its place among all searches: in this order their finds count."""

    def from_place(self, place: int) -> Iterator[tuple[int, Search, int]]:
        """The searches, each with its place among all and where it may begin, once this was found."""
        start = max(0, place - self.lead)
        return ((number, search, start) for number, search in self.searches)


# A search costs as much as the characters are frequent that it begins with. These are rare ones that several
# literals have.
_SHARED: Final = tuple(rb"\u h k < p g b mn c lt fie jw 54 -".split())


def searches_for(rules: Sequence[Rule]) -> tuple[Search, ...]:
    """The rules, gathered into as few searches as is fast. Where two stand at one place, the first counts."""
    gathered: dict[bytes, list[Rule]] = {shared: [] for shared in _SHARED}
    for rule in rules:
        shared = next((each for each in _SHARED if each in rule.literal), rule.literal)
        gathered.setdefault(shared, []).append(rule)
    return tuple(_search(shared, of) for shared, of in gathered.items() if of)


def _search(shared: bytes, rules: Sequence[Rule]) -> Search:
    leads = tuple(rule.literal.index(shared) for rule in rules)
    ways = b"|".join(map(partial(_way, shared), rules))
    where = compiled(b"%b(?:%b)" % (re.escape(shared), ways), re.VERBOSE | re.DOTALL)
    return Search(shared, where, tuple(zip(leads, rules, strict=True)))


def _way(shared: bytes, rule: Rule) -> bytes:
    """How the literal of a rule goes on after what is shared; what follows it is looked at, not consumed.

    It begins with a letter where there is one, because that is asked fastest.
    """
    return b"%b(?=%b)()" % (_literal_from(shared, rule.literal), rule.then)


# Signs that most texts do not have: to look for one is far faster than any pattern.
_RARE: Final = frozenset(b"\\<@$")
# Searches for long literals that are seldom there are asked for together where all have one of these.
_TOGETHER: Final = (b"m", b"f", b":")


def prefilters_for(searches: Sequence[Search]) -> tuple[Prefilter, ...]:
    """The prefilters of these searches, in as few as is fast."""
    together: dict[bytes, list[tuple[int, Search]]] = {}
    for numbered in enumerate(searches):
        together.setdefault(_asked_by(numbered[1]), []).append(numbered)
    return tuple(_prefilter(sign, tuple(of)) for sign, of in together.items())


def _asked_by(search: Search) -> bytes:
    """What a search is asked for by: one of the shared characters, or what its own literals share."""
    literals = [rule.literal for _, rule in search.rules]
    shared = (each for each in _TOGETHER if all(each in literal for literal in literals))
    return search.shared if len(search.shared) == 1 else next(shared, search.shared)


def _prefilter(asked_by: bytes, searches: tuple[tuple[int, Search], ...]) -> Prefilter:
    sign = next((each for each in asked_by if each in _RARE), None)
    if len(searches) == 1:
        return Prefilter(sign, searches[0][1].where, 0, searches)
    literals = [rule.literal for _, search in searches for _, rule in search.rules]
    ways = b"|".join(_literal_from(asked_by, literal) for literal in literals)
    lead = max(literal.index(asked_by) for literal in literals)
    return Prefilter(sign, compiled(b"%b(?:%b)" % (re.escape(asked_by), ways)), lead, searches)


def _literal_from(shared: bytes, literal: bytes) -> bytes:
    """A literal from what is shared on; what stands before that is looked at last."""
    lead = literal.index(shared)
    before = b"(?<=%b)" % re.escape(literal) if lead else b""
    return re.escape(literal[lead + len(shared) :]) + before
