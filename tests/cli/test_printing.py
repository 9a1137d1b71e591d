"""Tables as they are printed: to a pipe as rich lays them out, and folded to fit a terminal."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import struct
import subprocess
import sys
import termios
from contextlib import redirect_stderr, redirect_stdout

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from holdfast.cli import printing
from holdfast.cli.commands import project, sessions
from holdfast.cli.commands.documents import handoff
from holdfast.cli.printing import table_lines
from holdfast.core.text.strings import one_line
from holdfast.core.text.untrusted import printable
from holdfast.engine.repository.projects import ListedProject

_CELLS = st.text(st.one_of(st.characters(), st.sampled_from("ab …漢é🙂\u0301\u200d")), max_size=12)


@given(rows=st.lists(st.tuples(_CELLS, _CELLS, _CELLS), max_size=4))
def test_a_table_is_printed_as_rich_would_lay_it_out(rows: list[tuple[str, str, str]]) -> None:
    columns = ("id", "text", "of what")
    theirs = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        theirs.add_row(*(Text(one_line(printable(cell))) for cell in row))
    by_rich = io.StringIO()
    Console(file=by_rich, width=10_000).print(theirs)
    printed = io.StringIO()
    with redirect_stdout(printed):
        printing.give_table(columns, rows)
    assert printed.getvalue() == by_rich.getvalue()


@given(rows=st.lists(st.tuples(_CELLS, _CELLS, _CELLS), max_size=4), room=st.integers(1, 60))
def test_a_table_fits_a_terminal_and_loses_nothing(rows: list[tuple[str, str, str]], room: int) -> None:
    cells = [[one_line(printable(cell)) for cell in row] for row in rows]
    columns = ("id", "text", "of what")
    folded = table_lines(columns, cells, room)
    for row, lines in zip([list(columns), *cells], folded, strict=True):
        # Below two columns a cell, some characters are wider than there is room for.
        assert room < 10 or max(map(cell_len, lines)) <= room
        assert sorted("".join(lines).replace(" ", "")) == sorted("".join(row).replace(" ", ""))


def test_the_widest_cells_are_folded_between_words() -> None:
    assert table_lines(("id", "said"), [("a1", "one two three"), ("b2", "extraordinarily")], 13) == [
        ["id  said     "],
        ["a1  one two  ", "    three    "],
        ["b2  extraordi", "    narily   "],
    ]


_PROGRAM = """if True:
    import sys
    from holdfast.cli.printing import give_table
    give_table(("id", "text"), [("1", sys.argv[1])])
    print("rich" in sys.modules)
