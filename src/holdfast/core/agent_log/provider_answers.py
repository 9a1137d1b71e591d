"""Convert the answer of a provider's API to the message of a record.

`provider_messages` is the other direction. Parts of an answer that cannot be parsed are left out, but an
answer is never refused, because it was paid for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import msgspec

from holdfast.core.agent_log.provider_messages import ANTHROPIC_API
from holdfast.core.agent_log.record_bodies import Message, body
from holdfast.core.agent_log.records import MESSAGE, Record
from holdfast.core.agent_log.summary import Failed
from holdfast.lazy_dataclass import dataclass

Json: TypeAlias = dict[str, object]

OPENAI_API: Final = "openai-completions"
_FIELDS_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model requests."""

    id: str
    name: str
    arguments: dict[str, Any]


def message_of(answer: Mapping[str, object], at: int) -> Json | Failed:
    """The message of an answer from either API; `Failed` with the reason if it is not one of theirs."""
    if not any(isinstance(answer.get(name), list) for name in ("choices", "content")):
        fields = ", ".join(f"`{name}`" for name in list(answer)[:_FIELDS_NAMED])
        return Failed(f"it has no list `content` or `choices`, but {fields or 'nothing at all'}")
    try:
        return from_openai(answer, at) if "choices" in answer else from_anthropic(answer, at)
    except (msgspec.ValidationError, OverflowError) as error:
        return Failed(str(error))


def calls_of(record: Record) -> tuple[Call, ...]:
    """The tool calls in an answer."""
    message = body(record) if record.type == MESSAGE else None
    content = message.message.content if isinstance(message, Message) else None
    return tuple(
        Call(block.id or "", block.name or "", _decoded(block.arguments))
        for block in (content if isinstance(content, list) else ())
        if block.type == "toolCall"
    )


def from_anthropic(answer: Mapping[str, object], at: int) -> Json:
    """The message of an answer of Anthropic's Messages API."""
    decoded = msgspec.convert(answer, _AnthropicMessage, strict=False)
    usage = decoded.usage or _AnthropicUsage()
    return {
        "role": "assistant",
        "content": [stored_block for block in decoded.content if (stored_block := _anthropic_block(block))],
        "api": ANTHROPIC_API,
        "provider": "anthropic",
        "model": decoded.model or "",
        "usage": _usage(usage.input, usage.output, usage.cache_read, usage.cache_written),
        "stopReason": _STOPPED.get(decoded.stop or "", "stop"),
        "timestamp": at,
    }


def from_openai(answer: Mapping[str, object], at: int) -> Json:
    """The message of an answer of OpenAI's Chat Completions API, or of a compatible one."""
    decoded = msgspec.convert(answer, _OpenaiCompletion, strict=False)
    choice = decoded.choices[0] if decoded.choices else _OpenaiChoice()
    usage = decoded.usage or _OpenaiUsage()
    cached = (usage.details.cached if usage.details else None) or 0
    text = choice.message.content or choice.message.refusal
    content: list[Json] = [{"type": "text", "text": text}] if text else []
    content += [_openai_call(call) for call in choice.message.calls or ()]
    return {
        "role": "assistant",
        "content": content,
        "api": OPENAI_API,
        "provider": "openai",
        "model": decoded.model or "",
        "usage": _usage(max(0, (usage.prompt or 0) - cached), usage.completion, cached, 0),
        "stopReason": _STOPPED.get(choice.stop or "", "stop"),
        "timestamp": at,
    }


class _AnthropicUsage(msgspec.Struct):
    input: int | None = msgspec.field(default=None, name="input_tokens")
    output: int | None = msgspec.field(default=None, name="output_tokens")
    cache_read: int | None = msgspec.field(default=None, name="cache_read_input_tokens")
    cache_written: int | None = msgspec.field(default=None, name="cache_creation_input_tokens")


class _AnthropicBlock(msgspec.Struct):
    type: str = ""
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    id: str | None = None
    name: str | None = None
    input: dict[str, object] | None = None


class _AnthropicMessage(msgspec.Struct):
    content: list[_AnthropicBlock] = msgspec.field(default_factory=list[_AnthropicBlock])
    model: str | None = None
    stop: str | None = msgspec.field(default=None, name="stop_reason")
    usage: _AnthropicUsage | None = None


class _OpenaiFunction(msgspec.Struct):
    name: str = ""
    arguments: str | None = None


class _OpenaiCall(msgspec.Struct):
    id: str = ""
    function: _OpenaiFunction = msgspec.field(default_factory=_OpenaiFunction)


class _OpenaiMessage(msgspec.Struct):
    content: str | None = None
    refusal: str | None = None
    calls: list[_OpenaiCall] | None = msgspec.field(default=None, name="tool_calls")


class _OpenaiChoice(msgspec.Struct):
    message: _OpenaiMessage = msgspec.field(default_factory=_OpenaiMessage)
    stop: str | None = msgspec.field(default=None, name="finish_reason")


class _OpenaiDetails(msgspec.Struct):
    cached: int | None = msgspec.field(default=None, name="cached_tokens")


class _OpenaiUsage(msgspec.Struct):
    prompt: int | None = msgspec.field(default=None, name="prompt_tokens")
    completion: int | None = msgspec.field(default=None, name="completion_tokens")
    details: _OpenaiDetails | None = msgspec.field(default=None, name="prompt_tokens_details")


class _OpenaiCompletion(msgspec.Struct):
    choices: list[_OpenaiChoice] = msgspec.field(default_factory=list[_OpenaiChoice])
    model: str | None = None
    usage: _OpenaiUsage | None = None


_STOPPED: Final[Mapping[str, str]] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "length": "length",
    "tool_use": "toolUse",
    "tool_calls": "toolUse",
    "refusal": "error",
    "content_filter": "error",
}


def _decoded(arguments: msgspec.Raw) -> dict[str, Any]:
    try:
        return msgspec.json.decode(arguments, type=dict[str, Any])
    except (ValueError, RecursionError):
        return {}


def _anthropic_block(block: _AnthropicBlock) -> Json:
    match block.type:
        case "text" if block.text:
            return {"type": "text", "text": block.text}
        case "thinking":
            signed = block.signature or ""
            return {"type": "thinking", "thinking": block.thinking or "", "thinkingSignature": signed}
        case "redacted_thinking" if block.data:
            return {"type": "thinking", "thinking": "", "thinkingSignature": block.data, "redacted": True}
        case "tool_use":
            called = {"id": block.id or "", "name": block.name or "", "arguments": block.input or {}}
            return {"type": "toolCall", **called}
        case _:
            return {}


def _openai_call(call: _OpenaiCall) -> Json:
    raw = call.function.arguments or "{}"
    try:
        arguments = msgspec.json.decode(raw, type=dict[str, object])
    except (ValueError, RecursionError):
        # A small model may write anything here; the program that runs the tool gets it unparsed.
        arguments = {"unreadable": raw}
    return {"type": "toolCall", "id": call.id, "name": call.function.name, "arguments": arguments}


def _usage(sent: int | None, answered: int | None, read: int | None, written: int | None) -> Json:
    counts = {
        "input": sent or 0,
        "output": answered or 0,
        "cacheRead": read or 0,
        "cacheWrite": written or 0,
    }
    # Readers of this format expect a price; Holdfast knows none.
    cost = dict.fromkeys((*counts, "total"), 0)
    return {**counts, "totalTokens": sum(counts.values()), "cost": cost}
