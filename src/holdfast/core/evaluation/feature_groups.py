"""Groups of features: those that say the same kind of thing about a statement, to be left out together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from holdfast.core.evidence.kinds import Section
from holdfast.core.work.state import StatementSource

_ORIGINS: Final = frozenset(map(str, StatementSource))
_SECTIONS: Final = frozenset(map(str, Section))


def _begins(word: str) -> Callable[[str], bool]:
    return lambda name: name.startswith(f"{word} ")


def _is_one_of(*names: str) -> Callable[[str], bool]:
    return frozenset(names).__contains__


def _is_pair(name: str) -> bool:
    """Whether a feature joins who said a thing with its section."""
    origin, _, section = name.partition(" ")
    return origin in _ORIGINS and section in _SECTIONS


def _is_by_origin(name: str) -> bool:
    return _is_pair(name) or name.removeprefix("from ") in _ORIGINS or name.removeprefix("kind ") in _ORIGINS


def _is_by_section(name: str) -> bool:
    return _is_pair(name) or name.startswith(("section ", "kind "))


def _is_by_words(name: str) -> bool:
    return name == "quotes" or name.startswith("cue ")


FEATURE_GROUPS: Final[Mapping[str, Callable[[str], bool]]] = {
    "who said it": _is_by_origin,
    "section and kind": _is_by_section,
    "recency": _is_one_of(
        "turns ago", "steps ago", "how far", "this turn", "last turn", "first turn", "since the prompt"
    ),
    "place": _is_one_of("begins", "place", "ends", "last message"),
    "length": _is_one_of("length", "short", "long"),
    "names": _is_one_of("names", "named again", "named lately", "overtaken"),
    "cues": _is_by_words,
    "heading": _begins("under"),
}
"""For each group of features, which names belong to it; a pair belongs to two."""
