"""The texts of a record: what was said changes, names stay, and what does not change keeps its bytes."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest
from hypothesis import given

from holdfast.core.agent_log.record_texts import map_parts, map_record
from holdfast.core.agent_log.records import Log
from tests.core.logs import LOGS, answered, message, returned


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
    deep = '{"type":"custom","id":"1","parentId":null,"data":' + "[" * 500 + '"hunter2"' + "]" * 500 + "}"
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
