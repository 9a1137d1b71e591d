"""Patterns: regular expressions that every Python we support matches alike.

A group that is repeated possessively, `(?:…)*+`, gives nothing back, so that no text can make it search for
long. Python 3.11.0 to 3.11.4, which some systems still bring, do not go back where such a group begins once
more without an end, and miss what follows. There it is repeated like any other: slower on hostile text, but
right.
"""

from __future__ import annotations

import re
from typing import AnyStr, Final

_IS_HASTY: Final = re.fullmatch(r"(?:_[a-z]{1,3}){0,3}+_1", "_a_1") is None
_POSSESSIVE: Final = re.compile(r"(\)(?:[*+?]|\{[0-9,]+\}))\+")


def compiled(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """As `re.compile` does it, for a pattern with groups that are repeated possessively."""
    return re.compile(patient(pattern) if _IS_HASTY else pattern, flags)


def patient(pattern: AnyStr) -> AnyStr:
    """The pattern with every group repeated like any other."""
    if isinstance(pattern, bytes):
        return _POSSESSIVE.sub(r"\1", pattern.decode("latin-1")).encode("latin-1")
    return _POSSESSIVE.sub(r"\1", pattern)
