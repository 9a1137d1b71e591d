"""Select what a brief says: the items that are worth most for their length, and say something new.

Sections have soft shares: the more of a section is chosen, the less its next item counts.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from typing import Final

from holdfast.core.brief.brief_input import LEDGER, OVER_BUDGET, Item, title_of_section
from holdfast.core.brief.layout import cost_of
from holdfast.core.evidence.kinds import NoteKind, Section
from holdfast.core.evidence.prose.cues import REMEMBERED
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import content_words
from holdfast.core.work.state import StatementSource
from holdfast.lazy_dataclass import dataclass, replace

REPEATED: Final = "said already"
OF_LITTLE_USE: Final = "of little use"
LEAST_SCORE: Final = 0.2
"""A remark that is less likely needed is not told, even if there is room: it hides the rest."""
LENGTH_POWER: Final = 0.65
"""How much length counts: at 1, twice the length needs twice the worth."""
LINE_CHARS: Final = 20
"""What a line costs a reader beside its length."""
NEWS_SHARE: Final = 0.4
"""How much of its worth a sentence loses whose words were all said before."""
SAME_WORDS: Final = 0.85
"""A sentence with so large a share of words that one other sentence has says the same, if it has the same
numbers: of two steps that differ only there, both are told."""
SHARES: Final = {
    title_of_section(section): share
    for section, share in {
        Section.GOAL: 0.25,
        Section.RULES: 0.15,
        Section.DONE: 0.20,
        Section.NOW: 0.12,
        Section.NEXT: 0.12,
        Section.DECISIONS: 0.25,
        Section.FAILURES: 0.12,
        Section.QUESTIONS: 0.06,
        Section.WHERE: 0.08,
    }.items()
}
OTHER_SHARE: Final = 0.3
FEW_WORDS: Final = 4


@dataclass(slots=True)
class _Page:
    """What has been chosen so far, as far as it affects the next choice."""

    room: int
    whole: int
    chosen: dict[int, Item] = field(default_factory=dict[int, Item])
    words: set[str] = field(default_factory=set[str])
    sentences: list[tuple[Item, frozenset[str]]] = field(default_factory=list[tuple[Item, frozenset[str]]])
    sentences_with: dict[str, list[int]] = field(default_factory=dict[str, list[int]])
    """The places of the sentences that have a word."""
    lengths: Counter[str] = field(default_factory=Counter[str])
    listed: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    """How many items each list has, by section and lead."""

    def value(self, item: Item, words: frozenset[str]) -> float:
        """The worth of one more item for its length, beside what is chosen."""
        repeated = len(words & self.words) / len(words) if words else 0.0
        share = self.lengths[item.section] / (SHARES.get(item.section, OTHER_SHARE) * self.whole)
        worth = item.score * (1 - NEWS_SHARE * repeated) / (1 + share * share)
        return worth / _length_counted(len(item.text) + (0 if item.lead else LINE_CHARS))

    def repeats(self, item: Item, words: frozenset[str]) -> bool:
        """Whether one chosen sentence has nearly all the words, and every number and name in them."""
        enough = SAME_WORDS * len(words)
        if not words or len(words & self.words) < enough:
            return False
        return any(
            len(words & others) >= enough
            and (len(words) >= FEW_WORDS or (_is_beside(item, other) and words == others))
            and not _adds_state(item, other)
            and not any(map(_has_digit, words - others))
            and _quotes_as_much(other.text, item)
            for other, others in self._likely(words, int(len(words) - enough))
        )

    def _likely(self, words: frozenset[str], lacking: int) -> list[tuple[Item, frozenset[str]]]:
        """The sentences that may have all but so many of the words: each has one of as many and one more."""
        rarest = sorted((self.sentences_with.get(word, ()) for word in words), key=len)[: lacking + 1]
        return [self.sentences[place] for place in sorted({place for places in rarest for place in places})]

    def cost(self, item: Item) -> int:
        """About how many characters one more item takes."""
        return cost_of(
            item, is_first=item.section not in self.lengths, listed=self.listed[item.section, item.lead]
        )

    def add(self, place: int, item: Item, words: frozenset[str]) -> None:
        self.room -= self.cost(item)
        self.chosen[place] = replace(item, rendered=True)
        self.words.update(words)
        self.lengths[item.section] += len(item.text)
        self.listed[item.section, item.lead] += 1
        if not item.lead:
            for word in words:
                self.sentences_with.setdefault(word, []).append(len(self.sentences))
            self.sentences.append((item, words))


def _is_beside(item: Item, other: Item) -> bool:
    """Whether a reader compares two items even if they are short: in one section, or one in the ledger."""
    return item.section == other.section or LEDGER in (item.section, other.section)


def _adds_state(item: Item, other: Item) -> bool:
    """Whether an item of the user's list says by its section how far it is; the request only names it."""
    return item.kind == StatementSource.ITEM and item.section != other.section


