"""Wordings: recognise a forgotten memory by keyed hashes of its words, and remove it from a text.

Only the words count: case, white space, punctuation and JSON escapes are ignored. The words are hashed in
blocks, so that a copy that was cut (at the edge of a text, or before an ellipsis) is recognised too. The text
itself is not stored. The caller passes in the fingerprints of what was forgotten.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Final, NamedTuple

from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.untrusted import printable
from holdfast.lazy_dataclass import dataclass

FORGOTTEN: Final = "[forgotten]"
"""What replaces a forgotten wording."""
BLOCK: Final = 5
"""How many words are hashed together: few enough for a line that was cut, too many to be guessed."""
HASH_BYTES: Final = 8
WORD_BYTES: Final = 4
SIGN_BYTES: Final = 2
FEWEST_LETTERS: Final = 12
FEWEST_WORDS: Final = 3
ENOUGH_LETTERS: Final = 16
"""Shorter wordings are too common; they are recognised only where they are the whole text."""
LETTERS_PER_IDEOGRAPH: Final = 3
WORDS_KNOWN: Final = 1 << 16

_IDEOGRAPHS: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_WORD: Final = compiled(rf"\[REDACTED[^\[\]\n]{{0,80}}\]|[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+")
_IDEOGRAPH: Final = compiled(f"[{_IDEOGRAPHS}]")
_REDACTED: Final = "[REDACTED"
_ESCAPE: Final = compiled(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED_BLANKS: Final = "nrtbf"
_NESTED: Final = 2
"""A call's arguments are JSON inside a JSON string, so that escapes are themselves escaped."""
_ELLIPSIS: Final = compiled(r"[\s\W]{0,3}?(?:…|\.\.\.)")
_REMEMBERED: Final = compiled(r"^(Remembered: )(.*)$", re.MULTILINE)
_QUERIES: Final = compiled(r"^(Queries: )(.*)$", re.MULTILINE)
_LIST_BREAK: Final = "; "


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One wording: its number of words, and the hash of each block of words; the last block ends with it."""

    words: int
    blocks: tuple[bytes, ...]
    alone: bool
    """Whether it is too short to be searched for inside other texts."""


def fingerprints(text: str, key: bytes) -> tuple[Fingerprint, ...]:
    """The fingerprint of a wording; a second one if the text contains invisible characters."""
    return _fingerprints(text, _WordHashes(key))


def _fingerprints(text: str, hashes: _WordHashes) -> tuple[Fingerprint, ...]:
    return tuple(
        dict.fromkeys(_fingerprint(wording, hashes) for wording in dict.fromkeys((text, printable(text))))
    )


def is_mark_alone(text: str) -> bool:
    """Whether nothing but marks and punctuation is left of a text."""
    return FORGOTTEN in text and not _WORD.search(text.replace(FORGOTTEN, ""))


class Wordings:
    """Forgotten wordings, and how to remove them from texts."""

    def __init__(self, key: bytes, forgotten: Iterable[Fingerprint]) -> None:
        self._hashes = _WordHashes(key)
        self._all = frozenset(forgotten)
        self._blocks = defaultdict[bytes, list[tuple[Fingerprint, int]]](list)
        for wording in self._all:
            if not wording.alone:
                for number, block in enumerate(wording.blocks):
                    self._blocks[block].append((wording, number))
        self._sizes = sorted({min(wording.words, BLOCK) for wording in self._all if not wording.alone})
        signs = [
            (int.from_bytes(block[:SIGN_BYTES]), places[0][0].words) for block, places in self._blocks.items()
        ]
        self._signs = frozenset(sign for sign, words in signs if words > 1)
        self._signs_alone = frozenset(sign for sign, words in signs if words == 1)

    def __bool__(self) -> bool:
        return bool(self._all)

    def is_one(self, text: str) -> bool:
        """Whether the whole text is a forgotten wording, however short."""
        return bool(self._all) and any(each in self._all for each in _fingerprints(text, self._hashes))

    def removed(self, text: str) -> str:
        """The text with a mark in place of each forgotten wording, also one that an ellipsis cuts off."""
        return self._removed(text, at_edges=False) if self._blocks else text

    def removed_from_passage(self, text: str) -> str:
        """The same for a part of a longer text: a wording may begin before it, or continue after it."""
        return self._removed(text, at_edges=True) if self._blocks else text

    def removed_across(self, parts: Sequence[str]) -> list[str]:
        """The parts of one text, each without the wordings, also one that continues in the next part."""
        for view in _views("".join(parts)) if self._blocks else ():
            spans = _joined(self._spans(view, at_edges=False))
            if spans:
                inside = [view.in_text(start, end) for start, end in spans]
                return self.removed_across(_marked_parts(parts, inside))
        return list(parts)

    def removed_from_digest(self, text: str) -> str:
        """The same for a digest, whose lists of memories and queries lose even short forgotten wordings."""
        if not self._all:
            return text
        text = _QUERIES.sub(self._without_queries, text)
        return self.removed(_REMEMBERED.sub(self._without_items, text))

    def removed_from_query(self, text: str) -> str:
        """The same for a search query, which may contain only the first words of a wording."""
        return FORGOTTEN if self.is_one(text) else self.removed_from_passage(text)

    def _without_queries(self, line: re.Match[str]) -> str:
        return line[1] + _LIST_BREAK.join(map(self.removed_from_query, line[2].split(_LIST_BREAK)))

    def _without_items(self, line: re.Match[str]) -> str:
        items = line[2].split(_LIST_BREAK)
        left = [item for item in items if not self.is_one(item)]
        return line[0] if len(left) == len(items) else line[1] + _LIST_BREAK.join(left or [FORGOTTEN])

    def _removed(self, text: str, *, at_edges: bool) -> str:
        for view in _views(text):
            spans = _joined(self._spans(view, at_edges=at_edges))
            if spans:
                marked = _marked(text, [view.in_text(start, end) for start, end in spans])
                return self._removed(marked, at_edges=at_edges)
        return text

    def _spans(self, view: _View, *, at_edges: bool) -> list[tuple[int, int]]:
        """The spans of a view that are a forgotten wording, or a piece of one."""
        hits = list(self._hits(_WORD.findall(view.text)))
        if not hits:
            return []  # as in most texts
        alignments = defaultdict[tuple[Fingerprint, int], set[int]](set)
        for place, wording, number in hits:
            alignments[wording, place - _offset(wording, number)].add(number)
        matches = list(_WORD.finditer(view.text))
        spans: list[tuple[int, int]] = []
        for (wording, start), numbers in alignments.items():
            match = _PartialMatch(wording, start, min(numbers), max(numbers), whole_run=_is_run(numbers))
            covered = _covered(view.text, matches, match, at_edges=at_edges)
            if covered is not None:
                spans.append((matches[covered[0]].start(), matches[covered[1]].end()))
        return spans

    def _hits(self, words: Sequence[str]) -> Iterator[tuple[int, Fingerprint, int]]:
        """The places where a block of a forgotten wording begins among the words."""
        hashes = [self._hashes[word] for word in words]
        signs, alone = self._signs, self._signs_alone
        # Inlined for speed: this runs for every word.
        places = [
            place
            for place, (word, after) in enumerate(pairwise([*hashes, 0]))
            if ((word ^ after * 3) & 0xFFFF) in signs or (alone and (word & 0xFFFF) in alone)
        ]
        for place in places:
            for size in self._sizes:
                if place + size <= len(words):
                    block = self._hashes.block(words[place : place + size])
                    for wording, number in self._blocks.get(block, ()):
                        yield place, wording, number


class _View(NamedTuple):
    """An unescaped text, and for each of its characters the position in the original text."""

    text: str
    places: Sequence[int]

    def in_text(self, start: int, end: int) -> tuple[int, int]:
        return self.places[start], self.places[end]


def _views(text: str) -> Iterator[_View]:
    """The text itself and, if it has escapes, the text unescaped once and twice."""
    view = _View(text, range(len(text) + 1))
    yield view
    for _ in range(_NESTED):
        if "\\" not in view.text:
            return
        view = _unescaped(view)
        yield view


def _unescaped(view: _View) -> _View:
    parts: list[str] = []
    places: list[int] = []
    reached = 0
    for escape in _ESCAPE.finditer(view.text):
        parts.append(view.text[reached : escape.start()])
        places.extend(view.places[reached : escape.start()])
        parts.append(_meaning(escape))
        places.append(view.places[escape.start()])
        reached = escape.end()
    parts.append(view.text[reached:])
    places.extend(view.places[reached:])
    return _View("".join(parts), places)


def _meaning(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return " " if escape[2] in _ESCAPED_BLANKS else escape[2]


class _PartialMatch(NamedTuple):
    """A match of some of a wording's blocks, from the first to the last.

    `start` is the place of the wording's first word; negative if its beginning was cut off.
    """

    wording: Fingerprint
    start: int
    first: int
    last: int
    whole_run: bool


def _covered(
    text: str, matches: Sequence[re.Match[str]], match: _PartialMatch, *, at_edges: bool
) -> tuple[int, int] | None:
    """The first and last word of a wording in the text; None if the words are shared by chance."""
    wording, start = match.wording, match.start
    if not match.whole_run:
        return None
    begin = start + _offset(wording, match.first)
    behind = start + _offset(wording, match.last) + min(wording.words, BLOCK)
    if match.first > 0:
        if not (at_edges and start < 0 and begin < BLOCK):
            return None
        begin = 0  # The rest of a block was before the edge.
    if match.last < len(wording.blocks) - 1:
        cut = _ellipsis_after(text, matches, behind)
        if cut is not None:
            behind = cut
        elif at_edges and start + wording.words > len(matches) and len(matches) - behind < BLOCK:
            behind = len(matches)
        else:
            return None
    return begin, behind - 1


def _ellipsis_after(text: str, matches: Sequence[re.Match[str]], behind: int) -> int | None:
    """The number of words before an ellipsis, if one follows within a block; None if not."""
    for count in range(behind, min(behind + BLOCK, len(matches)) + 1):
        if _ELLIPSIS.match(text, matches[count - 1].end()):
            return count
    return None


def _is_run(numbers: set[int]) -> bool:
    return max(numbers) - min(numbers) == len(numbers) - 1


def _joined(spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _marked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    parts: list[str] = []
    reached = 0
    for start, end in spans:
        parts += (text[reached:start], FORGOTTEN)
        reached = end
    return "".join((*parts, text[reached:]))


def _marked_parts(parts: Sequence[str], spans: Sequence[tuple[int, int]]) -> list[str]:
    """The parts of a text, with a mark in each that contains some of a span."""
    marked: list[str] = []
    begin = 0
    for part in parts:
        end = begin + len(part)
        inside = [(max(start, begin) - begin, min(stop, end) - begin) for start, stop in spans]
        marked.append(_marked(part, [(start, stop) for start, stop in inside if start < stop]))
        begin = end
    return marked


def _fingerprint(text: str, hashes: _WordHashes) -> Fingerprint:
    words = _WORD.findall(text) or [" ".join(text.split())]
    letters = sum(LETTERS_PER_IDEOGRAPH if _IDEOGRAPH.match(word) else len(word) for word in words)
    long = letters >= ENOUGH_LETTERS or (letters >= FEWEST_LETTERS and len(words) >= FEWEST_WORDS)
    size = min(len(words), BLOCK)
    starts = [*range(0, len(words) - size, BLOCK), len(words) - size]
    blocks = tuple(hashes.block(words[start : start + size]) for start in starts)
    return Fingerprint(len(words), blocks, alone=not long or not _WORD.search(text))


def _offset(wording: Fingerprint, number: int) -> int:
    """The index of a block's first word in its wording."""
    return min(number * BLOCK, wording.words - min(wording.words, BLOCK))


