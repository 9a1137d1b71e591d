"""Files that are no more, by the names by which what is said of a session may still name them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from holdfast.core.events.event import Action
from holdfast.core.evidence.trail import Trail


def gone_names(trail: Trail) -> dict[str, re.Pattern[str]]:
    """The names of files that are no more, each with what finds it; not one that another file has as well.

    A name without an ending is a word like any other, and a sentence with that word need not mean the file.
    """
    lost = {touch.path for touch in trail.files if touch.action is Action.DELETE or touch.renamed_to}
    there = {name_of(touch.path) for touch in trail.files if touch.path not in lost}
    names = sorted({name_of(path) for path in lost} - there)
    return {name: re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") for name in names if "." in name[1:]}


def names_in(text: str, gone: Mapping[str, re.Pattern[str]]) -> list[str]:
    """Which files that are no more a text names."""
    return [name for name, found in gone.items() if found.search(text)]


def name_of(path: str) -> str:
    """A file's name without its folders."""
    return path.rsplit("/", 1)[-1]
