"""Memory audit: find memories that the user may want to review, and say why.

The rules only report; the user decides what to do with a memory.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain, combinations
from typing import Final

from holdfast.core.events.durations import DAY_MS
from holdfast.core.memory.memory import Memory, identity
from holdfast.core.text.names import is_file_name, paths
from holdfast.core.text.strings import content_words
from holdfast.core.text.untrusted import NOT_AN_ORDER, RECALL
from holdfast.lazy_dataclass import dataclass

UNUSED_DAYS: Final = 30
ALIKE: Final = 0.8
"""Two texts that share this part of their words count as near duplicates."""
RAREST: Final = 3
"""Two texts are compared if they share one of this many rarest words of each."""
COMPARED_MOST: Final = 200
"""A word that occurs in more texts than this is not used to find pairs."""
ECHO_CHARS: Final = 20
"""A text cut shorter than this could be the beginning of anything."""


class MemoryProblem(StrEnum):
    """Why a memory is worth reviewing."""

    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near duplicate"
    ECHO = "echo"
    """It is text that Holdfast recalled, not something that was said."""
    UNUSED = "never found"
    STALE = "stale"
    """It names files that no longer exist."""


@dataclass(frozen=True, slots=True)
class ReviewReason:
    """One memory, and one reason to review it."""

    id: str
    problem: MemoryProblem
    detail: str


def review_reasons(memories: Sequence[Memory], gone: frozenset[str], now: int) -> list[ReviewReason]:
    """The reasons to review these memories, given which of the files that they name are gone."""
    identities = {memory.id: identity(memory.text) for memory in memories}
    return [
        *_duplicates(identities),
        *_near_duplicates(memories, identities),
        *_echoes(memories, identities),
        *(_stale(memories, gone) if gone else ()),
        *_unused(memories, now),
    ]


def files_named(text: str) -> tuple[str, ...]:
    """The files that a text names by a relative path; a name without a folder could be anywhere."""
    named_paths = (path for path in paths(text) if is_file_name(path) and "/" in path)
    return tuple(path for path in named_paths if not path.startswith(("/", "~", "..")))


def _duplicates(identities: Mapping[str, str]) -> Iterator[ReviewReason]:
    """Memories with the same text in different scopes; within one scope there are none."""
    first: dict[str, str] = {}
    for id, text in identities.items():
        other = first.setdefault(text, id)
        if other != id:
            yield ReviewReason(id, MemoryProblem.DUPLICATE, f"says the same as {other}")


def _near_duplicates(memories: Sequence[Memory], identities: Mapping[str, str]) -> Iterator[ReviewReason]:
    words = {memory.id: content_words(memory.text) for memory in memories}
    for id, other in sorted(_comparable_pairs(words)):
        shared, every = words[id] & words[other], words[id] | words[other]
        if len(shared) >= ALIKE * len(every) and identities[id] != identities[other]:
            yield ReviewReason(id, MemoryProblem.NEAR_DUPLICATE, f"says nearly the same as {other}")


def _comparable_pairs(words: dict[str, frozenset[str]]) -> set[tuple[str, str]]:
    """Pairs of texts that share one of their rarest words."""
    common = Counter(chain.from_iterable(words.values()))
    place = {word: nth for nth, word in enumerate(sorted(sorted(common), key=common.__getitem__))}
    by_word: defaultdict[str, list[str]] = defaultdict(list)
    for id, own in words.items():
        for word in sorted(own, key=place.__getitem__)[:RAREST]:
            if common[word] > 1:
                by_word[word].append(id)
    groups = (group for group in by_word.values() if len(group) <= COMPARED_MOST)
    return {pair for group in groups for pair in combinations(sorted(group), 2)}


def _echoes(memories: Sequence[Memory], identities: Mapping[str, str]) -> Iterator[ReviewReason]:
    for memory in memories:
        if RECALL in memory.text or memory.text.startswith(NOT_AN_ORDER):
            yield ReviewReason(memory.id, MemoryProblem.ECHO, "contains Holdfast's own marks")
        elif memory.text.rstrip().endswith("…"):
            start = identity(memory.text.rstrip().rstrip("…"))
            if len(start) >= ECHO_CHARS:
                yield from (
                    ReviewReason(memory.id, MemoryProblem.ECHO, f"is the beginning of {id}")
                    for id, text in identities.items()
                    if id != memory.id and text.startswith(start)
                )


def _stale(memories: Iterable[Memory], gone: frozenset[str]) -> Iterator[ReviewReason]:
    for memory in memories:
        named = [path for path in files_named(memory.text) if path in gone]
        if named:
            yield ReviewReason(memory.id, MemoryProblem.STALE, f"names {', '.join(named)}, which is gone")


def _unused(memories: Iterable[Memory], now: int) -> Iterator[ReviewReason]:
    for memory in memories:
        days = (now - memory.created_at) // DAY_MS
        if days >= UNUSED_DAYS and not memory.found and not memory.pinned:
            yield ReviewReason(memory.id, MemoryProblem.UNUSED, f"was never recalled in {days} days")
