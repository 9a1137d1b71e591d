"""The HTTP server with all routes. Heavy, so it is loaded on the first connection."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Generator

import uvicorn
from fastapi import FastAPI
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from starlette.requests import Request
from starlette.routing import Route

from holdfast.daemon.access.guard import OPEN_PATH, App
from holdfast.daemon.access.keys import Keys
from holdfast.daemon.api.app import make_api
from holdfast.daemon.api.executor import Executor
from holdfast.daemon.dashboard.login import let_in
from holdfast.daemon.dashboard.routes import routes
from holdfast.daemon.http.connections import CONNECTIONS, protocol
from holdfast.daemon.http.listener import HttpListener
from holdfast.daemon.mcp.server import LINE_LIMIT, Answering, Context, make_server
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.engine.tools.caller import Call

BACKLOG = 64
LAST_ANSWERS_TIME = 2
PROJECT = "x-holdfast-project"
"""The header by which an MCP client names the directory that its agent works in."""


def make_app(
    answering: Answering, dispatcher: Dispatcher, keys: Keys, stop: asyncio.Event, log: logging.Logger
) -> FastAPI:
    """All HTTP routes: the API, MCP at `/mcp`, the dashboard, and a browser's login."""
    # MCP is stateless here, so clients survive a restart of the daemon. It also needs no stream, which would
    # hold a connection for as long as the client lives.
    sessions = StreamableHTTPSessionManager(
        make_server(answering, _caller_of),
        stateless=True,
        json_response=True,
        max_request_body_size=LINE_LIMIT,
    )
    executor = Executor(dispatcher, keys, stop, log)

    @contextlib.asynccontextmanager
    async def living(app: FastAPI) -> AsyncGenerator[None]:  # noqa: ARG001
        async with sessions.run():
            yield
        await executor.close()

    app = make_api(executor, living)
    app.router.routes.append(Route("/mcp", StreamableHTTPASGIApp(sessions), methods=["POST"]))
    app.router.routes.append(Route(OPEN_PATH, let_in, methods=["GET"]))
    app.router.routes.extend(routes())
    return app


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


def _caller_of(context: Context) -> Call:
    """The caller of an HTTP request: its project from a header, if the client sends it."""
    request = context.request
    project = request.headers.get(PROJECT, "") if isinstance(request, Request) else ""
    return Call(cwd=project if project.startswith("/") else "")


def _log_to(log: logging.Logger) -> None:
    """Send the libraries' warnings to the daemon's log, which redacts them."""
    for name in ("uvicorn", "mcp"):
        library = logging.getLogger(name)
        library.setLevel(logging.WARNING)
        library.propagate = False
        library.handlers = log.handlers
