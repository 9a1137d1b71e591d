"""Compare statements by their words: whether two say the same, and whether one reports another as done.

A `StatementWords` is made once for each statement, because every statement is compared with many others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import content_words

DONE_SHARE: Final = 0.6
"""How many of a step's words a report must contain."""
FEWEST_SHARED: Final = 2
"""One common word shows nothing: every second sentence is about the tests."""
MOST_ADDED: Final = 2
"""A text that has more than so many times the words of another says something else."""

_TOKEN: Final = re.compile(r"\w+")
_NEGATION: Final = compiled(
    r"\b(?:not|no|never|none|without|avoid|cannot|\w+n['’]t)\b|不|没|勿|禁止|避免", re.IGNORECASE
)
_ENDING: Final = compiled(r"(?:ing|ed|es|s|e|d)$")
_SHORTEST_STEM: Final = 3


class StatementWords(NamedTuple):
    """The words of a statement, as far as they are compared."""

    tokens: tuple[str, ...]
    words: frozenset[str]
    """Its content words without their endings; names as they are."""
    names: frozenset[str]
    """Those with digits or signs in them: files, identifiers, tickets, numbers."""
    negations: int


def wording_of(text: str) -> StatementWords:
    """The words of a text."""
    words = content_words(text)
    return StatementWords(
        tuple(_TOKEN.findall(text.casefold())),
        frozenset(map(_stem, words)),
        frozenset(word for word in words if not word.isalpha()),
        len(_NEGATION.findall(text)),
    )


def says_the_same(text: StatementWords, other: StatementWords) -> bool:
    """Whether a text says all that another one says, and little else."""
    has_same_words = bool(text.words) and text.words == other.words
    return text.negations == other.negations and (has_same_words or _contains(text, other))


def is_reported_done(step: StatementWords, reports: Iterable[StatementWords]) -> bool:
    """Whether one of these reports of finished work has most words of a step, and every name in it."""
    if not step.words:
        return False
    enough = max(min(FEWEST_SHARED, len(step.words)), DONE_SHARE * len(step.words))
    return any(step.names <= report.names and len(step.words & report.words) >= enough for report in reports)


def _contains(text: StatementWords, other: StatementWords) -> bool:
    if not len(other.tokens) <= len(text.tokens) <= MOST_ADDED * len(other.tokens):
        return False
    return f" {' '.join(other.tokens)} " in f" {' '.join(text.tokens)} "


def _stem(word: str) -> str:
    """A word without its ending: `ports`, `ported` and `porting` become `port`."""
    stem = _ENDING.sub("", word) if word.isalpha() else word
    if stem == word or len(stem) < _SHORTEST_STEM:
        return word
    # `planned` and `planning` as `plan`.
    return stem[:-1] if len(stem) > _SHORTEST_STEM and stem[-1] == stem[-2] else stem