"""


@pytest.mark.parametrize(
    ("text", "variables", "shown"),
    [
        ("short", {}, "\033[1mid  text \033[0m\n1   short\n"),
        ("much too long", {}, "\033[1mid  text    \033[0m\n1   much too\n    long    \n"),
        ("short", {"TERM": "dumb"}, "id  text \n1   short\n"),
        ("much too long", {"COLUMNS": "40"}, "\033[1mid  text         \033[0m\n1   much too long\n"),
    ],
)
def test_a_table_on_a_terminal_fits_it_without_rich(text: str, variables: dict[str, str], shown: str) -> None:
    main, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 12, 0, 0))
    environment = {"PATH": os.defpath, "TERM": "xterm"} | variables
    command = [sys.executable, "-c", _PROGRAM, text]
    subprocess.run(command, stdout=terminal, stdin=subprocess.DEVNULL, env=environment, check=True)
    printed = os.read(main, 10_000).decode().replace("\r\n", "\n")
    os.close(main)
    os.close(terminal)
    assert printed == f"{shown}False\n"


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person whose terminals have 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("HOME", "/home/you")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.usefixtures("narrow")
def test_a_message_on_a_terminal_is_folded_between_words() -> None:
    with redirect_stderr(_Terminal()) as printed:
        printing.say("hint: one\n" + "several words " * 8)
    first, *more = printed.getvalue().splitlines()
    assert first == "hint: one"
    assert len(more) == 2
    assert all(len(line) <= 80 and not line.startswith("ords") for line in more)


def _listed(path: str, prompts: int, *, phase: str) -> dict[str, object]:
    return {
        "session_key": path,
        "short_id": "019f17a5",
        "harness": "claude-code",
        "person": None,
        "machine": None,
        "project": path,
        "prompt_count": prompts,
        "windows": 12,
        "phase": phase,
        "imported": phase == "ended",
        "tokens": 5,
        "percent": 87,
        "title": "Spawn a worker to look at everything that was ever written…",
        "last_event_at": "2026-01-01T00:00:00Z",
    }


@pytest.mark.usefixtures("narrow")
def test_sessions_with_long_paths_and_large_numbers_fit_a_terminal() -> None:
    rows = [
        _listed("/home/you/projects/EntityProcess/a-rather-long-name", 1_236, phase="ended"),
        _listed("/home/you/x", 3, phase="live"),
        _listed("/srv/workspaces/everything/of-ann", 3, phase="orphaned"),
    ]
    with redirect_stdout(_Terminal()) as printed:
        sessions.print_sessions(rows)
    lines = printed.getvalue().splitlines()
    assert len(lines) == 2 * len(rows)
    assert max(map(len, lines)) <= 80
    assert "87% full" in lines[3], "of a live session it matters"
    assert "full" not in lines[1]


@pytest.mark.usefixtures("narrow")
def test_an_item_of_a_list_is_folded_below_its_first_word() -> None:
    with redirect_stderr(_Terminal()) as printed:
        printing.say("it is\n  - " + "told " * 20 + "\n    " + "more " * 20)
    assert printed.getvalue().splitlines() == [
        "it is",
        "  - " + " ".join(["told"] * 15),
        "    " + " ".join(["told"] * 5) + " ",
        "    " + " ".join(["more"] * 15),
        "    " + " ".join(["more"] * 5) + " ",
    ]


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize(
    ("path", "most", "shown"),
    [
        ("/home/you/x", 28, "~/x"),
        ("/home/you/work/ledger/.worktrees/3", 22, "~/…/.worktrees/3"),
        ("/home/you/work/ledger/.worktrees/3", 24, "~/…/ledger/.worktrees/3"),
        ("/home/you/work/ledger/.worktrees/3", 12, "~/…/3"),
        ("C:\\Users\\you\\ledger", 12, "C:\\Users\\yo…"),
        ("/srv/workspaces/everything/of-ann", 20, "/…/everything/of-ann"),
        ("/srv/workspaces/a-name-with-too-many-characters", 20, "/…/a-name-with-too-…"),
    ],
)
def test_a_long_path_keeps_as_much_of_its_end_as_fits(path: str, most: int, shown: str) -> None:
    assert printing.short_path(path, most) == shown
    assert len(shown) <= most


@pytest.mark.usefixtures("narrow")
def test_long_names_of_projects_and_handoffs_can_be_copied_from_a_terminal() -> None:
    name = "2026-11-19-main-finish-the-work-on-hooks-of-every-harness.md"
    root = "/home/you/work/ledger/.worktrees/a-branch"
    row = ListedProject("7a6ae7a3f1de996f", "a-branch", (root,), is_there=False, former_paths=(),
                        last_seen_at=0, sessions=4)  # fmt: skip
    with redirect_stdout(_Terminal()) as printed:
        handoff.print_handoffs([("Finish the work on hooks of every harness", "open", "2 days ago", name)])
        handoff.print_handoffs([("Finish it", "consumed 5 min ago by session 7c1e2a90", "2 days ago", name)])
        project.print_projects([row], {row.project_id: ""})
        project.print_projects([row], {row.project_id: "github.com/acme/ledger"})
    lines = printed.getvalue().splitlines()
    assert lines[1] == f"  open  {name}"
    facts = "  7a6ae7a3f1de996f  4 sessions  ~/work/ledger/.worktrees/a-branch (gone)"
    assert lines[3:5] == ["  consumed 5 min ago by session 7c1e2a90", f"  {name}"]
    assert lines[6] == facts
    assert lines[8:] == [facts, "  for other machines: github.com/acme/ledger"]
    assert max(map(len, lines)) <= 80


@pytest.mark.usefixtures("narrow")
def test_a_checkpoint_of_a_session_without_title_is_called_by_the_words_of_its_digest_alone() -> None:
    row = {
        "id": "1f0340b5",
        "trigger": "explicit",
        "prompts": 0,
        "session": "fdd24234",
        "project": "/home/you/x",
        "at": 0,
        "title": "",
    }
    generated = "### Where - Directory: /home/you/x"
    with redirect_stdout(_Terminal()) as printed:
        sessions.print_checkpoint_list([row | {"digest": "Half done."}, row | {"digest": generated}])
    assert [line.split("  ")[0] for line in printed.getvalue().splitlines()[::2]] == [
        "Half done.",
        "(no title)",
    ]
