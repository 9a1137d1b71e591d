"""An item is decoded together with its envelope, and tells the same as one decoded apart from it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.events import Skipped
from holdfast.harnesses.codex.records import (
    ITEM,
    RECORD,
    Item,
    ItemRecord,
    Metadata,
    Record,
    is_silent,
    record_in,
)
from holdfast.harnesses.fields import decoded
from tests.harnesses import codex_records as codex

ANYTHING = st.none() | st.booleans() | st.integers() | st.text(max_size=8) | st.lists(st.text(max_size=3))
NAMES = st.sampled_from(
    ["type", "id", "role", "content", "name", "namespace", "arguments", "input", "call_id", "output", "more"]
)
BESIDE = st.sampled_from(["timestamp", "ordinal", "metadata", "more"])


def apart(line: bytes) -> tuple[Record, Item] | Skipped:
    """The envelope, and then the item in it."""
    record = decoded(RECORD, line)
    if isinstance(record, Skipped):
        return record
    item = decoded(ITEM, record.payload)
    return item if isinstance(item, Skipped) else (record, item)


@given(item=st.dictionaries(NAMES, ANYTHING), beside=st.dictionaries(BESIDE, ANYTHING))
def test_an_item_decoded_with_its_envelope_is_the_item_decoded_apart(
    item: dict[str, Any], beside: dict[str, Any]
) -> None:
    line = json.dumps({**beside, "type": "response_item", "payload": item}).encode()
    together, expected = record_in(line), apart(line)
    if isinstance(together, ItemRecord):
        assert not isinstance(expected, Skipped)
        record, item_apart = expected
        assert (together.timestamp, together.ordinal) == (record.timestamp, record.ordinal)
        assert together.metadata == record.metadata
        assert together.payload == item_apart
    else:
        assert isinstance(expected, Skipped)


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (codex.output("done"), ItemRecord),
        (codex.message("user", "Fix it."), ItemRecord),
        (codex.event("user_message", message='a "response_item"'), Record),
        (codex.turn(), Record),
        ({"type": "response_item", "payload": {"type": "message", "role": 5}}, Record),
        ({"type": "response_item", "payload": None}, Record),
        ({"type": "response_item", "timestamp": 5, "payload": {}}, Skipped),
        ({"type": 5, "payload": "response_item"}, Skipped),
    ],
)
def test_only_an_item_that_is_as_expected_comes_with_its_envelope(
    line: codex.Json, kind: type[object]
) -> None:
    assert type(record_in(codex.jsonl([line]))) is kind


def test_what_is_noted_beside_an_item_comes_with_it() -> None:
    record = record_in(
        codex.jsonl([codex.message("assistant", "So far: …") | {"metadata": {"compaction_output": True}}])
    )
    assert isinstance(record, ItemRecord)
    assert record.metadata == Metadata(is_compaction_output=True)


@pytest.mark.parametrize(
    "record",
    [
        codex.item("reasoning", summary=[], encrypted_content="…"),
        codex.event("agent_reasoning", text="Hm."),
        codex.record("world_state", {"type": "files"}),
    ],
)
def test_a_line_that_tells_nothing_is_known_by_its_beginning(record: codex.Json) -> None:
    assert is_silent(codex.jsonl([record]))


@pytest.mark.parametrize(
    "record",
    [codex.message("assistant", '"payload":{"type":"reasoning"'), codex.output('{"type": "world_state"}')],
)
def test_what_a_text_says_about_records_silences_none(record: codex.Json) -> None:
    assert not is_silent(codex.jsonl([record]))
