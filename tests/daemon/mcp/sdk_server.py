"""The same tools served by the official SDK, which the tests compare with our own protocol."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from mcp.types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    jsonrpc_message_adapter,
)

from holdfast import __version__
from holdfast.engine.tools import table
from holdfast.engine.tools.table import Answer

LIMIT_S = 10.0


async def sdk_answers(messages: list[Mapping[str, Any]], answer: Answer) -> list[dict[str, Any]]:
    """What the SDK's server sends for these messages, each sent when the one before it was answered."""
    server = _server(answer)
    incoming, inbox = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    outbox, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    answers: list[dict[str, Any]] = []
    async with anyio.create_task_group() as group, incoming, outgoing:
        group.start_soon(server.run, inbox, outbox, server.create_initialization_options())
        for message in messages:
            await incoming.send(SessionMessage(jsonrpc_message_adapter.validate_python(message)))
            if "id" in message:
                with anyio.fail_after(LIMIT_S):
                    sent = await outgoing.receive()
                answers.append(sent.message.model_dump(mode="json", by_alias=True, exclude_unset=True))
        group.cancel_scope.cancel()
    return answers


def _server(answer: Answer) -> Server[Any]:
    async def list_tools(
        _: ServerRequestContext[Any, Any], __: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult.model_validate({"tools": table.tools_for_mcp()})

    async def call_tool(_: ServerRequestContext[Any, Any], params: CallToolRequestParams) -> CallToolResult:
        if params.name not in table.names():
            raise MCPError(INVALID_PARAMS, "there is no such tool")
        if answer.value is None:
            return CallToolResult(content=[TextContent(type="text", text=answer.problem)], is_error=True)
        return CallToolResult(content=[TextContent(type="text", text="")], structured_content=answer.value)

    return Server(
        "holdfast",
        version=__version__,
        instructions=table.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )
