"""Convert between the agent log and a provider's API: turns to messages, answers to a record's message.

In messages, roles alternate and begin with the user's, and a call's result follows it at once. Strict
servers, such as many OpenAI-compatible ones, require this. Parts of an answer that cannot be parsed are left
out, but an answer is never refused, because it was paid for.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, TypeAlias

import msgspec

from holdfast.core.agent_log.context import AgentTurn, Image, Result, Text, Thinking, ToolCall, Turn, UserTurn
from holdfast.core.agent_log.record_bodies import Message, body
from holdfast.core.agent_log.records import MESSAGE, Record
from holdfast.core.agent_log.summary import Failed
from holdfast.lazy_dataclass import dataclass

Json: TypeAlias = dict[str, object]
ANTHROPIC_API: Final = "anthropic-messages"
"""The value of a record's `api` if this API signed its thinking."""
OPENAI_API: Final = "openai-completions"
_FIELDS_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call that the model requests."""

    id: str
    name: str
    arguments: dict[str, Any]


def anthropic(turns: Sequence[Turn]) -> list[Json]:
    """The `messages` of Anthropic's Messages API."""
    messages: list[tuple[str, list[Json]]] = []
    for turn in turns:
        match turn:
            case UserTurn():
                _join(messages, "user", [_anthropic_part(part) for part in turn.parts])
            case AgentTurn():
                _join(messages, "assistant", _anthropic_content(turn))
                _join(messages, "user", [_anthropic_result(result) for result in turn.results])
    return [{"role": role, "content": content} for role, content in messages]


def openai(turns: Sequence[Turn]) -> list[Json]:
    """The `messages` of OpenAI's Chat Completions API, without a system prompt."""
    messages: list[Json] = []
    user_parts: list[Text | Image] = []
    agent_texts: list[Text] = []
    for turn in turns:
        match turn:
            case UserTurn():
                _add_agent_message(messages, agent_texts)
                user_parts.extend(turn.parts)
            case AgentTurn():
                _add_user_message(messages, user_parts)
                agent_texts.extend(part for part in turn.parts if isinstance(part, Text))
                calls = [part for part in turn.parts if isinstance(part, ToolCall)]
                if calls:
                    _add_tool_calls(messages, agent_texts, calls, turn.results)
                    user_parts.extend(_images(turn.results))
    _add_agent_message(messages, agent_texts)
    _add_user_message(messages, user_parts)
    return messages


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


def _join(messages: list[tuple[str, list[Json]]], role: str, content: list[Json]) -> None:
    """Add content under a role; to the last message if that has the same role."""
    if not content:
        return
    if messages and messages[-1][0] == role:
        messages[-1][1].extend(content)
    else:
        messages.append((role, content))


def _anthropic_part(part: Text | Image) -> Json:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(mime=mime, data=data):
            return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}


def _anthropic_content(turn: AgentTurn) -> list[Json]:
    content: list[Json] = []
    for part in turn.parts:
        match part:
            # The API refuses to continue an answer that ends in white space.
            case Text(text=text):
                content.append({"type": "text", "text": text.rstrip()})
            case ToolCall(id=id, name=name, arguments=arguments):
                tool_input = msgspec.json.decode(arguments)
                content.append({"type": "tool_use", "id": id, "name": name, "input": tool_input})
            case Thinking(api=api) if api == ANTHROPIC_API:
                content.append(_anthropic_thought(part))
            case Thinking():
                pass
    while content and content[-1]["type"] in ("thinking", "redacted_thinking"):
        content.pop()
    return content


def _anthropic_thought(thought: Thinking) -> Json:
    if thought.redacted:
        return {"type": "redacted_thinking", "data": thought.signature}
    return {"type": "thinking", "thinking": thought.text, "signature": thought.signature}


def _anthropic_result(result: Result) -> Json:
    content = [_anthropic_part(part) for part in result.parts]
    block: Json = {"type": "tool_result", "tool_use_id": result.call, "content": content}
    return block if result.ok else {**block, "is_error": True}


def _add_user_message(messages: list[Json], parts: list[Text | Image]) -> None:
    """Add the user's parts so far as one message, and clear them."""
    if parts:
        messages.append({"role": "user", "content": _openai_content(parts)})
        parts.clear()


def _add_agent_message(messages: list[Json], texts: list[Text]) -> None:
    """Add the agent's texts so far, without tool calls, as one message, and clear them."""
    if texts:
        messages.append({"role": "assistant", "content": _joined(texts)})
        texts.clear()


def _add_tool_calls(
    messages: list[Json], texts: list[Text], calls: Sequence[ToolCall], results: Sequence[Result]
) -> None:
    """Add the agent's texts so far with the calls that follow them, then the results."""
    tools = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]
    messages.append({"role": "assistant", "content": _joined(texts) or None, "tool_calls": tools})
    texts.clear()
    for result in results:
        result_texts = [part for part in result.parts if isinstance(part, Text)]
        content = _joined(result_texts) or _ELSEWHERE
        messages.append({"role": "tool", "tool_call_id": result.call, "content": content})


def _openai_content(parts: Sequence[Text | Image]) -> str | list[Json]:
    """The content of a message: a plain string if it is only text, which every server accepts."""
    texts = [part for part in parts if isinstance(part, Text)]
    if len(texts) == len(parts):
        return _joined(texts)
    shown: list[Json] = []
    for part in parts:
        match part:
            case Text(text=text):
                shown.append({"type": "text", "text": text})
            case Image(mime=mime, data=data):
                shown.append({"type": "image_url", "image_url": {"url": f"data:{mime};base64,{data}"}})
    return shown


def _images(results: Iterable[Result]) -> list[Text | Image]:
    """The images of results, to be sent after them, because a tool's message contains only text."""
    images = [part for result in results for part in result.parts if isinstance(part, Image)]
    return [Text(_FROM_TOOLS), *images] if images else []


def _joined(texts: Iterable[Text]) -> str:
    return "\n\n".join(part.text for part in texts)


_ELSEWHERE: Final = "(an image, shown below)"
_FROM_TOOLS: Final = "The images that the tools returned:"


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
