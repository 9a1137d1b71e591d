"""Questions about the recorded work, answered from a text alone: what an agent with only this text believes.

An answer is looked up, not known: it is the lines below certain headings of a brief, or the sentences of a
text without headings that have certain words. Patterns then tell whether it is right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Final

from holdfast.lazy_dataclass import dataclass

_HEADING: Final = re.compile(r"^### (.+)$", re.MULTILINE)
_SENTENCE_GAP: Final = re.compile(r"(?<=[.!?])\s+")


class Rightness(StrEnum):
    """What an answer is worth."""

    RIGHT = "right"
    PARTLY = "in part"
    WRONG = "wrong"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """Something that the next step depends on."""

    text: str
    below: tuple[str, ...]
    """The headings of a brief that answer it."""
    words: tuple[str, ...]
    """The words by which it is looked up in a text without headings."""
    right: tuple[str, ...]
    """A right answer matches each of these patterns,"""
    wrong: tuple[str, ...]
    """and none of these."""


@dataclass(frozen=True, slots=True)
class Belief:
    """The answer that a text leads to; empty if the text says nothing about the question."""

    answer: str
    verdict: Rightness


def belief(question: DemoQuestion, text: str) -> Belief:
    """What someone who has only this text answers."""
    look_up = _lines_below if _HEADING.search(text) else _sentences_with
    lines = list(look_up(question, text))
    telling = [line for line in lines if any(_is_in(sign, line) for sign in question.right + question.wrong)]
    return Belief(" / ".join(telling or lines), _verdict(question, "\n".join(lines)))


def _verdict(question: DemoQuestion, answer: str) -> Rightness:
    if any(_is_in(sign, answer) for sign in question.wrong):
        return Rightness.WRONG
    matched = [_is_in(sign, answer) for sign in question.right]
    if all(matched):
        return Rightness.RIGHT
    return Rightness.PARTLY if any(matched) else Rightness.UNKNOWN


def _lines_below(question: DemoQuestion, text: str) -> Iterator[str]:
    heading = ""
    for line in text.splitlines():
        title = _HEADING.match(line)
        if title:
            heading = title[1]
        elif heading in question.below and line.startswith("- "):
            yield line.removeprefix("- ")


def _sentences_with(question: DemoQuestion, text: str) -> Iterator[str]:
    for sentence in _SENTENCE_GAP.split(text):
        if any(word in sentence.casefold() for word in question.words):
            yield " ".join(sentence.split())


def _is_in(sign: str, text: str) -> bool:
    return re.search(sign, text, re.IGNORECASE) is not None
