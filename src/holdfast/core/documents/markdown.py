"""Find the lines of a Markdown text that are inside code or a comment, and so are no heading or bullet."""

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
"""For each opening mark, the pattern that closes it."""


def lines_inside_blocks(lines: Sequence[str]) -> list[bool]:
    """For each line, whether it continues code or a comment; an opening mark without an end is ignored."""
    ends: dict[str, list[int]] = {mark: [] for mark in _ENDS}
    for place, line in enumerate(lines):
        for mark, end in _ENDS.items():
            if end.search(line):
                ends[mark].append(place)
    is_inside = [False] * len(lines)
    place = 0
    while place < len(lines):
        last = _last(lines[place], place, ends)
        is_inside[place + 1 : last + 1] = [True] * (last - place)
        place = last + 1
    return is_inside


def _last(line: str, place: int, ends: Mapping[str, Sequence[int]]) -> int:
    """The line in which the code or comment that begins here ends; this line if none begins."""
    mark = next((mark for mark in _ENDS if line.lstrip().startswith(mark)), "")
    if not mark:
        return place
    # A comment may end in its first line; a fence needs another line.
    first = bisect_left(ends[mark], place if mark == COMMENT else place + 1)
    return ends[mark][first] if first < len(ends[mark]) else place
