"""Patterns: regular expressions that are compiled on first use and match the same in every supported Python.

There are hundreds of them, and a command uses a few; compiling all took a quarter of the daemon's start.

A possessive group, `(?:…)*+`, never backtracks, so that no text can make it slow. Python 3.11.0 to 3.11.4,
which some systems still ship, match such groups wrongly: if the last repetition is incomplete, they miss what
follows. There the group is repeated like any other: slower on hostile text, but correct.
"""

from __future__ import annotations

import re
from types import ModuleType
from typing import AnyStr, Final, Generic, cast

_HAS_POSSESSIVE_BUG: Final = re.fullmatch(r"(?:_[a-z]{1,3}){0,3}+_1", "_a_1") is None
_POSSESSIVE: Final = re.compile(r"(\)(?:[*+?]|\{[0-9,]+\}))\+")
_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "scanner")


def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Like `re.compile`, but compiled on first use, and correct for possessive groups."""
    return cast(
        "re.Pattern[AnyStr]",
        _LazyPattern(without_possessive_groups(pattern) if _HAS_POSSESSIVE_BUG else pattern, flags),
    )


def without_possessive_groups(pattern: AnyStr) -> AnyStr:
    """The pattern without possessive groups."""
    if isinstance(pattern, bytes):
        return _POSSESSIVE.sub(r"\1", pattern.decode("latin-1")).encode("latin-1")
    return _POSSESSIVE.sub(r"\1", pattern)


def compile_patterns(module: ModuleType) -> None:
    """Compile a module's patterns now, so that nothing waits for it at their first match."""
    for value in vars(module).values():
        if isinstance(value, _LazyPattern):
            cast("_LazyPattern[str]", value).compile()


class _LazyPattern(Generic[AnyStr]):
    """A pattern that is compiled on first use; from then on its methods are those of the compiled one."""

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._flags = flags

    def compile(self) -> re.Pattern[AnyStr]:
        pattern = re.compile(self.pattern, self._flags)
        for method in _METHODS:
            setattr(self, method, getattr(pattern, method))
        return pattern

    def __getattr__(self, name: str) -> object:
        return cast("object", getattr(self.compile(), name))
