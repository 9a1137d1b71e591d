"""A packed file of lines is read like one that is not: in pieces, whole lines, nothing twice."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.harnesses import reader
from holdfast.harnesses.lines import LONGEST
from holdfast.harnesses.packed import read_lines, unpacked
from tests.depth import examples
from tests.harnesses import codex_records as codex

FAR = 1 << 30
CODEX = reader("codex")


def pack(folder: Path, content: bytes, name: str = "s.jsonl.zst") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(zstandard.ZstdCompressor().compress(content))
    return path


def read_on(path: Path, limit: int) -> list[tuple[int, bytes]]:
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
    assert read_on(pack(folder, content), FAR) == read_on(plain, FAR)


def test_it_is_read_in_pieces_of_whole_lines(tmp_path: Path) -> None:
    lines = [b"%d " % number * 100 for number in range(40_000)]
    path = pack(tmp_path, b"\n".join(lines))
    assert len(read_lines(path, "", 1 << 20).lines) < len(lines) // 4
    assert [content for _, content in read_on(path, 1 << 20)] == lines


def test_a_file_that_breaks_off_tells_what_stands_before(tmp_path: Path) -> None:
    source = random.Random(2)
    content = b"".join(b'{"n":"%0900d"}\n' % source.getrandbits(2_900) for _ in range(900))
    path = pack(tmp_path, content)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    told = [content for _, content in read_on(path, FAR)]
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
    assert unpacked(content, largest) == b""


class TestRollouts:
    def test_a_packed_one_tells_what_it_told_before(self, tmp_path: Path) -> None:
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
