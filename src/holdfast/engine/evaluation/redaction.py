"""Redaction measured: how many labelled secrets are removed, how much clean text is changed, how fast.

On the corpora of `engine.evaluation.redaction_corpora`. A secret counts as removed if its value is nowhere in
the remaining text. Any finder of secrets can be measured, Holdfast's or another.
"""

from __future__ import annotations

import hashlib
import json
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from holdfast.core.redaction.forms import MARKS, known_at
from holdfast.core.redaction.names import PROVIDERS
from holdfast.core.redaction.redact import redact, secrets_in
from holdfast.engine.evaluation.redaction_corpora import Family, Labelled
from holdfast.lazy_dataclass import dataclass

Finder: TypeAlias = Callable[[str], Iterable[tuple[int, int]]]
"""Where the secrets of a text begin and end."""

ALL: Final = "all"


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a total."""

    found: int
    n: int

    @property
    def value(self) -> float | None:
        """The share; None of nothing."""
        return self.found / self.n if self.n else None


@dataclass(frozen=True, slots=True)
class Changed:
    """What was changed in text that should have stayed unchanged."""

    characters: int
    redactions: int
    changed: int
    """How many characters were changed."""

    @property
    def redactions_per_million(self) -> float | None:
        """False redactions in a million characters; None without any."""
        return 1e6 * self.redactions / self.characters if self.characters else None

    @property
    def changed_per_million(self) -> float | None:
        """Changed characters of a million; None without any."""
        return 1e6 * self.changed / self.characters if self.characters else None


def ours(text: str) -> Iterator[tuple[int, int]]:
    """The secrets that Holdfast finds."""
    return ((span.start, span.end) for span in secrets_in(text))


def recall(labels: Iterable[Labelled], finder: Finder = ours) -> dict[str, Share]:
    """The share of labelled secrets that are removed, for each family and in total."""
    removed: dict[str, list[bool]] = {name: [] for name in (ALL, *Family)}
    for label in labels:
        is_gone = label.value not in without(label.text, finder)
        removed[label.family].append(is_gone)
        removed[ALL].append(is_gone)
    return {name: Share(sum(each), len(each)) for name, each in removed.items()}


def missed(labels: Iterable[Labelled], finder: Finder = ours) -> list[Labelled]:
    """The labelled secrets that are not removed."""
    return [label for label in labels if label.value in without(label.text, finder)]


def without(text: str, finder: Finder) -> str:
    """The text with a unique character in place of each secret that was found."""
    pieces, place = list[str](), 0
    for start, end in sorted(finder(text)):
        pieces += (text[place : max(place, start)], "\0")
        place = max(place, end)
    return "".join([*pieces, text[place:]])


def in_json(labels: Iterable[Labelled]) -> Iterator[Labelled]:
    """The same secrets as they are in a transcript: inside a JSON string."""
    for label in labels:
        text, value = json.dumps({"text": label.text}), json.dumps(label.value)[1:-1]
        yield replace(label, text=text, value=value)


def of_unknown_services(labels: Iterable[Labelled]) -> Iterator[Labelled]:
    """The same secrets as if from unknown services: only the general rules can find them.

    Prefixes, signatures and names of services get other letters. Formats that belong to no service, private
    keys and web tokens, stay.
    """
    for label in labels:
        if label.family is Family.PRIVATE_KEYS:
            yield label
            continue
        others = label.text.split(label.value)
        value, places = _of_no_one(label.value), [_SERVICE.sub(_other_letters, each) for each in others]
        yield replace(label, text=value.join(places), value=value)


def _of_no_one(value: str) -> str:
    if value.startswith("eyJ") or _HEXADECIMAL.fullmatch(value):
        return value
    other = _PREFIX.sub(_other_letters, _MARK.sub(_other_letters, value))
    # A prefix may become another one that is known.
    return _PREFIX.sub(_other_letters, other) if known_at(other, 0) else other


def _other_letters(match: re.Match[str]) -> str:
    return match[0].translate(_OTHER_LETTERS)


# Each letter is moved nine places in the alphabet, so that moving twice still changes it.
_SMALL: Final = string.ascii_lowercase
_OTHER_LETTERS: Final = str.maketrans(
    _SMALL + _SMALL.upper(), _SMALL[9:] + _SMALL[:9] + _SMALL[9:].upper() + _SMALL[:9].upper()
)


_PREFIX: Final = re.compile(r"\A(?:[A-Za-z][A-Za-z0-9]{0,11}(?=[_.-])|[A-Za-z]{1,4})")
_MARK: Final = re.compile("|".join(map(re.escape, MARKS)))
_SERVICE: Final = re.compile("|".join(sorted(PROVIDERS, key=len, reverse=True)), re.IGNORECASE)
_HEXADECIMAL: Final = re.compile(r"[0-9a-fA-F-]+")


def halves(labels: Sequence[Labelled]) -> tuple[list[Labelled], list[Labelled]]:
    """The labels in two halves, by their values: rules written on one can be tested on the other."""
    parts: tuple[list[Labelled], list[Labelled]] = ([], [])
    for label in labels:
        parts[hashlib.sha256(label.value.encode("utf-8", "replace")).digest()[0] % 2].append(label)
    return parts


def false_redactions(texts: Iterable[str], finder: Finder = ours) -> Changed:
    """How much is changed in texts without a secret."""
    characters = redactions = changed = 0
    for text in texts:
        spans = list(finder(text))
        characters += len(text)
        redactions += len(spans)
        changed += sum(end - start for start, end in spans)
    return Changed(characters, redactions, changed)


def megabytes_per_second(
    texts: Sequence[str], clock: Callable[[], float], redactor: Callable[[str], object] = redact
) -> float | None:
    """How much text is scanned in a second, the better of two runs; None without a text."""
    size = sum(len(text.encode("utf-8", "replace")) for text in texts)
    seconds: list[float] = []
    for _ in range(2):
        began = clock()
        for text in texts:
            redactor(text)
        seconds.append(clock() - began)
    return size / max(min(seconds), 1e-9) / 1e6 if size else None


@dataclass(frozen=True, slots=True)
class Measured:
    """Everything that one run measured."""

    recall: Mapping[str, Share]
    recall_in_json: Mapping[str, Share]
    recall_of_unknown: Mapping[str, Share]
    halves: tuple[Mapping[str, Share], Mapping[str, Share]]
    clean: Mapping[str, Changed]
    megabytes_per_second: float | None


def measured(
    labels: Sequence[Labelled],
    transcripts: Sequence[str],
    made: Mapping[str, str],
    clock: Callable[[], float],
) -> Measured:
    """Holdfast's own results on labelled secrets, on transcripts and on generated clean text."""
    first, second = halves(labels)
    return Measured(
        recall(labels),
        recall(in_json(labels)),
        recall(of_unknown_services(labels)),
        (recall(first), recall(second)),
        {
            "transcripts": false_redactions(transcripts),
            **{name: false_redactions([text]) for name, text in made.items()},
        },
        megabytes_per_second(transcripts or list(made.values()), clock),
    )
