"""Files of lines, packed or not, are read from a cursor on."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.harnesses import reader
from holdfast.harnesses.transcript_files import LONGEST, read_lines, unpack
from tests.depth import examples
from tests.harnesses import codex_records as codex
from tests.harnesses.claude_code_records import written
from tests.zstd_files import compress

FAR = 1 << 30


def contents(path: Path, cursor: str = "", limit: int = FAR) -> list[bytes]:
    return [line.content for line in read_lines(path, cursor, limit).lines]


def read_on(path: Path, limit: int, cursor: str = "") -> tuple[list[tuple[int, bytes]], str]:
    """Every line there is, read in pieces."""
    lines: list[tuple[int, bytes]] = []
    while True:
        stretch = read_lines(path, cursor, limit)
        lines += [(line.at, line.content) for line in stretch.lines]
        cursor = stretch.cursor
        if stretch.done:
            return lines, cursor


def test_lines_come_with_the_byte_at_which_they_begin(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":1}\n\n  \nsecond\r\n')
    stretch = read_lines(path, "", FAR)
    assert [(line.at, line.content) for line in stretch.lines] == [(0, b'{"a":1}'), (12, b"second\r")]
    assert stretch.done


def test_a_half_written_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":1}\n{"b":')
    first = read_lines(path, "", FAR)
    assert [line.content for line in first.lines] == [b'{"a":1}']
    assert first.done
    assert read_lines(path, first.cursor, FAR).cursor == first.cursor
    with path.open("ab") as file:
        file.write(b"2}\n")
    assert contents(path, first.cursor) == [b'{"b":2}']


def test_a_whole_object_without_a_line_end_is_read_once(tmp_path: Path) -> None:
    path = written(tmp_path, b'{"a":1}\n{"b":2}')
    first = read_lines(path, "", FAR)
    assert [line.content for line in first.lines] == [b'{"a":1}', b'{"b":2}']
    with path.open("ab") as file:
        file.write(b'\n{"c":3}\n')
    assert contents(path, first.cursor) == [b'{"c":3}']


@pytest.mark.parametrize("ending", [b'{"a":[1}', b"3}", b'{"a":1} }', b"{" * 5_000 + b"}", b"true"])
def test_an_ending_that_is_no_whole_object_waits(tmp_path: Path, ending: bytes) -> None:
    assert contents(written(tmp_path, ending)) == []


def test_what_is_appended_is_read_and_what_was_read_is_not(tmp_path: Path) -> None:
    path = written(tmp_path, b"one\n")
    cursor = read_lines(path, "", FAR).cursor
    with path.open("ab") as file:
        file.write(b"two\n")
    stretch = read_lines(path, cursor, FAR)
    assert [line.content for line in stretch.lines] == [b"two"]
    assert not stretch.restarted


@pytest.mark.parametrize(
    "now",
    [b"one\n", b"other\nlines\nhere\n", b"one\nTWO\nthree\nfour\n", b"", b"ONE\ntwo\nthree\n"],
    ids=["shrunk", "another of the same size", "changed in the middle", "empty", "changed at the start"],
)
def test_a_file_that_was_changed_behind_us_is_read_from_its_start(tmp_path: Path, now: bytes) -> None:
    path = written(tmp_path, b"one\ntwo\nthree\n")
    cursor = read_lines(path, "", FAR).cursor
    path.write_bytes(now)
    stretch = read_lines(path, cursor, FAR)
    assert stretch.restarted
    assert [line.content for line in stretch.lines] == now.split(b"\n")[:-1]


def test_a_file_that_was_replaced_by_an_equal_one_is_read_from_its_start(tmp_path: Path) -> None:
    path = written(tmp_path, b"one\ntwo\n")
    cursor = read_lines(path, "", FAR).cursor
    other = written(tmp_path, b"one\ntwo\n", "other")
    other.replace(path)
    assert contents(path, cursor) == [b"one", b"two"]


@pytest.mark.parametrize(
    "cursor", ["nonsense", ":::", "-1:2:3", "9" * 400 + ":1:1", "٣:1:1", "4", '["4:1:00",0,""]']
)
def test_a_cursor_that_nobody_wrote_means_from_the_start(tmp_path: Path, cursor: str) -> None:
    path = written(tmp_path, b"one\ntwo\n")
    assert contents(path, cursor) == [b"one", b"two"]


def test_a_line_that_is_too_long_is_passed_over_and_counted(tmp_path: Path) -> None:
    path = written(tmp_path, b"short\n" + b"x" * 5_000 + b"\nlast\n")
    for limit in (1, 100, 5_003, FAR):
        cursor, lines, skipped, done = "", [], [], False
        while not done:
            stretch = read_lines(path, cursor, limit, longest=1_000)
            cursor, done = stretch.cursor, stretch.done
            lines += [line.content for line in stretch.lines]
            skipped += [(one.reason, one.where) for one in stretch.skipped]
        assert lines == [b"short", b"last"]
        assert skipped == [("line too long", "line at byte 6")]


def test_a_line_that_is_too_long_and_not_yet_whole_waits(tmp_path: Path) -> None:
    path = written(tmp_path, b"x" * 5_000)
    stretch = read_lines(path, "", 100, longest=1_000)
    assert (stretch.lines, stretch.skipped, stretch.done) == ((), (), True)


def test_a_file_that_is_not_there_has_no_lines_yet(tmp_path: Path) -> None:
    stretch = read_lines(tmp_path / "none", "the cursor", FAR)
    assert (stretch.lines, stretch.skipped, stretch.cursor, stretch.done) == ((), (), "the cursor", True)


def test_what_is_no_regular_file_is_never_opened_for_reading(tmp_path: Path) -> None:
    folder, fifo, link = tmp_path / "folder", tmp_path / "fifo", tmp_path / "link"
    folder.mkdir()
    os.mkfifo(fifo)
    link.symlink_to(written(tmp_path, b"secret\n"))
    for path in (folder, fifo, link):
        stretch = read_lines(path, "", FAR)
        assert stretch.lines == ()
        assert [one.where for one in stretch.skipped] == [str(path)]


@given(
    rows=st.lists(st.binary(max_size=40).map(lambda row: row.replace(b"\n", b"")), max_size=12),
    limit=st.integers(1, 60),
)
def test_pieces_of_any_size_give_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, rows: list[bytes], limit: int
) -> None:
    path = written(tmp_path_factory.mktemp("lines"), b"".join(row + b"\n" for row in rows))
    whole, end = read_on(path, FAR)
    assert read_on(path, limit) == (whole, end)
    assert [content for _, content in whole] == [row for row in rows if row.strip()]


CODEX = reader("codex")


def pack(folder: Path, content: bytes, name: str = "s.jsonl.zst") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(compress(content))
    return path


def read_all_packed(path: Path, limit: int) -> list[tuple[int, bytes]]:
    found, cursor, done = list[tuple[int, bytes]](), "", False
    while not done:
        stretch = read_lines(path, cursor, limit)
        found += [(line.at, line.content) for line in stretch.lines]
        cursor, done = stretch.cursor, stretch.done
    return found


@given(lines=st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b"")), max_size=30))
@settings(max_examples=examples(40), deadline=None)
def test_it_tells_the_lines_that_the_unpacked_file_tells(
    lines: list[bytes], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("packed")
    content = b"".join(line + b"\n" for line in lines)
    plain = folder / "s.jsonl"
    plain.write_bytes(content)
    assert read_all_packed(pack(folder, content), FAR) == read_all_packed(plain, FAR)


def test_it_is_read_in_pieces_of_whole_lines(tmp_path: Path) -> None:
    lines = [b"%d " % number * 100 for number in range(40_000)]
    path = pack(tmp_path, b"\n".join(lines))
    assert len(read_lines(path, "", 1 << 20).lines) < len(lines) // 4
    assert [content for _, content in read_all_packed(path, 1 << 20)] == lines


def test_a_file_that_breaks_off_tells_what_stands_before(tmp_path: Path) -> None:
    source = random.Random(2)
    content = b"".join(b'{"n":"%0900d"}\n' % source.getrandbits(2_900) for _ in range(900))
    path = pack(tmp_path, content)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    told = [content for _, content in read_all_packed(path, FAR)]
    assert 100 < len(told) < 900
    assert told[:-1] == content.splitlines()[: len(told) - 1]


@pytest.mark.parametrize("content", [b"", b"no zstd", bytes(50)])
def test_what_is_not_packed_at_all_is_skipped_or_empty(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "s.jsonl.zst"
    path.write_bytes(content)
    stretch = read_lines(path, "", FAR)
    assert (stretch.lines, stretch.done) == ((), True)


def test_one_line_that_unpacks_to_very_much_is_not_held(tmp_path: Path) -> None:
    stretch = read_lines(pack(tmp_path, bytes(LONGEST + (8 << 20))), "", 1)
    assert [skipped.reason for skipped in stretch.skipped] == ["line too long"]
    assert stretch.done


def test_a_file_that_was_replaced_is_read_from_its_start(tmp_path: Path) -> None:
    path = pack(tmp_path, b"one\ntwo\n")
    cursor = read_lines(path, "", FAR).cursor
    assert read_lines(path, cursor, FAR).lines == ()
    pack(tmp_path, b"three is another line\n")
    assert [line.content for line in read_lines(path, cursor, FAR).lines] == [b"three is another line"]


@pytest.mark.parametrize(("content", "largest"), [(b"no zstd", 100), (b"", 100)])
def test_what_cannot_be_unpacked_is_empty(content: bytes, largest: int) -> None:
    assert unpack(content, largest) == b""


class TestRollouts:
    def test_a_packed_one_reads_as_before(self, tmp_path: Path) -> None:
        content = codex.jsonl(codex.session())
        plain = codex.written(tmp_path / "plain", content)
        path = pack(tmp_path / "packed", content, f"{plain.name}.zst")
        assert list(CODEX.transcripts(tmp_path)) == [path, plain]
        assert CODEX.session_of(path) == CODEX.session_of(plain) == codex.THREAD
        one, other = (CODEX.read_transcript(each, "s1", "", FAR) for each in (path, plain))
        assert (one.events, one.cwd, one.done) == (other.events, other.cwd, other.done)

    def test_a_fork_is_followed_into_a_packed_parent(self, tmp_path: Path) -> None:
        parent = codex.jsonl([codex.meta("parent"), codex.turn(), codex.message("user", "Begin")])
        pack(tmp_path, parent, "rollout-2026-03-01T10-00-00-parent.jsonl.zst")
        forked = codex.meta("child", forked_from_id="parent", forked_from_ordinal_exclusive=99)
        child = codex.written(tmp_path, codex.jsonl([forked]), "rollout-2026-03-02T10-00-00-child.jsonl")
        (found,) = CODEX.earlier_transcripts(child)
        assert found.name.endswith("parent.jsonl.zst")
