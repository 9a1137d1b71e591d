"""MCP as this server speaks it: messages of JSON-RPC, and the answers to them. It knows no transport.

A server that has tools and nothing else needs little of the protocol, and the official SDK would be a quarter
of Holdfast's memory (docs/decisions/0016-mcp-without-its-sdk.md). The tests compare the two.

There are two eras. Until 2025-11-25 a client begins with `initialize`. Since 2026-07-28 every request carries
its protocol version in `_meta`, the envelope, and nothing is remembered between requests.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from enum import Enum, auto
from typing import Any, Final, TypeAlias, cast

import msgspec

from holdfast import __version__
from holdfast.engine.tools import table
from holdfast.engine.tools.table import Answer
from holdfast.lazy_dataclass import dataclass

Json: TypeAlias = dict[str, Any]
Id: TypeAlias = str | int
CallTool: TypeAlias = Callable[[str, Mapping[str, object], Mapping[str, object]], Awaitable[Answer]]
"""Calls a tool by its name, with its arguments and the request's `_meta`."""

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_UNKNOWN: Final = -32601
INVALID_PARAMS: Final = -32602
HEADER_MISMATCH: Final = -32020
VERSION_UNKNOWN: Final = -32022

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE_VERSION: Final = "2026-07-28"
BATCH_VERSION: Final = "2025-03-26"
"""The only version in which several messages may come as one list."""
BATCH_MOST: Final = 50

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"

SERVER: Final = {"name": "holdfast", "version": __version__}
CAPABILITIES: Final = {"tools": {"listChanged": False}}
UNCACHED: Final = {"ttlMs": 0, "cacheScope": "private"}


class ProtocolError(Exception):
    """A message that gets an error for an answer."""

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


@dataclass(frozen=True, slots=True)
class McpRequest:
    """A message that must be answered, once."""

    id: Id
    method: str
    params: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class McpNotification:
    """A message without an answer: a notification, or the answer to a request that was never sent."""

    method: str
    params: Mapping[str, object]


Message: TypeAlias = McpRequest | McpNotification


class Era(Enum):
    """How a connection negotiates the protocol's version. Its first request decides."""

    UNKNOWN = auto()
    HANDSHAKE = auto()
    ENVELOPE = auto()


class Conversation:
    """What one client and this server agreed on, and the answers to the client's requests."""

    def __init__(self, call_tool: CallTool, era: Era = Era.UNKNOWN, version: str = "") -> None:
        """A new conversation; one over HTTP is told what the request's header says."""
        self._call_tool = call_tool
        self._era = era
        self.version = version
        """The version of the handshake; empty before it."""

    async def answer(self, request: McpRequest) -> Json:
        """The message that answers the request: a result or an error."""
        try:
            return {"jsonrpc": "2.0", "id": request.id, "result": await self._result(request)}
        except ProtocolError as error:
            return refusal(request.id, error)

    async def _result(self, request: McpRequest) -> Json:
        if self._era is Era.UNKNOWN:
            self._era = Era.ENVELOPE if VERSION_KEY in meta_of(request) else Era.HANDSHAKE
        if self._era is Era.ENVELOPE:
            return await self._with_envelope(request)
        return await self._after_handshake(request)

    async def _after_handshake(self, request: McpRequest) -> Json:
        match request.method:
            case "initialize":
                return self._initialize(request)
            case "ping":
                return {}
            case "tools/list" | "tools/call" if not self.version:
                raise ProtocolError(INVALID_PARAMS, f"`initialize` must come before `{request.method}`")
            case "tools/list" | "tools/call" if VERSION_KEY in meta_of(request):
                raise ProtocolError(
                    INVALID_REQUEST,
                    "this connection began with `initialize`; it takes no version for each request",
                )
            case "tools/list":
                return _tool_list(request)
            case "tools/call":
                return await self._tool_result(request)
            case _:
                raise _unknown_method(request)

    async def _with_envelope(self, request: McpRequest) -> Json:
        if request.method == "initialize" and VERSION_KEY not in meta_of(request):
            raise _unknown_version(
                request.params.get("protocolVersion"),
                f"this connection began with {ENVELOPE_VERSION}, which has no `initialize`",
            )
        check_envelope(request)
        match request.method:
            case "server/discover":
                about: Json = {"supportedVersions": [ENVELOPE_VERSION], "capabilities": CAPABILITIES}
                result = {**about, "instructions": table.INSTRUCTIONS, **UNCACHED}
            case "tools/list":
                result = {**_tool_list(request), **UNCACHED}
            case "tools/call":
                result = await self._tool_result(request)
            case _:
                raise _unknown_method(request)
        return {**result, "resultType": "complete", "_meta": {SERVER_KEY: SERVER}}

    def _initialize(self, request: McpRequest) -> Json:
        asked = request.params.get("protocolVersion")
        if not isinstance(asked, str):
            raise ProtocolError(INVALID_PARAMS, "`initialize` needs a `protocolVersion`")
        self.version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {
            "protocolVersion": self.version,
            "capabilities": CAPABILITIES,
            "serverInfo": SERVER,
            "instructions": table.INSTRUCTIONS,
        }

    async def _tool_result(self, request: McpRequest) -> Json:
        name, arguments = request.params.get("name"), request.params.get("arguments")
        if not isinstance(name, str):
            raise ProtocolError(INVALID_PARAMS, "`tools/call` needs the `name` of a tool")
        if name not in table.names():
            known = ", ".join(table.names())
            raise ProtocolError(INVALID_PARAMS, f"there is no tool `{name[:100]}`; there are {known}")
        if arguments is not None and not isinstance(arguments, dict):
            raise ProtocolError(INVALID_PARAMS, f"the `arguments` of `{name}` must be an object")
        answer = await self._call_tool(name, cast("Json", arguments or {}), meta_of(request))
        if answer.value is None:
            return {"content": [{"type": "text", "text": answer.problem}], "isError": True}
        text = json.dumps(answer.value, ensure_ascii=False)
        return {
            "content": [{"type": "text", "text": text}],
            "structuredContent": answer.value,
            "isError": False,
        }


