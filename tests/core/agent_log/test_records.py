"""Records: any line is read or skipped, a log is a tree, and what is not known keeps its bytes."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.agent_log import record_bodies
from holdfast.core.agent_log.record_bodies import Body, body
from holdfast.core.agent_log.records import (
    Log,
    Record,
    header,
    iso,
    map_parts,
    map_record,
    milliseconds,
    new_record,
    parse_record,
    path_to,
    portable,
    read_log,
    record_id,
)
from holdfast.core.events.event import Skipped
from tests.core.logs import LOGS, NOON, answered, asked, message, returned


def test_an_id_is_the_time_and_what_keeps_two_apart() -> None:
    assert record_id(1_706_803_200_000, bytes.fromhex("a1b2c3d4")) == "1706803200000_a1b2c3d4"


def test_a_new_record_says_where_it_hangs_and_when() -> None:
    record = new_record("custom", "2", "1", NOON, {"customType": "x", "data": {"ü": [1]}})
    assert record.line == (
        '{"type":"custom","id":"2","parentId":"1","timestamp":"2026-01-01T12:00:00.000Z",'
        '"customType":"x","data":{"ü":[1]}}'
    )
    assert parse_record(record.line, "", "") == record


def test_a_root_has_no_parent() -> None:
    record = new_record("custom", "1", "", NOON, {})
    assert json.loads(record.line)["parentId"] is None
    assert parse_record(record.line, "0", "") == record


def test_the_header_names_the_format() -> None:
    first = header("s", NOON, "/home/you/shop")
    assert json.loads(first.line) == {
        "type": "session",
        "version": 3,
        "id": "s",
        "timestamp": "2026-01-01T12:00:00.000Z",
        "cwd": "/home/you/shop",
    }
    assert body(first) == record_bodies.Header("s", 3, "/home/you/shop")


# What each type says, in the words of the format


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (
            """{"type": "checkpoint", "id": "1706803200000_c1a2", "parentId": "previousRecordId",
            "timestamp": "2026-02-01T12:00:00Z", "checkpoint": {"summary": "A rewrite...",
            "tokensAtCheckpoint": 50000, "messageCountAtCheckpoint": 45, "topics": ["persistence"],
            "openQuestions": ["How to handle concurrent writes?"], "keyDecisions": ["Use JSONL"]}}""",
            record_bodies.Checkpoint(
                record_bodies.Rolling(
                    summary="A rewrite...",
                    tokens=50000,
                    messages=45,
                    topics=["persistence"],
                    questions=["How to handle concurrent writes?"],
                    decisions=["Use JSONL"],
                )
            ),
        ),
        (
            """{"type": "compaction", "id": "1706803200000_0b72", "parentId": "06856efc",
            "timestamp": "2026-02-01T16:10:50.414Z", "summary": "Working on...",
            "firstKeptEntryId": "2ca436a6", "tokensBefore": 186673, "fromCheckpoint": true}""",
            record_bodies.Compaction("Working on...", "2ca436a6", None, 186673, from_checkpoint=True),
        ),
        (
            '{"type": "model_change", "provider": "local", "modelId": "small"}',
            record_bodies.ModelChange("local", "small"),
        ),
        (
            '{"type": "thinking_level_change", "thinkingLevel": "high"}',
            record_bodies.ThinkingLevelChange("high"),
        ),
        ('{"type": "reset", "reason": "new"}', record_bodies.Reset()),
        ('{"type": "compaction", "summary": 5}', record_bodies.Unknown()),
        ('{"type": "surprise", "summary": "x"}', record_bodies.Unknown()),
    ],
)
def test_a_type_says_its_own_fields(line: str, says: Body) -> None:
    record = parse_record(line, "", "")
    assert isinstance(record, Record)
    assert body(record) == says


def test_a_message_says_who_and_what_it_took() -> None:
    usage = {"input": 10, "output": 2, "cacheRead": 30, "cacheWrite": 5, "totalTokens": 99}
    said = body(answered("1", "", "hello", "c1", usage=usage))
    assert isinstance(said, record_bodies.Message)
    assert said.message.usage is not None
    assert said.message.usage.total == 47
    assert record_bodies.text_of(said.message.content) == "hello"


def test_the_oldest_compactions_name_a_place() -> None:
    log = read_log(
        [
            '{"type":"session","id":"s"}',
            '{"type":"message","message":{"role":"user","content":"one"}}',
            "no JSON, and no place",
            '{"type":"message","message":{"role":"user","content":"two"}}',
            '{"type":"compaction","summary":"so far","firstKeptEntryIndex":2}',
        ]
    )
    assert [(record.id, record.parent) for record in log.records] == [
        ("s", ""),
        ("@1", ""),
        ("@2", "@1"),
        ("@3", "@2"),
    ]
    compaction = body(log.records[-1])
    assert isinstance(compaction, record_bodies.Compaction)
    assert compaction.first_kept == "@2"
    assert log.skipped == (Skipped("not JSON"),)


# For other readers


def test_what_other_readers_know_is_given_to_them_byte_for_byte() -> None:
    log = [
        header("s", NOON, "/home/you"),
        asked("a", "", "hi"),
        new_record("odd", "b", "a", NOON, {"x": [1]}),
    ]
    assert [portable(record) for record in log] == [record.line for record in log]
    assert [portable(record) for record in read_log(map(portable, log)).records] == [
        each.line for each in log
    ]


def test_what_the_oldest_format_lacks_is_added() -> None:
    log = read_log(
        [
            '{"id":"s","type":"session","cwd":"/home/you"}',
            '{"type":"message","message":{"role":"user","content":"one"}}',
            '{"type":"compaction","summary":"so far","firstKeptEntryIndex":1}',
        ]
    )
    told = [json.loads(portable(record)) for record in log.records]
    assert told[0] == {"type": "session", "version": 2, "id": "s", "cwd": "/home/you"}
    assert (told[1]["id"], told[1]["parentId"]) == ("@1", None)
    assert (told[2]["id"], told[2]["parentId"], told[2]["firstKeptEntryId"]) == ("@2", "@1", "@1")
    again = read_log(map(portable, log.records))
    assert [(each.id, each.parent) for each in again.records] == [
        (each.id, each.parent) for each in log.records
    ]


# The tree


def test_a_path_leads_from_the_root_to_the_leaf_and_passes_branches_by() -> None:
    log = [
        asked("a", "", "root"),
        answered("b", "a", "left"),
        asked("c", "b", "on"),
        answered("d", "a", "right"),
    ]
    assert [record.id for record in path_to(log)] == ["a", "d"]
    assert [record.id for record in path_to(log, "c")] == ["a", "b", "c"]
    assert path_to(log, "nobody") == ()
    assert path_to([]) == ()


def test_a_header_is_no_leaf() -> None:
    log = [asked("a", "", "hi"), header("s", NOON, "")]
    assert [record.id for record in path_to(log)] == ["a"]


def test_a_record_behind_nothing_that_is_there_follows_the_one_before() -> None:
    log = read_log(record.line for record in [asked("a", "", "x"), asked("b", "gone", "y")])
    assert [record.parent for record in log.records] == ["", "a"]


def test_the_same_id_again_is_the_same_record() -> None:
    twice = [asked("a", "", "first"), asked("a", "", "second")]
    assert read_log(record.line for record in twice).records == (twice[0],)


def test_no_way_leads_in_a_circle() -> None:
    log = [asked("a", "b", "x"), asked("b", "a", "y")]
    assert [record.id for record in path_to(log)] == ["a", "b"]


@given(LOGS)
def test_in_any_log_every_parent_stands_before(log: Log) -> None:
    seen: set[str] = set()
    for record in log.records:
        assert record.id not in seen
        assert not record.parent or record.parent in seen
        seen.add(record.id)


@given(LOGS)
def test_a_log_read_twice_is_the_same(log: Log) -> None:
    told = [record.line for record in log.records if not record.id.startswith("@")]
    assert read_log([*told, *told]) == read_log(told)


@given(st.text())
def test_any_text_is_a_record_or_skipped(line: str) -> None:
    record = parse_record(line, "", "@0")
    assert isinstance(record, Skipped) or record.line == line


@given(
    st.binary(max_size=40), st.sampled_from(['{"type":"message","x":', '{"type":', '{"type":"custom","id":'])
)
def test_a_line_that_was_cut_off_is_skipped(rest: bytes, start: str) -> None:
    assert isinstance(parse_record(start + rest.decode("latin-1").replace("}", ""), "", ""), Skipped)


def test_a_line_nested_without_end_is_skipped() -> None:
    assert parse_record('{"type":"custom","data":' + "[" * 100_000, "", "") == Skipped("nested too deeply")


@pytest.mark.parametrize(
    ("moment", "at"),
    [
        ("2026-01-01T12:00:00Z", NOON),
        ("2026-01-01T13:00:00.000+01:00", NOON),
        ("2026-01-01T12:00:00", NOON),
        (NOON, NOON),
        (float(NOON), NOON),
        ("soon", 0),
        (-5, 0),
        (1e300, 0),
        (float("nan"), 0),
        ("0001-01-01T00:00:00", 0),
    ],
)
def test_a_time_is_milliseconds_however_it_is_written(moment: str | float, at: int) -> None:
    assert milliseconds(moment) == at


@given(st.integers(0, 1 << 45))
def test_a_time_is_read_as_it_was_written(at: int) -> None:
    assert milliseconds(iso(at)) == at


def hushed(text: str) -> str:
    return text.replace("hunter2", "***")


@pytest.mark.parametrize(
    "fields",
    [
        {"message": {"role": "user", "content": "hunter2"}},
        {"message": {"role": "user", "content": [{"type": "text", "text": "hunter2"}]}},
        {"message": {"content": [{"type": "toolCall", "arguments": {"id": "hunter2", "name": ["hunter2"]}}]}},
        {"message": {"role": "toolResult", "details": {"model": "hunter2"}}},
        {"message": {"role": "bashExecution", "command": "echo hunter2", "output": "hunter2"}},
        {"summary": "hunter2"},
        {"data": {"type": {"id": "hunter2"}}},
        {"data": "hunter2"},
        {"checkpoint": {"topics": ["hunter2"]}},
        {"surprise": {"deep": [{"down": "hunter2"}]}},
    ],
)
def test_whatever_somebody_said_changes(fields: dict[str, object]) -> None:
    line = json.dumps({"type": "custom", "id": "1", **fields})
    assert "hunter2" not in map_record(line, hushed)
    assert "***" in map_record(line, hushed)


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "hunter2", "parentId": "hunter2", "type": "hunter2"},
        {"firstKeptEntryId": "hunter2", "targetId": "hunter2", "customType": "hunter2"},
        {"message": {"toolCallId": "hunter2", "toolName": "hunter2", "model": "hunter2"}},
        {"message": {"content": [{"type": "image", "data": "hunter2", "mimeType": "image/png"}]}},
        {"message": {"content": [{"type": "thinking", "thinkingSignature": "hunter2"}]}},
        {"message": {"content": [{"type": "toolCall", "id": "hunter2", "name": "hunter2"}]}},
    ],
)
def test_a_name_stays_and_so_does_every_byte(fields: dict[str, object]) -> None:
    line = json.dumps({"type": "custom", **fields}, indent=1)
    assert map_record(line, hushed) == line


def test_thinking_that_changed_is_signed_by_nobody() -> None:
    block = {"type": "thinking", "thinking": "say hunter2", "thinkingSignature": "signed"}
    changed = json.loads(map_record(message("1", "", "assistant", [block]).line, hushed))
    assert changed["message"]["content"] == [
        {"type": "thinking", "thinking": "say ***", "thinkingSignature": ""}
    ]


def test_of_what_is_nested_beyond_reason_only_its_place_stays() -> None:
    # Until 3.11, calls in C count against the same limit as those in Python; 3.12.1 allows 1,500 of them.
    depth = 500 if sys.version_info < (3, 12) else 1_200
    deep = '{"type":"custom","id":"1","parentId":null,"data":' + "[" * depth + '"hunter2"' + "]" * depth + "}"
    assert map_record(deep, hushed) == '{"type":"custom","id":"1","parentId":null}'


@given(LOGS)
def test_nothing_changes_where_no_text_does(log: Log) -> None:
    for record in log.records:
        assert map_record(record.line, hushed) == record.line


def test_an_answer_and_its_result_still_belong_together() -> None:
    call, result = answered("1", "", "hunter2", "c1"), returned("2", "1", "c1", "hunter2")
    told = [json.loads(map_record(record.line, hushed))["message"] for record in (call, result)]
    assert told[0]["content"][1]["id"] == told[1]["toolCallId"] == "c1"


def test_the_texts_of_adjacent_blocks_are_seen_together_and_no_others() -> None:
    image = {"type": "image", "data": "hunter2", "mimeType": "image/png"}
    one, two, three = ({"type": "text", "text": text} for text in ("hun", "ter2", "hunter2"))
    seen: list[tuple[str, ...]] = []

    def watched(parts: Sequence[str]) -> Sequence[str]:
        seen.append(tuple(parts))
        return [part.upper() for part in parts]

    line = message("1", "", "user", [one, {**two, "textSignature": "signed"}, image, three]).line
    changed = json.loads(map_parts(line, watched))["message"]["content"]
    assert seen == [("hun", "ter2"), ("hunter2",)]
    assert changed == [
        {"type": "text", "text": "HUN"},
        {"type": "text", "text": "TER2", "textSignature": "signed"},
        image,
        {"type": "text", "text": "HUNTER2"},
    ]
