"""Shapes: turns as the messages that a provider's API takes.

Roles alternate and begin with the user's; a call's result follows it at once. Also those servers accept that
which are strict about it, as many behind an OpenAI-compatible address are.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import msgspec

from holdfast.core.agent_log.context import AgentTurn, Call, Image, Result, Text, Thinking, Turn, UserTurn

Json: TypeAlias = dict[str, object]

ANTHROPIC_API: Final = "anthropic-messages"
"""How a record says that its thinking was signed by this API."""


def anthropic(turns: Sequence[Turn]) -> list[Json]:
    """The `messages` of Anthropic's Messages API."""
    messages: list[tuple[str, list[Json]]] = []
    for turn in turns:
        match turn:
            case UserTurn():
                _join(messages, "user", [_anthropic_shown(part) for part in turn.parts])
            case AgentTurn():
                _join(messages, "assistant", _anthropic_said(turn))
                _join(messages, "user", [_anthropic_result(result) for result in turn.results])
    return [{"role": role, "content": content} for role, content in messages]


def openai(turns: Sequence[Turn]) -> list[Json]:
    """The `messages` of OpenAI's Chat Completions API, without a system prompt."""
    messages: list[Json] = []
    asked: list[Text | Image] = []
    said: list[Text] = []
    for turn in turns:
        match turn:
            case UserTurn():
                _openai_said(messages, said)
                asked.extend(turn.parts)
            case AgentTurn():
                _openai_asked(messages, asked)
                said.extend(part for part in turn.parts if isinstance(part, Text))
                calls = [part for part in turn.parts if isinstance(part, Call)]
                if calls:
                    _openai_called(messages, said, calls, turn.results)
                    asked.extend(_images(turn.results))
    _openai_said(messages, said)
    _openai_asked(messages, asked)
    return messages


def _join(messages: list[tuple[str, list[Json]]], role: str, content: list[Json]) -> None:
    """Add content under a role, to the last message where that has the same."""
    if not content:
        return
    if messages and messages[-1][0] == role:
        messages[-1][1].extend(content)
    else:
        messages.append((role, content))


def _anthropic_shown(part: Text | Image) -> Json:
    match part:
        case Text(text=text):
            return {"type": "text", "text": text}
        case Image(mime=mime, data=data):
            return {"type": "image", "source": {"type": "base64", "media_type": mime, "data": data}}


def _anthropic_said(turn: AgentTurn) -> list[Json]:
    said: list[Json] = []
    for part in turn.parts:
        match part:
            # The API refuses an answer that ends in white space, where it is to go on with it.
            case Text(text=text):
                said.append({"type": "text", "text": text.rstrip()})
            case Call(id=id, name=name, arguments=arguments):
                given = msgspec.json.decode(arguments)
                said.append({"type": "tool_use", "id": id, "name": name, "input": given})
            case Thinking(api=api) if api == ANTHROPIC_API:
                said.append(_anthropic_thought(part))
            case Thinking():
                pass
    while said and said[-1]["type"] in ("thinking", "redacted_thinking"):
        said.pop()
    return said


def _anthropic_thought(thought: Thinking) -> Json:
    if thought.redacted:
        return {"type": "redacted_thinking", "data": thought.signature}
    return {"type": "thinking", "thinking": thought.text, "signature": thought.signature}


def _anthropic_result(result: Result) -> Json:
    content = [_anthropic_shown(part) for part in result.parts]
    told: Json = {"type": "tool_result", "tool_use_id": result.call, "content": content}
    return told if result.ok else {**told, "is_error": True}


def _openai_asked(messages: list[Json], asked: list[Text | Image]) -> None:
    """What was asked so far, as one message."""
    if asked:
        messages.append({"role": "user", "content": _openai_shown(asked)})
        asked.clear()


def _openai_said(messages: list[Json], said: list[Text]) -> None:
    """What was said so far without calling a tool, as one message."""
    if said:
        messages.append({"role": "assistant", "content": _joined(said)})
        said.clear()


def _openai_called(
    messages: list[Json], said: list[Text], calls: Sequence[Call], results: Sequence[Result]
) -> None:
    """What was said so far, the calls behind it, and their results."""
    tools = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]
    messages.append({"role": "assistant", "content": _joined(said) or None, "tool_calls": tools})
    said.clear()
    for result in results:
        texts = [part for part in result.parts if isinstance(part, Text)]
        told = _joined(texts) or _ELSEWHERE
        messages.append({"role": "tool", "tool_call_id": result.call, "content": told})


def _openai_shown(parts: Sequence[Text | Image]) -> str | list[Json]:
    """A plain text where that is all there is, which every server takes."""
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
    """The images of results, to be shown behind them: a tool's message holds text alone."""
    images = [part for result in results for part in result.parts if isinstance(part, Image)]
    return [Text(_FROM_TOOLS), *images] if images else []


def _joined(texts: Iterable[Text]) -> str:
    return "\n\n".join(part.text for part in texts)


_ELSEWHERE: Final = "(an image, shown below)"
_FROM_TOOLS: Final = "The images that the tools returned:"
