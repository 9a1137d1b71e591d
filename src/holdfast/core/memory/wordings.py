"""Wordings: recognise a forgotten memory by keyed hashes of its words, and take it out of a text.

A wording is known by its words alone: neither case, white space and punctuation nor the escapes of JSON hide
it. Its words are hashed in blocks, so that a copy that was cut (at the edge of a text, or before an ellipsis)
is recognised too. Nothing of the text itself is kept. Which wordings are forgotten is not known here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Final, NamedTuple

from holdfast.core.text.defang import printable
from holdfast.lazy_dataclass import dataclass

FORGOTTEN: Final = "[forgotten]"
"""What stands where a forgotten wording stood."""
BLOCK: Final = 5
"""So many words are hashed together: few enough for a line that was cut, too many to be guessed."""
HASH_BYTES: Final = 8
WORD_BYTES: Final = 4
SIGN_BYTES: Final = 2
FEWEST_LETTERS: Final = 12
FEWEST_WORDS: Final = 3
ENOUGH_LETTERS: Final = 16
"""Shorter wordings could be anyone's words. They are recognised only where they stand alone."""
LETTERS_PER_IDEOGRAPH: Final = 3
WORDS_KNOWN: Final = 1 << 16

_IDEOGRAPHS: Final = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\U00020000-\U0003ffff"
_WORD: Final = re.compile(rf"\[REDACTED[^\[\]\n]{{0,80}}\]|[{_IDEOGRAPHS}]|[^\W_{_IDEOGRAPHS}]+")
_IDEOGRAPH: Final = re.compile(f"[{_IDEOGRAPHS}]")
_REDACTED: Final = "[REDACTED"
_ESCAPE: Final = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPED_BLANKS: Final = "nrtbf"
_NESTED: Final = 2
"""A call's arguments are JSON in a string of JSON: the escapes are themselves escaped."""
_ELLIPSIS: Final = re.compile(r"[\s\W]{0,3}?(?:…|\.\.\.)")
_REMEMBERED: Final = re.compile(r"^(Remembered: )(.*)$", re.MULTILINE)
_QUERIES: Final = re.compile(r"^(Queries: )(.*)$", re.MULTILINE)
_LIST_BREAK: Final = "; "


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """One wording: how many words it has, and the hash of each block of them, the last one ending with it."""

    words: int
    blocks: tuple[bytes, ...]
    alone: bool
    """Too short to be looked for inside other texts."""


def fingerprints(text: str, key: bytes) -> tuple[Fingerprint, ...]:
    """How a wording is recognised later; a second one where part of the text is not visible."""
    return _fingerprints(text, _WordHashes(key))


def _fingerprints(text: str, hashes: _WordHashes) -> tuple[Fingerprint, ...]:
    return tuple(dict.fromkeys(_fingerprint(each, hashes) for each in dict.fromkeys((text, printable(text)))))


class Wordings:
    """Forgotten wordings, and what a text is without them."""

    def __init__(self, key: bytes, forgotten: Iterable[Fingerprint]) -> None:
        self._hashes = _WordHashes(key)
        self._all = frozenset(forgotten)
        self._blocks = defaultdict[bytes, list[tuple[Fingerprint, int]]](list)
        for each in self._all:
            if not each.alone:
                for number, block in enumerate(each.blocks):
                    self._blocks[block].append((each, number))
        self._sizes = sorted({min(each.words, BLOCK) for each in self._all if not each.alone})
        signs = [
            (int.from_bytes(block[:SIGN_BYTES]), found[0][0].words) for block, found in self._blocks.items()
        ]
        self._signs = frozenset(sign for sign, words in signs if words > 1)
        self._signs_alone = frozenset(sign for sign, words in signs if words == 1)

    def __bool__(self) -> bool:
        return bool(self._all)

    def is_one(self, text: str) -> bool:
        """Whether the whole text is a forgotten wording, however short."""
        return bool(self._all) and any(each in self._all for each in _fingerprints(text, self._hashes))

    def removed(self, text: str) -> str:
        """The text with a mark in place of each forgotten wording, also of one that an ellipsis cuts off."""
        return self._removed(text, at_edges=False) if self._blocks else text

    def removed_from_passage(self, text: str) -> str:
        """The same for a part of a longer text: a wording may begin before it, or go on behind it."""
        return self._removed(text, at_edges=True) if self._blocks else text

    def removed_across(self, parts: Sequence[str]) -> list[str]:
        """The parts of one text, each without the wordings, also one that goes on in the next part."""
        for view in _views("".join(parts)) if self._blocks else ():
            spans = _joined(self._spans(view, at_edges=False))
            if spans:
                inside = [view.in_text(start, end) for start, end in spans]
                return self.removed_across(_marked_parts(parts, inside))
        return list(parts)

    def removed_from_digest(self, text: str) -> str:
        """The same, and what a digest lists as remembered is no forgotten wording, however short."""
        if not self._all:
            return text
        text = _QUERIES.sub(self._without_queries, text)
        return self.removed(_REMEMBERED.sub(self._without_items, text))

    def removed_from_query(self, text: str) -> str:
        """The same for words to look for, of which a prompt leaves only the first."""
        return FORGOTTEN if self.is_one(text) else self.removed_from_passage(text)

    def _without_queries(self, found: re.Match[str]) -> str:
        return found[1] + _LIST_BREAK.join(map(self.removed_from_query, found[2].split(_LIST_BREAK)))

    def _without_items(self, found: re.Match[str]) -> str:
        items = found[2].split(_LIST_BREAK)
        left = [item for item in items if not self.is_one(item)]
        return found[0] if len(left) == len(items) else found[1] + _LIST_BREAK.join(left or [FORGOTTEN])

    def _removed(self, text: str, *, at_edges: bool) -> str:
        for view in _views(text):
            spans = _joined(self._spans(view, at_edges=at_edges))
            if spans:
                marked = _marked(text, [view.in_text(start, end) for start, end in spans])
                return self._removed(marked, at_edges=at_edges)
        return text

    def _spans(self, view: _View, *, at_edges: bool) -> list[tuple[int, int]]:
        """Which characters of a view are a forgotten wording, or a piece of one."""
        hits = list(self._hits(_WORD.findall(view.text)))
        if not hits:
            return []  # as in most texts
        alignments = defaultdict[tuple[Fingerprint, int], set[int]](set)
        for place, wording, number in hits:
            alignments[wording, place - _offset(wording, number)].add(number)
        matches = list(_WORD.finditer(view.text))
        spans: list[tuple[int, int]] = []
        for (wording, start), numbers in alignments.items():
            found = _Found(wording, start, min(numbers), max(numbers), whole_run=_is_run(numbers))
            covered = _covered(view.text, matches, found, at_edges=at_edges)
            if covered is not None:
                spans.append((matches[covered[0]].start(), matches[covered[1]].end()))
        return spans

    def _hits(self, words: Sequence[str]) -> Iterator[tuple[int, Fingerprint, int]]:
        """Where a block of a forgotten wording stands among the words."""
        hashes = [self._hashes[word] for word in words]
        signs, alone = self._signs, self._signs_alone
        # Written out: this is asked of every word that is read.
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
    """A text as it reads, and for each of its characters where that stands in the text itself."""

    text: str
    places: Sequence[int]

    def in_text(self, start: int, end: int) -> tuple[int, int]:
        return self.places[start], self.places[end]


