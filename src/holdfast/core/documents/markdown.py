"""Markdown as far as all readers of it agree: which lines are code or a comment, and so divide nothing."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from typing import Final

COMMENT: Final = "<!--"
_ENDS: Final = {
    COMMENT: re.compile("-->"),
    "```": re.compile(r"^[ \t]*`{3,}\s*$"),
    "~~~": re.compile(r"^[ \t]*~{3,}\s*$"),
}
"""What is read as one piece, by how it begins: how it ends."""


def inside(lines: Sequence[str]) -> list[bool]:
    """Which lines go on with code or a comment that began before them; what never ends did not begin."""
    ends: dict[str, list[int]] = {mark: [] for mark in _ENDS}
    for place, line in enumerate(lines):
        for mark, end in _ENDS.items():
            if end.search(line):
                ends[mark].append(place)
    inside = [False] * len(lines)
    place = 0
    while place < len(lines):
        last = _last(lines[place], place, ends)
        inside[place + 1 : last + 1] = [True] * (last - place)
        place = last + 1
    return inside


def _last(line: str, place: int, ends: Mapping[str, Sequence[int]]) -> int:
    """The line in which what begins here ends; the line itself where neither code nor a comment does."""
    mark = next((mark for mark in _ENDS if line.lstrip().startswith(mark)), "")
    if not mark:
        return place
    # A comment may end where it begins; a fence is never its own end.
    first = bisect_left(ends[mark], place if mark == COMMENT else place + 1)
    return ends[mark][first] if first < len(ends[mark]) else place
