"""HTTP, the heavy half: the routes, and the server that answers them. Loaded at the first request."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Generator
from typing import cast

import uvicorn
from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from holdfast.daemon.api.app import make_api
from holdfast.daemon.api.office import Office
from holdfast.daemon.dashboard.routes import routes
from holdfast.daemon.guard import OPEN_PATH, App
from holdfast.daemon.http import HttpDoor
from holdfast.daemon.keys import Keys
from holdfast.daemon.mcp_server import LINE_LIMIT, Answering, Context, make_server
from holdfast.daemon.reception import Reception
from holdfast.daemon.way_in import let_in
from holdfast.engine.caller import Call

CONNECTIONS = 128
BACKLOG = 64
HEAD_TIME = 5.0
"""Seconds in which a connection must have asked for something once it began to."""
LAST_ANSWERS_TIME = 2
PROJECT = "x-holdfast-project"
"""The header by which a client says which directory its agent works in, where nothing else does."""


def make_app(
    answering: Answering, reception: Reception, keys: Keys, stop: asyncio.Event, log: logging.Logger
) -> FastAPI:
    """Everything that can be asked over HTTP: the API, MCP at `/mcp`, and the way in for a browser."""
    # Each request stands for itself: what a client was told stays true when the daemon is another one. So
    # there is no stream to wait on either, which would cost a connection for as long as the client lives.
    sessions = StreamableHTTPSessionManager(
        make_server(answering, _who), stateless=True, json_response=True, max_request_body_size=LINE_LIMIT
    )
    office = Office(reception, keys, stop, log)

    @contextlib.asynccontextmanager
    async def living(app: FastAPI) -> AsyncGenerator[None]:  # noqa: ARG001
        async with sessions.run():
            yield
        await office.close()

    app = make_api(office, living)
    app.router.routes.append(Route("/mcp", StreamableHTTPASGIApp(sessions), methods=["POST"]))
    app.router.routes.append(Route(OPEN_PATH, let_in, methods=["GET"]))
    app.router.routes.extend(routes())
    return app


async def serve(app: App, door: HttpDoor, stop: asyncio.Event, log: logging.Logger) -> None:
    """Answer on the listener until told to stop."""
    _log_to(log)
    server = _Server(
        uvicorn.Config(
            app,
            http=_Timely,
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            # Never reached by connections, which `_Timely` bounds, but by requests that take long.
            limit_concurrency=CONNECTIONS * 2,
            # So many are accepted before one of them is looked at.
            backlog=BACKLOG,
            timeout_graceful_shutdown=LAST_ANSWERS_TIME,
            ssl_certfile=door.tls.certificate if door.tls else None,
            ssl_keyfile=door.tls.key if door.tls else None,
        )
    )
    serving = asyncio.create_task(server.serve(sockets=[door.listener]))
    stopping = asyncio.create_task(stop.wait())
    await asyncio.wait((serving, stopping), return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    server.should_exit = True
    await serving


class _Server(uvicorn.Server):
    """Leaves signals to the daemon."""

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


class _Timely(H11Protocol):
    """Hangs up on who connects and asks nothing, or half of something; of too many, on who waited longest."""

    waits_since: float
    _hanging_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()
        if len(self.connections) > CONNECTIONS:
            every = [one for one in cast("set[object]", self.connections) if isinstance(one, _Timely)]
            longest = min((one for one in every if one.is_waiting()), key=lambda one: one.waits_since)
            self.connections.discard(longest)
            longest.transport.abort()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.is_waiting() and self._hanging_up:
            self._hanging_up.cancel()
            self._hanging_up = None
        elif self.is_waiting() and not self._hanging_up:
            self._wait_for_head()

    def connection_lost(self, exc: Exception | None) -> None:
        if self._hanging_up:
            self._hanging_up.cancel()
        super().connection_lost(exc)

    def _wait_for_head(self) -> None:
        self.waits_since = self.loop.time()
        self._hanging_up = self.loop.call_later(HEAD_TIME, self._hang_up_if_waiting)

    def _hang_up_if_waiting(self) -> None:
        self._hanging_up = None
        if self.is_waiting():
            self.transport.close()

    def is_waiting(self) -> bool:
        """Whether no request is being answered."""
        cycle = cast("RequestResponseCycle | None", self.cycle)
        return cycle is None or cycle.response_complete


def _who(context: Context) -> Call:
    """All that an HTTP request says of who sends it: a header, if the client was told to send it."""
    request = context.request
    named = request.headers.get(PROJECT, "") if isinstance(request, Request) else ""
    return Call(cwd=named if named.startswith("/") else "")


def _log_to(log: logging.Logger) -> None:
    """Have what these libraries complain of in our log, which redacts it."""
    for name in ("uvicorn", "mcp"):
        theirs = logging.getLogger(name)
        theirs.setLevel(logging.WARNING)
        theirs.propagate = False
        theirs.handlers = log.handlers
