"""Records: the lines of a Claude Code transcript, with only the fields that Holdfast reads.

`transcript` and `tools` interpret them. Large parts stay undecoded until they are used.
"""

from __future__ import annotations

import msgspec

from holdfast.harnesses.fields import NOTHING


class Block(msgspec.Struct):
    """One block of a message: text, a tool call, a tool result, or something that is ignored."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    input: msgspec.Raw = NOTHING
    tool_use_id: str | None = None
    content: msgspec.Raw = NOTHING
    is_error: bool | None = None


class Tokens(msgspec.Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    cache_creation_input_tokens: int | None = None


class Message(msgspec.Struct):
    id: str | None = None
    model: str | None = None
    content: str | list[Block] | None = None
    usage: Tokens | None = None


class Kind(msgspec.Struct):
    """Who a text comes from, if the record says so."""

    kind: str | None = None


class Compression(msgspec.Struct, rename={"before": "preTokens", "after": "postTokens"}):
    trigger: str | None = None
    before: int | None = None
    after: int | None = None


class Decision(msgspec.Struct):
    """Who allowed or denied a call."""

    source: str | None = None


class Identity(msgspec.Struct):
    model: str | None = msgspec.field(default=None, name="modelId")


class Attachment(msgspec.Struct):
    """What Claude Code added to the conversation by itself."""

    type: str = ""
    content: msgspec.Raw = NOTHING
    identity: Identity | None = None
    prompt: msgspec.Raw = NOTHING
    mode: str | None = msgspec.field(default=None, name="commandMode")
    is_meta: bool | None = msgspec.field(default=None, name="isMeta")
    origin: Kind | None = None


class Record(msgspec.Struct):
    """One line."""

    type: str = ""
    subtype: str | None = None
    uuid: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentUuid")
    timestamp: str | None = None
    version: str | None = None
    cwd: str | None = None
    sidechain: bool | None = msgspec.field(default=None, name="isSidechain")
    agent: str | None = msgspec.field(default=None, name="agentId")
    meta: bool | None = msgspec.field(default=None, name="isMeta")
    is_summary: bool | None = msgspec.field(default=None, name="isCompactSummary")
    is_api_error: bool | None = msgspec.field(default=None, name="isApiErrorMessage")
    turn: str | None = msgspec.field(default=None, name="promptId")
    prompt_source: str | None = msgspec.field(default=None, name="promptSource")
    origin: Kind | None = None
    message: Message | None = None
    result: msgspec.Raw = msgspec.field(default=NOTHING, name="toolUseResult")
    denial: str | None = msgspec.field(default=None, name="toolDenialKind")
    decision: Decision | None = msgspec.field(default=None, name="permissionDecision")
    holds_words: bool | None = msgspec.field(default=None, name="holdsPersonsWords")
    compression: Compression | None = msgspec.field(default=None, name="compactMetadata")
    attachment: Attachment | None = None


RECORD = msgspec.json.Decoder(Record)

READ_TYPES: frozenset[str] = frozenset({"user", "assistant", "system", "attachment"})
"""The types of record that are read."""

PASSED_OVER: frozenset[str] = frozenset(
    """queue-operation last-prompt mode permission-mode cost-state tools-used atis-latch api-request
    api-request-shape api-request-blob file-history-snapshot progress summary""".split()
)
"""The types that say nothing about the work: the harness's own bookkeeping."""

PASSED_OVER_UNREAD: tuple[bytes, ...] = tuple(f'{{"type":"{name}"'.encode() for name in sorted(PASSED_OVER))
"""How lines of such a type begin if the type is written first: they need no decoding."""
