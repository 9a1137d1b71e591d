"""Records: the lines of a Gemini CLI chat, with only the fields that Holdfast reads.

Also what the user typed, without what Gemini CLI or a hook added to a text in the user's role.

A line is a header, a message, or a patch of earlier messages. A message is written again, under the same id,
whenever it grows. `transcript` and `tools` interpret the records.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable

import msgspec

from holdfast.core.text.untrusted import has_injected_text, without_injected_text
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
    summary: msgspec.Raw = NOTHING
    """The session's title: Gemini CLI has one written when another session starts."""


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


_HOOK = re.compile(r"<hook_context>(?P<said>.*?)</hook_context>\s*", re.DOTALL)
_NOT_TYPED = re.compile(
    r"\s*(?:<session_context>|<state_snapshot>|Please continue\.\s*\Z"
    r"|Here is (?:the user's editor context|a summary of changes in the user's editor context))"
)
_REFERENCED = "--- Content from referenced files ---"
_WORKSPACE = re.compile(r"^- \*\*Workspace Directories:\*\*\n +- (?P<folder>[^\n]+)", re.MULTILINE)


def typed_text(blocks: Iterable[str]) -> str:
    """What the user typed in these blocks of text; empty if nothing."""
    words = (without_hooks(block).partition(_REFERENCED)[0] for block in blocks)
    return "\n".join(part.strip() for part in words if part.strip() and not _NOT_TYPED.match(part))


def without_hooks(text: str) -> str:
    """The text without what hooks added, and without Holdfast's own text."""
    return without_injected_text(_HOOK.sub("", text) if "<hook_context>" in text else text)


def brief_in(text: str) -> str:
    """What Holdfast's hook added to a text; empty if it added nothing."""
    hooks = (html.unescape(block["said"]) for block in _HOOK.finditer(text))
    return "\n".join(content for content in hooks if has_injected_text(content))


def workspace_in(text: str) -> str:
    """The directory that the session works in, if this is its first message; empty for any other."""
    workspace = _WORKSPACE.search(text) if text.startswith("<session_context>") else None
    return workspace["folder"].strip() if workspace else ""
