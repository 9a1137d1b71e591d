"""Turns become a provider's messages, and its answers become records."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from holdfast.core.agent_log.context import (
    AgentTurn,
    Image,
    Result,
    Text,
    Thinking,
    ToolCall,
    UserTurn,
    turns_of,
)
from holdfast.core.agent_log.providers import anthropic, from_anthropic, from_openai, openai
from holdfast.core.agent_log.record_bodies import Message, body
from holdfast.core.agent_log.records import Log, Record, new_record, path_to
from tests.core.logs import LOGS, NOON, Json, asked, returned
from tests.core.providers import refused_by_anthropic, refused_by_openai

PIXEL = Image("image/png", "AAAA")
TURNS = (
    UserTurn((Text("look"), PIXEL)),
    UserTurn((Text("please"),)),
    AgentTurn(
        (
            Thinking("hm", "signed", "anthropic-messages", redacted=False),
            Thinking("", "sealed", "anthropic-messages", redacted=True),
            Thinking("hm", "signed", "another-api", redacted=False),
            Text("I look. "),
            ToolCall("c1", "bash", '{"command":"ls"}'),
            ToolCall("c2", "see", "{}"),
        ),
        (Result("c1", (Text("a.py"),), ok=True), Result("c2", (PIXEL,), ok=False)),
    ),
    UserTurn((Text("and?"),)),
    AgentTurn((Text("Done."),)),
    AgentTurn((Text("Really."),)),
)


def test_the_messages_of_anthropic() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}
    assert anthropic(TURNS) == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "look"}, image, {"type": "text", "text": "please"}],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "hm", "signature": "signed"},
                {"type": "redacted_thinking", "data": "sealed"},
                {"type": "text", "text": "I look."},
                {"type": "tool_use", "id": "c1", "name": "bash", "input": {"command": "ls"}},
                {"type": "tool_use", "id": "c2", "name": "see", "input": {}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "a.py"}]},
                {"type": "tool_result", "tool_use_id": "c2", "content": [image], "is_error": True},
                {"type": "text", "text": "and?"},
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "text", "text": "Done."}, {"type": "text", "text": "Really."}],
        },
    ]


def test_the_messages_of_openai() -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert openai(TURNS) == [
        {
            "role": "user",
            "content": [{"type": "text", "text": "look"}, image, {"type": "text", "text": "please"}],
        },
        {
            "role": "assistant",
            "content": "I look. ",
            "tool_calls": [
                {
                    "id": "c1",
                    "type": "function",
                    "function": {"name": "bash", "arguments": '{"command":"ls"}'},
                },
                {"id": "c2", "type": "function", "function": {"name": "see", "arguments": "{}"}},
            ],
        },
        {"role": "tool", "tool_call_id": "c1", "content": "a.py"},
        {"role": "tool", "tool_call_id": "c2", "content": "(an image, shown below)"},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "The images that the tools returned:"},
                image,
                {"type": "text", "text": "and?"},
            ],
        },
        {"role": "assistant", "content": "Done.\n\nReally."},
    ]


@given(LOGS)
def test_any_log_gives_messages_that_anthropic_takes(log: Log) -> None:
    for leaf in log.records:
        messages = anthropic(turns_of(path_to(log.records, leaf.id)))
        assert list(refused_by_anthropic(messages)) == []


@given(LOGS)
def test_any_log_gives_messages_that_openai_takes(log: Log) -> None:
    for leaf in log.records:
        messages = openai(turns_of(path_to(log.records, leaf.id)))
        assert list(refused_by_openai(messages)) == []


def test_what_is_refused_is_found() -> None:
    call = {"type": "tool_use", "id": "a", "name": "b", "input": {}}
    bad: list[list[Json]] = [
        [{"role": "assistant", "content": [{"type": "text", "text": "x"}]}],
        [{"role": "user", "content": []}],
        [{"role": "user", "content": [{"type": "text", "text": " "}]}],
        [
            {"role": "user", "content": [{"type": "text", "text": "x"}]},
            {"role": "assistant", "content": [call]},
        ],
        [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": []}]}],
        [{"role": "user", "content": [{"type": "text", "text": "x"}]}] * 2,
    ]
    assert all(list(refused_by_anthropic(messages)) for messages in bad)
    called = {"id": "a", "function": {"name": "b", "arguments": "{}"}}
    worse: list[list[Json]] = [
        [{"role": "user", "content": "x"}, {"role": "assistant", "content": None, "tool_calls": [called]}],
        [{"role": "user", "content": "x"}, {"role": "tool", "tool_call_id": "a", "content": "x"}],
        [{"role": "user", "content": ""}],
    ]
    assert all(list(refused_by_openai(messages)) for messages in worse)


ANTHROPIC: dict[str, Any] = {
    "id": "msg_1",
    "type": "message",
    "role": "assistant",
    "model": "some-model",
    "content": [
        {"type": "thinking", "thinking": "hm", "signature": "signed"},
        {"type": "redacted_thinking", "data": "sealed"},
        {"type": "text", "text": "I look.", "citations": None},
        {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {"command": "ls"}},
    ],
    "stop_reason": "tool_use",
    "usage": {
        "input_tokens": 10,
        "output_tokens": 5,
        "cache_read_input_tokens": 100,
        "cache_creation_input_tokens": 20,
    },
}
OPENAI: dict[str, Any] = {
    "id": "chatcmpl-1",
    "model": "some-model",
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "I look.",
                "tool_calls": [
                    {
                        "id": "call_1",
                        "type": "function",
                        "function": {"name": "bash", "arguments": '{"command":"ls"}'},
                    }
                ],
            },
        }
    ],
    "usage": {
        "prompt_tokens": 130,
        "completion_tokens": 5,
        "prompt_tokens_details": {"cached_tokens": 100},
    },
}


def kept(message: dict[str, object]) -> Record:
    return new_record("message", "a", "q", NOON, {"message": message})


def total(record: Record) -> int:
    said = body(record)
    assert isinstance(said, Message)
    assert said.message.usage is not None
    return said.message.usage.total


def test_an_answer_of_anthropic_goes_back_as_it_came() -> None:
    record = kept(from_anthropic(ANTHROPIC, NOON))
    path = [asked("q", "", "look"), record, returned("r", "a", "toolu_1", "a.py")]
    _, answer, result = anthropic(turns_of(path))
    content = [{key: block[key] for key in block if key != "citations"} for block in ANTHROPIC["content"]]
    assert answer == {"role": "assistant", "content": content}
    assert result["content"] == [
        {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "a.py"}]}
    ]
    assert total(record) == 135


def test_an_answer_of_openai_goes_back_as_it_came() -> None:
    record = kept(from_openai(OPENAI, NOON))
    path = [asked("q", "", "look"), record, returned("r", "a", "call_1", "a.py")]
    _, answer, result = openai(turns_of(path))
    assert answer == OPENAI["choices"][0]["message"]
    assert result == {"role": "tool", "tool_call_id": "call_1", "content": "a.py"}
    assert total(record) == 135


@pytest.mark.parametrize(
    ("reason", "stopped"),
    [("end_turn", "stop"), ("max_tokens", "length"), ("refusal", "error"), ("something new", "stop")],
)
def test_why_it_stopped_is_said_in_the_words_of_the_format(reason: str, stopped: str) -> None:
    assert from_anthropic({**ANTHROPIC, "stop_reason": reason}, NOON)["stopReason"] == stopped


@pytest.mark.parametrize("answer", [{}, {"content": []}, {"content": [{"type": "surprise"}]}])
def test_an_empty_answer_is_an_empty_message(answer: dict[str, object]) -> None:
    assert from_anthropic(answer, NOON)["content"] == []
    assert from_openai({"choices": []}, NOON)["content"] == []


def test_a_refusal_is_what_the_model_said() -> None:
    message = {"content": None, "refusal": "I cannot."}
    answer = {"choices": [{"finish_reason": "content_filter", "message": message}]}
    assert from_openai(answer, NOON)["content"] == [{"type": "text", "text": "I cannot."}]


def test_arguments_that_are_no_object_are_shown_as_they_were_written() -> None:
    call = {"id": "c", "function": {"name": "bash", "arguments": "{oops"}}
    content = from_openai({"choices": [{"message": {"tool_calls": [call]}}]}, NOON)["content"]
    assert content == [{"type": "toolCall", "id": "c", "name": "bash", "arguments": {"unreadable": "{oops"}}]
