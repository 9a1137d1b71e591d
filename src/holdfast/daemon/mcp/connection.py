"""MCP over a connection that stays open: one message a line, answered as soon as its answer is there."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any, TypeAlias, cast

from holdfast.daemon.mcp import protocol
from holdfast.daemon.mcp.protocol import Conversation, Json, McpNotification, McpRequest, ProtocolError

Answering: TypeAlias = Coroutine[Any, Any, None]
LINE_LIMIT = 16 * 1024 * 1024
ANSWERED_AT_ONCE = 100
"""Requests; those beyond wait unread."""


class Connection:
    """Serves one client."""

    def __init__(
        self,
        call_tool: protocol.CallTool,
        first: bytes,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """`first` is what was read of the connection already."""
        self._conversation = Conversation(call_tool)
        self._first = first
        self._reader = reader
        self._writer = writer
        self._room = asyncio.Semaphore(ANSWERED_AT_ONCE)
        self._answering: set[asyncio.Task[None]] = set()
        self._cancellable: dict[protocol.Id, asyncio.Task[None]] = {}

    async def serve(self) -> None:
        """Answer until the client hangs up; calls that it does not wait for any more are given up."""
        try:
            async for line in _lines(self._first, self._reader):
                await self._room.acquire()
                self._take(line)
        finally:
            for task in self._answering:
                task.cancel()
            await asyncio.gather(*self._answering, return_exceptions=True)

    def _take(self, line: bytes) -> None:
        """Begin to answer a line; one that needs no answer is done with."""
        try:
            value = protocol.decode(line)
        except ProtocolError as error:
            self._begin(self._write(protocol.refusal(None, error)))
            return
        if isinstance(value, list):
            self._begin(self._answer_batch(cast("list[object]", value)))
            return
        try:
            message = protocol.message_of(value)
        except ProtocolError as error:
            self._begin(self._write(protocol.refusal(protocol.id_in(value), error)))
            return
        if isinstance(message, McpRequest):
            self._begin(self._answer(message), message)
            return
        self._note(message)
        self._room.release()

    def _begin(self, answer: Answering, request: McpRequest | None = None) -> None:
        task = asyncio.create_task(answer)
        self._answering.add(task)
        task.add_done_callback(self._done)
        if request is not None:
            self._cancellable[request.id] = task
            task.add_done_callback(lambda ended: self._forget(request.id, ended))

    def _done(self, task: asyncio.Task[None]) -> None:
        self._answering.discard(task)
        self._room.release()

    def _forget(self, id: protocol.Id, task: asyncio.Task[None]) -> None:
        if self._cancellable.get(id) is task:
            del self._cancellable[id]

    def _note(self, notification: McpNotification) -> None:
        """Give up the call that a client has cancelled; it gets no answer."""
        if notification.method != "notifications/cancelled":
            return
        id = notification.params.get("requestId")
        task = self._cancellable.get(id) if isinstance(id, str | int) else None
        if task is not None:
            task.cancel()

    async def _answer(self, request: McpRequest) -> None:
        await self._write(await self._conversation.answer(request))

    async def _answer_batch(self, value: list[object]) -> None:
        try:
            parts = protocol.batch_of(value, self._conversation.version)
        except ProtocolError as error:
            await self._write(protocol.refusal(None, error))
            return
        answers = await asyncio.gather(*(self._part_answer(part) for part in parts))
        if present := [answer for answer in answers if answer is not None]:
            await self._write(present)

    async def _part_answer(self, part: object) -> Json | None:
        try:
            message = protocol.part_of(part)
        except ProtocolError as error:
            return protocol.refusal(protocol.id_in(part), error)
        if isinstance(message, McpRequest):
            return await self._conversation.answer(message)
        self._note(message)
        return None

    async def _write(self, message: Json | list[Json]) -> None:
        with contextlib.suppress(ConnectionError):  # The client is gone; `serve` sees it too.
            self._writer.write(protocol.encode(message) + b"\n")
            await self._writer.drain()


async def _lines(first: bytes, reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The lines that arrive, without empty ones; a line that is too long ends the connection."""
    pending = bytearray(first)
    while len(pending) <= LINE_LIMIT:
        *whole, rest = pending.split(b"\n")
        for line in whole:
            if line.strip():
                yield bytes(line)
        pending = rest
        chunk = await reader.read(1 << 16)
        if not chunk:
            return
        pending += chunk
