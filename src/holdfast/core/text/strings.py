"""Strings: shortening texts and paths, finding content words and plain words, and formatting durations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

from holdfast.core.text.lazy_patterns import compiled

_WORD = re.compile(r"#?\w[\w./:#-]*\w|#?\w")
_SENTENCE_END = re.compile(r"(?<!\b\d)(?<!\b\d\d)[.!?](?=\s)|[。！？]")
"""A full stop after a lone number ends no sentence: it begins a list item."""
_STOP_WORDS = frozenset(
    """a about after again all also am an and any are as at be because been before being but by can could
    did do does doing don't for from get go had has have here him his how i i'd i'll i'm if in into is
    it it's its just let let's like make me more my need no not now of off on once only or other our out
    over please same she should so some such than that that's the their them then there these they this
    those to too under until up us use using very want was we well were what when where which while who
    why will with would yes you your""".split()
)
_NO_CONTENT = _STOP_WORDS | frozenset("abcdefghijklmnopqrstuvwxyz_")


def one_line(text: str) -> str:
    """The text with every run of white space replaced by one space."""
    return " ".join(text.split())


def shortened(text: str, limit: int) -> str:
    """The text, or its beginning up to a whole word within the limit, with an ellipsis."""
    text = text.strip()
    if len(text) <= limit:
        return text
    if limit <= 1:
        return "…"[:limit]
    cut = text[: limit - 1]
    space = max(cut.rfind(" "), cut.rfind("\n"))
    if space > limit // 2:
        cut = cut[:space]
    return cut.rstrip() + "…"


def in_sentences(text: str, limit: int) -> str:
    """The text, or as many of its first sentences as fit; if not even one fits, the same as `shortened`."""
    if len(text) <= limit:
        return text
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, limit - len(" …"))]
    return f"{text[: ends[-1]]} …" if ends and ends[-1] > limit // 3 else shortened(text, limit)


def query_terms(text: str, limit: int = 12) -> str:
    """The content words of a prompt in order, each once, identifiers and paths whole."""
    seen: dict[str, str] = {}
    for match in _WORD.finditer(text):
        word = match.group()
        folded = word.lower()
        if folded not in _STOP_WORDS and (len(word) > 1 or word.isdigit()) and folded not in seen:
            seen[folded] = word
            if len(seen) == limit:
                break
    return " ".join(seen.values())


def content_words(text: str) -> frozenset[str]:
    """All the content words of a text, in lower case."""
    if text.isascii():  # as most are; an audit asks for the words of thousands
        return frozenset(_WORD.findall(text.lower())) - _NO_CONTENT
    words = {word.lower() for word in _WORD.findall(text)} - _STOP_WORDS
    return frozenset(word for word in words if len(word) > 1 or word.isdigit())


def many(number: int, noun: str, plural: str = "") -> str:
    """A number and its noun: `1 session`, `1,200 sessions`; the plural if it is not made with an s."""
    return f"{number:,} {noun if number == 1 else plural or f'{noun}s'}"


def elapsed(milliseconds: int) -> str:
    """A duration in short form: `45 s`, `12 min`, `3 h 5 min`, `2 days`."""
    seconds = max(0, milliseconds) // 1000
    if seconds < 60:
        return f"{seconds} s"
    minutes = seconds // 60
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 48:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    return f"{hours // 24} days"


def ago(milliseconds: int) -> str:
    """How long ago something was, in one number: `now`, `5 min ago`, `3 h ago`, `2 days ago`."""
    seconds = max(0, milliseconds) // 1000
    for unit, least, name in _SPANS:
        if seconds >= least:
            count = seconds // unit
            plural = "s" if count > 1 and name not in ("h", "min") else ""
            return f"{count} {name}{plural} ago"
    return "now"


_SPANS: Final = (
    (31_557_600, 2 * 31_557_600, "year"),
    (2_629_800, 2 * 2_629_800, "month"),
    (604_800, 2 * 604_800, "week"),
    (86_400, 2 * 86_400, "day"),
    (3_600, 3_600, "h"),
    (60, 60, "min"),
)
"""Seconds of a unit, from how many on it is used, and its name, the largest first."""


def quantity(count: int, noun: str, many: str = "") -> str:
    """A number with its noun: `1 session`, `2 sessions`, `1,200 memories`."""
    return f"{count:,} {noun if count == 1 else many or f'{noun}s'}"


_JOINING = ("_", "-", "/", ".")
"""Characters inside a longer name; a full stop after it may end a sentence."""


def contains_whole(text: str, key: str) -> bool:
    """Whether a text contains `key`, not only as a part of a longer word or path."""
    start = text.find(key)
    while start >= 0:
        end = start + len(key)
        before, behind = text[max(start - 1, 0) : start], text[end : end + 1]
        if not (before.isalnum() or behind.isalnum() or before in _JOINING or behind in _JOINING[:3]):
            return True
        start = text.find(key, start + 1)
    return False


# ---------------------------------------------------------------- paths

PATH_LEFT_OUT: Final = "…/"
LONG_PATH: Final = 30
"""A path that is not longer than this stays whole."""
_LEAST_PARTS: Final = 2
"""How many parts always stay: the name and its folder."""


def path_shortener(paths: Iterable[str]) -> Callable[[str], str]:
    """A function that shortens a path to its end, as long as needed to distinguish it from these paths."""
    alike: dict[str, set[str]] = {}
    for path in paths:
        # The mark may replace the root of another working copy, where it is the same file.
        alike.setdefault(_path_end(path, _LEAST_PARTS), set()).add(path.removeprefix(PATH_LEFT_OUT))

    def short(path: str) -> str:
        # A file outside the project would be hard to find: its path stays whole too.
        if len(path) <= LONG_PATH or path[0] in "/~":
            return path
        others = alike.get(_path_end(path, _LEAST_PARTS), set()) - {path.removeprefix(PATH_LEFT_OUT)}
        for parts in range(_LEAST_PARTS, path.count("/") + 1):
            end = _path_end(path, parts)
            if not any(other.endswith(f"/{end}") for other in others):
                return min(path, PATH_LEFT_OUT + end, key=len)
        return path

    return short


def _path_end(path: str, parts: int) -> str:
    """The last parts of a path."""
    return "/".join(path.rsplit("/", parts)[-parts:])


# ---------------------------------------------------------------- plain words

_PLAIN_WORD: Final = compiled(r"[A-Za-z]?[a-z]+(?:['’-][a-z]+)*|[AI]|[^\W\d_a-zA-Z]+")


def plain_share(text: str) -> float:
    """The share of words in a text that are plain, not names, paths or options.

    Everything between spaces counts as a word, also a list marker: leaving these out would raise the share.
    """
    words = [word for line in text_lines(text) for word in line.split()]
    return sum(map(is_plain_word, words)) / len(words) if words else 0.0


def text_lines(text: str) -> list[str]:
    """The lines of a text without its headings and its fence."""
    lines = (line.strip() for line in text.splitlines() if not line.startswith("<"))
    return [line for line in lines if line and not line.startswith("#")]


def is_plain_word(word: str) -> bool:
    """Whether a word is of everyday language."""
    return bool(_PLAIN_WORD.fullmatch(word.strip('.,:;!?()[]“”"*—–-…')))
