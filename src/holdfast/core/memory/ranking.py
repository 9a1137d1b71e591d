"""Rank search results: which words to search for, and in which order to show the texts that were found.

A score combines three signals: the keyword search's score, how nearly a text says the words of the query, and
the similarity of the text's meaning. Each is normalised before they are added, so that scores of different
queries can be compared. The store searches; the embedder compares words. The constants were chosen by
measurement; docs/decisions/0007-recall.md has the tables.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from operator import attrgetter, itemgetter
from typing import Final, NamedTuple, TypeAlias

from holdfast.core.text.strings import query_terms
from holdfast.lazy_dataclass import dataclass

POOL: Final = 100
"""How many results each search returns; twice as many do not improve recall."""
SEEDS: Final = 20
"""How many of these are compared word by word and with their neighbours."""
WORDS_MOST: Final = 32
"""The most words of a query; further words are ignored."""

KEYWORDS: Final = 0.6
NEARNESS: Final = 0.2
MEANING: Final = 0.2
"""The weight of each signal in the sum."""
HALF_SURE: Final = 10.0
"""The keyword score that counts half of the maximum; the raw score has no upper limit."""
NEIGHBOURS: Final = (0.3, 0.2)
"""How much a text gains from the next one on either side, and from the one after that: an answer is often
next to the words of the query."""
SAME_SESSION: Final = 0.2
"""How much a text gains from the best of its session, because a relevant session is relevant as a whole."""
NOISE: Final = 0.15
"""Below this score, a text without any of the words is only the nearest of unrelated texts."""
NOISE_WITHOUT_WORDS: Final = 0.2
"""The same if no text has any of the words: then the query may be about nothing that is stored."""
OUTSTANDING: Final = 1.4
"""How much better than the next a text must be to be told by its meaning alone, below that score,"""
LEAST_OUTSTANDING: Final = 0.1
"""and how good at least."""
WEAK: Final = 0.35
"""Below this share of the best score, a text is not worth reading beside the best."""
FADES: Final = 0.05
"""What a text without any strength loses: only enough that the newer of two equal texts comes first."""

_IDENTIFIER: Final = re.compile(r"[_./:#]|[a-z0-9][A-Z]")
_CAMEL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_SIGNS: Final = re.compile(r"[\W_]+")

Place: TypeAlias = tuple[str, int]


class RankingCandidate(NamedTuple):
    """A text that a search found, or a neighbour of one, with its signals.

    A query makes a hundred of them; a tuple is made in a third of a frozen dataclass's time.
    """

    id: str
    keywords: float = 0.0
    """The keyword search's score, from 0 upwards."""
    nearness: float = 0.0
    """How many of the query's words it says, literally or in similar words, from 0 to 1."""
    meaning: float = 0.0
    """The cosine of its vector and the query's."""
    strength: float = 1.0
    """Its strength after ageing, from 0 to 1."""
    session: str = ""
    """The sequence of texts that it belongs to; empty for a single text."""
    place: int = 0
    """Its position in that sequence."""


class Ranked(NamedTuple):
    """A candidate and its score; 1 is the most that a text can reach by itself."""

    candidate: RankingCandidate
    score: float
    worded: bool
    """Whether it or a neighbour contains any of the words."""


@dataclass(frozen=True, slots=True)
class Pool:
    """The results of two searches: scores by id."""

    keywords: Mapping[str, float]
    meaning: Mapping[str, float]

    def voices(self, ids: Iterable[str]) -> list[tuple[float, float]]:
        """The keyword score and the similarity of meaning of each of these texts."""
        keywords, meaning, beyond = self.keywords, self.meaning, self._beyond()
        return [(keywords.get(id, 0.0), meaning.get(id, beyond)) for id in ids]

    def seeds(self, count: int) -> list[str]:
        """The ids that are worth a closer look, the best first."""
        ids = list({**self.keywords, **self.meaning})
        scored = [
            (_combined(keywords, 0.0, meaning), id)
            for id, (keywords, meaning) in zip(ids, self.voices(ids), strict=True)
        ]
        best = sorted((pair for pair in scored if pair[0] > 0), key=itemgetter(0), reverse=True)
        return [id for _, id in best[:count]]

    def _beyond(self) -> float:
        """The highest similarity that a text outside the results can have."""
        return min(self.meaning.values(), default=0.0)


