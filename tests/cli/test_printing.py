"""Tables as they are printed: the same text whether or not rich lays them out."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from contextlib import redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.cli import printing
from holdfast.core.defang import printable
from holdfast.core.text import one_line

_CELLS = st.text(st.one_of(st.characters(), st.sampled_from("ab …漢é🙂\u0301\u200d")), max_size=12)


@given(rows=st.lists(st.tuples(_CELLS, _CELLS, _CELLS), max_size=4))
def test_a_table_is_printed_as_rich_would_lay_it_out(rows: list[tuple[str, str, str]]) -> None:
    columns = ("id", "text", "of what")
    table = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        table.add_row(*(Text(one_line(printable(cell))) for cell in row))
    by_rich = io.StringIO()
    Console(file=by_rich, width=10_000).print(table)
    printed = io.StringIO()
    with redirect_stdout(printed):
        printing.give_table(columns, rows)
    assert printed.getvalue() == by_rich.getvalue()


_PROGRAM = """if True:
    import sys
    from holdfast.cli.printing import give_table
    give_table(("id", "text"), [("1", sys.argv[1])])
    print("rich.table" in sys.modules)
"""


@pytest.mark.parametrize(
    ("text", "variables", "is_folded"),
    [
        ("short", {}, False),
        ("a longer text " * 10, {}, True),
        ("short", {"TERM": "dumb"}, True),
        ("short", {"COLUMNS": "80"}, True),
    ],
)
def test_rich_lays_out_only_what_a_terminal_is_too_narrow_for(
    text: str, variables: dict[str, str], *, is_folded: bool
) -> None:
    main, terminal = pty.openpty()
    os.set_blocking(main, False)
    environment = {"PATH": os.defpath, "TERM": "xterm"} | variables
    command = [sys.executable, "-c", _PROGRAM, text]
    # A new pseudo-terminal says that it has no columns at all until it is given some.
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    subprocess.run(command, stdout=terminal, stdin=subprocess.DEVNULL, env=environment, check=True)
    shown = os.read(main, 10_000).decode().replace("\r\n", "\n")
    os.close(main)
    os.close(terminal)
    assert shown.endswith(f"{is_folded}\n")
    assert "id" in shown.splitlines()[0]
    assert text.split(maxsplit=1)[0] in shown
