"""The local listener: one request and one answer for each connection; only MCP connections stay open.

No request may stop the daemon. One that cannot be answered is closed without an answer, and the hook writes
its event to the spool. Connections are bounded: if too many have not sent a whole request, the one that
waited longest is closed, so that a hook always gets in.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager

from holdfast.daemon.local import wire

HEAD_TIME = 2.0
"""Seconds in which the head of a request must arrive; a hook sends it with its first bytes."""
READ_TIME = 5.0

Answer = Callable[[wire.Request], Awaitable[bytes]]
Converse = Callable[[wire.Request, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Connections:
    """The open connections of one listener, bounded."""

    def __init__(self, most_unread: int, most_conversing: int) -> None:
        """Limit connections that have not sent a whole request, and those that stay open."""
        self._most_unread = most_unread
        self._most_conversing = most_conversing
        self._unread: dict[asyncio.StreamWriter, None] = {}
        self._conversing = 0

    @contextmanager
    def reading(self, writer: asyncio.StreamWriter) -> Generator[None]:
        """Count a connection while its request is read; beyond the limit, the oldest is closed."""
        self._unread[writer] = None
        if len(self._unread) > self._most_unread:
            oldest = next(iter(self._unread))
            del self._unread[oldest]
            oldest.transport.abort()
        try:
            yield
        finally:
            self._unread.pop(writer, None)

    @contextmanager
    def conversing(self) -> Generator[bool]:
        """Count a connection that stays open; false if there are too many, and it must close."""
        self._conversing += 1
        try:
            yield self._conversing <= self._most_conversing
        finally:
            self._conversing -= 1


async def serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    token: str,
    connections: Connections,
    answer: Answer,
    converse: Converse,
    log: logging.Logger,
) -> None:
    """Answer one connection."""
    try:
        with connections.reading(writer):
            request = await asyncio.wait_for(_read(reader), READ_TIME)
        if request is None or not _allowed(request, token):
            return
        if request.kind == "mcp":
            with connections.conversing() as has_room:
                if has_room:
                    await converse(request, reader, writer)
                else:
                    log.warning("too many MCP connections; one more was refused")
            return
        writer.write(wire.answer(await answer(request)))
        await writer.drain()
    except (ConnectionError, TimeoutError):
        pass  # The client is gone or sent nothing; logging each would let any client fill the log.
    except Exception:  # Boundary of a request: one bad request must not stop the daemon.
        log.exception("a request could not be answered")
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> wire.Request | None:
    """The request, as soon as all of it arrived; the client may keep its side of the connection open."""
    received, whole = bytearray(), 0
    head_until = asyncio.get_running_loop().time() + HEAD_TIME
    while not whole or len(received) < whole:
        async with asyncio.timeout_at(None if whole else head_until):
            chunk = await reader.read(1 << 16)
        if not chunk:
            break
        received += chunk
        if len(received) > wire.BODY_LIMIT:
            return None
        if received.startswith(wire.GREETING) and (greeting := wire.opening(bytes(received))):
            return greeting
        whole = whole or wire.length_of(bytes(received[: wire.HEADER_LIMIT]))
    return wire.parse(bytes(received))


def _allowed(request: wire.Request, token: str) -> bool:
    """A Unix socket is guarded by its file's mode; TCP by the token."""
    return not token or hmac.compare_digest(request.fields.get("token", "").encode(), token.encode())
