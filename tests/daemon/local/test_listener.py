"""The hook's endpoint: a connection ends with the daemon, however far its request has come."""

from __future__ import annotations

import asyncio
import logging
import socket

import pytest

from holdfast.daemon.local import wire
from holdfast.daemon.local.listener import Connections, serve

REQUEST = wire.control("status", b"", "")
HANGS_AFTER_S = 20.0


async def answer_never(request: wire.Request) -> bytes:
    await asyncio.Event().wait()
    return request.body


async def refuse_to_converse(
    request: wire.Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
) -> None:
    raise AssertionError(request.kind)


@pytest.mark.parametrize("steps", range(8))
def test_a_connection_ends_when_it_is_cancelled_at_any_moment(steps: int) -> None:
    """The daemon cancels what is open when it stops, also in the step in which a request has arrived."""

    async def cancelled_after_its_request() -> bool:
        ours, theirs = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        with theirs:
            open_connection = asyncio.create_task(
                serve(
                    reader,
                    writer,
                    token="",
                    connections=Connections(1, 1),
                    answer=answer_never,
                    converse=refuse_to_converse,
                    log=logging.getLogger("tests"),
                )
            )
            for _ in range(4):
                await asyncio.sleep(0)
            reader.feed_data(REQUEST)
            for _ in range(steps):
                await asyncio.sleep(0)
            open_connection.cancel()
            ended, _ = await asyncio.wait({open_connection}, timeout=HANGS_AFTER_S)
            open_connection.cancel()
            return open_connection in ended

    assert asyncio.run(cancelled_after_its_request())
