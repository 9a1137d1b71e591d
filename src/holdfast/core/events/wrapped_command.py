"""Wrapped command: runs the user's command and Holdfast's in a setting that allows only one.

Both receive the same input. The user's command runs and prints first, even if Holdfast's fails. For POSIX
shells only.
"""

from __future__ import annotations

import shlex
from typing import Final

# With `eval` the user's command runs in the same shell as without Holdfast, and errors stay inside it.
# `unwrapped` must recognise commands that were installed before, so these parts cannot change.
_BEFORE: Final = 'letter=$(cat); theirs=$(printf %s "$letter" | eval '
_BETWEEN: Final = """); [ -n "$theirs" ] && printf '%s\\n' "$theirs"; printf %s "$letter" | """


def wrapped(user_command: str, own_command: str) -> str:
    """The command line that prints the user's output, and below it Holdfast's."""
    return f"{_BEFORE}{shlex.quote(user_command)}{_BETWEEN}{own_command}"


def unwrapped(command: str) -> str:
    """The user's command inside a wrapped one; empty if it is not wrapped."""
    quoted, between, _ = command.removeprefix(_BEFORE).rpartition(_BETWEEN)
    return shlex.split(quoted)[0] if between and command.startswith(_BEFORE) else ""
