"""Local paths: what of a text says where things are on one machine, and the same text without it.

A project's files are named from its root, and the home directory is `~`. So a text that leaves a machine
names neither its user nor its folders, and a text that arrives fits wherever the project is there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Final

from holdfast.core.events.world import Project
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LocalPaths:
    """Where a project and its user's home are on this machine, each in every spelling."""

    roots: tuple[str, ...]
    homes: tuple[str, ...]

    def without(self, text: str) -> str:
        """The text with the project's files named from its root, and the home as `~`."""
        return _neutral(text, _written(self.roots, self.homes)) if "/" in text or "\\" in text else text


def local_paths(project: Project, homes: Iterable[str]) -> LocalPaths:
    """The paths of this machine that a text about the project may name."""
    roots = (project.root, project.normalized, project.path)
    # A session may have begun in a folder of the project: a path is named from the root all the same.
    tops = [each for each in dict.fromkeys(roots) if not _is_below(each, roots)]
    return LocalPaths(tuple(tops), tuple(dict.fromkeys(homes)))


def _is_below(path: str, roots: Iterable[str]) -> bool:
    return any(path != root and path.startswith(root.rstrip("/\\") + "/") for root in roots if root)


def _neutral(text: str, written: list[tuple[str, str]]) -> str:
    for place, name in written:
        if place in text:
            below = r"[/\\]+(?P<below>[^\s/\\\"'`),:;])?"
            text = re.sub(rf"{re.escape(place)}(?:{below}|{_END})", partial(_renamed, name), text)
    return text


_END: Final = r"(?![\w-]|\.\w)"
"""Behind a path that is no longer than this; `/home/you` is not in `/home/you-2`."""


def _renamed(name: str, place: re.Match[str]) -> str:
    below = place["below"]
    if below is None:
        return name or "."
    return f"{name}/{below}" if name else str(below)


def _written(roots: tuple[str, ...], homes: tuple[str, ...]) -> list[tuple[str, str]]:
    """Each spelling of a local path with its new name; the longest first, because one may be in another."""
    names = dict[str, str]()
    for root in filter(_is_somewhere, roots):
        names[root] = ""
    for home in filter(_is_somewhere, homes):
        names.setdefault(home, "~")
    for root in filter(_is_somewhere, roots):
        above = root.rstrip("/\\").rpartition("/")[0]
        if above.count("/") > 1:
            names.setdefault(above, "..")
    spelled = {spelling: name for path, name in names.items() for spelling in _spellings(path)}
    as_folders = {_NO_NAME.sub("-", path): "-" for path in names if len(re.findall(r"[/\\]", path)) > 1}
    return sorted({**as_folders, **spelled}.items(), key=lambda each: -len(each[0]))


def _is_somewhere(path: str) -> bool:
    """Whether a path leads anywhere; everything is below the root of a file system."""
    return len(path.strip("/\\")) > 1


def _spellings(path: str) -> Iterator[str]:
    """A path as texts write it, with either separator."""
    path = path.rstrip("/\\")
    yield path
    if "\\" in path:
        yield path.replace("\\", "/")
        yield path.replace("\\", "\\\\")


_NO_NAME: Final = re.compile(r"[^A-Za-z0-9]")
"""Some programs name a project's folder after its path, with `-` for each of these."""
