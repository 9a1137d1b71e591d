"""MCP over HTTP: one message a request, and its answer as JSON. Nothing is remembered between requests.

So clients survive a restart of the daemon, and none holds a stream open. `access.Guard` decides who may send
anything at all, and how long a body may be.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Final, TypeAlias, cast

from starlette.requests import Request
from starlette.responses import Response

from holdfast.daemon.mcp import protocol
from holdfast.daemon.mcp.protocol import (
    BATCH_VERSION,
    ENVELOPE_VERSION,
    HANDSHAKE_VERSIONS,
    CallTool,
    Conversation,
    Era,
    Json,
    McpRequest,
    ProtocolError,
)
from holdfast.engine.tools.caller import CallContext

Caller: TypeAlias = Callable[[CallContext], CallTool]

VERSION: Final = "mcp-protocol-version"
METHOD: Final = "mcp-method"
NAME: Final = "mcp-name"
PROJECT: Final = "x-holdfast-project"
"""The header by which a client names the directory that its agent works in."""
DEFAULT_VERSION: Final = BATCH_VERSION
"""What a client speaks that sends no version: the header came with the next one."""
STATUSES: Final = {
    protocol.PARSE_ERROR: 400,
    protocol.INVALID_REQUEST: 400,
    protocol.INVALID_PARAMS: 400,
    protocol.HEADER_MISMATCH: 400,
    protocol.VERSION_UNKNOWN: 400,
    protocol.METHOD_UNKNOWN: 404,
}
"""The status of an error since 2026-07-28; before, only a body that is no message had one."""


class McpEndpoint:
    """Answers requests to `/mcp`."""

    def __init__(self, caller: Caller) -> None:
        """`caller` gives what calls a tool for a client of whom this much is known."""
        self._caller = caller

    async def answer(self, request: Request) -> Response:
        """The answer to one POST."""
        if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
            return Response("The content type must be application/json.", 415)
        if not _takes_json(request.headers.get("accept", "*/*")):
            return Response("The answer is application/json, which the request does not accept.", 406)
        value: object = None
        try:
            value = protocol.decode(await request.body())
            return await self._answer(request, value)
        except ProtocolError as error:
            return _json(protocol.refusal(protocol.id_in(value), error), STATUSES.get(error.code, 400))

    async def _answer(self, http: Request, value: object) -> Response:
        version = http.headers.get(VERSION, DEFAULT_VERSION)
        call_tool = self._caller(_context_of(http))
        if isinstance(value, list):
            batch = protocol.batch_of(cast("list[object]", value), version)
            return await _answer_batch(Conversation(call_tool, Era.HANDSHAKE, version), batch)
        message = protocol.message_of(value)
        has_envelope = version not in HANDSHAKE_VERSIONS or protocol.VERSION_KEY in protocol.meta_of(message)
        if not isinstance(message, McpRequest):
            if has_envelope and version != ENVELOPE_VERSION:
                raise ProtocolError(
                    protocol.VERSION_UNKNOWN, f"only version {ENVELOPE_VERSION} is supported here"
                )
            return Response(status_code=202)
        if not has_envelope:
            return _json(await Conversation(call_tool, Era.HANDSHAKE, version).answer(message))
        _check_headers(http, message)
        answer = await Conversation(call_tool, Era.ENVELOPE).answer(message)
        return _json(answer, STATUSES.get(answer.get("error", {}).get("code"), 200))


async def _answer_batch(conversation: Conversation, parts: list[object]) -> Response:
    answers: list[Json] = []
    for part in parts:
        try:
            message = protocol.part_of(part)
        except ProtocolError as error:
            answers.append(protocol.refusal(protocol.id_in(part), error))
            continue
        if isinstance(message, McpRequest):
            answers.append(await conversation.answer(message))
    return _json(answers) if answers else Response(status_code=202)


def _check_headers(http: Request, request: McpRequest) -> None:
    """ProtocolError unless the headers by which a proxy may route say the same as the message."""
    for header in (VERSION, METHOD, NAME):
        if len(http.headers.getlist(header)) > 1:
            raise ProtocolError(protocol.HEADER_MISMATCH, f"the header `{header}` comes more than once")
    if protocol.VERSION_KEY in (meta := protocol.meta_of(request)):
        _check_header(http, VERSION, meta[protocol.VERSION_KEY])
        _check_header(http, METHOD, request.method)
        if request.method == "tools/call" and isinstance(name := request.params.get("name"), str):
            _check_header(http, NAME, name)


def _check_header(http: Request, header: str, value: object) -> None:
    if _decoded(http.headers.get(header)) != value:
        raise ProtocolError(
            protocol.HEADER_MISMATCH, f"the header `{header}` does not say what the message does"
        )


def _decoded(header: str | None) -> str | None:
    """A header's text, which is in base64 where it would not fit into a header; None if that is damaged."""
    if header is None or not (header.startswith("=?base64?") and header.endswith("?=")):
        return header
    encoded = header.removeprefix("=?base64?").removesuffix("?=")
    try:
        decoded = base64.b64decode(encoded, validate=True)
        # Two texts for one value would be read in two ways.
        return decoded.decode() if base64.b64encode(decoded).decode() == encoded else None
    except (binascii.Error, ValueError):
        return None


def _takes_json(accept: str) -> bool:
    kinds = {kind.partition(";")[0].strip().lower() for kind in accept.split(",")}
    return not kinds.isdisjoint({"application/json", "application/*", "*/*"})


def _context_of(http: Request) -> CallContext:
    """The caller of an HTTP request: its project from a header, if the client sends it."""
    project = http.headers.get(PROJECT, "")
    return CallContext(cwd=project if project.startswith("/") else "")


def _json(message: Json | list[Json], status: int = 200) -> Response:
    return Response(protocol.encode(message), status, media_type="application/json")
