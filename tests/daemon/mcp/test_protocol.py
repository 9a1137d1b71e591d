"""The protocol's messages and answers, compared with the official SDK's, and what it does with bad ones."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.daemon.mcp import protocol
from holdfast.daemon.mcp.connection import ANSWERED_AT_ONCE, LINE_LIMIT, Connection
from holdfast.engine.tools import table
from holdfast.engine.tools.table import Answer
from tests.daemon.mcp.sdk_server import sdk_answers

LIMIT_S = 10.0
TURNS = 20
GOOD: Final = Answer({"found": 1, "hits": "é"})
BAD: Final = Answer(problem="the summary is empty")
ENVELOPE: Final = {protocol.VERSION_KEY: "2026-07-28", protocol.CAPABILITIES_KEY: {}}


def request(id: object, method: object, **params: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": method, **({"params": params} if params else {})}


def initialize(version: str = "2025-06-18") -> dict[str, Any]:
    client = {"name": "test", "version": "1"}
    return request("hello", "initialize", protocolVersion=version, capabilities={}, clientInfo=client)


def cancelled(id: object) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


INITIALIZED: Final = {"jsonrpc": "2.0", "method": "notifications/initialized"}
CALL: Final = {"name": "recall", "arguments": {"query": "x"}}


class Client:
    """The client's end of a connection: what it sends, and what it is answered."""

    def __init__(self, answer: Answer = GOOD) -> None:
        self.answer = answer
        self.calls: list[tuple[str, Mapping[str, object], Mapping[str, object]]] = []
        self.given_up = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.reader = asyncio.StreamReader()
        self.sent: asyncio.Queue[Any] = asyncio.Queue()
        self._begun = asyncio.Semaphore(0)

    def write(self, line: bytes) -> None:
        assert line.index(b"\n") == len(line) - 1
        self.sent.put_nowait(json.loads(line))

    async def drain(self) -> None:
        pass

    async def call_tool(
        self, name: str, arguments: Mapping[str, object], meta: Mapping[str, object]
    ) -> Answer:
        self.calls.append((name, arguments, meta))
        self._begun.release()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        return self.answer

    def send(self, *messages: object) -> None:
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self.reader.feed_data(line + b"\n")

    async def hear(self) -> Any:  # noqa: ANN401 - any JSON
        return await asyncio.wait_for(self.sent.get(), LIMIT_S)

    async def wait_for_calls(self, count: int) -> None:
        """Return once so many more calls have begun."""
        for _ in range(count):
            await asyncio.wait_for(self._begun.acquire(), LIMIT_S)

    async def serve(self, first: bytes = b"") -> None:
        writer: Any = self
        await Connection(self.call_tool, first, self.reader, writer).serve()


