"""Table: cells in columns, folded where they would be wider than a terminal.

Nothing here knows what a cell says, or where the lines go.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest

_GAP = 2


def table(columns: Sequence[str], rows: Iterable[Sequence[str]], width: int | None) -> list[list[str]]:
    """The lines of the head and of each row; none is wider than `width`, if that is given."""
    everything = [columns, *rows]
    widths = [max(map(_width, column)) for column in zip(*everything, strict=True)]
    if width is not None:
        widths = _narrowed(widths, width - _GAP * (len(widths) - 1))
    return [_lines(row, widths) for row in everything]


def _narrowed(widths: Sequence[int], width: int) -> list[int]:
    """The column widths, with the widest reduced step by step until all fit."""
    narrowed = list(widths)
    for _ in range(sum(widths) - width):
        widest = max(narrowed)
        if widest <= 1:
            break
        narrowed[narrowed.index(widest)] -= 1
    return narrowed


def _lines(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    folded = [list(_folded(cell, width)) for cell, width in zip(row, widths, strict=True)]
    return [
        (" " * _GAP).join(
            part + " " * (width - _width(part)) for part, width in zip(parts, widths, strict=True)
        )
        for parts in zip_longest(*folded, fillvalue="")
    ]


def _folded(text: str, width: int) -> Iterator[str]:
    """The text in lines of whole words; a word that is wider than a line is cut."""
    if _width(text) <= width:
        yield text
        return
    line = ""
    for word in text.split(" "):
        longer = f"{line} {word}" if line else word
        if _width(longer) <= width:
            line = longer
            continue
        if line:
            yield line
        line = word
        while _width(line) > width:
            fits = _fitting(line, width)
            yield line[:fits]
            line = line[fits:]
    if line:
        yield line


def _fitting(text: str, width: int) -> int:
    """How many characters of a text that is wider than this fit; at least one."""
    fits = min(len(text) - 1, width)
    while fits > 1 and _width(text[:fits]) > width:
        fits -= 1
    return max(fits, 1)


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # Its tables are loaded only where they are needed.

    return cell_len(text)
