"""Page: one text in the spellings that the rules read it in, what a rule is, and how rules are looked for.

Nothing is decided here about secrets. Most texts hold none, so all that counts here is to learn this fast:
the literals that rules begin with are found in few searches, and nothing more is asked where none stands.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Final

from holdfast.core.patterns import compiled
from holdfast.core.redact_spans import Span
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """A text; the same with one byte for each character, so that places are the same; that in lower case.

    What is not ASCII is a question mark in the flat spellings.
    """

    text: str
    flat: bytes
    lower: bytes


def page_of(text: str) -> Page:
    """The text as the rules read it."""
    flat = text.encode() if text.isascii() else text.encode("ascii", "replace")
    return Page(text, flat, flat.lower())


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

    where: re.Pattern[bytes]
    rules: tuple[tuple[int, Rule], ...]
    """Each with how many characters its literal has before those that are shared."""

    def spans(self, page: Page, start: int = 0) -> list[Span]:
        """What these rules find in a text, from a place where the first of them may stand."""
        spans: list[Span] = []
        until = [0] * len(self.rules)
        for found in self.where.finditer(page.lower, start):
            number = (found.lastindex or 1) - 1
            lead, rule = self.rules[number]
            place = found.start() - lead
            # What stands in a value announces nothing.
            if place >= until[number]:
                for span in rule.found_at(page.text, place):
                    spans.append(span)
                    until[number] = max(until[number], span.end)
        return spans


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
    ways = b"|".join(map(partial(_way, shared), rules, leads))
    where = compiled(b"%b(?:%b)" % (re.escape(shared), ways), re.VERBOSE | re.DOTALL)
    return Search(where, tuple(zip(leads, rules, strict=True)))


def _way(shared: bytes, rule: Rule, lead: int) -> bytes:
    """How the literal of a rule goes on after what is shared; what follows it is looked at, not consumed.

    It begins with a letter where there is one, because that is asked fastest.
    """
    rest = re.escape(rule.literal[lead + len(shared) :])
    before = b"(?<=%b)" % re.escape(rule.literal) if lead else b""
    return b"%b%b(?=%b)()" % (rest, before, rule.then)
