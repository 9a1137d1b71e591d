"""The HTTP server with all routes and bounded connections. Heavy, so it is loaded on the first connection."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import ssl
from collections.abc import AsyncGenerator, Generator
from typing import Any, Final, cast

import uvicorn
from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle
from uvicorn.server import ServerState

from holdfast.daemon.access import OPEN_PATH, App, Keys
from holdfast.daemon.api.app import answer_http_error, make_api
from holdfast.daemon.api.dependencies import Executor
from holdfast.daemon.dashboard.routes import login, routes, unknown_address
from holdfast.daemon.http.listener import HttpListener, Tls
from holdfast.daemon.mcp.http import Caller, McpEndpoint
from holdfast.daemon.work.dispatcher import Dispatcher

BACKLOG = 64
LAST_ANSWERS_TIME = 2


def make_app(
    caller: Caller, dispatcher: Dispatcher, keys: Keys, stop: asyncio.Event, log: logging.Logger
) -> FastAPI:
    """All HTTP routes: the API, MCP at `/mcp`, the dashboard, and a browser's login."""
    executor = Executor(dispatcher, keys, stop, log)

    @contextlib.asynccontextmanager
    async def living(app: FastAPI) -> AsyncGenerator[None]:  # noqa: ARG001
        yield
        await executor.close()

    app = make_api(executor, living)
    app.router.routes.append(Route("/mcp", McpEndpoint(caller).answer, methods=["POST"]))
    app.router.routes.append(Route(OPEN_PATH, login, methods=["GET"]))
    app.router.routes.extend(routes())
    app.add_exception_handler(404, _not_there)
    return app


async def _not_there(request: Request, error: Exception) -> Response:
    """A page for a person, the usual answer for a program."""
    return unknown_address(request) or await answer_http_error(request, error)


async def serve(app: App, listener: HttpListener, stop: asyncio.Event, log: logging.Logger) -> None:
    """Answer on the listener until told to stop."""
    _log_to(log)
    server = _Server(
        uvicorn.Config(
            app,
            http=protocol(listener.tls),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            proxy_headers=False,
            # Connections are bounded already; only requests that take long can reach this.
            limit_concurrency=CONNECTIONS * 2,
            # asyncio accepts up to this many connections at once.
            backlog=BACKLOG,
            timeout_graceful_shutdown=LAST_ANSWERS_TIME,
        )
    )
    serving = asyncio.create_task(server.serve(sockets=[listener.listener]))
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


def _log_to(log: logging.Logger) -> None:
    """Send the server's warnings to the daemon's log, which redacts them."""
    server = logging.getLogger("uvicorn")
    server.setLevel(logging.WARNING)
    server.propagate = False
    server.handlers = log.handlers


CONNECTIONS: Final = 128
HEAD_TIME: Final = 5.0
"""Seconds in which a connection must send a request's head, or finish its TLS handshake."""


def protocol(tls: Tls | None) -> type[asyncio.Protocol]:
    """The protocol for new connections; OSError if the certificate cannot be read."""
    if tls is None:
        return HttpConnection
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tls.certificate, tls.key)
    # The server calls it like a class.
    return cast("type[asyncio.Protocol]", functools.partial(Handshake, context))


class HttpConnection(H11Protocol):
    """Closes itself if no complete request head arrives in time."""

    waits_since: float
    _hanging_up: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait_for_head()
        _make_room(cast("set[object]", self.connections))

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


class Handshake(asyncio.Protocol):
    """A connection during its TLS handshake; then an `HttpConnection` takes over.

    asyncio's own server shows a connection only after the handshake, for which it waits a minute.
    """

    def __init__(
        self,
        context: ssl.SSLContext,
        *,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._context = context
        self._next = HttpConnection(config, server_state, app_state, _loop)
        self._connections = cast("set[object]", server_state.connections)
        self._loop = self._next.loop
        self._early = bytearray()
        self._task: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self.waits_since = self._loop.time()
        self.transport = transport
        self._connections.add(self)
        _make_room(self._connections)
        self._task = self._loop.create_task(self._shake_hands())

    def data_received(self, data: bytes) -> None:
        """Hold data that arrives with the end of the handshake: it may begin a request."""
        self._early += data

    def is_waiting(self) -> bool:
        return True

    def shutdown(self) -> None:
        """Called by the server when it stops."""
        self.transport.abort()

    async def _shake_hands(self) -> None:
        # A client that disconnects or uses no TLS is not logged: that would let any client fill the log.
        secured = None
        with contextlib.suppress(OSError):
            secured = await self._loop.start_tls(
                self.transport, self, self._context, server_side=True, ssl_handshake_timeout=HEAD_TIME
            )
        self._connections.discard(self)
        if secured is None:
            self.transport.abort()
            return
        secured.set_protocol(self._next)
        self._next.connection_made(secured)
        if self._early:
            self._next.data_received(bytes(self._early))


def _make_room(connections: set[object]) -> None:
    """Close the connection that waited longest, if there are too many."""
    if len(connections) > CONNECTIONS:
        every = [
            connection for connection in connections if isinstance(connection, HttpConnection | Handshake)
        ]
        longest = min(
            (connection for connection in every if connection.is_waiting()),
            key=lambda connection: connection.waits_since,
        )
        connections.discard(longest)
        longest.transport.abort()
