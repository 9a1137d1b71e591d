"""Records: an OpenCode message and its parts as it stores them, with only the fields that Holdfast reads.

Its database has them row by row, and the file that `opencode export` writes has the same form. `transcript`
and `tools` interpret them.
"""

from __future__ import annotations

import msgspec

from holdfast.core.events.event import Skipped
from holdfast.harnesses.fields import NOTHING, decoded


class Cache(msgspec.Struct):
    read: int | None = None
    write: int | None = None


class Tokens(msgspec.Struct):
    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    cache: Cache | None = None


class Span(msgspec.Struct):
    """A start and an end; a message ends when it is completed."""

    created: int | None = None
    completed: int | None = None
    start: int | None = None
    end: int | None = None


class Folder(msgspec.Struct):
    cwd: str | None = None


class Info(msgspec.Struct):
    """A message's metadata."""

    role: str | None = None
    time: Span | None = None
    mode: str | None = None
    model: str | None = msgspec.field(default=None, name="modelID")
    tokens: Tokens | None = None
    path: msgspec.Raw = NOTHING
    summary: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING

    @property
    def is_summary(self) -> bool:
        """Whether this is a compaction's summary."""
        return self.role == "assistant" and (self.mode == "compaction" or bytes(self.summary) == b"true")

    @property
    def failed(self) -> bool:
        return bytes(self.error) != b"null"

    @property
    def is_over(self) -> bool:
        """Whether it is complete; a user's message is complete when it is written."""
        return self.role != "assistant" or self.failed or bool(self.time and self.time.completed)

    @property
    def cwd(self) -> str:
        folder = decoded(_FOLDER, self.path)
        return "" if isinstance(folder, Skipped) else folder.cwd or ""


class State(msgspec.Struct):
    """The status of a tool call, and its result."""

    status: str | None = None
    input: msgspec.Raw = NOTHING
    output: msgspec.Raw = NOTHING
    error: str | None = None
    metadata: msgspec.Raw = NOTHING
    time: Span | None = None


class Part(msgspec.Struct):
    """One part of a message."""

    type: str | None = None
    text: str | None = None
    synthetic: bool | None = None
    time: Span | None = None
    tool: str | None = None
    call: str | None = msgspec.field(default=None, name="callID")
    state: State | None = None
    auto: bool | None = None
    tokens: Tokens | None = None


INFO = msgspec.json.Decoder(Info)
PART = msgspec.json.Decoder(Part)
_FOLDER = msgspec.json.Decoder(Folder)