async def answers(client: Client, messages: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """What our server sends for these messages, each sent when the one before it was answered."""
    serving = asyncio.create_task(client.serve())
    heard = []
    for message in messages:
        client.send(message)
        if "id" in message:
            heard.append(await client.hear())
    client.reader.feed_eof()
    await asyncio.wait_for(serving, LIMIT_S)
    return heard


def outcome(answer: Mapping[str, Any]) -> object:
    """What must be the same: all of a result but the words for a person, and of an error its code."""
    if "error" in answer:
        return (answer["id"], answer["error"]["code"])
    result = dict(answer["result"])
    result["content"] = [block["type"] for block in result.get("content", [])]
    return (answer["id"], result)


HANDSHAKE_STORIES: Final = [
    pytest.param([initialize(version)], id=version)
    for version in (*protocol.HANDSHAKE_VERSIONS, "1999-01-01", "")
]
STORIES: Final = [
    *HANDSHAKE_STORIES,
    pytest.param(
        [initialize(), INITIALIZED, request(1, "tools/list"), request(2, "tools/call", **CALL)],
        id="handshake",
    ),
    pytest.param([initialize(), request(1, "tools/list")], id="without the notification"),
    pytest.param([request(1, "ping"), request(2, "tools/list"), request(3, "x")], id="before the handshake"),
    pytest.param([request(1, "initialize", protocolVersion=5), initialize()], id="a second attempt"),
    pytest.param([initialize(), initialize("2025-11-25")], id="two handshakes"),
    pytest.param(
        [
            initialize(),
            request(1, "tools/call"),
            request(2, "tools/call", name=5),
            request(3, "tools/call", name="nothing"),
            request(4, "tools/call", name="recall", arguments=[1]),
            request(5, "tools/call", name="recall", arguments=None),
            request(6, "tools/call", name="recall", _meta={"progressToken": 7}),
        ],
        id="arguments",
    ),
    pytest.param(
        [
            initialize(),
            *(request(n, m) for n, m in enumerate(("resources/list", "prompts/list", "server/discover", ""))),
        ],
        id="methods of others",
    ),
    pytest.param([initialize(), request(1, "tools/list", cursor=5)], id="a cursor that is none"),
    pytest.param([initialize(), request("", "ping"), request(-1, "ping"), request(2**70, "ping")], id="ids"),
    pytest.param(
        [initialize(), request(1, "tools/list", _meta=ENVELOPE)], id="an envelope after the handshake"
    ),
    pytest.param(
        [
            request(1, "server/discover", _meta=ENVELOPE),
            request(2, "tools/list", _meta=ENVELOPE),
            request(3, "tools/call", **CALL, _meta=ENVELOPE),
            request(4, "ping", _meta=ENVELOPE),
            request(5, "nothing", _meta=ENVELOPE),
            request(6, "tools/call", name="nothing", _meta=ENVELOPE),
            request(7, "tools/list"),
            initialize(),
        ],
        id="envelopes",
    ),
    *(
        pytest.param(
            [request(1, "tools/list", _meta=meta), request(2, "tools/list", _meta=ENVELOPE)], id=name
        )
        for name, meta in {
            "an unknown version": {**ENVELOPE, protocol.VERSION_KEY: "2099-01-01"},
            "a version that is no text": {**ENVELOPE, protocol.VERSION_KEY: 5},
            "capabilities that are no object": {**ENVELOPE, protocol.CAPABILITIES_KEY: 5},
            "no capabilities": {protocol.VERSION_KEY: "2026-07-28"},
            "a client that is no object": {**ENVELOPE, protocol.CLIENT_KEY: "me"},
        }.items()
    ),
]


@pytest.mark.parametrize("result", [GOOD, BAD], ids=["answered", "refused"])
@pytest.mark.parametrize("story", STORIES)
def test_it_answers_as_the_official_sdk_does(story: list[Mapping[str, Any]], result: Answer) -> None:
    async def both() -> tuple[list[object], list[object]]:
        ours = await answers(Client(result), story)
        return [*map(outcome, ours)], [*map(outcome, await sdk_answers(story, result))]

    ours, sdks = asyncio.run(both())
    assert ours == sdks


def told(*messages: object, answer: Answer = GOOD) -> list[Any]:
    """All that is sent for these messages; a ping that comes last shows that they were read."""

    async def run() -> list[Any]:
        client = Client(answer)
        heard: list[Any] = []
        serving = asyncio.create_task(client.serve())
        client.send(*messages, request("last", "ping"))
        while not any(isinstance(one, dict) and one["id"] == "last" for one in heard):
            heard.append(await client.hear())
        for _ in range(TURNS):  # A list takes some turns of the loop more than a ping.
            await asyncio.sleep(0)
        while not client.sent.empty():
            heard.append(client.sent.get_nowait())
        client.reader.feed_eof()
        await asyncio.wait_for(serving, LIMIT_S)
        return [one for one in heard if not (isinstance(one, dict) and one["id"] == "last")]

    return asyncio.run(run())


@pytest.mark.parametrize(
    ("line", "code", "id"),
    [
        (b"nonsense", -32700, None),
        (b"\xff\xfe", -32700, None),
        (b"[" * 100_000, -32700, None),
        (b'{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":NaN}}', -32700, None),
        (b"9" * 10_000, -32700, None),
        (b"null", -32600, None),
        (b'"text"', -32600, None),
        (b"{}", -32600, None),
        (b"[]", -32600, None),
        ({"id": 3, "method": "ping"}, -32600, 3),
        ({"jsonrpc": "1.0", "id": "a", "method": "ping"}, -32600, "a"),
        (request(4, 5), -32600, 4),
        ({"jsonrpc": "2.0", "id": 5}, -32600, 5),
        ({"jsonrpc": "2.0", "id": 6, "method": "ping", "params": [1]}, -32600, 6),
        (request(None, "ping"), -32600, None),
        (request(1.5, "ping"), -32600, None),
        (request([True], "ping"), -32600, None),
        (b'{"jsonrpc":"2.0","id":true,"method":"ping"}', -32600, None),
        (request([1], "ping"), -32600, None),
    ],
)
def test_what_is_no_message_gets_an_error_with_its_id_if_it_has_one(
    line: object, code: int, id: object
) -> None:
    (answer,) = told(line)
    assert (answer["id"], answer["error"]["code"]) == (id, code)
    assert len(answer["error"]["message"]) < 200


@pytest.mark.parametrize(
    "message",
    [
        b"",
        b"   ",
        INITIALIZED,
        cancelled(99),
        cancelled([1]),
        {"jsonrpc": "2.0", "method": "notifications/cancelled"},
        {"jsonrpc": "2.0", "method": "notifications/unknown", "params": {"x": 1}},
        {"jsonrpc": "2.0", "id": 8, "result": {}},
        {"jsonrpc": "2.0", "id": 8, "error": {"code": 1, "message": "no"}},
    ],
)
def test_what_needs_no_answer_gets_none(message: object) -> None:
    assert told(message) == []


def test_half_a_character_does_not_lose_the_call() -> None:
    line = (
        json.dumps(request(1, "tools/call", **CALL)).replace("x", "\\ud83e \\u0000 end\t").encode()
        + b"\xf0\x9f"
    )

    async def run() -> list[Any]:
        client = Client()
        serving = asyncio.create_task(client.serve())
        client.send(initialize(), line[:-2], line.replace(b"end", b"end\xf0\x9f")[:-2])
        heard = [await client.hear() for _ in range(3)]
        client.reader.feed_eof()
        await serving
        return [heard[1:], [arguments["query"] for _, arguments, _ in client.calls]]

    (first, second), queries = asyncio.run(run())
    assert (first["result"]["isError"], second["result"]["isError"]) == (False, False)
    assert queries == ["? \x00 end\t", "? \x00 end\ufffd\t"]


class TestBatches:
    def test_version_2025_03_26_answers_a_list_with_a_list(self) -> None:
        batch = [request(1, "ping"), INITIALIZED, request(2, "nothing"), 5, initialize()]
        _, answer = told(initialize("2025-03-26"), batch)
        codes = [one.get("error", {}).get("code") for one in answer]
        assert [one["id"] for one in answer] == [1, 2, None, "hello"]
        assert codes == [None, -32601, -32600, -32600]

    def test_a_list_of_notifications_gets_no_answer(self) -> None:
        assert len(told(initialize("2025-03-26"), [INITIALIZED, cancelled(1)])) == 1

    @pytest.mark.parametrize(
        ("version", "batch"),
        [
            ("2025-06-18", [request(1, "ping")]),
            ("2025-03-26", []),
            ("2025-03-26", [request(n, "ping") for n in range(protocol.BATCH_MOST + 1)]),
        ],
    )
    def test_others_are_refused_as_a_whole(self, version: str, batch: list[object]) -> None:
        _, answer = told(initialize(version), batch)
        assert (answer["id"], answer["error"]["code"]) == (None, -32600)


class TestConnection:
    def test_a_cancelled_call_is_given_up_and_not_answered(self) -> None:
        async def run() -> tuple[int, Any]:
            client = Client()
            client.gate.clear()
            serving = asyncio.create_task(client.serve())
            client.send(initialize(), request(1, "tools/call", **CALL))
            await client.wait_for_calls(1)
            client.send(cancelled(1), request(2, "ping"))
            heard = [await client.hear() for _ in range(2)]
            client.reader.feed_eof()
            await serving
            return client.given_up, heard[1]["id"]

        assert asyncio.run(run()) == (1, 2)

    def test_a_slow_call_does_not_hold_up_the_next(self) -> None:
        async def run() -> list[object]:
            client = Client()
            client.gate.clear()
            serving = asyncio.create_task(client.serve())
            client.send(initialize(), request(1, "tools/call", **CALL), request(2, "ping"))
            heard = [(await client.hear())["id"] for _ in range(2)]
            client.gate.set()
            heard.append((await client.hear())["id"])
            client.reader.feed_eof()
            await serving
            return heard

        assert asyncio.run(run()) == ["hello", 2, 1]

    def test_calls_beyond_the_limit_wait_and_are_answered(self) -> None:
        async def run() -> tuple[int, int]:
            client = Client()
            client.gate.clear()
            serving = asyncio.create_task(client.serve())
            client.send(initialize())
            await client.hear()
            client.send(*(request(n, "tools/call", **CALL) for n in range(ANSWERED_AT_ONCE + 20)))
            await client.wait_for_calls(ANSWERED_AT_ONCE)
            begun = len(client.calls)
            client.gate.set()
            ids = {(await client.hear())["id"] for _ in range(ANSWERED_AT_ONCE + 20)}
            client.reader.feed_eof()
            await serving
            return begun, len(ids)

        assert asyncio.run(run()) == (ANSWERED_AT_ONCE, ANSWERED_AT_ONCE + 20)

    def test_who_hangs_up_leaves_nothing_running(self) -> None:
        async def run() -> int:
            client = Client()
            client.gate.clear()
            serving = asyncio.create_task(client.serve())
            client.send(initialize(), *(request(n, "tools/call", **CALL) for n in range(5)))
            await client.wait_for_calls(5)
            client.reader.feed_eof()
            await asyncio.wait_for(serving, LIMIT_S)
            return client.given_up

        assert asyncio.run(run()) == 5

    def test_what_came_with_the_greeting_is_read_first(self) -> None:
        async def run() -> object:
            client = Client()
            serving = asyncio.create_task(client.serve(json.dumps(request(7, "ping")).encode()))
            client.send(b"")
            heard = await client.hear()
            client.reader.feed_eof()
            await serving
            return heard["id"]

        assert asyncio.run(run()) == 7

    def test_a_line_without_an_end_ends_the_connection(self) -> None:
        async def run() -> None:
            client = Client()
            serving = asyncio.create_task(client.serve())
            client.reader.feed_data(b"x" * (LINE_LIMIT + 1))
            await asyncio.wait_for(serving, LIMIT_S)
            assert client.sent.empty()

        asyncio.run(run())


def test_the_tool_gets_its_arguments_and_what_came_with_the_call() -> None:
    async def run() -> object:
        client = Client()
        meta = {"claudecode/toolUseId": "toolu_1", "progressToken": 1}
        await answers(client, [initialize(), request(1, "tools/call", **CALL, _meta=meta)])
        return client.calls

    meta = {"claudecode/toolUseId": "toolu_1", "progressToken": 1}
    assert asyncio.run(run()) == [("recall", {"query": "x"}, meta)]


def test_all_tools_are_on_the_first_page() -> None:
    _, first, beyond = told(
        initialize(), request(1, "tools/list", cursor=""), request(2, "tools/list", cursor="more")
    )
    assert [tool["name"] for tool in first["result"]["tools"]] == [*table.names()]
    assert beyond["error"]["code"] == -32602


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
METHODS = st.sampled_from(["initialize", "ping", "tools/list", "tools/call", "server/discover"]) | st.text()


PARAMS = st.sampled_from(["name", "arguments", "cursor", "protocolVersion", "_meta"])


@given(id=st.integers() | st.text(), method=METHODS, params=st.dictionaries(PARAMS, JSON))
def test_every_request_gets_one_answer_with_its_id(id: object, method: str, params: dict[str, Any]) -> None:
    async def run() -> list[dict[str, Any]]:
        return await answers(Client(), [{**request(id, method), "params": params}])

    (heard,) = asyncio.run(run())
    assert (heard["id"], ("result" in heard) != ("error" in heard)) == (id, True)
