"""Printing: data to stdout, everything else to stderr; a table or a spinner where a person is watching.

Legible without colour. What is shown may be a stranger's: nothing in it reaches a terminal that this would
obey or a person could not see, and nothing in it is taken for markup.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

import click

from holdfast.core.defang import HIDDEN, printable
from holdfast.core.text import one_line

_UNBOUNDED = 10_000
"""The width of a page that nobody looks at: what reads a pipe wants whole lines."""


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
    """The command's result, one row to a line."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(one_line(printable(cell))) for cell in row))
    # Without a terminal rich would assume 80 columns and cut.
    Console(width=None if sys.stdout.isatty() else _UNBOUNDED).print(table)


@contextmanager
def working(on: str) -> Generator[None]:
    """Show on a terminal that something goes on which may take more than a second."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(f"{printable(on)} …")):
        yield


def _escape(char: str) -> str:
    """How JSON writes a character in ASCII: by its UTF-16 units."""
    units = char.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
