"""A session file of pi or OpenClaw may be cut, broken, changed or replaced: it is read all the same."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.events import Event
from holdfast.harnesses import reader
from holdfast.harnesses.base import Batch
from tests.harnesses.openclaw_records import SESSION, WHOLE, Json, jsonl, user, written

FAR = 1 << 30


def read(path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return reader("openclaw").read_transcript(path, "s1", cursor, limit)


def read_on(path: Path, limit: int) -> list[Event]:
    events: list[Event] = []
    cursor = ""
    while True:
        batch = read(path, cursor, limit)
        events += batch.events
        cursor = batch.cursor
        if batch.done:
            return events


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written(tmp_path_factory.mktemp("session"), WHOLE)


@given(limit=st.integers(1, 4_000))
@settings(max_examples=40)
def test_pieces_of_any_size_tell_the_same(session: Path, limit: int) -> None:
    assert read_on(session, limit) == [*read(session).events]


@given(cut=st.integers(0, len(WHOLE)))
@settings(max_examples=80)
def test_a_file_cut_anywhere_tells_the_whole_records_before_the_cut_and_later_the_rest(
    tmp_path_factory: pytest.TempPathFactory, session: Path, cut: int
) -> None:
    path = written(tmp_path_factory.mktemp("cut"), WHOLE[:cut])
    first = read(path)
    assert first.skipped == ()
    assert first.done
    # A record is whole with its last brace; its line's end may still be missing.
    ends = [at for at in range(cut + 1) if WHOLE[at : at + 1] == b"\n"]
    kept = written(path.parent, WHOLE[: ends[-1] + 1] if ends else b"", "whole")
    assert first.events == read(kept).events
    with path.open("ab") as file:
        file.write(WHOLE[cut:])
    assert first.events + read(path, first.cursor).events == read(session).events


@given(st.binary(max_size=400), st.integers(0, len(WHOLE)))
def test_any_bytes_are_told_or_skipped(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, at: int
) -> None:
    path = written(tmp_path_factory.mktemp("noise"), WHOLE[:at] + noise + WHOLE[at:])
    batch = read(path)
    assert batch.done
    assert read(path, batch.cursor).events == ()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


@given(st.sampled_from(SESSION), st.data())
def test_a_field_of_any_other_kind_is_told_or_skipped(
    tmp_path_factory: pytest.TempPathFactory, one: Json, data: st.DataObject
) -> None:
    inner = "message" in one and data.draw(st.booleans())
    drifted = one["message"] if inner else one
    name = data.draw(st.sampled_from(sorted(drifted)))
    drifted = {**drifted, name: data.draw(JSON)}
    records = [{**one, "message": drifted} if inner else drifted, user("Go on.", "last")]
    batch = read(written(tmp_path_factory.mktemp("drift"), jsonl(records)))
    assert batch.events[-1].record == "last"


@given(st.text(max_size=60))
def test_a_cursor_that_nobody_wrote_means_from_the_start(session: Path, cursor: str) -> None:
    assert read(session, cursor).events == read(session).events


def test_a_replaced_file_is_told_anew_without_what_was_remembered_of_the_old(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl([user("one", "u1")]))
    cursor = read(path).cursor
    path.write_bytes(jsonl([{**user("two", "u2", timestamp=None), "timestamp": None}]))
    (event,) = read(path, cursor).events
    assert (event.record, event.at) == ("u2", 0)


def test_what_is_no_regular_file_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo.jsonl")
    batch = read(tmp_path / "fifo.jsonl")
    assert (batch.events, batch.done) == ((), True)
    assert len(batch.skipped) == 1
    assert read(tmp_path / "none.jsonl").events == ()
