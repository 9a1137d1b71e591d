"""Patterns: regular expressions that are compiled on first use and match alike in every Python we support.

There are hundreds of them, and a command uses a few; compiling all took a quarter of the daemon's start.

A group that is repeated possessively, `(?:…)*+`, gives nothing back, so that no text can make it search for
long. Python 3.11.0 to 3.11.4, which some systems still bring, do not go back where such a group begins once
more without an end, and miss what follows. There it is repeated like any other: slower on hostile text, but
right.
"""

from __future__ import annotations

import re
from types import ModuleType
from typing import AnyStr, Final, Generic, cast

_IS_HASTY: Final = re.fullmatch(r"(?:_[a-z]{1,3}){0,3}+_1", "_a_1") is None
_POSSESSIVE: Final = re.compile(r"(\)(?:[*+?]|\{[0-9,]+\}))\+")
_METHODS: Final = ("search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split", "scanner")


def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile` does it, but on first use; also right for groups that are repeated possessively."""
    return cast("re.Pattern[AnyStr]", _LazyPattern(patient(pattern) if _IS_HASTY else pattern, flags))


def patient(pattern: AnyStr) -> AnyStr:
    """The pattern with every group repeated like any other."""
    if isinstance(pattern, bytes):
        return _POSSESSIVE.sub(r"\1", pattern.decode("latin-1")).encode("latin-1")
    return _POSSESSIVE.sub(r"\1", pattern)


def compile_patterns(module: ModuleType) -> None:
    """Compile the patterns that a module names now, and not while somebody waits for their first match."""
    for value in vars(module).values():
        if isinstance(value, _LazyPattern):
            cast("_LazyPattern[str]", value).compile()


class _LazyPattern(Generic[AnyStr]):
    """A pattern until it is used; from then on its methods are those of the compiled one."""

    def __init__(self, pattern: AnyStr, flags: int) -> None:
        self.pattern: AnyStr = pattern
        self._given_flags = flags

    def compile(self) -> re.Pattern[AnyStr]:
        made = re.compile(self.pattern, self._given_flags)
        for method in _METHODS:
            setattr(self, method, getattr(made, method))
        return made

    def __getattr__(self, name: str) -> object:
        return cast("object", getattr(self.compile(), name))
