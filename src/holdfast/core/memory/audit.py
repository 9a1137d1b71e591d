"""Memory audit: which memories a person may want to look at again, and why.

Rules over memories that are given. They find; what becomes of a memory is its owner's matter.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain, combinations
from typing import Final

from holdfast.core.events.durations import DAY_MS
from holdfast.core.memory.memory import Memory, identity
from holdfast.core.text.defang import NOT_AN_ORDER, RECALL
from holdfast.core.text.names import is_file_name, paths
from holdfast.core.text.strings import content_words
from holdfast.lazy_dataclass import dataclass

UNUSED_DAYS: Final = 30
ALIKE: Final = 0.8
"""Two texts that share so much of their words say nearly the same."""
RAREST: Final = 3
"""Texts are compared that share one of so many of their rarest words."""
COMPARED_MOST: Final = 200
"""A word that stands in more texts than that brings none of them together."""
ECHO_CHARS: Final = 20
"""What is cut shorter than that could be the beginning of anything."""


class Problem(StrEnum):
    """Why a memory is worth a look."""

    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near duplicate"
    ECHO = "echo"
    """It is what we gave back, not what somebody said."""
    UNUSED = "never found"
    STALE = "stale"
    """The files that it names are gone."""


@dataclass(frozen=True, slots=True)
class ReviewReason:
    """One memory, and one reason to look at it."""

    id: str
    problem: Problem
    detail: str


def doubts(memories: Sequence[Memory], gone: frozenset[str], now: int) -> list[ReviewReason]:
    """What is doubtful about these memories, given which of the files that they name are gone."""
    said = {memory.id: identity(memory.text) for memory in memories}
    return [
        *_duplicates(said),
        *_near_duplicates(memories, said),
        *_echoes(memories, said),
        *(_stale(memories, gone) if gone else ()),
        *_unused(memories, now),
    ]


def files_named(text: str) -> tuple[str, ...]:
    """The files that a text names by a path below the project; one without a folder could be anywhere."""
    found = (path for path in paths(text) if is_file_name(path) and "/" in path)
    return tuple(path for path in found if not path.startswith(("/", "~", "..")))


def _duplicates(said: Mapping[str, str]) -> Iterator[ReviewReason]:
    """Within one scope there are none; of two scopes, the narrower one says nothing new."""
    first: dict[str, str] = {}
    for id, text in said.items():
        other = first.setdefault(text, id)
        if other != id:
            yield ReviewReason(id, Problem.DUPLICATE, f"says the same as {other}")


def _near_duplicates(memories: Sequence[Memory], said: Mapping[str, str]) -> Iterator[ReviewReason]:
    words = {memory.id: content_words(memory.text) for memory in memories}
    for one, other in sorted(_together(words)):
        shared, every = words[one] & words[other], words[one] | words[other]
        if len(shared) >= ALIKE * len(every) and said[one] != said[other]:
            yield ReviewReason(one, Problem.NEAR_DUPLICATE, f"says nearly the same as {other}")


def _together(words: dict[str, frozenset[str]]) -> set[tuple[str, str]]:
    """Pairs that share a word which is rare for both."""
    common = Counter(chain.from_iterable(words.values()))
    place = {word: nth for nth, word in enumerate(sorted(sorted(common), key=common.__getitem__))}
    by_word: defaultdict[str, list[str]] = defaultdict(list)
    for id, own in words.items():
        for word in sorted(own, key=place.__getitem__)[:RAREST]:
            if common[word] > 1:
                by_word[word].append(id)
    groups = (group for group in by_word.values() if len(group) <= COMPARED_MOST)
    return {pair for group in groups for pair in combinations(sorted(group), 2)}


def _echoes(memories: Sequence[Memory], said: Mapping[str, str]) -> Iterator[ReviewReason]:
    for memory in memories:
        if RECALL in memory.text or memory.text.startswith(NOT_AN_ORDER):
            yield ReviewReason(memory.id, Problem.ECHO, "has our own marks in it")
        elif memory.text.rstrip().endswith("…"):
            start = identity(memory.text.rstrip().rstrip("…"))
            if len(start) >= ECHO_CHARS:
                yield from (
                    ReviewReason(memory.id, Problem.ECHO, f"is the beginning of {id}")
                    for id, text in said.items()
                    if id != memory.id and text.startswith(start)
                )


def _stale(memories: Iterable[Memory], gone: frozenset[str]) -> Iterator[ReviewReason]:
    for memory in memories:
        named = [path for path in files_named(memory.text) if path in gone]
        if named:
            yield ReviewReason(memory.id, Problem.STALE, f"names {', '.join(named)}, which is gone")


def _unused(memories: Iterable[Memory], now: int) -> Iterator[ReviewReason]:
    for memory in memories:
        days = (now - memory.created_at) // DAY_MS
        if days >= UNUSED_DAYS and not memory.found and not memory.pinned:
            yield ReviewReason(memory.id, Problem.UNUSED, f"was found by nobody in {days} days")
