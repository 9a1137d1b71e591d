"""Shapes: messages that the strictest provider takes, whatever the log."""

from __future__ import annotations

from hypothesis import given

from holdfast.core.agent_log.context import AgentTurn, Call, Image, Result, Text, Thinking, UserTurn, turns_of
from holdfast.core.agent_log.provider_messages import anthropic, openai
from holdfast.core.agent_log.records import Log, path_to
from tests.core.logs import LOGS, Json
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
            Call("c1", "bash", '{"command":"ls"}'),
            Call("c2", "see", "{}"),
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