def _views(text: str) -> Iterator[_View]:
    """The text as it stands and, where it has escapes, as JSON would read it, and once more."""
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


class _Found(NamedTuple):
    """What was found of a wording: its blocks from the first to the last, in a row or not.

    `start` is where the wording begins, or would begin: before the text, if its beginning was cut off.
    """

    wording: Fingerprint
    start: int
    first: int
    last: int
    whole_run: bool


def _covered(
    text: str, matches: Sequence[re.Match[str]], found: _Found, *, at_edges: bool
) -> tuple[int, int] | None:
    """The first and the last word of what stands of a wording; None for words that are shared by chance."""
    wording, start = found.wording, found.start
    if not found.whole_run:
        return None
    begin = start + _offset(wording, found.first)
    behind = start + _offset(wording, found.last) + min(wording.words, BLOCK)
    if found.first > 0:
        if not (at_edges and start < 0 and begin < BLOCK):
            return None
        begin = 0  # Before the edge stood the rest of a block.
    if found.last < len(wording.blocks) - 1:
        cut = _ellipsis_after(text, matches, behind)
        if cut is not None:
            behind = cut
        elif at_edges and start + wording.words > len(matches) and len(matches) - behind < BLOCK:
            behind = len(matches)
        else:
            return None
    return begin, behind - 1


def _ellipsis_after(text: str, matches: Sequence[re.Match[str]], behind: int) -> int | None:
    """Behind how many words, fewer than a block or one that was itself cut, an ellipsis stands."""
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
    """The parts of a text, with a mark in each that holds some of a span."""
    marked: list[str] = []
    begin = 0
    for part in parts:
        end = begin + len(part)
        inside = [(max(one, begin) - begin, min(other, end) - begin) for one, other in spans]
        marked.append(_marked(part, [(one, other) for one, other in inside if one < other]))
        begin = end
    return marked


def _fingerprint(text: str, hashes: _WordHashes) -> Fingerprint:
    words = _WORD.findall(text) or [" ".join(text.split())]
    hook_events = sum(LETTERS_PER_IDEOGRAPH if _IDEOGRAPH.match(word) else len(word) for word in words)
    long = hook_events >= ENOUGH_LETTERS or (hook_events >= FEWEST_LETTERS and len(words) >= FEWEST_WORDS)
    size = min(len(words), BLOCK)
    starts = [*range(0, len(words) - size, BLOCK), len(words) - size]
    blocks = tuple(hashes.block(words[start : start + size]) for start in starts)
    return Fingerprint(len(words), blocks, alone=not long or not _WORD.search(text))


def _offset(wording: Fingerprint, number: int) -> int:
    """Which of a wording's words a block begins with."""
    return min(number * BLOCK, wording.words - min(wording.words, BLOCK))


class _WordHashes(dict[str, int]):
    """The hashes of words under one key, each made once."""

    def __init__(self, key: bytes) -> None:
        super().__init__()
        self._key = key

    def __missing__(self, word: str) -> int:
        if len(self) >= WORDS_KNOWN:
            self.clear()
        # Marks of redacted values are alike: their tags differ from session to session.
        plain = _REDACTED if word.startswith(_REDACTED) else word.casefold()
        self[word] = int.from_bytes(self._hash(plain.encode("utf-8", "replace"))[:WORD_BYTES])
        return self[word]

    def block(self, words: Sequence[str]) -> bytes:
        """Before the hash stand two bytes by which the few places worth hashing are found."""
        hashes = [self[word] for word in words]
        sign = _sign(*hashes[:2]) if len(hashes) > 1 else _sign(hashes[0], 0)
        return sign.to_bytes(SIGN_BYTES) + self._hash(b"".join(each.to_bytes(WORD_BYTES) for each in hashes))

    def _hash(self, raw: bytes) -> bytes:
        return blake2b(raw, key=self._key, digest_size=HASH_BYTES).digest()


def _sign(word: int, following: int) -> int:
    """Two bytes made of two words, of which they tell next to nothing."""
    return (word ^ following * 3) & 0xFFFF


NO_WORDINGS: Final = Wordings(b"", ())
