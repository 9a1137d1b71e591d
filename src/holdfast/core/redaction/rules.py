"""Rules: the list of all rules for secrets, and the search that applies them to a text until none finds more.

Each rule stands in the module that it is imported from, named after what it looks at. It begins with a plain
search for a literal (`prefilter`), because most texts hold no secret; a pattern is tried only where that
literal stands.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache, lru_cache
from json import dumps
from operator import attrgetter, itemgetter
from typing import Final, TypeAlias
from urllib.parse import quote

from holdfast.core.redaction.assignments import MANIFEST_RULES
from holdfast.core.redaction.blocks import KEY_RULES, PRIVATE_RULES, documents, end_of_first_line
from holdfast.core.redaction.by_name import FOREIGN_RULES, NAME_RULES, VARIABLE_RULES, by_foreign_name
from holdfast.core.redaction.by_place import CALL_RULES, PLACE_RULES
from holdfast.core.redaction.by_shape import ENCODED, keys_by_shape
from holdfast.core.redaction.commands import COMMAND_RULES
from holdfast.core.redaction.prefilter import (
    Prefilter,
    Search,
    TextPage,
    page_of,
    prefilters_for,
    searches_for,
)
from holdfast.core.redaction.sentences import CODE_RULES, PHRASE_RULES
from holdfast.core.redaction.spans import (
    MARKER,
    MARKER_BEGINS,
    VARIABLE,
    Rank,
    Span,
    in_original,
    merge_spans,
    outside_markers,
    replace_spans,
    whole_characters,
)
from holdfast.core.redaction.values import is_made_up, is_scrambled
from holdfast.core.redaction.views import encoded_at, is_pair, views
from holdfast.lazy_dataclass import dataclass

_RULES: Final = (
    *PRIVATE_RULES,
    *KEY_RULES,
    *MANIFEST_RULES,
    *NAME_RULES,
    *PLACE_RULES,
    *COMMAND_RULES,
    *CODE_RULES,
    *CALL_RULES,
    *VARIABLE_RULES,
    *PHRASE_RULES,
    *FOREIGN_RULES,
)
_Ask: TypeAlias = Callable[[bytes], re.Match[bytes] | None]
# The shortest text that can hold a name, a sign and a value.
_SHORTEST: Final = 7
_SHORTEST_DENIED: Final = 4
_MOST_ECHOED: Final = 32
_SHORTEST_ECHOED: Final = 8


@dataclass(frozen=True, slots=True)
class Lists:
    """Values that a user wants left alone, and values that always go. Where both say something, it goes."""

    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


NO_LISTS: Final = Lists()


def search(text: str, salt: bytes, lists: Lists) -> list[Span]:
    """The secrets of a text, in order and apart."""
    # What stood beside a secret may read differently beside its marker, so look until nothing is found. Every
    # span begins outside of all markers, so each round leaves fewer other characters, and this ends.
    spans: list[Span] = []
    shown = text
    while new_spans := _search_once(shown, lists):
        spans = merge_spans([*spans, *in_original(text, spans, salt, new_spans)])
        shown = replace_spans(text, spans, salt)
    return spans


def _search_once(text: str, lists: Lists) -> list[Span]:
    if len(text) < _SHORTEST and not lists.deny:
        return []
    page = page_of(_masked(text))
    spans = _by_rules(page)
    for view in views(page):
        spans += view.in_text(_by_rules(page_of(view.text)))
    if spans:
        spans += _named_documents(page.text, spans)
        spans += _echoes(page.text, spans)
    elif not lists.deny:
        return []
    if lists.allow or lists.deny:
        spans = [*_not_allowed(text, spans, lists.allow), *_denied(text, lists)]
    return [whole_characters(text, span) for span in outside_markers(text, spans)]


def _by_rules(page: TextPage) -> list[Span]:
    spans = list(_keys(page))
    lower = page.lower
    searches: list[tuple[int, Search, int]] = []
    # Asked here, not in a function: most texts end at these prefilters.
    for first, prefilter in _prefilters():
        if place := first(lower):
            searches += prefilter.from_place(place.start())
    for sign, first, prefilter in _rare_prefilters():
        if sign in lower and (place := first(lower)):
            searches += prefilter.from_place(place.start())
    if searches:
        for _, search, start in sorted(searches, key=itemgetter(0)):
            spans += search.spans(page, start)
    if not page.text.isascii():
        spans += by_foreign_name(page)
    return spans


def _keys(page: TextPage) -> Iterator[Span]:
    """Keys by their shape, and base64 of a text that has a secret in it."""
    for span in keys_by_shape(page):
        if span.kind != ENCODED:
            yield span
        elif encoded := encoded_at(page.text, span.start):
            end, plain = encoded
            if is_pair(plain) or any(_tells(each) for each in _by_rules(page_of(plain))):
                yield replace(span, end=end)


def _tells(span: Span) -> bool:
    return not span.kind.startswith(VARIABLE) and span.kind != ENCODED


@cache
def _all_prefilters() -> tuple[Prefilter, ...]:
    """What is asked for all rules; made when a text is first looked at, because that takes a while."""
    return prefilters_for(searches_for(_RULES))


@cache
def _prefilters() -> tuple[tuple[_Ask, Prefilter], ...]:
    return tuple((each.where.search, each) for each in _all_prefilters() if each.sign is None)


@cache
def _rare_prefilters() -> tuple[tuple[int, _Ask, Prefilter], ...]:
    return tuple((each.sign, each.where.search, each) for each in _all_prefilters() if each.sign is not None)


def _masked(text: str) -> str:
    """The text with nothing to read in its markers: their words would announce secrets."""
    if MARKER_BEGINS not in text:
        return text
    return MARKER.sub(lambda marker: "[" + "\0" * (len(marker[0]) - 2) + "]", text)


def _named_documents(text: str, spans: Sequence[Span]) -> list[Span]:
    """The documents whose first line is a secret by its name or place: the rest belongs to it."""
    named = {span.end: span for span in spans if span.rank >= Rank.PLACE and span.kind != ENCODED}
    return [
        replace(named[first], end=document.whole)
        for document in documents(text)
        if (first := end_of_first_line(text, document)) in named
    ]


def _echoes(text: str, spans: Sequence[Span]) -> Iterator[Span]:
    """The same values again, in the line where one was found and in all that follow."""
    known: dict[str, Span] = {}
    for span in sorted(spans, key=attrgetter("start")):
        if len(known) == _MOST_ECHOED:
            break
        value = text[span.start : span.end]
        if len(value) >= _SHORTEST_ECHOED and (is_made_up(value) or is_scrambled(value)):
            known.setdefault(value, span)
    for value, span in known.items():
        for place in _places(text, value, text.rfind("\n", 0, span.start) + 1):
            yield Span(place, place + len(value), span.kind, span.rank)


def _not_allowed(text: str, spans: Sequence[Span], allowed: Sequence[str]) -> Iterator[Span]:
    """The spans that do not lie in one of the values that are to be left alone."""
    places = {value: list(_places(text, value)) for value in allowed if value}
    for span in spans:
        before = (
            (value, at[number - 1])
            for value, at in places.items()
            if (number := bisect_right(at, span.start)) > 0
        )
        if not any(span.end <= place + len(value) for value, place in before):
            yield span


def _denied(text: str, lists: Lists) -> Iterator[Span]:
    for value in _spellings(lists):
        for place in _places(text, value):
            yield Span(place, place + len(value), "denied", Rank.CERTAIN)


@lru_cache(maxsize=8)
def _spellings(lists: Lists) -> tuple[str, ...]:
    """Each value that always goes, as it is and as JSON and a URL spell it."""
    values = [value for value in lists.deny if len(value) >= _SHORTEST_DENIED]
    spelt = [(value, dumps(value)[1:-1], quote(value, safe="", errors="replace")) for value in values]
    return tuple(dict.fromkeys(spelling for spellings in spelt for spelling in spellings))


def _places(text: str, value: str, start: int = 0) -> Iterator[int]:
    place = text.find(value, start)
    while place >= 0:
        yield place
        place = text.find(value, place + len(value))
