"""Logs for tests: records written by hand, and any log that a program, a crash or an editor could leave."""

from __future__ import annotations

import json
from random import Random
from typing import Any, TypeAlias

from hypothesis import strategies as st

from holdfast.core.agent_log.records import Record, iso, new_record, read_log

NOON = 1_767_268_800_000
"""2026-01-01T12:00:00Z"""

Json: TypeAlias = dict[str, Any]


def message(id: str, parent: str, role: str, content: object = "", **fields: object) -> Record:
    said = {"role": role, "content": content, **fields}
    return new_record("message", id, parent, NOON, {"message": said})


def asked(id: str, parent: str, text: str) -> Record:
    return message(id, parent, "user", text)


def answered(id: str, parent: str, text: str = "", *calls: str, **fields: object) -> Record:
    """An answer that says this and calls a tool under each of these ids."""
    blocks: list[Json] = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "toolCall", "id": call, "name": "bash", "arguments": {"n": call}} for call in calls]
    return message(id, parent, "assistant", blocks, **fields)


def returned(id: str, parent: str, call: str, text: str, **fields: object) -> Record:
    blocks = [{"type": "text", "text": text}]
    return message(id, parent, "toolResult", blocks, toolCallId=call, toolName="bash", **fields)


def compacted(id: str, parent: str, summary: str, first_kept: str, **fields: object) -> Record:
    told = {"summary": summary, "firstKeptEntryId": first_kept, "tokensBefore": 9_000, **fields}
    return new_record("compaction", id, parent, NOON, told)


def chain(*records: tuple[str, str]) -> tuple[Record, ...]:
    """A log without branches, from roles and texts; each record's id is the number of its place."""
    told: list[Record] = []
    for number, (role, text) in enumerate(records):
        told.append(message(str(number), told[-1].id if told else "", role, text))
    return tuple(told)


# Any log. It is made of a seed: hypothesis by itself would hardly ever let a result meet its call.

TYPES = (
    *["message"] * 60,
    *"compaction checkpoint custom custom_message branch_summary context_edit model_change".split(),
    *"thinking_level_change reset session surprise".split(),
)
ROLES = (
    *["user"] * 3,
    *["assistant", "toolResult"] * 5,
    *"bashExecution custom system surprise".split(),
)
CALLS = (*["c1"] * 4, *["c2"] * 3, "c|3", "", "x" * 70)
TEXTS = ("hi", "hi", "hi", "", "  ", "NO_REPLY", "two\nlines  ", "🦀")
ARGUMENTS: tuple[object, ...] = ({"command": "ls"}, {"command": "ls"}, {}, None, [1], "text")
ODD_BLOCKS = (
    {"type": "image", "data": "AAAA", "mimeType": "image/png"},
    {"type": "image", "data": "AAAA", "mimeType": "image/tiff"},
    {"type": "text", "text": None},
    {"type": "surprise"},
)
BROKEN = (None, 7, [{"type": "text", "text": 5}])
NO_RECORDS = ("", "{", "[]", '{"type":5}', '{"id":"a"}', "\x00")


def any_line(chance: Random, place: int) -> str:
    """A line at that place: of any type, mostly behind the one before, or no record at all."""
    if chance.random() < 0.03:
        return chance.choice(NO_RECORDS)
    oddity = chance.randrange(40)
    record: Json = {"type": chance.choice(TYPES), "timestamp": iso(NOON)}
    if oddity != 1:
        record["id"] = _any_id(chance, place) if oddity == 2 else str(place)
    if oddity != 3:
        anywhere = chance.choice([None, _any_id(chance, place)])
        record["parentId"] = anywhere if oddity == 4 else str(place - 1)
    record |= {
        "message": _any_message(chance),
        "summary": chance.choice(TEXTS),
        "firstKeptEntryId": _any_id(chance, place),
        "content": _any_content(chance),
        "targetId": _any_id(chance, place),
        "replacement": chance.choice([None, {"content": "instead"}, {"content": []}]),
    }
    return json.dumps(record)


def _any_id(chance: Random, place: int) -> str:
    return str(chance.randrange(place + 3))


def _any_message(chance: Random) -> Json:
    return {
        "role": chance.choice(ROLES),
        "content": _any_content(chance),
        "api": chance.choice(["anthropic-messages", "openai-completions"]),
        "stopReason": chance.choice([*["toolUse"] * 8, "aborted"]),
        "toolCallId": chance.choice(CALLS),
        "isError": chance.random() < 0.3,
        "command": "ls",
    }


def _any_content(chance: Random) -> object:
    way = chance.random()
    if way < 0.05:
        return chance.choice(BROKEN)
    return chance.choice(TEXTS) if way < 0.2 else [_any_block(chance) for _ in range(chance.randrange(1, 5))]


def _any_block(chance: Random) -> Json:
    match chance.randrange(5):
        case 0 | 1:
            given = chance.choice(ARGUMENTS)
            return {"type": "toolCall", "id": chance.choice(CALLS), "name": "b a$h", "arguments": given}
        case 2:
            return {"type": "text", "text": chance.choice(TEXTS)}
        case 3:
            signed = chance.choice(["", "signed", None])
            return {"type": "thinking", "thinking": chance.choice(TEXTS), "thinkingSignature": signed}
        case _:
            return chance.choice(ODD_BLOCKS)


def any_lines(size: int, seed: int) -> list[str]:
    chance = Random(seed)
    return [any_line(chance, place) for place in range(size)]


LOG_LINES = st.builds(any_lines, st.integers(0, 60), st.integers(0, 1 << 32))
LOGS = LOG_LINES.map(read_log)
