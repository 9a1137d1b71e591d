"""What a provider refuses, as strictly as the strictest of them: for tests of the messages that we send."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

ID = re.compile(r"[a-zA-Z0-9_-]{1,40}")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")


def refused_by_anthropic(messages: Sequence[Json]) -> Iterator[str]:
    """Every reason for which the Messages API would refuse these."""
    yield from _roles([message["role"] for message in messages])
    open_calls: list[str] = []
    seen: set[str] = set()
    for message in messages:
        blocks = message["content"]
        if not blocks:
            yield "a message without content"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(open_calls):
            yield f"calls {open_calls} are followed by results {results}"
        if any(block["type"] != "tool_result" for block in blocks[: len(results)]):
            yield "a result stands behind something else"
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        yield from _calls(
            open_calls, [block["name"] for block in blocks if block["type"] == "tool_use"], seen
        )
        yield from _anthropic_blocks(message["role"], blocks)
    if open_calls:
        yield "the last calls have no results"


def _anthropic_blocks(role: str, blocks: Sequence[Json]) -> Iterator[str]:
    allowed = {
        "user": {"text", "image", "tool_result"},
        "assistant": {"text", "tool_use", "thinking", "redacted_thinking"},
    }[role]
    for block in blocks:
        if block["type"] not in allowed:
            yield f"{block['type']} in the role {role}"
        if block["type"] == "text" and not block["text"].strip():
            yield "a text without a word"
        if block["type"] == "text" and role == "assistant" and block["text"] != block["text"].rstrip():
            yield "an answer that ends in white space"
        if block["type"] == "tool_use" and not isinstance(block["input"], dict):
            yield "arguments that are no object"
        if block["type"] == "thinking" and not block["signature"]:
            yield "thinking that nobody signed"
        if block["type"] == "tool_result":
            yield from _anthropic_blocks("user", block["content"])
            if not block["content"]:
                yield "a result without content"
    if blocks and blocks[-1]["type"] in ("thinking", "redacted_thinking"):
        yield "an answer that ends in thinking"


def refused_by_openai(messages: Sequence[Json]) -> Iterator[str]:
    """Every reason for which a strict Chat Completions server would refuse these."""
    # What a tool says stands for what a person could: an answer follows it.
    roles = ["user" if message["role"] == "tool" else message["role"] for message in messages]
    yield from _roles([role for role, _ in itertools.groupby(roles)])
    open_calls: list[str] = []
    seen: set[str] = set()
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                yield "a result without a call"
            else:
                open_calls.remove(message["tool_call_id"])
            if not isinstance(message["content"], str) or not message["content"].strip():
                yield "a result without a text"
            continue
        if open_calls:
            yield f"calls without results: {open_calls}"
        calls = message.get("tool_calls") or []
        if not message["content"] and not calls:
            yield "a message without content"
        if any(not isinstance(json.loads(call["function"]["arguments"]), dict) for call in calls):
            yield "arguments that are no object"
        open_calls = [call["id"] for call in calls]
        yield from _calls(open_calls, [call["function"]["name"] for call in calls], seen)
    if open_calls:
        yield "the last calls have no results"


def _roles(roles: Sequence[str]) -> Iterator[str]:
    if roles and roles[0] != "user":
        yield f"the first message is of the {roles[0]}"
    for one, following in itertools.pairwise(roles):
        if one == following:
            yield f"two messages of the {one} in a row"


def _calls(ids: Sequence[str], names: Sequence[str], seen: set[str]) -> Iterator[str]:
    for id in ids:
        if id in seen or not ID.fullmatch(id):
            yield f"the id `{id}`"
        seen.add(id)
    yield from (f"the name `{name}`" for name in names if not NAME.fullmatch(name))
