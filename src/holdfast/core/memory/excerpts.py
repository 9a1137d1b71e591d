"""Excerpts: the sentence of a text that matches a search, what it is, and which of its words match."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from holdfast.core.text.strings import one_line, shortened
from holdfast.lazy_dataclass import dataclass

EXCERPT_CHARS: Final = 240
STEM_LEAST: Final = 4
"""Words that agree in so many first characters, and differ only in an ending, count as the same."""


class LineKind(StrEnum):
    """What a line of a passage or of a checkpoint is."""

    PROMPT = "prompt"
    STATEMENT = "statement"
    DECISION = "decision"
    COMMAND = "command"
    OUTCOME = "outcome"
    FILE = "file"
    SUMMARY = "summary"
    OTHER = "other"


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A sentence, and what kind of line it stands in."""

    text: str
    kind: LineKind
    matches: int = 0
    """How many of the words it has."""


class MarkedSpan(NamedTuple):
    """A part of a text, and whether it matches."""

    text: str
    is_match: bool


def best_excerpts(text: str, words: Sequence[str], most: int) -> list[Excerpt]:
    """The sentences with most of the words, in their order in the text; the first one if none has any."""
    query_words = _folded(words)
    every = [_matched(line, kind, query_words) for line, kind in _sentences(text)]
    if not every:
        return []
    best = sorted(range(len(every)), key=lambda at: (-every[at].matches, at))[:most]
    chosen = [at for at in best if every[at].matches] or best[:1]
    return [_cut(every[at], query_words) for at in sorted(chosen)]


def spans(text: str, words: Sequence[str]) -> list[MarkedSpan]:
    """The text in parts, so that those that match one of the words can be marked."""
    query_words, parts, end = _folded(words), list[MarkedSpan](), 0
    for match in _WORD.finditer(text):
        if _is_any(match[0], query_words):
            parts += [
                MarkedSpan(text[end : match.start()], is_match=False),
                MarkedSpan(match[0], is_match=True),
            ]
            end = match.end()
    return [part for part in (*parts, MarkedSpan(text[end:], is_match=False)) if part.text]


_WORD: Final = re.compile(r"\w+")
_SAYS_SOMETHING: Final = re.compile(r"[^\W\d_]{2}")
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(*])")
_LINE_STARTS: Final = (
    ("User: ", LineKind.PROMPT),
    ("Agent: ", LineKind.STATEMENT),
    ("Subagent: ", LineKind.STATEMENT),
    ("Summary: ", LineKind.SUMMARY),
    ("Ran: ", LineKind.COMMAND),
    ("→ ", LineKind.OUTCOME),
    ("Read ", LineKind.FILE),
    ("Wrote ", LineKind.FILE),
    ("Edited ", LineKind.FILE),
    ("Deleted ", LineKind.FILE),
    ("Searched: ", LineKind.OTHER),
    ("Called ", LineKind.OTHER),
    ("Asked ", LineKind.OTHER),
)
_SPOKEN: Final = frozenset({LineKind.PROMPT, LineKind.STATEMENT, LineKind.SUMMARY})
_WITHOUT_START: Final = _SPOKEN | {LineKind.COMMAND, LineKind.OUTCOME}
_HEADINGS: Final = {"decisions": LineKind.DECISION, "where": LineKind.FILE, "goal": LineKind.PROMPT}


def _sentences(text: str) -> Iterator[tuple[str, LineKind]]:
    """Every sentence with the kind of its line; a spoken text may go on over several lines."""
    kind = under = LineKind.OTHER
    for line in text.splitlines():
        if line.startswith("#"):
            kind = under = _HEADINGS.get(line.lstrip("# ").strip().lower(), LineKind.OTHER)
            continue
        start, begun = next(((s, k) for s, k in _LINE_STARTS if line.startswith(s)), ("", None))
        kind = begun or (kind if kind in _SPOKEN else under)
        bare = line.removeprefix(start) if kind in _WITHOUT_START else line
        for sentence in _SENTENCE.split(bare) if kind in _SPOKEN or kind is LineKind.OTHER else (bare,):
            shown = one_line(sentence.replace("**", "")).removeprefix("- ")
            if _SAYS_SOMETHING.search(shown):
                yield shown, kind


def _matched(sentence: str, kind: LineKind, query_words: frozenset[str]) -> Excerpt:
    matching = {
        word for token in _WORD.findall(sentence) for word in query_words if _is_same(token.lower(), word)
    }
    return Excerpt(sentence, kind, len(matching))


def _cut(excerpt: Excerpt, query_words: frozenset[str]) -> Excerpt:
    """The excerpt within its limit, with its first match in it."""
    text = excerpt.text
    if len(text) <= EXCERPT_CHARS:
        return excerpt
    first = next((match.start() for match in _WORD.finditer(text) if _is_any(match[0], query_words)), 0)
    if first > EXCERPT_CHARS * 2 // 3:
        start = text.rfind(" ", 0, first - EXCERPT_CHARS // 3) + 1
        text = f"…{text[start:]}"
    return Excerpt(shortened(text, EXCERPT_CHARS), excerpt.kind, excerpt.matches)


def _folded(words: Sequence[str]) -> frozenset[str]:
    return frozenset(part for word in words for part in _WORD.findall(word.lower()))


def _is_any(token: str, query_words: frozenset[str]) -> bool:
    folded = token.lower()
    return any(_is_same(folded, word) for word in query_words)


def _is_same(token: str, word: str) -> bool:
    """Whether two words are the same, or differ only in their ending."""
    if token == word:
        return True
    shared = next((at for at, (a, b) in enumerate(zip(token, word, strict=False)) if a != b), None)
    shared = min(len(token), len(word)) if shared is None else shared
    return shared >= STEM_LEAST and all(_ENDING.fullmatch(one[shared:]) for one in (token, word))


_ENDING: Final = re.compile("(?:e|s|es|ed|d|ing|ies|y|er|ly|ion|ions)?")
