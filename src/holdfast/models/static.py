"""The static embedder: a vector for every piece of a word, and a text is the sum of its pieces.

Distilled from a sentence transformer by `scripts/distill_embeddings.py`, which says how; `minilm/NOTICE` says
from what. Nothing is computed here that a table could not hold, so a query takes microseconds.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import as_file, files
from itertools import accumulate, chain
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from holdfast.models.base import Vector

NAME = "minilm-static-192"
FOLDER = "minilm"
LONGEST_TEXT = 20_000
"""In characters. What follows would hardly turn a vector any more, and a text may have any length."""
UNLIKE = 0.2
"""Words with a cosine up to this have nothing to do with each other."""

PIECES_KNOWN = 2
"""`rollback` is two words that say what it means; what falls into more pieces is spelled, not known."""

NOTHING = (0,)
"""The place of a piece that points nowhere; it stands for words without a known piece."""

Floats: TypeAlias = NDArray[np.float32]
Pieces: TypeAlias = tuple[int, ...]


class StaticEmbedder:
    """A table of vectors, one for each piece of a vocabulary."""

    def __init__(self, vocabulary: Sequence[str], vectors: NDArray[np.int8], weights: Floats) -> None:
        """`weights` has two columns: a row's scale, and how much its piece says (little if it is common)."""
        self._wordpiece = WordPiece(vocabulary)
        self._vectors = vectors
        self._scales = np.ascontiguousarray(weights[:, 0])
        self._says = np.ascontiguousarray(weights[:, 1])

    @property
    def name(self) -> str:
        return NAME

    @property
    def dimensions(self) -> int:
        return int(self._vectors.shape[1])

    def embed(self, texts: Sequence[str]) -> list[Vector]:
        return [self._vector(text) for text in texts]

    def nearness(self, words: Sequence[str], texts: Sequence[str]) -> list[float]:
        asked = dict.fromkeys(chain.from_iterable(map(self._spoken, words)))
        query_words = [pieces for word in asked if (pieces := self._wordpiece.pieces(word))]
        if not query_words or not texts:
            return [0.0] * len(texts)
        # A word in several pieces is a rare one.
        says = np.array([self._says[one[0]] if len(one) == 1 else 1 for one in query_words], np.float32)
        best = self._best(self._directions(query_words), [self._spoken(text) for text in texts])
        return [float(one) for one in best @ (says / says.sum())]

    def knows(self, words: Sequence[str]) -> bool:
        spoken = chain.from_iterable(map(self._spoken, words))
        return any(0 < len(self._wordpiece.pieces(word)) <= PIECES_KNOWN for word in spoken)

    def _best(self, query_directions: Floats, spoken: Sequence[Sequence[str]]) -> Floats:
        """For each text and each wanted word, how like it the likest word of the text is."""
        places = {word: place for place, word in enumerate(dict.fromkeys(chain(("",), *spoken)))}
        # Not `@`: threads of a linear algebra library would take longer to wake than this takes.
        spoken_directions = self._directions([self._wordpiece.pieces(word) or NOTHING for word in places])
        likeness = np.einsum("wd,ad->wa", spoken_directions, query_directions)
        np.clip((likeness - UNLIKE) / (1 - UNLIKE), 0, 1, out=likeness)
        # Each text begins with the empty word, which is like nothing, so that none is without a word.
        own = chain.from_iterable((0, *map(places.__getitem__, words)) for words in spoken)
        starts = list(accumulate((len(words) + 1 for words in spoken), initial=0))
        similarities = likeness.take(np.fromiter(own, np.intp, starts.pop()), axis=0)
        best: Floats = np.maximum.reduceat(similarities, starts, axis=0)
        return best

    def _directions(self, words: Sequence[Pieces]) -> Floats:
        """A vector of length one for each word; of length nought for one that points nowhere."""
        starts = list(accumulate(map(len, words), initial=0))[:-1]
        rows: Floats = np.add.reduceat(self._rows(list(chain.from_iterable(words))), starts, axis=0)
        lengths: Floats = np.linalg.norm(rows, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        return rows / lengths

    def _rows(self, pieces: Sequence[int]) -> Floats:
        rows: Floats = self._vectors.take(pieces, axis=0) * self._scales.take(pieces)[:, np.newaxis]
        return rows

    def _vector(self, text: str) -> Vector:
        words = self._wordpiece.words(text[:LONGEST_TEXT])
        pieces = np.fromiter(chain.from_iterable(map(self._wordpiece.pieces, words)), np.intp)
        weights = self._scales.take(pieces) * self._says.take(pieces)
        total = weights @ self._vectors.take(pieces, axis=0)
        length = float(np.linalg.norm(total))
        return tuple(map(float, total / length)) if length else ()

    def _spoken(self, text: str) -> list[str]:
        return self._wordpiece.spoken(text[:LONGEST_TEXT])


def load() -> StaticEmbedder:
    """The embedder with the table that comes with the package; the table itself stays in its file."""
    folder = files("holdfast.models") / FOLDER
    vocabulary = (folder / "vocabulary.txt").read_text(encoding="utf-8").split("\n")
    with as_file(folder / "vectors.npy") as vectors, as_file(folder / "weights.npy") as weights:
        # What is mapped stays readable when the file's name is gone.
        mapped = np.asarray(np.load(vectors, mmap_mode="r"))
        return StaticEmbedder(vocabulary, mapped, np.load(weights))


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
