"""Names of deleted files, for finding sentences and commands that still mention them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from holdfast.core.events.event import Action
from holdfast.core.evidence.trail import Trail


def deleted_names(trail: Trail) -> dict[str, re.Pattern[str]]:
    """The names of deleted and renamed files, each with a pattern that finds it in a text.

    A name that another, existing file also has is left out. So is a name without an extension: it is a word
    like any other, and a sentence with that word need not mean the file.
    """
    deleted = {touch.path for touch in trail.files if touch.action is Action.DELETE or touch.renamed_to}
    present_names = {name_of(touch.path) for touch in trail.files if touch.path not in deleted}
    names = sorted({name_of(path) for path in deleted} - present_names)
    return {name: re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])") for name in names if "." in name[1:]}


def names_in(text: str, deleted: Mapping[str, re.Pattern[str]]) -> list[str]:
    """The deleted files that a text names."""
    return [name for name, pattern in deleted.items() if pattern.search(text)]


def name_of(path: str) -> str:
    """A file's name without its folders."""
    return path.rsplit("/", 1)[-1]
