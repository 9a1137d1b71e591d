"""Printing: data to stdout, everything else to stderr; a table or a spinner where a person is watching.

Legible without colour. Printed text may come from strangers: control sequences and hidden characters never
reach a terminal, and nothing is taken for markup.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Collection, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from typing import Final, TextIO

import click

from holdfast.core.text.strings import one_line, shortened
from holdfast.core.text.untrusted import HIDDEN, printable

_USUAL_WIDTH = 80
_GAP = 2
_PATH_CHARS: Final = 28
WIDEST: Final = 100
"""A list is not wider than this: what is far to the right belongs to no line."""
_PATIENCE = 0.3
"""Seconds after which a spinner appears."""


def say(text: str) -> None:
    """Print a message to stderr that is not the command's result; on a terminal, in lines that fit it."""
    width = terminal_width(sys.stderr)
    lines = printable(text).split("\n")
    click.echo("\n".join(_folded_item(line, width) for line in lines), err=True)


def _folded_item(line: str, width: int | None) -> str:
    """A line folded below its first word, where it is indented or an item of a list."""
    text = line.lstrip(" ")
    before = line[: len(line) - len(text)]
    indent = f"{before}  " if text.startswith("- ") else before
    return before + folded(text, width - len(indent) if width else None, indent)


def give(text: str) -> None:
    """Print the command's result."""
    click.echo(printable(text))


def give_json(value: object) -> None:
    """Print the command's result as one JSON document; hidden characters are written as escapes."""
    text = json.dumps(value, ensure_ascii=False, indent=2)
    # Apart from line feeds of the layout, hidden characters are in strings, where an escape means the same.
    click.echo(HIDDEN.sub(lambda match: _escape(match[0]), text))


def give_table(columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Collection[str] = ()) -> None:
    """Print the command's result as a table; cells are folded if the terminal is too narrow.

    The columns in `numbers` are aligned on the right.
    """
    cells = [[one_line(printable(cell)) for cell in row] for row in rows]
    head, *lines = table_lines(columns, cells, line_width(), numbers)
    for line in head:
        _echo(styled(line, "bold"))
    for row in lines:
        for line in row:
            click.echo(line)


def give_folded(mark: str, style: str, text: str) -> None:
    """Print a paragraph of the result behind a mark, folded to the terminal's width below its first word."""
    width, indent = line_width(), " " * (len(mark) + _GAP)
    plain = printable(text)
    first, *more = _folded(plain, max(width - len(indent), 1)) if width else (plain,)
    _echo(f"{styled(mark, style)}{' ' * _GAP}{first}")
    for line in more:
        _echo(indent + line)


def give_styled(text: str, style: str) -> None:
    """Print one line of the result in a colour or weight, where the terminal has them."""
    _echo(styled(printable(text), style))


def give_marked(indent: str, text: str, spans: Iterable[tuple[int, int]]) -> None:
    """Print one line of the result with some words marked: bold, or between asterisks without colours.

    For a pipe nothing is marked: its reader wants the text as it is.
    """
    parts, end = [indent], 0
    for start, stop in spans if _is_styled() or sys.stdout.isatty() else ():
        parts += [text[end:start], _marked(text[start:stop])]
        end = stop
    _echo("".join((*parts, text[end:])))


def _marked(word: str) -> str:
    return styled(word, "bold") if _is_styled() else f"*{word}*"


def give_diff(diff: str) -> None:
    """Print a unified diff as the result, in colour where the terminal has it."""
    for line in diff.splitlines():
        give_styled(line, next((style for start, style in _DIFF_STYLES if line.startswith(start)), ""))


_DIFF_STYLES: Final = (("---", "bold"), ("+++", "bold"), ("@@", "dim"), ("-", "red"), ("+", "green"))
_STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}


def styled(text: str, style: str) -> str:
    """The text in a colour or weight where the terminal has them; as it is for an empty style."""
    code = _STYLES.get(style)
    return f"\033[{code}m{text}\033[0m" if code and _is_styled() else text


def _is_styled() -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    has_colours = sys.stdout.isatty() and os.environ.get("TERM", "").lower() not in {"dumb", "unknown"}
    return bool(os.environ.get("FORCE_COLOR")) or has_colours


def _echo(line: str) -> None:
    """Print a line that may be styled, and has no other control sequences."""
    click.echo(line, color=_is_styled())


def line_width() -> int | None:
    """The width of the terminal; None for a pipe, whose reader wants whole lines."""
    return terminal_width(sys.stdout)


