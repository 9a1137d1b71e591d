"""The content of each type of record, parsed only on demand.

The format is that of session files which other programs read and write; the Python names are Holdfast's. A
field that is missing or null has its empty value. A body that does not match its type is `Unknown`, and so is
one of an unknown type.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from holdfast.core.agent_log import records
from holdfast.core.agent_log.records import Record

NOTHING: Final = msgspec.Raw(b"null")


class Block(msgspec.Struct, frozen=True):
    """One block of a message: text, thinking, a tool call, an image, or an unknown type."""

    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = msgspec.field(default=None, name="thinkingSignature")
    redacted: bool | None = None
    id: str | None = None
    name: str | None = None
    arguments: msgspec.Raw = NOTHING
    data: str | None = None
    mime: str | None = msgspec.field(default=None, name="mimeType")


Content: TypeAlias = str | list[Block] | None


class Tokens(msgspec.Struct, frozen=True):
    """How many tokens one request to a model used."""

    input: int | float | None = None
    output: int | float | None = None
    cache_read: int | float | None = msgspec.field(default=None, name="cacheRead")
    cache_written: int | float | None = msgspec.field(default=None, name="cacheWrite")

    @property
    def total(self) -> int:
        """How many tokens are in the window afterwards: the request, cached or not, and the answer."""
        parts = (self.input, self.output, self.cache_read, self.cache_written)
        return sum(int(min(part, _MOST_TOKENS)) for part in parts if part and part > 0)


class MessageBody(msgspec.Struct, frozen=True):
    """A message of the user, the agent or a tool, or a command that the user ran."""

    role: str = ""
    content: Content = None
    api: str | None = None
    provider: str | None = None
    model: str | None = None
    usage: Tokens | None = None
    stop: str | None = msgspec.field(default=None, name="stopReason")
    call: str | None = msgspec.field(default=None, name="toolCallId")
    tool: str | None = msgspec.field(default=None, name="toolName")
    is_error: bool | None = msgspec.field(default=None, name="isError")
    summary: str | None = None
    custom_type: str | None = msgspec.field(default=None, name="customType")
    command: str | None = None
    output: str | None = None
    exit_code: int | float | None = msgspec.field(default=None, name="exitCode")
    cancelled: bool | None = None
    left_out: bool | None = msgspec.field(default=None, name="excludeFromContext")


class Message(msgspec.Struct, frozen=True):
    message: MessageBody


class Header(msgspec.Struct, frozen=True):
    """The first record of a log."""

    id: str = ""
    version: int | float | None = None
    cwd: str | None = None


class Compaction(msgspec.Struct, frozen=True):
    """From here on, a summary replaces everything before the first kept record."""

    summary: str | None = None
    first_kept_id: str | int | None = msgspec.field(default=None, name="firstKeptEntryId")
    first_kept_place: int | float | None = msgspec.field(default=None, name="firstKeptEntryIndex")
    tokens_before: int | float | None = msgspec.field(default=None, name="tokensBefore")
    from_checkpoint: bool | None = msgspec.field(default=None, name="fromCheckpoint")
    details: msgspec.Raw = NOTHING
    """Any program's own data; Holdfast's is `CompactionNote`."""

    @property
    def first_kept(self) -> str:
        """The id of the first record that stays; `@` and its place in logs of the oldest format."""
        if self.first_kept_id is not None:
            return str(self.first_kept_id)
        return f"@{int(self.first_kept_place)}" if self.first_kept_place is not None else ""

    @property
    def note(self) -> CompactionNote:
        """Holdfast's note on the compaction; empty if another program wrote it."""
        try:
            return msgspec.json.decode(self.details, type=CompactionNote)
        except (ValueError, RecursionError):
            return CompactionNote()


class CompactionNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """What Holdfast stores about a compaction beside its summary."""

    no_model: str = msgspec.field(default="", name="noModel")
    """Why a model that should have written the summary did not; it is asked once more later."""
    retells: str = ""
    """The id of the compaction whose summary this one improves; nothing else is compacted."""


