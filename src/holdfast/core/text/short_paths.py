"""Short paths: how a brief names a file.

Most of a full path is the same for many files of a project, and would be repeated in a brief. A file is shown
by its name and its folder; a mark shows that something before them is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

LEFT_OUT: Final = "…/"
LONG: Final = 30
"""A path that is not longer than this stays whole."""
_LEAST: Final = 2
"""How many parts always stay: the name and its folder."""


def shortener(paths: Iterable[str]) -> Callable[[str], str]:
    """A function that shortens a path to its end, as long as needed to distinguish it from these paths."""
    alike: dict[str, set[str]] = {}
    for path in paths:
        # The mark may replace the root of another working copy, where it is the same file.
        alike.setdefault(_end(path, _LEAST), set()).add(path.removeprefix(LEFT_OUT))

    def short(path: str) -> str:
        # A file outside the project would be hard to find: its path stays whole too.
        if len(path) <= LONG or path[0] in "/~":
            return path
        others = alike.get(_end(path, _LEAST), set()) - {path.removeprefix(LEFT_OUT)}
        for parts in range(_LEAST, path.count("/") + 1):
            end = _end(path, parts)
            if not any(other.endswith(f"/{end}") for other in others):
                return min(path, LEFT_OUT + end, key=len)
        return path

    return short


def _end(path: str, parts: int) -> str:
    """The last parts of a path."""
    return "/".join(path.rsplit("/", parts)[-parts:])
