"""OpenAI's wire format by itself, asked over a real socket: what a client reads out of the stream."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.model_server import (
    ModelServer,
    Refusal,
    Reply,
    Request,
    ToolCall,
    Usage,
    call,
    say,
    together,
)
from tests.clients.responses import OpenAIResponses

TOOLS = [
    {"type": "function", "name": "exec_command"},
    {"type": "custom", "name": "apply_patch"},
    {"type": "namespace", "name": "mcp__memory"},
]
SUMMARY = "You are performing a CONTEXT CHECKPOINT COMPACTION. Create a handoff summary."


def post(server: ModelServer, *items: dict[str, Any], **headers: str) -> tuple[int, str]:
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    try:
        body = json.dumps({"model": "m", "stream": True, "tools": TOOLS, "input": items})
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", "/v1/responses", body, sent)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def user(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}


def events(server: ModelServer, *items: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    status, stream = post(server, *(items or (user("hello"),)), **headers)
    assert status == 200
    return [json.loads(frame.partition("data: ")[2]) for frame in stream.strip().split("\n\n")]


def output(server: ModelServer, *items: dict[str, Any], **headers: str) -> list[dict[str, Any]]:
    """The items that a client takes from the stream, which must be those of the whole."""
    told = events(server, *items, **headers)
    done = [one["item"] for one in told if one["type"] == "response.output_item.done"]
    assert told[-1]["type"] == "response.completed"
    assert told[-1]["response"]["output"] == done
    return done


def test_words_come_in_one_piece_and_whole() -> None:
    with ModelServer(OpenAIResponses()) as server:
        server.script(say("noted"))
        told = events(server)
    assert [one["type"] for one in told] == [
        "response.created",
        "response.output_item.added",
        "response.output_text.delta",
        "response.output_item.done",
        "response.completed",
    ]
    assert told[2]["delta"] == "noted" == told[3]["item"]["content"][0]["text"]


@pytest.mark.parametrize(
    ("tool", "arguments", "shape"),
    [
        (
            "exec_command",
            {"cmd": "ls"},
            {"type": "function_call", "name": "exec_command", "arguments": '{"cmd": "ls"}'},
        ),
        ("apply_patch", {"input": "*** x"}, {"type": "custom_tool_call", "input": "*** x"}),
        ("mcp__memory__recall", {"q": 1}, {"namespace": "mcp__memory", "name": "recall"}),
    ],
)
def test_a_call_has_the_shape_of_the_tool_that_was_offered(
    tool: str, arguments: dict[str, object], shape: dict[str, object]
) -> None:
    with ModelServer(OpenAIResponses()) as server:
        server.script(Reply(calls=(ToolCall(tool, arguments),)))
        (called,) = output(server)
    assert shape.items() <= called.items()
    assert called["call_id"]


def test_one_reply_may_say_and_call_at_once() -> None:
    with ModelServer(OpenAIResponses()) as server:
        server.script(together(say("look"), call("exec_command", cmd="a"), call("exec_command", cmd="b")))
        said, *calls = output(server)
    assert said["type"] == "message"
    assert len({one["call_id"] for one in calls}) == 2


def test_a_compaction_takes_no_step_of_the_script() -> None:
    with ModelServer(OpenAIResponses()) as server:
        server.script(say("next"))
        server.summarize_as("what was said")
        (summary,) = output(server, user("x"), user(SUMMARY))
        (opaque,) = output(server, user("x"), {"type": "compaction_trigger"})
        assert [said["text"] for said in summary["content"]] == ["what was said"]
        assert opaque["type"] == "compaction"
        assert len(server.compactions()) == 2
        assert server.unused()


def test_a_subagent_is_known_by_a_thread_of_its_own() -> None:
    with ModelServer(OpenAIResponses()) as server:
        output(server, session_id="s1", thread_id="s1")
        output(server, session_id="s1", thread_id="t2")
        assert [(one.session, one.subagent) for one in server.turns()] == [("s1", ""), ("s1", "t2")]


def test_a_refusal_is_an_error_with_its_status() -> None:
    with ModelServer(OpenAIResponses()) as server:
        server.script(Refusal(503, "overloaded"))
        status, body = post(server, user("x"))
    assert (status, json.loads(body)["error"]["message"]) == (503, "overloaded")


@given(fresh=st.integers(0, 10**6), cached=st.integers(0, 10**6), out=st.integers(0, 10**4))
def test_usage_counts_the_cached_among_the_input(fresh: int, cached: int, out: int) -> None:
    asked = Request("POST", "/v1/responses", {}, {"input": []})
    reply = say("x", usage=Usage(input=fresh, cache_read=cached, output=out))
    last = OpenAIResponses().render(asked, reply, 1).body.decode().strip().rpartition("data: ")[2]
    usage = json.loads(last)["response"]["usage"]
    assert usage["input_tokens"] == fresh + cached
    assert usage["input_tokens_details"]["cached_tokens"] == cached
    assert usage["total_tokens"] == fresh + cached + out
