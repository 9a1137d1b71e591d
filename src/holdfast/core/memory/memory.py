"""Memory: what the user or the agent asked to remember, until it is forgotten.

A memory is stored word for word, with labels that rules add. Rules only label: they neither refuse a text nor
make a memory of one that nobody asked to remember.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import Final, NamedTuple

from holdfast.core.events.durations import DAY_MS
from holdfast.core.text.lazy_patterns import compiled
from holdfast.core.text.strings import one_line
from holdfast.lazy_dataclass import dataclass

FADING: Final = 0.95
"""The part of a memory's strength that is left after each day without being repeated or recalled."""
SHORTLY_MS: Final = 600_000
USUAL: Final = 0.5
CRITICAL: Final = 1.0
TAGS_MOST: Final = 12


class MemoryKind(StrEnum):
    """The kind of a memory, by rule."""

    PREFERENCE = "preference"
    DECISION = "decision"
    LEARNING = "learning"
    ISSUE = "issue"
    RULE = "rule"
    FACT = "fact"


class MemoryScope(StrEnum):
    """Where a memory applies."""

    PROJECT = "project"
    WORKTREE = "worktree"
    USER = "user"


class Label(StrEnum):
    """What a rule found out about a memory; shown beside it, never a reason to drop it."""

    TRANSIENT = "transient"
    """It describes a moment and will soon be outdated."""
    CONTRADICTS = "contradicts"
    """It contradicts an older memory about the same subject."""
    SUPERSEDED = "superseded"
    """A newer memory contradicts it."""


@dataclass(frozen=True, slots=True)
class Memory:
    """One thing to remember."""

    id: str
    text: str
    kind: MemoryKind
    scope: MemoryScope
    project_id: str
    worktree_id: str
    created_at: int
    tags: tuple[str, ...] = ()
    importance: float = USUAL
    pinned: bool = False
    labels: tuple[Label, ...] = ()
    source: str = ""
    """Where it came from: `cli`, `mcp`, `prompt`."""
    session: str = ""
    seen: int = 1
    """How often it was said."""
    seen_at: int = 0
    found: int = 0
    """How often it was recalled."""
    found_at: int = 0
    superseded_by: str = ""
    stretch: str = ""
    """The id of the first memory in a series of memories added shortly after each other."""
    place: int = 0
    """The position in that series; neighbours in it count when memories are ranked."""


class Merits(NamedTuple):
    """The fields of a memory that ranking needs; a query loads a hundred of them."""

    text: str
    created_at: int
    importance: float
    pinned: bool
    seen_at: int
    found_at: int
    superseded_by: str
    stretch: str
    place: int


@dataclass(frozen=True, slots=True)
class Wording:
    """A text to remember, with its prefixes parsed."""

    text: str
    tags: tuple[str, ...] = ()
    importance: float = USUAL
    pinned: bool = False


_COMMAND: Final = compiled(r"\A\s*/remember\b[:\s]*", re.IGNORECASE)
_CRITICAL: Final = compiled(r"\A\s*critical\s*:\s*", re.IGNORECASE)
_TAGGED: Final = compiled(r"\A\s*\[([^\]\n]{1,200})\]\s*:\s*")


def read(typed: str) -> Wording:
    """Parse a text to remember: `critical: …` pins it, `[tag, tag]: …` tags it, in either order."""
    text, tags, importance, pinned = _COMMAND.sub("", typed), list[str](), USUAL, False
    while True:
        if match := _CRITICAL.match(text):
            importance, pinned = CRITICAL, True
        elif match := _TAGGED.match(text):
            tags += match[1].split(",")
        else:
            break
        text = text[match.end() :]
    return Wording(text.strip(), normalised_tags(tags), importance, pinned)


def asked_to_remember(prompt: str) -> str:
    """The prompt itself if it is `/remember …` with a text; empty for any other prompt."""
    return prompt if _COMMAND.match(prompt) and _COMMAND.sub("", prompt).strip() else ""


