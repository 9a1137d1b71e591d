"""Wrapped: somebody's command inside of ours, for a place that has room for one.

Both are given the same letter; theirs runs first, and what it prints stands first, whatever becomes of ours.
Only POSIX shells understand it.
"""

from __future__ import annotations

import shlex
from typing import Final

# With `eval` theirs is run by the very shell that would run it without us, and an error in it stays in there.
_BEFORE: Final = 'letter=$(cat); theirs=$(printf %s "$letter" | eval '
_BETWEEN: Final = """); [ -n "$theirs" ] && printf '%s\\n' "$theirs"; printf %s "$letter" | """


def wrapped(theirs: str, ours: str) -> str:
    """The command line that prints what theirs prints and then, below it, what ours does."""
    return f"{_BEFORE}{shlex.quote(theirs)}{_BETWEEN}{ours}"


def unwrapped(command: str) -> str:
    """The command that this one was put around; empty if it was put around none."""
    quoted, between, _ = command.removeprefix(_BEFORE).rpartition(_BETWEEN)
    return shlex.split(quoted)[0] if between and command.startswith(_BEFORE) else ""
