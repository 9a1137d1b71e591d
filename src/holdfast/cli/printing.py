"""Printing: data to stdout, everything else to stderr; a table or a spinner where a person is watching.

Legible without colour. What a transcript says may hold escape sequences; none reaches a terminal.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager

import click

_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_UNBOUNDED = 10_000
"""The width of a page that nobody looks at: what reads a pipe wants whole lines."""


def say(text: str) -> None:
    """Tell the person something that is not the command's result."""
    click.echo(legible(text), err=True)


def give(text: str) -> None:
    """The command's result."""
    click.echo(legible(text))


def give_json(value: object) -> None:
    """The command's result as one JSON document."""
    click.echo(json.dumps(value, ensure_ascii=False, indent=2))


def give_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """The command's result, one row to a line."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(legible(cell)) for cell in row))
    # Without a terminal rich would assume 80 columns and cut.
    Console(width=None if sys.stdout.isatty() else _UNBOUNDED).print(table)


def legible(text: str) -> str:
    """The text with nothing in it that a terminal would obey."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text)


@contextmanager
def working(on: str) -> Generator[None]:
    """Show on a terminal that something goes on which may take more than a second."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{on} …"):
        yield
