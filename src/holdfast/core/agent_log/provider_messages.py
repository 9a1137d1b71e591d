"""Convert turns to the messages of a provider's API.

Roles alternate and begin with the user's; a call's result follows it at once. Strict servers, such as many
OpenAI-compatible ones, require this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import msgspec

from holdfast.core.agent_log.context import AgentTurn, Call, Image, Result, Text, Thinking, Turn, UserTurn

Json: TypeAlias = dict[str, object]

ANTHROPIC_API: Final = "anthropic-messages"
"""The value of a record's `api` if this API signed its thinking."""


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
                calls = [part for part in turn.parts if isinstance(part, Call)]
                if calls:
                    _add_tool_calls(messages, agent_texts, calls, turn.results)
                    user_parts.extend(_images(turn.results))
    _add_agent_message(messages, agent_texts)
    _add_user_message(messages, user_parts)
    return messages


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
            case Call(id=id, name=name, arguments=arguments):
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
    messages: list[Json], texts: list[Text], calls: Sequence[Call], results: Sequence[Result]
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
