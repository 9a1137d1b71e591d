"""A session file of pi or OpenClaw may drift from what we know or be replaced: it is read all the same."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.harnesses import reader
from holdfast.harnesses.base import Batch
from tests.harnesses.openclaw_records import SESSION, Json, jsonl, user, written

FAR = 1 << 30


def read(path: Path, cursor: str = "", limit: int = FAR) -> Batch:
    return reader("openclaw").read_transcript(path, "s1", cursor, limit)


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


def test_a_replaced_file_is_told_anew_without_what_was_remembered_of_the_old(tmp_path: Path) -> None:
    path = written(tmp_path, jsonl([user("one", "u1")]))
    cursor = read(path).cursor
    path.write_bytes(jsonl([{**user("two", "u2", timestamp=None), "timestamp": None}]))
    (event,) = read(path, cursor).events
    assert (event.record, event.at) == ("u2", 0)
