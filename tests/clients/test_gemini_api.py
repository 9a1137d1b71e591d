"""Google's wire format by itself: what a request is taken for, and what a client reads out of the answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.clients.model_server import Json, ModelServer, Request, Usage, call, say, together

STREAM = "/v1beta/models/m:streamGenerateContent?alt=sse"
WHOLE = "/v1beta/models/m:generateContent"
COMPRESS = {"systemInstruction": {"parts": [{"text": "Write a <state_snapshot>."}]}}


def asked(server: ModelServer, path: str, body: Json | None = None) -> Any:  # noqa: ANN401 - it is JSON
    answer = server.answer(Request("POST", path, {}, body or {"contents": []}))
    assert answer.status == 200
    return json.loads(answer.body.decode().removeprefix("data: "))


def parts(answer: Json) -> list[Json]:
    found: list[Json] = answer["candidates"][0]["content"]["parts"]
    return found


def test_a_turn_is_what_is_streamed_and_takes_the_next_step(server: ModelServer) -> None:
    server.script(together(say("look"), call("glob", pattern="*")), say("done"))
    said, called = parts(asked(server, STREAM))
    assert said == {"text": "look"}
    assert (called["functionCall"]["name"], called["functionCall"]["args"]) == ("glob", {"pattern": "*"})
    assert parts(asked(server, STREAM)) == [{"text": "done"}]
    assert len(server.turns()) == 2


def test_a_compaction_takes_no_step_and_gets_the_summary(server: ModelServer) -> None:
    server.script(say("next"))
    server.summarize_as("half done")
    assert parts(asked(server, WHOLE, COMPRESS)) == [
        {"text": "<state_snapshot>\nhalf done\n</state_snapshot>"}
    ]
    assert len(server.compactions()) == 1
    assert server.unused()


@pytest.mark.parametrize(
    ("path", "answer"), [(WHOLE, {"candidates"}), ("/v1beta/models/m:countTokens", {"totalTokens"})]
)
def test_a_question_on_the_side_takes_no_step(server: ModelServer, path: str, answer: set[str]) -> None:
    server.script(say("next"))
    assert answer <= asked(server, path).keys()
    assert server.unused()


def test_usage_counts_the_cached_among_the_prompt(server: ModelServer) -> None:
    server.script(say("x", usage=Usage(input=100, cache_read=20, output=3)))
    assert asked(server, STREAM)["usageMetadata"] == {
        "promptTokenCount": 120,
        "cachedContentTokenCount": 20,
        "candidatesTokenCount": 3,
        "totalTokenCount": 123,
    }
