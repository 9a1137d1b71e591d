"""Rank: what to look for, and which of the texts that were found comes first.

Three voices are heard: the keyword search's score, how nearly a text says the words that were asked for, and
where the text as a whole points. Each is brought to a scale of its own before they are added, so that the
score for one query can be compared with that for another. Searching is the store's work, comparing words the
embedder's. The constants were chosen by measurement; docs/decisions/0007-recall.md has the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple, TypeAlias

from holdfast.core.text.strings import query_terms
from holdfast.lazy_dataclass import dataclass

POOL: Final = 100
"""How many texts each search hands over; twice as many find nothing more."""
SEEDS: Final = 20
"""How many of these are looked at again, word by word and with their neighbours."""
WORDS_MOST: Final = 32
"""How many words a query has; whoever asks for more asks for these first."""

KEYWORDS: Final = 0.6
NEARNESS: Final = 0.2
MEANING: Final = 0.2
"""What each voice has to say in the sum."""
HALF_SURE: Final = 10.0
"""The keyword score that is half as good as any could be; by itself it has no upper end."""
NEIGHBOURS: Final = (0.3, 0.2)
"""How much a text gains from the next one on either side, and from the one after that: an answer often stands
beside the words that were asked for."""
SAME_SESSION: Final = 0.2
"""How much a text gains from the best of its session: one that is about the matter is so at length."""
NOISE: Final = 0.03
"""Below this, a text that says none of the words is there because no other was nearer."""
FADES: Final = 0.05
"""What a text loses that has no strength left. Little: among equals the newer one leads, and no more."""

_IDENTIFIER: Final = re.compile(r"[_./:#]|[a-z0-9][A-Z]")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SIGNS: Final = re.compile(r"[\W_]+")

Place: TypeAlias = tuple[str, int]


class Candidate(NamedTuple):
    """A text that a search found, or that stands beside one, and what each voice says of it.

    A query makes a hundred of them; a tuple is made in a third of a frozen dataclass's time.
    """

    id: str
    keywords: float = 0.0
    """The keyword search's score, from 0 upwards."""
    nearness: float = 0.0
    """How much of the query's words it says, in these or in like words, from 0 to 1."""
    meaning: float = 0.0
    """The cosine of its vector and the query's."""
    strength: float = 1.0
    """What age has left of it, from 0 to 1."""
    session: str = ""
    """The sequence of texts that it stands in; empty for a text that stands alone."""
    place: int = 0
    """Where in that sequence."""


class Ranked(NamedTuple):
    """A candidate and its score: 1 is all that a text could say by itself."""

    candidate: Candidate
    score: float
    worded: bool
    """Whether it, or one beside it, says any of the words."""

    @property
    def is_noise(self) -> bool:
        """Whether nothing speaks for it but that something had to be the nearest."""
        return self.score < NOISE and not self.worded


@dataclass(frozen=True, slots=True)
class Pool:
    """What two searches handed over: scores by id."""

    keywords: Mapping[str, float]
    meaning: Mapping[str, float]

    def voices(self, ids: Iterable[str]) -> list[tuple[float, float]]:
        """What the searches say of each of these texts, by its words and by its meaning."""
        keywords, meaning, beyond = self.keywords, self.meaning, self._beyond()
        return [(keywords.get(id, 0.0), meaning.get(id, beyond)) for id in ids]

    def seeds(self, count: int) -> list[str]:
        """The ids that are worth a closer look, the best first."""
        ids = list({**self.keywords, **self.meaning})
        scored = [
            (_own(keywords, 0.0, meaning), id)
            for id, (keywords, meaning) in zip(ids, self.voices(ids), strict=True)
        ]
        best = sorted((one for one in scored if one[0] > 0), key=itemgetter(0), reverse=True)
        return [id for _, id in best[:count]]

    def _beyond(self) -> float:
        """How near at most a text is that is not among the nearest."""
        return min(self.meaning.values(), default=0.0)


def query_words(text: str) -> tuple[str, ...]:
    """The words to look for: none that says nothing, and identifiers and paths both whole and in parts."""
    found = query_terms(text, WORDS_MOST).split()
    whole = (word for word in found if _IDENTIFIER.search(word) or not _SIGNS.search(word))
    parts = chain.from_iterable(map(_parts, found))
    return tuple(query_terms(" ".join(chain(whole, parts)), WORDS_MOST).split())


def _parts(word: str) -> Iterator[str]:
    """`parse_hook`, `parseHook` and `parse/hook.py` in pieces."""
    for plain in _SIGNS.split(word):
        yield from (part for part in _CAMEL.split(plain) if len(part) > 1)


def ranked(candidates: Iterable[Candidate]) -> list[Ranked]:
    """The candidates with any score at all, the best first; equals in the order in which they came."""
    candidates = tuple(candidates)
    placed = {(one.session, one.place): one for one in candidates if one.session}
    hook_event = [_heard(one, placed) if one.session else (one.keywords, one.nearness) for one in candidates]
    own = [
        _own(keywords, nearness, one.meaning)
        for one, (keywords, nearness) in zip(candidates, hook_event, strict=True)
    ]
    best: dict[str, float] = {}
    for one, score in zip(candidates, own, strict=True):
        best[one.session] = max(score, best.get(one.session, 0.0))
    scored = [
        Ranked(one, _left(one) * _shared(score, best[one.session] if one.session else score), keywords > 0)
        for one, score, (keywords, _) in zip(candidates, own, hook_event, strict=True)
        if score > 0
    ]
    return sorted(scored, key=attrgetter("score"), reverse=True)


def _heard(one: Candidate, placed: Mapping[Place, Candidate]) -> tuple[float, float]:
    """What a text and those beside it say of the words: keywords, and nearness."""
    _, keywords, nearness, _, _, session, place = one
    for step, share in _BESIDE:
        if other := placed.get((session, place + step)):
            keywords += share * other.keywords
            nearness += share * other.nearness
    return keywords, nearness


def _own(keywords: float, nearness: float, meaning: float) -> float:
    by_words = KEYWORDS * keywords / (keywords + HALF_SURE) + NEARNESS * nearness
    return by_words + MEANING * max(0.0, meaning)


_BESIDE: Final = tuple(
    (step, share) for distance, share in enumerate(NEIGHBOURS, 1) for step in (-distance, distance)
)


def _shared(score: float, best: float) -> float:
    return (score + SAME_SESSION * best) / (1 + SAME_SESSION)


def _left(one: Candidate) -> float:
    """The part of its score that a text of that strength keeps."""
    return 1 - FADES * (1 - one.strength)
