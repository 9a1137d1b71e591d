"""Which files the real Claude Code gives its model back by itself after a compaction, without Holdfast.

What a brief may leave out because the harness keeps it (`Kept`) rests on this.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.clients.model_server import ModelServer, Reply, call, say

TOOLS = ("--allowedTools", "Read,Edit")
READ = 7
LONG_AGO_S = 1_700_000_000
TOO_LARGE = "filler words here\n" * 2_000
ATTACHED = re.compile(r"Result of calling the Read tool:\n1\tcontent of note (\d)")
TOO_LARGE_NOTE = re.compile(r"note_(\d)\.txt was read before .{0,60}but the contents are too large")


@pytest.fixture
def notes(claude: Claude) -> list[Path]:
    """Small files, each changed longer ago than the one before it."""
    found = [claude.project / f"note_{number}.txt" for number in range(READ)]
    for number, note in enumerate(found):
        note.write_text(f"content of note {number}\n", encoding="utf-8")
        _changed_ago(note, number)
    return found


def test_a_live_process_gives_back_the_five_that_were_changed_last_not_those_read_last(
    claude: Claude, server: ModelServer, notes: list[Path]
) -> None:
    assert _given_back(claude, server, *map(_read, notes)) == [0, 1, 2, 3, 4]


def test_reading_a_file_again_does_not_make_it_one_of_them(
    claude: Claude, server: ModelServer, notes: list[Path]
) -> None:
    assert _given_back(claude, server, *map(_read, notes), _read(notes[-1])) == [0, 1, 2, 3, 4]


def test_a_file_that_was_edited_was_changed_last(
    claude: Claude, server: ModelServer, notes: list[Path]
) -> None:
    edit = call("Edit", file_path=str(notes[-1]), old_string="note 6", new_string="note 6, edited")
    assert _given_back(claude, server, *map(_read, notes), edit) == [6, 0, 1, 2, 3]


def test_a_process_that_was_resumed_gives_back_the_five_that_were_read_last(
    claude: Claude, server: ModelServer, notes: list[Path]
) -> None:
    server.script(*map(_read, notes), say("read"), say("ok"))
    session = claude.prompt("Read the notes.", *TOOLS).session
    claude.compact(session)
    claude.prompt("Go on.", resume=session)
    assert _attached(server) == [6, 5, 4, 3, 2]


def test_a_file_that_is_too_large_is_only_named(
    claude: Claude, server: ModelServer, notes: list[Path]
) -> None:
    with notes[0].open("a", encoding="utf-8") as note:
        note.write(TOO_LARGE)
    _changed_ago(notes[0], 0)
    assert _given_back(claude, server, *map(_read, notes)) == [1, 2, 3, 4]
    assert TOO_LARGE_NOTE.findall(server.last().text) == ["0"]


def _given_back(claude: Claude, server: ModelServer, *work: Reply) -> list[int]:
    """The notes that are in the first request after a compaction which follows this work, in one process."""
    server.script(*work, say("done"), say("ok"))
    with claude.start_stream(*TOOLS) as stream:
        stream.ask("Read the notes.")
        stream.ask("/compact")
        stream.ask("Go on.")
        stream.close()
    assert server.unused() == ()
    return _attached(server)


def _attached(server: ModelServer) -> list[int]:
    return [int(number) for number in ATTACHED.findall(server.last().text)]


def _read(note: Path) -> Reply:
    return call("Read", file_path=str(note))


def _changed_ago(note: Path, hours: int) -> None:
    at = LONG_AGO_S - hours * 3_600
    os.utime(note, (at, at))
