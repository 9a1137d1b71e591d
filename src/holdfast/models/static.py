"""The static embedder: a vector for every piece of a word, and a text is the sum of its pieces.

Distilled from a sentence transformer by `scripts/distill_embeddings.py`, which says how; `minilm/NOTICE` says
from what. Nothing is computed here that a table could not hold, so a query takes microseconds.
"""

from __future__ import annotations

import mmap
import struct
import sys
import unicodedata
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import chain
from math import sqrt
from operator import mul
from pathlib import Path
from typing import Any, Final, TypeAlias, cast

import simsimd

from holdfast.models.base import Vector

_NATIVE: Final[Any] = simsimd
"""Its types name numpy's arrays, and numpy need not be installed."""
NAME = "minilm-static-192"
FOLDER = "minilm"
LONGEST_TEXT = 20_000
"""In characters. What follows would hardly turn a vector any more, and a text may have any length."""
UNLIKE = 0.2
"""Words with a cosine up to this have nothing to do with each other."""

PIECES_KNOWN = 2
"""`rollback` is two words that say what it means; what falls into more pieces is spelled, not known."""

ROWS_KEPT = 1_024
"""Rows of the table that are ready to be added; common pieces are in every text."""

Pieces: TypeAlias = tuple[int, ...]


class StaticEmbedder:
    """A table of vectors, one for each piece of a vocabulary."""

    def __init__(self, vocabulary: Sequence[str], vectors: memoryview, weights: array[float]) -> None:
        """`vectors` has a row of bytes with a sign for each piece.

        `weights` has two numbers for each: its row's scale, and how much it says (little if it is common).
        """
        self._wordpiece = WordPiece(vocabulary)
        self._vectors = vectors
        self._size = len(vectors) // len(vocabulary)
        self._scales = weights[0::2]
        self._says = weights[1::2]
        self._floats = lru_cache(maxsize=ROWS_KEPT)(self._in_floats)

    @property
    def name(self) -> str:
        return NAME

    @property
    def dimensions(self) -> int:
        return self._size

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def nearness(self, words: Sequence[str], texts: Sequence[str]) -> list[float]:
        asked = dict.fromkeys(chain.from_iterable(map(self._spoken, words)))
        query_words = [pieces for word in asked if (pieces := self._wordpiece.pieces(word))]
        if not query_words or not texts:
            return [0.0] * len(texts)
        # A word in several pieces is a rare one.
        says = [self._says[one[0]] if len(one) == 1 else 1.0 for one in query_words]
        near = [0.0] * len(texts)
        spoken = [set(self._spoken(text)) for text in texts]
        for weight, best in zip(says, self._best(query_words, spoken), strict=True):
            near = [sum_ + weight * one for sum_, one in zip(near, best, strict=True)]
        return [one / sum(says) for one in near]

    def knows(self, words: Sequence[str]) -> bool:
        spoken = chain.from_iterable(map(self._spoken, words))
        return any(0 < len(self._wordpiece.pieces(word)) <= PIECES_KNOWN for word in spoken)

    def _best(self, query_words: Sequence[Pieces], spoken: Sequence[set[str]]) -> list[list[float]]:
        """For each query word and each text, how like it the likest word of the text is."""
        known = {
            word: pieces for word in set[str]().union(*spoken) if (pieces := self._wordpiece.pieces(word))
        }
        if not known:
            return [[0.0] * len(spoken) for _ in query_words]
        best: list[list[float]] = []
        for distances in self._distances(query_words, [*known.values()]):
            # Few words are like another one, so that what is left is little.
            like = {word: 1.0 - far for word, far in zip(known, distances, strict=True) if far < 1 - UNLIKE}
            among = like.keys()
            best.append([_likeness(max(map(like.__getitem__, among & text), default=0.0)) for text in spoken])
        return best

    def _distances(self, some: Sequence[Pieces], others: Sequence[Pieces]) -> list[list[float]]:
        """How far each word is from each of the others: one less the cosine."""
        distances: Any = _NATIVE.cdist(self._rows(some), self._rows(others), "cosine")
        return cast("list[list[float]]", memoryview(distances).tolist())

    def _rows(self, words: Sequence[Pieces]) -> memoryview:
        """A row for each word, one after the other."""
        rows = b"".join(self._row(word[0]) if len(word) == 1 else self._mean(word) for word in words)
        return memoryview(rows).cast("b", (len(words), self._size))

    def _mean(self, pieces: Pieces) -> bytes:
        """The mean of the pieces' rows, each times its scale, in bytes again."""
        mean, scale = memoryview(self._row(pieces[0])).cast("b"), self._scales[pieces[0]]
        for piece in pieces[1:]:
            row, more = memoryview(self._row(piece)).cast("b"), self._scales[piece]
            total = scale + more
            both: Any = _NATIVE.wsum(mean, row, alpha=scale / total, beta=more / total)
            mean, scale = memoryview(both), total
        return mean.tobytes()

    def _vector(self, text: str) -> Vector:
        words = self._wordpiece.words(text[:LONGEST_TEXT])
        counts = Counter(chain.from_iterable(map(self._wordpiece.pieces, words)))
        scales, says = self._scales, self._says
        total = self._sum({piece: count * scales[piece] * says[piece] for piece, count in counts.items()})
        length = sqrt(sum(map(mul, total, total)))
        return tuple(one / length for one in total) if length else ()

    def _sum(self, weights: Mapping[int, float]) -> list[float]:
        """The sum of the rows, each times its weight."""
        total: Any = array("f", [0.0]) * self._size
        for piece, weight in weights.items():
            row: Any = self._floats(piece)
            total = _NATIVE.wsum(total, row, alpha=1.0, beta=weight)
        return cast("list[float]", memoryview(total).tolist())

    def _in_floats(self, piece: int) -> array[float]:
        return array("f", memoryview(self._row(piece)).cast("b"))

    def _row(self, piece: int) -> bytes:
        return bytes(self._vectors[piece * self._size : (piece + 1) * self._size])

    def _spoken(self, text: str) -> list[str]:
        return self._wordpiece.spoken(text[:LONGEST_TEXT])


def _likeness(cosine: float) -> float:
    return min(max((cosine - UNLIKE) / (1 - UNLIKE), 0.0), 1.0)


def load() -> StaticEmbedder:
    """The embedder with the table that comes with the package; the table itself stays in its file."""
    folder = Path(__file__).with_name(FOLDER)
    vocabulary = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    numbers = array("f", _content(folder / "weights.npy").tobytes())
    if sys.byteorder == "big":
        numbers.byteswap()
    return StaticEmbedder(vocabulary, _content(folder / "vectors.npy"), numbers)


def _content(path: Path) -> memoryview:
    """The numbers in a file of numpy's, which a short header precedes; they stay in the file."""
    with path.open("rb") as file:
        # What is mapped stays readable when the file's name is gone.
        mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    (header_bytes,) = struct.unpack_from("<H", mapped, NPY_HEADER)
    return mapped[NPY_HEADER + 2 + header_bytes :]


NPY_HEADER: Final = 8
"""Where a file of numpy's says how long its header is."""
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
        pieces: list[int] = []
        start, prefix = 0, ""
        while start < len(word):
            for end in range(len(word), start, -1):
                place = self._places.get(prefix + word[start:end])
                if place is not None:
                    break
            else:
                return ()
            pieces.append(place)
            start, prefix = end, "##"
        return tuple(pieces)


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