def _quotes_as_much(text: str, item: Item) -> bool:
    """Whether a text has all the code that an item quotes."""
    return all(code in text for code in _CODE.findall(item.text))


_CODE: Final = compiled(r"`([^`]+)`")


def select(items: Iterable[Item], room: int) -> tuple[Item, ...]:
    """All items in their order, with those marked as rendered that fit into the room."""
    listed = list(map(unless_of_little_use, items))
    words = {place: _words(item.key or item.text) for place, item in enumerate(listed) if not item.omitted}
    page = _Page(room, max(room, 1))
    omitted: dict[int, str] = {}
    for place in _by_value(page, listed, words):
        item = listed[place]
        if not item.lead and page.repeats(item, words[place]):
            omitted[place] = REPEATED
        elif page.cost(item) > page.room:
            omitted[place] = OVER_BUDGET
        else:
            page.add(place, item, words[place])
    return tuple(
        page.chosen.get(place) or (replace(item, omitted=omitted[place]) if place in omitted else item)
        for place, item in enumerate(listed)
    )


def unless_of_little_use(item: Item) -> Item:
    """The item, omitted if nobody needs it in any brief, however much room there is."""
    if item.score >= LEAST_SCORE or item.omitted or not _is_remark(item):
        return item
    return replace(item, omitted=OF_LITTLE_USE)


def _is_remark(item: Item) -> bool:
    """Whether somebody said it in passing: no request, rule or next step, and no report of a tool."""
    return item.kind in _NOTE_KINDS and item.section in _REMARKS


_NOTE_KINDS: Final = frozenset(map(str, NoteKind))
_REMARKS: Final = frozenset(map(title_of_section, (Section.DONE, Section.DECISIONS, Section.FAILURES)))


def _by_value(page: _Page, listed: Sequence[Item], words: Mapping[int, frozenset[str]]) -> Iterator[int]:
    """The places with these words, each time the one of most value beside what the caller has chosen."""
    # The value of an item only falls while others are chosen, so the old one is a bound, and exact if none
    # was chosen since. The last number says how many were chosen when it was computed.
    heap = [(-page.value(listed[place], its_words), place, 0) for place, its_words in words.items()]
    heapq.heapify(heap)
    looked_at = 0
    while heap:
        value, place, count = heap[0]
        if count < len(page.chosen):
            value = -page.value(listed[place], words[place])
            heapq.heapreplace(heap, (value, place, len(page.chosen)))
            continue
        heapq.heappop(heap)
        yield place
        if looked_at < len(page.chosen) and place not in page.chosen:
            looked_at = len(page.chosen)
            # Where not even the shortest fits, nothing changes any more, in whatever order.
            if page.room < min((len(listed[left].text) for _, left, _ in heap), default=0):
                break
    yield from (left for _, left, _ in heap)


@lru_cache(REMEMBERED)  # a brief is composed several times, from the same items
def _words(text: str) -> frozenset[str]:
    return content_words(text)


@lru_cache(REMEMBERED)
def _length_counted(length: int) -> float:
    """How much a length counts beside worth."""
    return float(max(length, 1) ** LENGTH_POWER)


def _has_digit(word: str) -> bool:
    return not _DIGITS.isdisjoint(word)


_DIGITS: Final = frozenset("0123456789")
