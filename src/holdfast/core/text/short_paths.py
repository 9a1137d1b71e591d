"""Short paths: how a brief names a file.

A whole path tells most of all where the project keeps its code, and in a brief that way stands again and
again. A file is known by its name and the folder that it stands in; what is left out before them is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

LEFT_OUT: Final = "…/"
LONG: Final = 30
"""A path that is not longer stays whole."""
_LEAST: Final = 2
"""So many parts always stay: the name, and its folder."""


def shortener(paths: Iterable[str]) -> Callable[[str], str]:
    """What makes a path short: its end, as much of it as tells it from these paths."""
    alike: dict[str, set[str]] = {}
    for path in paths:
        # In another working copy it is the same file.
        alike.setdefault(_end(path, _LEAST), set()).add(path.removeprefix(LEFT_OUT))

    def short(path: str) -> str:
        # Nobody would look for a file outside the project: that one stays whole too.
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
