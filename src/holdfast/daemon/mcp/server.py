"""The MCP protocol, by its SDK. Heavy, so it is loaded when the first agent connects.

It only translates between the protocol and `engine.tools`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_PARAMS,
    PARSE_ERROR,
    CallToolRequestParams,
    CallToolResult,
    ErrorData,
    JSONRPCError,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    jsonrpc_message_adapter,
)

from holdfast import __version__
from holdfast.engine.tools import table
from holdfast.engine.tools.caller import CallContext
from holdfast.engine.tools.table import Answer

LINE_LIMIT = 16 * 1024 * 1024

Answering: TypeAlias = Callable[[CallContext, str, Mapping[str, object]], Awaitable[Answer]]
Context: TypeAlias = ServerRequestContext[Any, Any]


def make_server(answering: Answering, who: Callable[[Context], CallContext]) -> Server[Any]:
    """The MCP server with Holdfast's tools; `who` finds the caller from a request's context."""

    async def list_tools(_: Context, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult.model_validate({"tools": table.tools_for_mcp()})

    async def call_tool(context: Context, params: CallToolRequestParams) -> CallToolResult:
        if params.name not in table.names():
            known = ", ".join(table.names())
            raise MCPError(INVALID_PARAMS, f"there is no tool `{params.name}`; there are {known}")
        call = replace(who(context), meta=dict(params.meta or {}))
        return _result(await answering(call, params.name, params.arguments or {}))

    return Server(
        "holdfast",
        version=__version__,
        instructions=table.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


async def converse(
    answering: Answering,
    call: CallContext,
    first: bytes,
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Serve one connection, one message for each line, until either side closes it."""
    server = make_server(answering, lambda _: call)
    incoming, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, outgoing = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with incoming:
            async for line in _lines(first, reader):
                message = _message(line)
                if isinstance(message, JSONRPCError):
                    await _write(writer, message)
                else:
                    await incoming.send(message)

    async def write() -> None:
        async with outgoing:
            async for message in outgoing:
                await _write(writer, message.message)

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        await server.run(inbox, outbox, server.create_initialization_options())
        group.cancel_scope.cancel()


def _result(answer: Answer) -> CallToolResult:
    if answer.value is None:
        return CallToolResult(content=[TextContent(type="text", text=answer.problem)], is_error=True)
    text = json.dumps(answer.value, ensure_ascii=False)
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=answer.value)


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


def _message(line: bytes) -> SessionMessage | JSONRPCError:
    """The message in a line, repaired if a text in it was cut in the middle of a character."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        pass
    try:
        lenient = json.dumps(json.loads(line.decode("utf-8", "replace"), strict=False), ensure_ascii=False)
        mended = lenient.encode("utf-8", "replace")
        return SessionMessage(jsonrpc_message_adapter.validate_json(mended, by_name=False))
    except (ValueError, RecursionError):
        error = ErrorData(code=PARSE_ERROR, message="this line is no message of JSON-RPC")
        return JSONRPCError(jsonrpc="2.0", id=None, error=error)


async def _write(writer: asyncio.StreamWriter, message: Any) -> None:  # noqa: ANN401 - any of the SDK's messages
    writer.write(message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
    await writer.drain()
