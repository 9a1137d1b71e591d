"""Printing: data to stdout, everything else to stderr; a table or a spinner where a person is watching.

Legible without colour. What is shown may be a stranger's: nothing in it reaches a terminal that this would
obey or a person could not see, and nothing in it is taken for markup.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

import click

from holdfast.core.defang import HIDDEN, printable
from holdfast.core.text import one_line

_UNBOUNDED = 10_000
"""The width of a page that nobody looks at: what reads a pipe wants whole lines."""
_GAP = 2
_STYLED_BY = ("COLUMNS", "FORCE_COLOR", "TTY_COMPATIBLE")
"""Variables by which a user says how tables are to look; rich knows what they mean."""
_PATIENCE = 0.3
"""Seconds after which a person is shown that something goes on."""


def say(text: str) -> None:
    """Tell the person something that is not the command's result."""
    click.echo(printable(text), err=True)


def give(text: str) -> None:
    """The command's result."""
    click.echo(printable(text))


def give_json(value: object) -> None:
    """The command's result as one JSON document, whole; what is not seen is written as an escape."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # Line feeds of the layout aside, what is hidden stands in strings, where its escape means the same.
    click.echo(HIDDEN.sub(lambda found: _escape(found[0]), text))


def give_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """The command's result, one row to a line where a terminal is wide enough for that."""
    cells = [[one_line(printable(cell)) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(columns, *cells, strict=True)]
    if sum(widths) + _GAP * (len(widths) - 1) > _line_width() or any(map(os.environ.get, _STYLED_BY)):
        _give_folded(columns, cells)
        return
    head = _line(columns, widths)
    click.echo(f"\033[1m{head}\033[0m" if sys.stdout.isatty() else head)
    for row in cells:
        click.echo(_line(row, widths))


def _give_folded(columns: Sequence[str], cells: Iterable[Sequence[str]]) -> None:
    """A table whose columns are made narrower, and their cells folded, until it fits."""
    # Loading it takes as long as Python's own start five times over, so what needs no folding does without.
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in cells:
        table.add_row(*map(Text, row))
    # Without a terminal rich would assume 80 columns and cut.
    Console(width=None if sys.stdout.isatty() else _UNBOUNDED).print(table)


def _line_width() -> int:
    """How many signs a line of the output holds; none where the terminal does not say, or not enough."""
    if not sys.stdout.isatty():
        return _UNBOUNDED
    if os.environ.get("TERM", "").lower() in {"dumb", "unknown"}:
        return 0
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns
    except OSError:
        return 0


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True))
    return (" " * _GAP).join(padded)


def _width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len  # Its tables are loaded only where they are needed.

    return cell_len(text)


@contextmanager
def working(on: str) -> Generator[None]:
    """Show on a terminal that something goes on, once it takes long enough for a person to wonder."""
    if not sys.stderr.isatty():
        yield
        return
    is_over = threading.Event()
    spinner = threading.Thread(target=_spin, args=(f"{printable(on)} …", is_over), daemon=True)
    spinner.start()
    try:
        yield
    finally:
        is_over.set()
        spinner.join()


def _spin(text: str, is_over: threading.Event) -> None:
    if is_over.wait(_PATIENCE):
        return
    # Loaded when somebody waits anyhow: most of what is shown so is over before that.
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(text)):
        is_over.wait()


def _escape(char: str) -> str:
    """How JSON writes a character in ASCII: by its UTF-16 units."""
    units = char.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
