"""Records: the lines of a Gemini CLI chat, with only the fields that Holdfast reads.

A line is a header, a message, or a patch of earlier messages. A message is written again, under the same id,
whenever it grows. `transcript` and `tools` interpret the records.
"""

from __future__ import annotations

import msgspec

from holdfast.harnesses.fields import NOTHING, items, mapping, text, value_of


class Tokens(msgspec.Struct):
    input: int | None = None
    output: int | None = None
    cached: int | None = None
    thoughts: int | None = None


class ToolCall(msgspec.Struct):
    """A call with its result, as soon as it has one."""

    id: str | None = None
    name: str | None = None
    args: msgspec.Raw = NOTHING
    result: msgspec.Raw = NOTHING
    status: str | None = None
    timestamp: str | None = None


class Message(msgspec.Struct):
    id: str | None = None
    timestamp: str | None = None
    type: str | None = None
    content: msgspec.Raw = NOTHING
    shown: msgspec.Raw = msgspec.field(default=NOTHING, name="displayContent")
    """What the user typed, if more was sent."""
    calls: list[ToolCall] | None = msgspec.field(default=None, name="toolCalls")
    tokens: Tokens | None = None
    model: str | None = None


class Patch(msgspec.Struct):
    messages: list[Message] | None = None


class Record(Message):
    """One line, whatever it is."""

    session: str | None = msgspec.field(default=None, name="sessionId")
    project: str | None = msgspec.field(default=None, name="projectHash")
    kind: str | None = None
    patch: Patch | None = msgspec.field(default=None, name="$set")

    @property
    def is_header(self) -> bool:
        return bool(self.session and self.project)


RECORD = msgspec.json.Decoder(Record)


def texts(raw: msgspec.Raw) -> list[str]:
    """The texts of a content, which is a text or a list of parts."""
    content = value_of(raw)
    if isinstance(content, str):
        return [content]
    return [text(mapping(part), "text") for part in items(content)]