def decode(raw: bytes) -> object:
    """The value in a line or a body, repaired if a text in it was cut in the middle of a character.

    ProtocolError if it is no JSON.
    """
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, ValueError, RecursionError):
        pass
    try:
        lenient = json.dumps(json.loads(raw.decode("utf-8", "replace"), strict=False), ensure_ascii=False)
        return msgspec.json.decode(lenient.encode("utf-8", "replace"))
    except (msgspec.DecodeError, ValueError, RecursionError):
        raise ProtocolError(PARSE_ERROR, "this is not JSON") from None


def encode(message: object) -> bytes:
    """A message, or a list of them, as one line without its end."""
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def message_of(value: object) -> Message:
    """The message that a decoded value is; ProtocolError if it is none."""
    if not isinstance(value, dict):
        raise ProtocolError(INVALID_REQUEST, "a message of JSON-RPC is an object")
    fields = cast("Json", value)
    if fields.get("jsonrpc") != "2.0":
        raise ProtocolError(INVALID_REQUEST, 'a message of JSON-RPC 2.0 says `"jsonrpc": "2.0"`')
    method, id = fields.get("method"), fields.get("id")
    params = fields.get("params")
    if "method" not in fields and ("result" in fields or "error" in fields):
        return McpNotification("", {})
    if not isinstance(method, str):
        raise ProtocolError(INVALID_REQUEST, "a message of JSON-RPC names its `method`")
    if params is not None and not isinstance(params, dict):
        raise ProtocolError(INVALID_REQUEST, "the `params` of a message are an object")
    if "id" not in fields:
        return McpNotification(method, cast("Json", params or {}))
    if not isinstance(id, str | int) or isinstance(id, bool):
        raise ProtocolError(INVALID_REQUEST, "the `id` of a request is a text or a whole number")
    return McpRequest(id, method, cast("Json", params or {}))


def batch_of(parts: list[object], version: str) -> list[object]:
    """The parts of a batch; ProtocolError if the version has none, or it is empty or too long."""
    if version != BATCH_VERSION:
        raise ProtocolError(INVALID_REQUEST, f"only version {BATCH_VERSION} takes several messages as a list")
    if not 0 < len(parts) <= BATCH_MOST:
        raise ProtocolError(INVALID_REQUEST, f"a list of messages has 1 to {BATCH_MOST} of them")
    return parts


def part_of(value: object) -> Message:
    """The message that a part of a batch is; ProtocolError if it is none, or must come alone."""
    message = message_of(value)
    if message.method == "initialize":
        raise ProtocolError(INVALID_REQUEST, "`initialize` must come alone")
    return message


def refusal(id: Id | None, error: ProtocolError) -> Json:
    """The message that answers with an error; without an id where none could be read."""
    data = {} if error.data is None else {"data": error.data}
    return {"jsonrpc": "2.0", "id": id, "error": {"code": error.code, "message": error.message, **data}}


def id_in(value: object) -> Id | None:
    """The id that an unusable message has all the same."""
    id = cast("Json", value).get("id") if isinstance(value, dict) else None
    return id if isinstance(id, str | int) and not isinstance(id, bool) else None


def meta_of(message: Message) -> Mapping[str, object]:
    """The message's `_meta`; empty if it has none."""
    meta = message.params.get("_meta")
    return cast("Json", meta) if isinstance(meta, dict) else {}


def check_envelope(request: McpRequest) -> None:
    """ProtocolError if the request does not carry what each must carry since 2026-07-28."""
    meta = meta_of(request)
    if missing := [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in meta]:
        raise ProtocolError(INVALID_PARAMS, f"the request's `_meta` lacks {', '.join(missing)}")
    if not isinstance(meta[VERSION_KEY], str):
        raise ProtocolError(INVALID_PARAMS, f"`{VERSION_KEY}` must be a text")
    if meta[VERSION_KEY] != ENVELOPE_VERSION:
        raise _unknown_version(meta[VERSION_KEY], "this version of the protocol is not supported")
    for key in (CAPABILITIES_KEY, CLIENT_KEY):
        if not isinstance(meta.get(key, {}), dict):
            raise ProtocolError(INVALID_PARAMS, f"`{key}` must be an object")


def _tool_list(request: McpRequest) -> Json:
    """All tools: there is one page, so that no cursor was ever given out."""
    if request.params.get("cursor") not in (None, ""):
        raise ProtocolError(INVALID_PARAMS, "there is no such `cursor`: all tools are on the first page")
    return {"tools": table.tools_for_mcp()}


def _unknown_method(request: McpRequest) -> ProtocolError:
    return ProtocolError(METHOD_UNKNOWN, f"there is no method `{request.method[:100]}`")


def _unknown_version(asked: object, message: str) -> ProtocolError:
    requested = {"requested": asked} if isinstance(asked, str) else {}
    return ProtocolError(VERSION_UNKNOWN, message, {"supported": [ENVELOPE_VERSION], **requested})
