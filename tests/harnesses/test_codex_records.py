"""An item or a report is decoded together with its envelope, and tells the same as one decoded apart."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.core.events.event import Skipped
from holdfast.harnesses.codex.records import (
    ITEM,
    RECORD,
    Item,
    ItemRecord,
    Metadata,
    Record,
    ReportRecord,
    is_silent,
    record_in,
)
from holdfast.harnesses.codex.transcript import read_transcript
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
@example(item={"type": "message"}, beside={"more": ["longer than any envelope is"] * 8})
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
    elif isinstance(together, Skipped):
        assert together == expected
    else:
        # Behind a long envelope, or where it cannot be read, the item is decoded apart here too.
        assert isinstance(together, Record)
        later = decoded(ITEM, together.payload)
        assert later == (expected if isinstance(expected, Skipped) else expected[1])


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        (codex.output("done"), ItemRecord),
        (codex.message("user", "Fix it."), ItemRecord),
        (codex.event("user_message", message='a "response_item"'), ReportRecord),
        (codex.event("token_count", info=None), ReportRecord),
        (codex.event("agent_message", message=5), Record),
        (codex.event("task_started"), Record),
        (codex.turn(), Record),
        ({"type": "response_item", "payload": {"type": "message", "role": 5}}, Record),
        ({"type": "response_item", "payload": None}, Record),
        ({"type": "response_item", "timestamp": 5, "payload": {}}, Skipped),
        ({"type": 5, "payload": "response_item"}, Skipped),
    ],
)
def test_only_what_is_as_expected_comes_with_its_envelope(line: codex.Json, kind: type[object]) -> None:
    assert type(record_in(codex.jsonl([line]))) is kind


REPORTS = st.sampled_from(["token_count", "agent_message", "user_message"])
TOKENS = st.dictionaries(st.sampled_from(["input_tokens", "output_tokens", "total_tokens"]), ANYTHING)
INFO = ANYTHING | st.fixed_dictionaries({"last_token_usage": TOKENS | st.none()})


@given(
    kind=REPORTS,
    fields=st.fixed_dictionaries({}, optional={"info": INFO, "message": ANYTHING, "turn_id": ANYTHING}),
)
def test_a_report_decoded_with_its_envelope_tells_what_one_decoded_apart_tells(
    kind: str, fields: dict[str, Any], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "rollout.jsonl"
    path.write_bytes(codex.jsonl([codex.event(kind, **fields)]))
    together = read_transcript(path, "s", "", 1 << 20)
    # What stands before the kind hides it, so that the envelope is decoded alone.
    path.write_bytes(codex.jsonl([codex.record("event_msg", {"more": 1, "type": kind, **fields})]))
    apart = read_transcript(path, "s", "", 1 << 20)
    assert (together.events, together.skipped) == (apart.events, apart.skipped)


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
