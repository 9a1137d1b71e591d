"""Excerpts of search results: the sentence of a text that matches a query, and where the words stand in it.

The search itself stems words; here two words are the same if they begin alike, which is enough to mark them.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Final

from holdfast.core.text.strings import one_line, shortened

_WORD: Final = re.compile(r"\w+")
_PART: Final = re.compile(r"[^\W_]+")
"""A word, or a part of a name such as `hash_password`."""
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+|\n+")
_STEM_CHARS: Final = 4
_ENDING_CHARS: Final = 4
"""By how much two forms of one word may differ in length."""


def matching_sentence(text: str, words: Collection[str]) -> str:
    """The sentence that has most of the words, the first of several, on one line; else the first sentence."""
    sentences = [one_line(sentence) for sentence in _SENTENCE_END.split(text)]
    candidates = [sentence for sentence in sentences if _WORD.search(sentence)]
    if not candidates:
        return one_line(text)
    return max(candidates, key=lambda sentence: _matches(sentence, words))


def excerpt(sentence: str, words: Collection[str], limit: int) -> str:
    """A sentence, or the part of it around its first matching word, in at most so many characters."""
    if len(sentence) <= limit:
        return sentence
    spans = matching_spans(sentence, words)
    start = spans[0][0] if spans else 0
    if start < limit // 2:
        return shortened(sentence, limit)
    begin = sentence.rfind(" ", 0, start - limit // 4) + 1
    return "…" + shortened(sentence[begin:], limit - 1)


def matching_spans(text: str, words: Collection[str]) -> list[tuple[int, int]]:
    """Where the words stand in a text, in any of their forms."""
    folded = {word.casefold() for word in words}
    spans = list[tuple[int, int]]()
    for match in _WORD.finditer(text):
        if _is_one_of(match[0].casefold(), folded):
            spans.append(match.span())
        elif "_" in match[0]:
            parts = _PART.finditer(text, *match.span())
            spans += [part.span() for part in parts if _is_one_of(part[0].casefold(), folded)]
    return spans


def _matches(sentence: str, words: Collection[str]) -> int:
    """How many of the words a sentence has; a word as it is counts more than one that begins alike."""
    spoken = {word.casefold() for each in (_WORD, _PART) for word in each.findall(sentence)}
    folded = [word.casefold() for word in words]
    return sum(2 if word in spoken else _is_one_of(word, spoken) for word in folded)


def _is_one_of(word: str, others: Collection[str]) -> bool:
    return word in others or any(_are_alike(word, other) for other in others)


def _are_alike(one: str, other: str) -> bool:
    """Whether two words are forms of one word, as far as their beginnings show."""
    least = min(len(one), len(other))
    stem = max(_STEM_CHARS, least - 2)
    return least >= _STEM_CHARS and abs(len(one) - len(other)) <= _ENDING_CHARS and one[:stem] == other[:stem]
