"""Records: the lines of a pi or OpenClaw session file, with only the fields that Holdfast reads.

`transcript` and `tools` interpret them. Large parts, and those whose form differs by version or plugin, stay
undecoded until they are used.
"""

from __future__ import annotations

from typing import TypeAlias

import msgspec

from holdfast.harnesses.fields import NOTHING

Moment: TypeAlias = str | int | float | None
"""A time as it is written: ISO 8601, or milliseconds since 1970."""


class Block(msgspec.Struct):
    """One block of a message: text, a tool call, or something that is ignored (thinking, images)."""

    type: str = ""
    text: str | None = None
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = NOTHING


class Tokens(msgspec.Struct, rename={"cache_read": "cacheRead", "cache_written": "cacheWrite"}):
    input: int | float | None = None
    output: int | float | None = None
    cache_read: int | float | None = None
    cache_written: int | float | None = None


class Provenance(msgspec.Struct):
    """Where a text in the user's role came from, if the message says so."""

    kind: str | None = None


class Message(msgspec.Struct):
    """What was said or done: by the user, the agent, a tool, the harness, or a command that the user ran."""

    role: str = ""
    content: str | list[Block] | None = None
    timestamp: Moment = None
    provider: str | None = None
    model: str | None = None
    usage: Tokens | None = None
    stop: str | None = msgspec.field(default=None, name="stopReason")
    provenance: Provenance | None = None
    call: str | None = msgspec.field(default=None, name="toolCallId")
    tool: str | None = msgspec.field(default=None, name="toolName")
    is_error: bool | None = msgspec.field(default=None, name="isError")
    details: msgspec.Raw = NOTHING
    custom_type: str | None = msgspec.field(default=None, name="customType")
    command: str | None = None
    output: str | None = None
    exit_code: int | float | None = msgspec.field(default=None, name="exitCode")
    cancelled: bool | None = None


class Details(msgspec.Struct):
    """What a tool's result says besides its text; most of it, such as whole diffs, is not read."""

    status: str | None = None
    exit_code: int | float | None = msgspec.field(default=None, name="exitCode")
    process: str | None = msgspec.field(default=None, name="sessionId")
    """The id of a command that is still running in the background."""


class Checkpoint(msgspec.Struct):
    """A summary that was written during the session."""

    summary: str | None = None
    topics: list[str] | None = None
    decisions: list[str] | None = msgspec.field(default=None, name="keyDecisions")
    questions: list[str] | None = msgspec.field(default=None, name="openQuestions")


class Record(msgspec.Struct):
    """One line. The oldest files have neither ids nor parents."""

    type: str = ""
    id: str | None = None
    parent: str | None = msgspec.field(default=None, name="parentId")
    timestamp: Moment = None
    cwd: str | None = None
    origin: str | None = msgspec.field(default=None, name="parentSession")
    """On the first line of a fork: what it was forked from."""
    model: str | None = msgspec.field(default=None, name="modelId")
    message: Message | None = None
    summary: str | None = None
    tokens_before: int | float | None = msgspec.field(default=None, name="tokensBefore")
    tokens_after: int | float | None = msgspec.field(default=None, name="tokensAfter")
    checkpoint: Checkpoint | None = None
    content: str | list[Block] | None = None


RECORD = msgspec.json.Decoder(Record)
DETAILS = msgspec.json.Decoder(Details)

READ_TYPES: frozenset[str] = frozenset(
    "session message compaction checkpoint model_change custom_message reset".split()
)
"""The types of record that are read."""

PASSED_OVER: frozenset[str] = frozenset(
    """branch_summary thinking_level_change custom label session_info context_transform ephemeral
    leaf""".split()
)
"""The types that say nothing new: a branch's summary, for example, repeats records that were read."""

PASSED_OVER_UNREAD: tuple[bytes, ...] = tuple(f'{{"type":"{name}"'.encode() for name in sorted(PASSED_OVER))
"""How lines of such a type begin if the type is written first: they need no decoding."""
