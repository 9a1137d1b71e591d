"""The composition root: long-lived objects are made here and passed on.

The hook's endpoint opens first. The worker opens the store, and heavy modules are loaded only when needed.
"""

from __future__ import annotations

import asyncio
import functools
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast import config
from holdfast.core.text.patterns import compile_patterns
from holdfast.daemon.local.listener import (
    BACKLOG,
    Connections,
    Endpoint,
    close_endpoint,
    open_endpoint,
    open_tcp_endpoint,
)
from holdfast.daemon.local.listener import serve as serve_socket
from holdfast.daemon.local.lock import Lock, take_lock
from holdfast.daemon.log import open_log
from holdfast.daemon.mcp.calls import Mcp
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.housekeeping import Housekeeping, Watch
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.daemon.http.listener import HttpListener

UNREAD_MOST = 256
CONVERSING_MOST = 256
ACCEPTED_AT_ONCE = 32
DESCRIPTORS = 1_024
"""Enough for these, for HTTP (`http.server.CONNECTIONS`), and a reserve for files."""


def main(early_lock: Lock | None = None) -> int:
    """Run the daemon of the home until it is idle or told to stop; 0 also if another daemon has the home.

    `early_lock` is the home's lock if it was taken beforehand.
    """
    os.umask(0o077)
    home = config.home(os.environ)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = early_lock or take_lock(home)
    if lock is None:
        return 0
    log = open_log(home)
    _raise_descriptor_limit()
    try:
        return asyncio.run(_live(home, lock, log))
    except HoldfastError as error:
        log.critical("%s (%s)", error.message, error.hint)
    except OSError as error:
        log.critical("the daemon cannot live in %s: %s", home, error)
    return 1


async def _live(home: Path, lock: Lock, log: logging.Logger) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in ("SIGTERM", "SIGINT"):
        loop.add_signal_handler(getattr(signal, name), stop.set)
    _note_interpreter(home)
    endpoint = open_tcp_endpoint(home) if os.environ.get("HOLDFAST_DOOR") == "tcp" else open_endpoint(home)
    worker = Worker(loop)
    dispatcher = Dispatcher(home, worker, stop, log, endpoint.note)
    mcp = Mcp(dispatcher, log)
    server = await _listen(endpoint, dispatcher, mcp, log)
    log.info("listening at %s, process %d", endpoint.note, os.getpid())
    try:
        await worker.do(Urgency.HOOK_EVENT, functools.partial(dispatcher.open, time.time_ns() // 1_000_000))
        # The hook that started the daemon is answered first; what follows would only delay it.
        await worker.do(Urgency.CONTROL, bool)
        http = _open_http(home, dispatcher, log)
        dispatcher.is_ready.set()
        watch = Watch(dispatcher.transcripts_changed, log)
        housekeeping = Housekeeping(home, dispatcher, watch, stop, log)
        answering = (_answer_http(http, mcp, dispatcher, stop, log),) if http else ()
        await asyncio.gather(housekeeping.keep(), watch.run(stop), _compile_patterns(worker), *answering)
    finally:
        server.close()
        close_endpoint(home, endpoint)
        await worker.do(Urgency.HOUSEKEEPING, dispatcher.close)
        worker.stop()
        lock.release()
        log.info("stopped, process %d", os.getpid())
    if housekeeping.handing_over:
        os.execv(sys.executable, [sys.executable, "-P", "-m", "holdfast.daemon"])  # noqa: S606 - our own interpreter
    return 0


async def _listen(
    endpoint: Endpoint, dispatcher: Dispatcher, mcp: Mcp, log: logging.Logger
) -> asyncio.AbstractServer:
    greet = functools.partial(
        serve_socket,
        token=endpoint.token,
        connections=Connections(UNREAD_MOST, CONVERSING_MOST),
        answer=dispatcher.answer,
        converse=mcp.converse,
        log=log,
    )
    # asyncio accepts up to this many connections at once; more may wait in the kernel.
    listen = asyncio.start_server if endpoint.socket_path is None else asyncio.start_unix_server
    server = await listen(greet, sock=endpoint.listener, backlog=ACCEPTED_AT_ONCE)
    endpoint.listener.listen(BACKLOG)
    return server


def _raise_descriptor_limit() -> None:
    """Allow enough descriptors for all connections, the store and transcripts."""
    if sys.platform == "win32":
        return
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    target = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < target:
        resource.setrlimit(resource.RLIMIT_NOFILE, (target, hard))


def _open_http(home: Path, dispatcher: Dispatcher, log: logging.Logger) -> HttpListener | None:
    """The HTTP listener; None if it is turned off or cannot be opened, since hooks do not need it."""
    from holdfast.daemon.http.listener import open_http_listener

    settings = dispatcher.http_settings()
    try:
        listener = open_http_listener(home, settings, log) if settings.http_port else None
    except OSError as error:
        log.warning("the HTTP listener cannot be opened: %s", error)
        return None
    if listener:
        dispatcher.http, dispatcher.link = f"{listener.address}/mcp", listener.link
    return listener


async def _compile_patterns(worker: Worker) -> None:
    """Compile the patterns that the next hook events will need, between more urgent jobs."""
    loaded = [module for name, module in sys.modules.items() if name.startswith("holdfast.core.")]
    for module in loaded:
        await worker.do(Urgency.HOUSEKEEPING, functools.partial(compile_patterns, module))


async def _answer_http(
    listener: HttpListener, mcp: Mcp, dispatcher: Dispatcher, stop: asyncio.Event, log: logging.Logger
) -> None:
    from holdfast.daemon.http.listener import serve

    await serve(listener, mcp, dispatcher, stop, log)


def _note_interpreter(home: Path) -> None:
    """Note which Python can start the daemon, for hooks that find none running."""
    note = home / "bin" / "interpreter"
    note.parent.mkdir(mode=0o700, exist_ok=True)
    temporary = note.with_name(f".interpreter.{os.getpid()}")
    temporary.write_text(f"{sys.executable}\n", encoding="utf-8")
    temporary.replace(note)
