"""Renewal on the command line: what the first command after an update or a move does, and says."""

from __future__ import annotations

import os
from pathlib import Path

from holdfast import __version__, environment
from holdfast.cli.printing import say
from holdfast.core.text.strings import many
from holdfast.engine.health.renewal import renew
from holdfast.errors import HoldfastError


def renew_and_say(home: Path) -> None:
    """Renew what setup wrote, and say why and what came of it; the command goes on in any case."""
    reason = _reason(home)
    try:
        renewal = renew(home, os.environ, Path.home())
    except (HoldfastError, OSError) as error:
        say(f"note: {reason}; hooks could not be renewed: {error}; run `holdfast doctor`")
        return
    say(f"note: {reason}; {many(len(renewal.changed), 'file')} that `holdfast setup` wrote renewed")
    for problem in renewal.problems:
        say(f"note: not renewed: {problem}; `holdfast doctor` says what to do")


def _reason(home: Path) -> str:
    if environment.is_abandoned(home):
        return f"the Python at `{environment.noted_interpreter(home)}`, which ran Holdfast, is gone"
    if not environment.is_outdated(home):
        return "the hook was of another version"
    earlier = environment.noted_version(home)
    if earlier == __version__:
        return "Holdfast's Python is another one now"
    return f"Holdfast is now {__version__}" + (f", it was {earlier}" if earlier else "")
