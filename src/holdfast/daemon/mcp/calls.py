"""MCP calls: which session calls a tool, and how the call reaches the engine."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from holdfast import harnesses
from holdfast.daemon.local import wire
from holdfast.daemon.mcp.connection import Connection
from holdfast.daemon.mcp.protocol import CallTool
from holdfast.daemon.work.dispatcher import Dispatcher, process_of
from holdfast.daemon.work.worker import Urgency
from holdfast.engine.tools import table
from holdfast.engine.tools.caller import CallContext, find_caller, seen_calling
from holdfast.engine.tools.table import Answer
from holdfast.errors import HoldfastError
from holdfast.harnesses.base import Reader

SHOWN_WITHIN = 2.0
"""Seconds to wait until a transcript shows the call, where it must be read up to it; usually some 100 ms."""
LOOK_EVERY = 0.1
FAILED = "Holdfast itself failed; go on without it, and tell the user of `holdfast logs`"


class Mcp:
    """Answers agents' tool calls, over the socket or HTTP."""

    def __init__(self, dispatcher: Dispatcher, log: logging.Logger) -> None:
        self._dispatcher = dispatcher
        self._log = log

    async def converse(
        self, greeting: wire.Request, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Serve one relay until it disconnects."""
        writer.write(wire.answer(b""))
        await writer.drain()
        await Connection(self.caller(call_of(greeting)), greeting.body, reader, writer).serve()

    def caller(self, call: CallContext) -> CallTool:
        """What calls a tool for a client of whom this much is known."""

        async def call_tool(name: str, arguments: Mapping[str, object], meta: Mapping[str, object]) -> Answer:
            return await self.call(replace(call, meta=meta), name, arguments)

        return call_tool

    async def call(self, call: CallContext, name: str, arguments: Mapping[str, object]) -> Answer:
        """A tool's answer; if Holdfast fails, the model gets one sentence and the log the traceback."""
        self._dispatcher.last_used_at = time.monotonic()
        try:
            if table.looks_back(name) or not _tells_session(call):
                call = await self._with_session(call)
            return await self._dispatcher.do(Urgency.CONTROL, partial(self._answer, call, name, arguments))
        except Exception:  # Boundary of a call: a failure must not end the connection or go unanswered.
            self._log.exception("the tool %s failed", name)
            return Answer(problem=FAILED)

    def _answer(self, call: CallContext, name: str, arguments: Mapping[str, object]) -> Answer:
        engine = self._dispatcher.engine
        try:
            caller = find_caller(engine, replace(call, tool=name), _readers())
        except HoldfastError as error:
            return table.refusal(error)
        harness_arguments = {argument for reader in _readers() for argument in reader.own_arguments}
        tool_arguments = {
            argument: value for argument, value in arguments.items() if argument not in harness_arguments
        }
        return table.call_tool(engine, caller, name, tool_arguments)

    async def _with_session(self, call: CallContext) -> CallContext:
        """The call with the session whose transcript shows it; all live transcripts are read first."""
        id = next((id for reader in _readers() if (id := reader.call_id(call.meta))), "")
        until = time.monotonic() + SHOWN_WITHIN
        while True:
            await self._dispatcher.catch_up()
            if not id:
                return call
            if key := await self._dispatcher.do(Urgency.CONTROL, partial(self._session_of_call, id)):
                return replace(call, seen=key)
            if time.monotonic() >= until:
                return call
            await asyncio.sleep(LOOK_EVERY)

    def _session_of_call(self, id: str) -> str:
        return seen_calling(self._dispatcher.engine, id)


def call_of(greeting: wire.Request) -> CallContext:
    """The caller as a relay's greeting describes it."""
    fields = greeting.fields
    pid, _, start = fields.get("process", "").partition(" ")
    return CallContext(
        environment={name[4:]: value for name, value in fields.items() if name.startswith("env.")},
        cwd=fields.get("cwd", ""),
        process=process_of(pid, start),
    )


def _tells_session(call: CallContext) -> bool:
    return bool(
        call.process or call.environment or any(reader.caller({}, call.meta) for reader in _readers())
    )


def _readers() -> list[Reader]:
    return [harnesses.reader(name) for name in harnesses.readable()]
