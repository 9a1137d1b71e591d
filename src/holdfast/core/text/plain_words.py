"""Plain words: how much of a text reads as prose, and how much as names, paths and options."""

from __future__ import annotations

from typing import Final

from holdfast.core.text.patterns import compiled

_PLAIN: Final = compiled(r"[A-Za-z]?[a-z]+(?:['’-][a-z]+)*|[AI]|[^\W\d_a-zA-Z]+")


def plain_share(text: str) -> float:
    """The share of words in a text that are plain, not names, paths or options.

    Everything between spaces counts as a word, also a list marker: leaving these out would raise the share.
    """
    words = [word for line in text_lines(text) for word in line.split()]
    return sum(map(is_plain, words)) / len(words) if words else 0.0


def text_lines(text: str) -> list[str]:
    """The lines of a text without its headings and its fence."""
    lines = (line.strip() for line in text.splitlines() if not line.startswith("<"))
    return [line for line in lines if line and not line.startswith("#")]


def is_plain(word: str) -> bool:
    """Whether a word is of everyday language."""
    return bool(_PLAIN.fullmatch(word.strip('.,:;!?()[]“”"*—–-…')))
