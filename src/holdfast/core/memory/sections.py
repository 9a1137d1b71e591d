"""Sections: a Markdown file in pieces, each with the headings above it.

Only headings and code fences are parsed. The text of a section stays as it was written.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from holdfast.core.text.strings import one_line, shortened
from holdfast.lazy_dataclass import dataclass

LONGEST: Final = 2_000
"""A longer section is continued in another piece with the same headings."""
HEADING_SHOWN: Final = 80


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a file, and the headings above it, the highest level first."""

    headings: tuple[str, ...]
    text: str


def sections(text: str) -> list[Section]:
    """The sections of a file that are not empty, in order."""
    return [
        Section(headings, piece)
        for headings, lines in _divided(text)
        for piece in _pieces("\n".join(lines).strip())
    ]


def _divided(text: str) -> Iterator[tuple[tuple[str, ...], list[str]]]:
    above: list[tuple[int, str]] = []
    lines: list[str] = []
    fence = ""
    for line in text.splitlines():
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
        elif mark and mark[1].startswith(fence) and not mark[2].strip():
            fence = ""
        heading = None if fence or mark else _HEADING.match(line)
        if heading is None:
            lines.append(line)
            continue
        yield tuple(title for _, title in above), lines
        level = len(heading[1])
        title = shortened(one_line(heading[2]), HEADING_SHOWN)
        above, lines = [*((depth, name) for depth, name in above if depth < level), (level, title)], []
    yield tuple(title for _, title in above), lines


_HEADING: Final = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$")
_FENCE: Final = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")


def _pieces(text: str) -> Iterator[str]:
    while len(text) > LONGEST:
        cut = max(text.rfind("\n\n", 0, LONGEST), text.rfind("\n", LONGEST // 2, LONGEST))
        cut = cut if cut > 0 else text.rfind(" ", 0, LONGEST)
        cut = cut if cut > 0 else LONGEST
        yield text[:cut].rstrip()
        text = text[cut:].lstrip()
    if text:
        yield text