def terminal_width(stream: TextIO) -> int | None:
    """The width of the terminal that a stream goes to; None if it goes elsewhere."""
    if not stream.isatty():
        return None
    chosen = os.environ.get("COLUMNS", "")
    if chosen.isdecimal() and int(chosen):
        return int(chosen)
    try:
        return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH
    except OSError:
        return _USUAL_WIDTH


def short_path(path: str, most: int = _PATH_CHARS) -> str:
    """A directory as one would type it, without what is in the middle of one that has more characters."""
    short = home_path(path)
    if len(short) <= most:
        return short
    top, slash, rest = short.rstrip("/").partition("/")
    if not slash:
        return shortened(short, most)
    *folders, name = rest.split("/")
    room = most - len(f"{top}/…/")
    for folder in reversed(folders):
        if len(f"{folder}/{name}") > room:
            break
        name = f"{folder}/{name}"
    return f"{top}/…/{shortened(name, max(room, 1))}"


def quoted(title: str) -> str:
    """A title as it follows the id of its session; nothing for a session without one."""
    return f" “{title}”" if title else ""


def with_home(text: str) -> str:
    """A text with `~` for the home directory of the user in its paths."""
    home = os.environ.get("HOME", "").rstrip("/")
    return text.replace(f"{home}/", "~/") if home else text


def home_path(path: str) -> str:
    """A path with `~` for the home directory of the user."""
    home = os.environ.get("HOME", "").rstrip("/")
    is_in_home = bool(home) and (path == home or path.startswith(f"{home}/"))
    return f"~{path.removeprefix(home)}" if is_in_home else path


@contextmanager
def working(on: str) -> Generator[None]:
    """Show a spinner on a terminal if the work takes longer than a moment."""
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
    # Loaded only once the user waits anyway: most work is over before that.
    from rich.console import Console
    from rich.text import Text

    with Console(stderr=True).status(Text(text)):
        is_over.wait()


def _escape(char: str) -> str:
    """How JSON writes a character in ASCII: by its UTF-16 units."""
    units = char.encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


def table_lines(
    columns: Sequence[str], rows: Iterable[Sequence[str]], width: int | None, numbers: Collection[str] = ()
) -> list[list[str]]:
    """The lines of the head and of each row; none is wider than `width`, if that is given."""
    everything = [columns, *rows]
    widths = [max(map(_width, column)) for column in zip(*everything, strict=True)]
    if width is not None:
        widths = _narrowed(widths, width - _GAP * (len(widths) - 1))
    is_number = [column in numbers for column in columns]
    return [_lines(row, widths, is_number) for row in everything]


def give_ends(left: str, right: str, width: int) -> None:
    """Print two texts at the ends of one line; the left one is cut at a word if there is no room for it."""
    room = max(20, width - len(right) - _GAP)
    text = shortened(one_line(printable(left)), room)
    while _width(text) > room:  # wide characters take two columns
        text = shortened(text, len(text) - 2)
    click.echo(f"{text}{' ' * (room - _width(text) + _GAP)}{printable(right)}")


def aligned(rows: Sequence[Sequence[str]], numbers: Collection[int]) -> list[str]:
    """Each row as one line with its columns below each other; those at these places are numbers."""
    widths = [max(map(_width, column)) for column in zip(*rows, strict=True)]
    is_number = [place in numbers for place in range(len(widths))]
    return [_lines(row, widths, is_number)[0].rstrip() for row in rows]


def folded(text: str, width: int | None, indent: str = "") -> str:
    """The text in lines of at most this width; all but the first are indented."""
    if width is None:
        return text
    return f"\n{indent}".join(_folded(text, max(20, width)))


def _narrowed(widths: Sequence[int], width: int) -> list[int]:
    """The column widths, with the widest reduced step by step until all fit."""
    narrowed = list(widths)
    for _ in range(sum(widths) - width):
        widest = max(narrowed)
        if widest <= 1:
            break
        narrowed[narrowed.index(widest)] -= 1
    return narrowed


def _lines(row: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> list[str]:
    folded = [list(_folded(cell, width)) for cell, width in zip(row, widths, strict=True)]
    return [
        (" " * _GAP).join(
            _padded(part, width, on_the_right=right)
            for part, width, right in zip(parts, widths, is_number, strict=True)
        )
        for parts in zip_longest(*folded, fillvalue="")
    ]


def _padded(part: str, width: int, *, on_the_right: bool) -> str:
    space = " " * (width - _width(part))
    return space + part if on_the_right else part + space


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
