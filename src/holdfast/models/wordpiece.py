"""WordPiece: a text as words, and a word as the pieces that a vocabulary knows.

The rules are those of uncased BERT, piece by piece, but for characters that Unicode has got since. There is a
library for them; it takes five times as long for a sentence, and brings a client for a model hub along.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

LONGEST_WORD = 100
"""In characters; what is longer is no word, and unknown."""
WORDS_KEPT = 8_192
"""Words that are split once and looked up from then on: texts repeat themselves."""

_IDEOGRAPHS = (
    (0x3400, 0x4DBF),
    (0x4E00, 0x9FFF),
    (0xF900, 0xFAFF),
    (0x20000, 0x2A6DF),
    (0x2A700, 0x2B73F),
    (0x2B740, 0x2B81F),
    (0x2B820, 0x2CEAF),
    (0x2F800, 0x2FA1F),
)
_DROPPED = frozenset({"Cc", "Cf", "Co", "Cs", "Mn"})
_REPLACEMENT = "\ufffd"


class WordPiece:
    """A vocabulary, by the place of each piece in it. Pieces inside a word begin with `##`."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._places = {piece: place for place, piece in enumerate(vocabulary)}
        self._hook_events = _Payloads()
        self.pieces = lru_cache(maxsize=WORDS_KEPT)(self._split)
        """The places of a word's pieces; none if any part of it is unknown."""

    def words(self, text: str) -> list[str]:
        """The words of a text in lower case and without accents; every sign is a word of its own."""
        return unicodedata.normalize("NFD", text).translate(self._hook_events).split()

    def spoken(self, text: str) -> list[str]:
        """The same without signs."""
        if text.isascii():  # as most are, and this is several times as fast
            return text.translate(_PLAIN).split()
        return [word for word in self.words(text) if word[0].isalnum()]

    def _split(self, word: str) -> tuple[int, ...]:
        """The longest piece that the rest of the word begins with, again and again."""
        if len(word) > LONGEST_WORD:
            return ()
        found: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                place = self._places.get(prefix + word[start:end])
                if place is not None:
                    break
            else:
                return ()
            found.append(place)
            start, prefix = end, "##"
        return tuple(found)


class _Payloads(dict[int, str | None]):
    """What each character becomes, worked out when it is first met."""

    def __missing__(self, code: int) -> str | None:
        self[code] = becomes = _becomes(chr(code))
        return becomes


def _becomes(char: str) -> str | None:
    """The character in lower case, apart from others if it stands for itself; None if it is dropped."""
    if char in "\t\n\r":
        return " "
    category = unicodedata.category(char)
    if category in _DROPPED or char == _REPLACEMENT:
        return None
    if category.startswith("Z"):
        return " "
    if _stands_alone(char, category):
        return f" {char} "
    return char.lower()


def _stands_alone(char: str, category: str) -> bool:
    if category.startswith("P") or (char.isascii() and not char.isalnum()):
        return True
    return any(first <= ord(char) <= last for first, last in _IDEOGRAPHS)


def _plain(char: str) -> str | None:
    """The same, where signs are left out."""
    becomes = _becomes(char)
    return " " if becomes == f" {char} " else becomes


_PLAIN: Final = {code: _plain(chr(code)) for code in range(128)}
