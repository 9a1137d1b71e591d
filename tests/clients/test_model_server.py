"""The model server by itself: scripts, recordings and Anthropic's wire format, asked over a real socket."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPConnection
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.clients.model_server import (
    DEFAULT_TEXT,
    POOR_SUMMARY,
    AnthropicMessages,
    Held,
    ModelServer,
    Refusal,
    Reply,
    Request,
    Usage,
    call,
    overflow,
    plain_text,
    say,
    together,
)

COMPACT = "Your task is to create a detailed summary of the conversation so far, paying close attention to"


def user(*texts: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "text", "text": text} for text in texts]}


def post(
    server: ModelServer, body: dict[str, Any], *, path: str = "/v1/messages?beta=true", **headers: str
) -> tuple[int, str, str]:
    """Status, content type and body of the answer."""
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    try:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request("POST", path, json.dumps(body), sent)
        response = connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read().decode()
    finally:
        connection.close()


def ask(server: ModelServer, *messages: dict[str, Any], **headers: str) -> dict[str, Any]:
    """The assistant message that answers, without streaming."""
    body = {"model": "a-model", "messages": list(messages or [user("hello")])}
    message: dict[str, Any] = json.loads(post(server, body, **headers)[2])
    return message


def said(server: ModelServer, *messages: dict[str, Any], **headers: str) -> str:
    return plain_text([block.get("text") for block in ask(server, *messages, **headers)["content"]])


def events(stream: str) -> list[dict[str, Any]]:
    return [json.loads(frame.partition("data: ")[2]) for frame in stream.strip().split("\n\n")]


def reassembled(stream: str) -> list[dict[str, Any]]:
    """The content blocks as a client builds them from the stream."""
    blocks: list[dict[str, Any]] = []
    for event in events(stream):
        match event:
            case {"type": "content_block_start", "content_block": block}:
                blocks.append(block)
            case {"type": "content_block_delta", "delta": {"type": "text_delta", "text": text}}:
                blocks[-1]["text"] += text
            case {"type": "content_block_delta", "delta": {"partial_json": arguments}}:
                blocks[-1]["input"] = json.loads(arguments)
    return blocks


def test_steps_are_taken_in_order_and_then_the_default_is_said(server: ModelServer) -> None:
    server.script(say("one"), say("two"))

    assert [said(server) for _ in range(3)] == ["one", "two", DEFAULT_TEXT]


def test_sessions_with_scripts_of_their_own_do_not_take_each_others_steps(server: ModelServer) -> None:
    server.script(say("a1"), say("a2"), session="A")
    server.script(say("b1"), session="B")
    server.script(say("anyone"))

    replies = [said(server, x_claude_code_session_id=session) for session in ("B", "A", "C", "A", "B")]

    assert replies == ["b1", "a1", "anyone", "a2", DEFAULT_TEXT]
    assert [turn.session for turn in server.turns("A")] == ["A", "A"]


def test_subagents_take_only_their_own_steps(server: ModelServer) -> None:
    server.script(say("main"))
    server.script_subagents(say("sub"))

    assert said(server, x_claude_code_agent_id="agent-1") == "sub"
    assert said(server) == "main"


def test_unused_steps_can_be_asked_for(server: ModelServer) -> None:
    server.script(say("one"), say("two"))
    said(server)

    assert server.unused() == (say("two"),)


@pytest.mark.parametrize(
    "messages",
    [
        [user(COMPACT)],
        [user("work"), user("a tool's result", f"CRITICAL: Respond with TEXT ONLY.\n{COMPACT}")],
        [user("work"), user(COMPACT), {"role": "system", "content": "a reminder"}],
    ],
    ids=["alone", "beside a tool result", "before a system message"],
)
def test_a_compaction_request_gets_the_summary_and_takes_no_step(
    server: ModelServer, messages: list[dict[str, Any]]
) -> None:
    server.script(say("the step"))
    server.summarize_as("everything of note")

    summary = said(server, *messages)

    assert summary.startswith("<analysis>")
    assert summary.endswith("<summary>\neverything of note\n</summary>")
    assert len(server.compactions()) == 1
    assert server.turns() == ()
    assert said(server) == "the step"


def test_the_summary_is_poor_unless_the_test_gives_a_better_one(server: ModelServer) -> None:
    assert POOR_SUMMARY in said(server, user(COMPACT))


def test_a_compaction_prompt_further_back_in_the_history_is_an_ordinary_turn(server: ModelServer) -> None:
    server.script(say("the step"))

    assert said(server, user(COMPACT), user("and now?")) == "the step"
    assert server.compactions() == ()


@pytest.mark.parametrize(
    ("refusal", "status", "kind"),
    [
        (overflow(), 400, "invalid_request_error"),
        (Refusal(529, "overloaded"), 529, "overloaded_error"),
        (Refusal(500, "broken"), 500, "api_error"),
    ],
    ids=["overflow", "overloaded", "broken"],
)
def test_a_refusal_is_an_http_error_of_its_kind(
    server: ModelServer, refusal: Refusal, status: int, kind: str
) -> None:
    server.script(refusal)

    answered, _, body = post(server, {"messages": [user("hello")], "stream": True})

    assert answered == status
    assert json.loads(body)["error"] == {"type": kind, "message": refusal.message}


def test_an_overflow_says_what_the_vendor_says() -> None:
    assert overflow(210_000, 200_000).message == "prompt is too long: 210000 tokens > 200000 maximum"


def test_a_stream_is_framed_as_the_vendor_frames_it(server: ModelServer) -> None:
    server.script(together(say("first"), call("Bash", command="ls"), usage=Usage(input=7, output=3)))

    status, content_type, stream = post(server, {"model": "m", "stream": True, "messages": [user("go")]})

    assert (status, content_type) == (200, "text/event-stream")
    frames = stream.removesuffix("\n\n").split("\n\n")
    assert [frame.split("\n")[0].removeprefix("event: ") for frame in frames] == [
        "message_start",
        *["content_block_start", "content_block_delta", "content_block_stop"] * 2,
        "message_delta",
        "message_stop",
    ]
    assert events(stream)[-2]["delta"]["stop_reason"] == "tool_use"
    assert events(stream)[-2]["usage"]["output_tokens"] == 3
    assert events(stream)[0]["message"]["usage"]["input_tokens"] == 7


def test_tool_calls_of_one_message_have_ids_of_their_own(server: ModelServer) -> None:
    server.script(
        together(call("Read", file_path="a"), call("Read", file_path="b")), call("Bash", command="ls")
    )

    blocks = [*ask(server)["content"], *ask(server)["content"]]

    assert [block["input"] for block in blocks] == [{"file_path": "a"}, {"file_path": "b"}, {"command": "ls"}]
    assert len({block["id"] for block in blocks}) == 3


@given(
    text=st.text(min_size=1), arguments=st.dictionaries(st.text(), st.text() | st.integers() | st.booleans())
)
def test_a_streamed_reply_says_the_same_as_a_whole_one(text: str, arguments: dict[str, Any]) -> None:
    reply = together(say(text), call("Tool", given=arguments))
    whole, streamed = (rendered(reply, stream=stream) for stream in (False, True))

    assert reassembled(streamed) == json.loads(whole)["content"]


def rendered(reply: Reply, *, stream: bool) -> str:
    request = Request("POST", "/v1/messages", {}, {"model": "m", "stream": stream})
    return AnthropicMessages().render(request, reply, 1).body.decode()


def test_usage_is_an_estimate_that_grows_with_the_request_unless_it_is_given(server: ModelServer) -> None:
    server.script(say("a"), say("b"), say("c", usage=Usage(input=150_000, cache_read=9)))
    short, long, given_ = ask(server), ask(server, user("word " * 1000)), ask(server)

    assert short["usage"]["input_tokens"] < long["usage"]["input_tokens"]
    assert given_["usage"]["input_tokens"] == 150_000
    assert given_["usage"]["cache_read_input_tokens"] == 9


def test_counting_tokens_takes_no_step(server: ModelServer) -> None:
    server.script(say("the step"))

    counted = json.loads(post(server, {"messages": [user("hi")]}, path="/v1/messages/count_tokens")[2])

    assert counted["input_tokens"] > 0
    assert server.turns() == ()
    assert said(server) == "the step"


def test_a_request_on_an_unknown_path_is_recorded_and_not_found(server: ModelServer) -> None:
    assert post(server, {}, path="/api/event_logging")[0] == 404
    assert [seen.path for seen in server.requests] == ["/api/event_logging"]


def test_the_text_of_a_request_can_be_searched_for_plain_lines(server: ModelServer) -> None:
    written = 'first line\n\tsecond "quoted" line — ü'
    said(server, user("earlier"), user(written), X_Custom="kept")

    assert written in server.last().text
    assert server.last().headers["x-custom"] == "kept"
    assert server.last().body["messages"][0] == user("earlier")


@given(st.recursive(st.text(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_plain_text_holds_every_string_of_a_value(value: object) -> None:
    text = plain_text(value)

    def leaves(part: object) -> list[str]:
        if isinstance(part, str):
            return [part]
        inner = part.values() if isinstance(part, dict) else part if isinstance(part, list) else ()
        return [leaf for one in inner for leaf in leaves(one)]

    assert text == "\n".join(leaves(value))


def test_a_held_step_waits_for_its_gate_while_other_requests_are_answered(server: ModelServer) -> None:
    gate = threading.Event()
    server.script(Held(gate, say("at last")), session="slow")
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(said, server, x_claude_code_session_id="slow")
        server.wait_until(lambda: len(server.turns("slow")) == 1)

        assert said(server) == DEFAULT_TEXT
        assert not slow.done()

        gate.set()
        assert slow.result(timeout=10) == "at last"


def test_waiting_for_what_never_comes_ends_with_an_error(server: ModelServer) -> None:
    with pytest.raises(TimeoutError):
        server.wait_until(lambda: bool(server.requests), limit=0.01)


def test_one_connection_serves_many_requests(server: ModelServer) -> None:
    connection = HTTPConnection(server.url.removeprefix("http://"), timeout=10)
    statuses = []
    for _ in range(3):
        connection.request("POST", "/v1/messages", json.dumps({"messages": [user("hi")]}))
        response = connection.getresponse()
        response.read()
        statuses.append(response.status)
    connection.close()

    assert statuses == [200, 200, 200]


def test_a_server_that_closes_lets_go_of_the_held() -> None:
    with ThreadPoolExecutor(1) as pool:
        with ModelServer() as server:
            server.script(Held(threading.Event(), say("let go")))
            waiting = pool.submit(said, server)
            server.wait_until(lambda: len(server.turns()) == 1)
        assert waiting.result(timeout=10) == "let go"
