"""The contract of a reader, kept by every harness: cut, broken or replaced, a transcript is read still.

A new harness adds its sample below; what its records mean is tested in files of its own.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.events.event import Event
from holdfast.harnesses import readable, reader
from holdfast.harnesses.base import Batch
from tests.depth import examples
from tests.harnesses import codex_records, gemini_records, openclaw_records, opencode_records

FAR: Final = 1 << 30
SAMPLES: Final[Mapping[str, bytes]] = {
    "claude-code": (Path(__file__).parent / "samples" / "claude_code_session.jsonl").read_bytes(),
    "codex": codex_records.jsonl(codex_records.session()),
    "openclaw": openclaw_records.WHOLE,
    "gemini": gemini_records.jsonl(gemini_records.session()),
    "opencode": opencode_records.database("s1"),
}
every_harness = pytest.mark.parametrize("name", readable())
each_that_writes_lines = pytest.mark.parametrize(
    "name", [name for name, sample in SAMPLES.items() if sample.startswith(b"{")]
)


def read(name: str, path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return reader(name).read_transcript(path, "s1", cursor, limit)


def read_on(name: str, path: Path, limit: int) -> list[Event]:
    events: list[Event] = []
    cursor, done = "", False
    while not done:
        batch = read(name, path, cursor, limit)
        events += batch.events
        cursor, done = batch.cursor, batch.done
    return events


def written(folder: Path, content: bytes, name: str = "s1") -> Path:
    path = folder / f"{name}.jsonl"
    path.write_bytes(content)
    return path


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: written(tmp_path_factory.mktemp(name), content) for name, content in SAMPLES.items()}


def test_every_harness_has_a_sample_that_tells_something(samples: dict[str, Path]) -> None:
    assert SAMPLES.keys() == set(readable())
    assert all(len(read(name, path).events) > 5 for name, path in samples.items())


@every_harness
def test_two_different_things_never_share_an_id(samples: dict[str, Path], name: str) -> None:
    told: dict[str, type[Event]] = {}
    for event in read(name, samples[name]).events:
        assert told.setdefault(event.record, type(event)) is type(event)


@every_harness
@given(limit=st.integers(1, 4_000))
@settings(max_examples=examples(40))
def test_pieces_of_any_size_tell_the_same(samples: dict[str, Path], name: str, limit: int) -> None:
    assert read_on(name, samples[name], limit) == [*read(name, samples[name]).events]


@each_that_writes_lines
@given(share=st.floats(0, 1))
@settings(max_examples=examples(80))
def test_a_file_cut_anywhere_tells_the_whole_records_before_the_cut_and_later_the_rest(
    samples: dict[str, Path], tmp_path_factory: pytest.TempPathFactory, name: str, share: float
) -> None:
    whole = SAMPLES[name]
    cut = round(share * len(whole))
    path = written(tmp_path_factory.mktemp("cut"), whole[:cut])
    first = read(name, path)
    assert first.skipped == ()
    assert first.done
    # A record is whole with its last brace; its line's end may still be missing.
    ends = [at for at in range(cut + 1) if whole[at : at + 1] == b"\n"]
    kept = written(path.parent, whole[: ends[-1] + 1] if ends else b"", "whole")
    assert first.events == read(name, kept).events
    with path.open("ab") as file:
        file.write(whole[cut:])
    assert first.events + read(name, path, first.cursor).events == read(name, samples[name]).events


@every_harness
@given(noise=st.binary(max_size=400), share=st.floats(0, 1))
def test_any_bytes_are_read_or_skipped(
    tmp_path_factory: pytest.TempPathFactory, name: str, noise: bytes, share: float
) -> None:
    whole = SAMPLES[name]
    at = round(share * len(whole))
    path = written(tmp_path_factory.mktemp("noise"), whole[:at] + noise + whole[at:])
    batch = read(name, path)
    assert batch.done
    assert read(name, path, batch.cursor).events == ()


@every_harness
@given(cursor=st.text(max_size=60))
def test_a_cursor_that_nobody_wrote_means_from_the_start(
    samples: dict[str, Path], name: str, cursor: str
) -> None:
    assert read(name, samples[name], cursor).events == read(name, samples[name]).events


@each_that_writes_lines
def test_a_file_that_shrank_is_read_anew(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, SAMPLES[name] * 2)
    cursor = read(name, path).cursor
    path.write_bytes(SAMPLES[name])
    assert read(name, path, cursor).events == read(name, path).events


@every_harness
def test_a_file_that_is_not_there_yet_has_nothing_to_tell(tmp_path: Path, name: str) -> None:
    batch = read(name, tmp_path / "none.jsonl")
    assert (batch.events, batch.skipped, batch.done) == ((), (), True)


@every_harness
def test_what_is_no_regular_file_is_not_read(samples: dict[str, Path], tmp_path: Path, name: str) -> None:
    pipe, folder, link = tmp_path / "pipe", tmp_path / "folder", tmp_path / "link"
    os.mkfifo(pipe)
    folder.mkdir()
    link.symlink_to(samples[name])
    for path in (pipe, folder, link):
        batch = read(name, path)
        assert (batch.events, batch.done) == ((), True)
