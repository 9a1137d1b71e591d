"""The socket: one request, one answer, then the connection closes; only an agent's tools stay on the line.

Nothing that a letter holds or that goes wrong with it may stop the daemon; a request that cannot be answered
is closed without an answer, and the hook keeps its letter in the spool.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
from collections.abc import Awaitable, Callable

from holdfast.daemon import wire

READ_TIME = 5.0

Answer = Callable[[wire.Request], Awaitable[bytes]]
Converse = Callable[[wire.Request, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    token: str,
    answer: Answer,
    converse: Converse,
    log: logging.Logger,
) -> None:
    """Answer one connection."""
    try:
        request = await asyncio.wait_for(_read(reader), READ_TIME)
        if request is None or not _allowed(request, token):
            return
        if request.kind == "mcp":
            await converse(request, reader, writer)
            return
        writer.write(wire.answer(await answer(request)))
        await writer.drain()
    except (ConnectionError, TimeoutError):
        log.info("a connection was dropped")
    except Exception:  # A door: one bad request must not take the daemon down with it.
        log.exception("a request could not be answered")
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> wire.Request | None:
    """The request, as soon as all of it came; whoever sent it may wait with its end of the line open."""
    received, whole = bytearray(), 0
    while (not whole or len(received) < whole) and (chunk := await reader.read(1 << 16)):
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