def normalised_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Tags in the form in which they are compared: lower case, each once."""
    words = (one_line(tag).lower().lstrip("#") for tag in tags)
    return tuple(dict.fromkeys(word for word in words if word))[:TAGS_MOST]


_KIND_RULES: Final = {
    MemoryKind.RULE: compiled(
        r"\b(?:must(?: not)?|never|always|do not|don['’]t|forbidden|required|only ever)\b"
        r"|必须|不要|禁止|务必|总是",
        re.IGNORECASE,
    ),
    MemoryKind.PREFERENCE: compiled(
        r"\b(?:prefers?|likes?|rather than|instead of|favou?rs?|wants?)\b|喜欢|偏好|希望", re.IGNORECASE
    ),
    MemoryKind.DECISION: compiled(
        r"\b(?:decided|decision|chose|chosen|we (?:will|are going to)|went with|settled on|agreed)\b"
        r"|决定|选择了|采用",
        re.IGNORECASE,
    ),
    MemoryKind.ISSUE: compiled(
        r"\b(?:bug|issue|fails?|failing|broken|crash(?:es|ed)?|error|regression|flaky|leaks?)\b"
        r"|错误|失败|崩溃|问题",
        re.IGNORECASE,
    ),
    MemoryKind.LEARNING: compiled(
        r"\b(?:learn(?:ed|t)|turns out|found (?:out )?that|because|root cause|reali[sz]ed|lesson)\b"
        r"|发现|原因|学到",
        re.IGNORECASE,
    ),
}
"""Checked in this order: a rule that is also a decision counts as a rule."""
_TRANSIENT: Final = compiled(
    r"\b(?:right now|at the moment|currently|for now|today|tomorrow|this (?:session|morning|afternoon)"
    r"|in progress|wip|temporar(?:y|ily)|about to|still running|just (?:now|started))\b|目前|暂时|正在|今天",
    re.IGNORECASE,
)


def kind_of(text: str) -> MemoryKind:
    """The kind of a text by the first matching rule; a plain fact otherwise."""
    return next((kind for kind, rule in _KIND_RULES.items() if rule.search(text)), MemoryKind.FACT)


def labels_of(text: str) -> tuple[Label, ...]:
    """The labels that follow from a text alone."""
    return (Label.TRANSIENT,) if _TRANSIENT.search(text) else ()


_IGNORED: Final = compiled(r"[\s.!。！,;:'\"“”‘’`]+")


def identity(text: str) -> str:
    """The text without case, extra spaces and punctuation, by which duplicates are recognised."""
    return _IGNORED.sub(" ", text.casefold()).strip()


_SAYS: Final = compiled(
    r"\A(?P<subject>.{2,120}?)\s+"
    r"(?:is|are|was changed to|uses?|runs? on|lives? in|listens? on|defaults? to|=|→|->)\s+(?P<value>.+)\Z",
    re.IGNORECASE | re.DOTALL,
)
_FOR: Final = compiled(
    r"\A(?:we )?(?:now )?(?:use|prefer|choose|run)\s+(?P<value>.+?)\s+"
    r"(?P<subject>(?:for|to|as|when|in)\s+.{2,120})\Z",
    re.IGNORECASE | re.DOTALL,
)
_RULED: Final = compiled(
    r"\A(?:you |we )?(?P<value>always|never|must not|must|do not|don['’]t|only)\s+(?P<subject>.{3,200})\Z",
    re.IGNORECASE | re.DOTALL,
)
_FORBIDS: Final = frozenset({"never", "must not", "do not", "don't", "don’t"})
_MORE: Final = compiled(r"[.!?;]\s|[。！？；]")
_ARTICLES: Final = compiled(r"\b(?:the|a|an|our|my|this|that|now)\b")


def _claim(text: str) -> tuple[str, str] | None:
    """Subject and value of a sentence such as "the port is 80"; None for any other sentence."""
    bare = one_line(text).rstrip(".!。！")
    if _MORE.search(bare):
        return None  # With several sentences it is unclear which is the claim.
    match = _RULED.match(bare) or _FOR.match(bare) or _SAYS.match(bare)
    if match is None:
        return None
    value = identity(match["value"])
    if match.re.pattern == _RULED.pattern:
        value = "no" if match["value"].lower() in _FORBIDS else "yes"
    subject = identity(_ARTICLES.sub("", match["subject"].casefold()))
    return (subject, value) if subject and value else None


def subject_of(text: str) -> str:
    """The normalised subject of a text's claim; empty if it makes none."""
    claim = _claim(text)
    return claim[0] if claim else ""


def contradicts(text: str, other: str) -> bool:
    """Whether two texts give the same subject different values: `the port is 80`, `the port is 8080`."""
    claim, other_claim = _claim(text), _claim(other)
    return (
        claim is not None
        and other_claim is not None
        and claim[0] == other_claim[0]
        and claim[1] != other_claim[1]
    )


def with_repetition(memory: Memory, wording: Wording, at: int) -> Memory:
    """The memory after the same text was remembered again; tags are combined, the higher importance stays."""
    return replace(
        memory,
        seen=memory.seen + 1,
        seen_at=at,
        tags=normalised_tags((*memory.tags, *wording.tags)),
        importance=max(memory.importance, wording.importance),
        pinned=memory.pinned or wording.pinned,
    )


def in_series(memory: Memory, last: Memory | None) -> Memory:
    """The memory with its place in the series of the last one in its scope, if that was added just before."""
    if last is None or not 0 <= memory.created_at - last.created_at <= SHORTLY_MS:
        return replace(memory, stretch=memory.id)
    return replace(memory, stretch=last.stretch, place=last.place + 1)


def mark_superseded(memory: Memory, by: str) -> Memory:
    """An older memory marked as contradicted by a newer one; it is not removed."""
    return replace(memory, superseded_by=by, labels=tuple(dict.fromkeys((*memory.labels, Label.SUPERSEDED))))


def clear_superseded(memory: Memory) -> Memory:
    """A superseded memory after the newer one was deleted: no longer marked."""
    labels = tuple(label for label in memory.labels if label is not Label.SUPERSEDED)
    return replace(memory, superseded_by="", labels=labels)


def mark_recalled(memory: Memory, at: int) -> Memory:
    """The memory after it was recalled."""
    return replace(memory, found=memory.found + 1, found_at=at)


def strength(memory: Memory | Merits, now: int) -> float:
    """How strong a memory is: its importance, less for each day since it was last repeated or recalled."""
    if memory.pinned:
        return 1.0
    days = max(0, now - max(memory.created_at, memory.seen_at, memory.found_at)) / DAY_MS
    return memory.importance * math.pow(FADING, days)
