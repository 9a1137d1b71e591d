"""What comes over the wire: requests at the daemon, and at the hook payloads, endpoint and answers."""

from __future__ import annotations

import asyncio
import json
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import cast

from holdfast import hook
from holdfast.daemon.local import wire
from holdfast.daemon.mcp.connection import Connection
from holdfast.engine.tools.table import Answer
from tests.fuzz.harness_targets import HOOK_EVENTS
from tests.fuzz.target import Target

REQUESTS = (
    b"HOLDFAST/1 hook-event\nid: 1-2\nharness: x\nat: 1800000000000\nprocess: 12 34\nlength: 2\n\n{}",
    wire.control("status", b"{}", "token"),
    wire.answer(b"the answer"),
    b"HOLDFAST/1 ok 3\nab",
    wire.GREETING,
)
MCP_LINES = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{}}}',
    b'{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"recall","arguments":{"query":"x"}}}',
    b'[{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/cancelled"}]',
    (
        b'{"jsonrpc":"2.0","id":3,"method":"server/discover","params":{"_meta":{'
        b'"io.modelcontextprotocol/protocolVersion":"2026-07-28",'
        b'"io.modelcontextprotocol/clientCapabilities":{}}}}'
    ),
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}',
)
LAST_ID = b"the last one"
LAST_LINE = b'{"jsonrpc":"2.0","id":"%b","method":"ping","params":{"_meta":{}}}' % LAST_ID
NUMBERS = (b"3\n", b"-1", b"x", b"9" * 5_000)
ANSWER_S = 5.0


def targets() -> Iterator[Target]:
    """The wire's two sides, and every function of the hook that reads what others wrote."""
    yield Target("wire", REQUESTS, _wire)
    yield Target("mcp", MCP_LINES, _mcp)
    yield Target("hook-payloads", HOOK_EVENTS, _hook_event)
    yield Target("hook-counts", NUMBERS, _hook_count)
    yield Target("hook-answers", REQUESTS, _hook_answer)


def _wire(received: bytes) -> None:
    request = wire.parse(received)
    assert request is None or wire.opening(received) == request
    body = wire.answered(received)
    assert body is None or wire.answered(wire.answer(body)) == body


def _mcp(received: bytes) -> None:
    """Whatever a client sends, it is answered in JSON-RPC, and what comes after it is answered too."""
    asyncio.run(_converse(received))


async def _converse(received: bytes) -> None:
    client, reader = _Client(), asyncio.StreamReader()
    writer = cast("asyncio.StreamWriter", client)
    serving = asyncio.create_task(Connection(_no_tool, b"", reader, writer).serve())
    reader.feed_data(received + b"\n" + LAST_LINE + b"\n")
    await asyncio.wait(
        (serving, asyncio.create_task(client.heard_last.wait())), return_when="FIRST_COMPLETED"
    )
    reader.feed_eof()
    await serving
    for line in client.sent:
        answers = json.loads(line)
        for answer in answers if isinstance(answers, list) else [answers]:
            assert answer["jsonrpc"] == "2.0"
            assert ("result" in answer) != ("error" in answer)


class _Client:
    """The client's end, which reads everything."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.heard_last = asyncio.Event()

    def write(self, line: bytes) -> None:
        self.sent.append(line)
        if LAST_ID in line:
            self.heard_last.set()

    async def drain(self) -> None:
        pass


async def _no_tool(name: str, arguments: Mapping[str, object], meta: Mapping[str, object]) -> Answer:
    return Answer(problem=f"{name} is not called here")


def _hook_event(payload: bytes) -> None:
    """Nothing but the allowed fields is spooled, and what is no hook event is refused as the hook expects."""
    assert isinstance(hook.event_name(payload), str)
    with suppress(ValueError, TypeError, RecursionError):
        kept = json.loads(hook.restrict(payload))
        assert kept.keys() <= hook.KEPT_FIELDS | hook.USERS_WORDS


def _hook_count(content: bytes) -> None:
    """A number that somebody spoiled begins again."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dropped"
        path.write_bytes(content)
        hook.add_to(str(path), 1)
        assert path.read_bytes().endswith(b"\n")
        (Path(folder) / "spool").mkdir()
        hook.keep(folder, "1-2", hook.write_header("1-2", "x", (), "-"), content)
        assert len([*(Path(folder) / "spool").iterdir()]) == 1


def _hook_answer(said: bytes) -> None:
    """Whatever a daemon says, the hook takes what is a complete answer, and nothing else."""
    with tempfile.TemporaryDirectory(prefix="hf-") as home, socket.socket(socket.AF_UNIX) as door:
        door.bind(f"{home}/d")
        door.listen()
        (Path(home) / "run").mkdir()
        (Path(home) / "run" / "endpoint").write_text(f"unix {home}/d\n")
        talker = threading.Thread(target=_say, args=(door, said))
        talker.start()
        answer = None
        with suppress(OSError, ValueError):
            answer = hook.ask(home, b"HOLDFAST/1 hook-event\n", b"{}", time.monotonic() + ANSWER_S)
        talker.join()
    assert answer is None or said.startswith(b"HOLDFAST/1 ok %d\n%b" % (len(answer), answer))


def _say(door: socket.socket, said: bytes) -> None:
    connection, _ = door.accept()
    with connection, suppress(OSError):
        while connection.recv(65536):
            pass
        connection.sendall(said)
