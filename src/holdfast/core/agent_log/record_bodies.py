"""Bodies: what each type of record says, read only when somebody asks.

The format is that of the session files which other programs write and read; the names here are ours. A field
that is missing or null has its empty value; a body of another shape than its type says is `Unknown`, and so
is that of a type we do not know.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias

import msgspec

from holdfast.core.agent_log import records
from holdfast.core.agent_log.records import Record

NOTHING: Final = msgspec.Raw(b"null")


class Block(msgspec.Struct, frozen=True):
    """One block of a message: text, thinking, a tool's call, an image, or what we do not know."""

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
    """What one request of a model took."""

    input: int | float | None = None
    output: int | float | None = None
    cache_read: int | float | None = msgspec.field(default=None, name="cacheRead")
    cache_written: int | float | None = msgspec.field(default=None, name="cacheWrite")

    @property
    def total(self) -> int:
        """All that stands in the window afterwards: what was sent, cached or not, and the answer."""
        parts = (self.input, self.output, self.cache_read, self.cache_written)
        return sum(int(min(part, _MOST_TOKENS)) for part in parts if part and part > 0)


class MessageBody(msgspec.Struct, frozen=True):
    """What was said or done: by a person, the agent, a tool, or a command that a person ran."""

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
    """From here on a summary stands for all that came before the first kept record."""

    summary: str | None = None
    first_kept_id: str | int | None = msgspec.field(default=None, name="firstKeptEntryId")
    first_kept_place: int | float | None = msgspec.field(default=None, name="firstKeptEntryIndex")
    tokens_before: int | float | None = msgspec.field(default=None, name="tokensBefore")
    from_checkpoint: bool | None = msgspec.field(default=None, name="fromCheckpoint")
    details: msgspec.Raw = NOTHING
    """Each program puts there what it likes; what we put there is in `CompactionNote`."""

    @property
    def first_kept(self) -> str:
        """The id of the first record that stays; the oldest format names its place."""
        if self.first_kept_id is not None:
            return str(self.first_kept_id)
        return f"@{int(self.first_kept_place)}" if self.first_kept_place is not None else ""

    @property
    def owed(self) -> CompactionNote:
        """What we noted of it; nothing where another program wrote it."""
        try:
            return msgspec.json.decode(self.details, type=CompactionNote)
        except (ValueError, RecursionError):
            return CompactionNote()


class CompactionNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """What we note of a compaction beside its summary."""

    no_model: str = msgspec.field(default="", name="noModel")
    """Why no model wrote it, where one was to: it is asked once more later."""
    retells: str = ""
    """The id of the compaction for which this one has a better summary; nothing else is compacted."""


class Rolling(msgspec.Struct, frozen=True):
    """A summary that was written while the session went on, and what it covers."""

    summary: str | None = None
    tokens: int | float | None = msgspec.field(default=None, name="tokensAtCheckpoint")
    messages: int | float | None = msgspec.field(default=None, name="messageCountAtCheckpoint")
    topics: list[str] | None = None
    questions: list[str] | None = msgspec.field(default=None, name="openQuestions")
    decisions: list[str] | None = msgspec.field(default=None, name="keyDecisions")
    up_to: str | None = msgspec.field(default=None, name="upToEntryId")
    """The id of the last record that it covers, where it was written later; else all before it."""


class Checkpoint(msgspec.Struct, frozen=True):
    checkpoint: Rolling


class ModelChange(msgspec.Struct, frozen=True):
    provider: str | None = None
    model: str | None = msgspec.field(default=None, name="modelId")


class ThinkingLevelChange(msgspec.Struct, frozen=True):
    level: str | None = msgspec.field(default=None, name="thinkingLevel")


class Custom(msgspec.Struct, frozen=True):
    """What a program keeps for itself; no model is told of it."""

    custom_type: str | None = msgspec.field(default=None, name="customType")
    data: msgspec.Raw = NOTHING


class CustomMessage(msgspec.Struct, frozen=True):
    """What a program says to the model in nobody's name."""

    custom_type: str | None = msgspec.field(default=None, name="customType")
    content: Content = None


class BranchSummary(msgspec.Struct, frozen=True):
    """What happened on a branch that was left."""

    summary: str | None = None


class Replacement(msgspec.Struct, frozen=True):
    content: Content = None


class ContextEdit(msgspec.Struct, frozen=True):
    """What the model is told in the place of an earlier record; nothing where there is no replacement."""

    target: str | None = msgspec.field(default=None, name="targetId")
    replacement: Replacement | None = None


class Reset(msgspec.Struct, frozen=True):
    """The log goes on; the conversation in it starts anew."""


class Unknown(msgspec.Struct, frozen=True):
    """What we cannot read, or need not."""


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
    """What a record says."""
    decoder = _DECODERS.get(record.type)
    if decoder is None:
        return Unknown()
    try:
        return decoder.decode(record.line)
    except (ValueError, RecursionError):
        return Unknown()


def text_of(content: Content) -> str:
    """The text of a message, block by block; images and calls have none."""
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