class Rolling(msgspec.Struct, frozen=True):
    """A summary that was written while the session continued, and what it covers."""

    summary: str | None = None
    tokens: int | float | None = msgspec.field(default=None, name="tokensAtCheckpoint")
    messages: int | float | None = msgspec.field(default=None, name="messageCountAtCheckpoint")
    topics: list[str] | None = None
    questions: list[str] | None = msgspec.field(default=None, name="openQuestions")
    decisions: list[str] | None = msgspec.field(default=None, name="keyDecisions")
    up_to: str | None = msgspec.field(default=None, name="upToEntryId")
    """The id of the last record that it covers; None if it covers everything before it."""


class Checkpoint(msgspec.Struct, frozen=True):
    checkpoint: Rolling


class ModelChange(msgspec.Struct, frozen=True):
    provider: str | None = None
    model: str | None = msgspec.field(default=None, name="modelId")


class ThinkingLevelChange(msgspec.Struct, frozen=True):
    level: str | None = msgspec.field(default=None, name="thinkingLevel")


class Custom(msgspec.Struct, frozen=True):
    """A program's own data, which no model is sent."""

    custom_type: str | None = msgspec.field(default=None, name="customType")
    data: msgspec.Raw = NOTHING


class CustomMessage(msgspec.Struct, frozen=True):
    """A program's own message to the model, not from the user or the agent."""

    custom_type: str | None = msgspec.field(default=None, name="customType")
    content: Content = None


class BranchSummary(msgspec.Struct, frozen=True):
    """The summary of an abandoned branch."""

    summary: str | None = None


class Replacement(msgspec.Struct, frozen=True):
    content: Content = None


class ContextEdit(msgspec.Struct, frozen=True):
    """What the model is sent in place of an earlier record; nothing if there is no replacement."""

    target: str | None = msgspec.field(default=None, name="targetId")
    replacement: Replacement | None = None


class Reset(msgspec.Struct, frozen=True):
    """The log continues, but its conversation starts anew."""


class Unknown(msgspec.Struct, frozen=True):
    """A body that cannot be parsed, or need not be."""


Body: TypeAlias = (
    Header
    | Message
    | Compaction
    | Checkpoint
    | ModelChange
    | ThinkingLevelChange
    | Custom
    | CustomMessage
    | BranchSummary
    | ContextEdit
    | Reset
    | Unknown
)


def body(record: Record) -> Body:
    """The parsed content of a record."""
    decoder = _DECODERS.get(record.type)
    if decoder is None:
        return Unknown()
    try:
        return decoder.decode(record.line)
    except (ValueError, RecursionError):
        return Unknown()


def text_of(content: Content) -> str:
    """The text of a message, without images and calls."""
    if isinstance(content, str):
        return content
    return "\n".join(block.text for block in content or () if block.type == "text" and block.text)


_MOST_TOKENS: Final = 1 << 40
_DECODERS: Final[Mapping[str, msgspec.json.Decoder[Body]]] = {
    records.SESSION: msgspec.json.Decoder(Header),
    records.MESSAGE: msgspec.json.Decoder(Message),
    records.COMPACTION: msgspec.json.Decoder(Compaction),
    records.CHECKPOINT: msgspec.json.Decoder(Checkpoint),
    records.MODEL_CHANGE: msgspec.json.Decoder(ModelChange),
    records.THINKING_LEVEL_CHANGE: msgspec.json.Decoder(ThinkingLevelChange),
    records.CUSTOM: msgspec.json.Decoder(Custom),
    records.CUSTOM_MESSAGE: msgspec.json.Decoder(CustomMessage),
    records.BRANCH_SUMMARY: msgspec.json.Decoder(BranchSummary),
    records.CONTEXT_EDIT: msgspec.json.Decoder(ContextEdit),
    records.RESET: msgspec.json.Decoder(Reset),
}