class _WordHashes(dict[str, int]):
    """The hashes of words under one key, cached."""

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key = key

    def __missing__(self, word: str) -> int:
        if len(self) >= WORDS_KNOWN:
            self.clear()
        # All marks of redacted values count as the same word: their tags differ between sessions.
        plain = _REDACTED if word.startswith(_REDACTED) else word.casefold()
        self[word] = int.from_bytes(self._hash(plain.encode("utf-8", "replace"))[:WORD_BYTES])
        return self[word]

    def block(self, words: Sequence[str]) -> bytes:
        """The hash of a block, preceded by two bytes by which the few places worth hashing are found."""
        hashes = [self[word] for word in words]
        sign = _sign(*hashes[:2]) if len(hashes) > 1 else _sign(hashes[0], 0)
        return sign.to_bytes(SIGN_BYTES) + self._hash(b"".join(each.to_bytes(WORD_BYTES) for each in hashes))

    def _hash(self, raw: bytes) -> bytes:
        return blake2b(raw, key=self._key, digest_size=HASH_BYTES).digest()


def _sign(word: int, following: int) -> int:
    """Two bytes derived from two words; they reveal next to nothing about the words."""
    return (word ^ following * 3) & 0xFFFF


NO_WORDINGS: Final = Wordings(b"", ())