def query_words(text: str) -> tuple[str, ...]:
    """The words to search for: no stop words, and identifiers and paths both whole and in parts."""
    words = query_terms(text, WORDS_MOST).split()
    whole = (word for word in words if _IDENTIFIER.search(word) or not _SIGNS.search(word))
    parts = chain.from_iterable(map(_parts, words))
    return tuple(query_terms(" ".join(chain(whole, parts)), WORDS_MOST).split())


def _parts(word: str) -> Iterator[str]:
    """`parse_hook`, `parseHook` and `parse/hook.py` in pieces."""
    for plain in _SIGNS.split(word):
        yield from (part for part in _CAMEL.split(plain) if len(part) > 1)


def rank(candidates: Iterable[RankingCandidate]) -> list[Ranked]:
    """The candidates with a score above 0, the best first; equal ones in their given order."""
    candidates = tuple(candidates)
    placed = {
        (candidate.session, candidate.place): candidate for candidate in candidates if candidate.session
    }
    word_scores = [
        _with_neighbours(candidate, placed) if candidate.session else (candidate.keywords, candidate.nearness)
        for candidate in candidates
    ]
    own = [
        _combined(keywords, nearness, candidate.meaning)
        for candidate, (keywords, nearness) in zip(candidates, word_scores, strict=True)
    ]
    best: dict[str, float] = {}
    for candidate, score in zip(candidates, own, strict=True):
        best[candidate.session] = max(score, best.get(candidate.session, 0.0))
    scored = [
        Ranked(
            candidate,
            _faded(candidate) * _with_session(score, best[candidate.session] if candidate.session else score),
            keywords > 0,
        )
        for candidate, score, (keywords, _) in zip(candidates, own, word_scores, strict=True)
        if score > 0
    ]
    return sorted(scored, key=attrgetter("score"), reverse=True)


def worth_showing(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The ranked candidates without noise and without those far weaker than the best, in their order."""
    if not ranked:
        return []
    weak = WEAK * ranked[0].score
    noise = NOISE if any(one.worded for one in ranked) else NOISE_WITHOUT_WORDS
    shown = [one for one in ranked if one.score >= (weak if one.worded else max(weak, noise))]
    return shown or _outstanding(ranked)


def _outstanding(ranked: Sequence[Ranked]) -> list[Ranked]:
    """The best, if it is much better than the next of another session: then its meaning is a reason."""
    session = ranked[0].candidate.session
    # Texts of one session lift each other.
    leading = list(takewhile(lambda one: session and one.candidate.session == session, ranked)) or [ranked[0]]
    if len(leading) == len(ranked):  # there is nothing to compare it with
        return []
    runner_up = ranked[len(leading)].score
    return leading if ranked[0].score >= max(LEAST_OUTSTANDING, OUTSTANDING * runner_up) else []


def _with_neighbours(
    candidate: RankingCandidate, placed: Mapping[Place, RankingCandidate]
) -> tuple[float, float]:
    """The keyword score and nearness of a text, with shares of its neighbours'."""
    _, keywords, nearness, _, _, session, place = candidate
    for step, share in _BESIDE:
        if other := placed.get((session, place + step)):
            keywords += share * other.keywords
            nearness += share * other.nearness
    return keywords, nearness


def _combined(keywords: float, nearness: float, meaning: float) -> float:
    by_words = KEYWORDS * keywords / (keywords + HALF_SURE) + NEARNESS * nearness
    return by_words + MEANING * max(0.0, meaning)


_BESIDE: Final = tuple(
    (step, share) for distance, share in enumerate(NEIGHBOURS, 1) for step in (-distance, distance)
)


def _with_session(score: float, best: float) -> float:
    return (score + SAME_SESSION * best) / (1 + SAME_SESSION)


def _faded(candidate: RankingCandidate) -> float:
    """The part of its score that a text keeps after fading."""
    return 1 - FADES * (1 - candidate.strength)
