"""The composition root: everything that lives long is made here and passed on.

The hook's door opens first; the store is opened by the worker, and what is heavy only when it is needed.
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
from holdfast.daemon.local.endpoint import BACKLOG, Endpoint, close_door, open_door, open_tcp_door
from holdfast.daemon.local.listener import Connections
from holdfast.daemon.local.listener import serve as serve_socket
from holdfast.daemon.local.lock import Lock, take_lock
from holdfast.daemon.log import open_log
from holdfast.daemon.mcp.calls import Mcp
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.housekeeping import Housekeeping
from holdfast.daemon.work.watch import Watch
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.daemon.http.listener import HttpListener

UNREAD_MOST = 256
CONVERSING_MOST = 256
ACCEPTED_AT_ONCE = 32
DESCRIPTORS = 1_024
"""Enough for these, for what HTTP takes (`http_app.CONNECTIONS`), and a reserve for files."""


def main(held: Lock | None = None) -> int:
    """Run the daemon of the home until it is idle or told to stop; 0 also if another has the home already.

    `held` is the home's lock, where it was taken beforehand.
    """
    os.umask(0o077)
    home = config.home(os.environ)
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = held or take_lock(home)
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
    door = open_tcp_door(home) if os.environ.get("HOLDFAST_DOOR") == "tcp" else open_door(home)
    worker = Worker(loop)
    dispatcher = Dispatcher(home, worker, stop, log, door.note)
    mcp = Mcp(dispatcher, log)
    server = await _listen(door, dispatcher, mcp, log)
    log.info("listening at %s, process %d", door.note, os.getpid())
    try:
        await worker.do(Urgency.LETTER, functools.partial(dispatcher.open, time.time_ns() // 1_000_000))
        # The hook that started us is answered first; what follows would only take its time.
        await worker.do(Urgency.CONTROL, bool)
        http = _http_door(home, dispatcher, log)
        dispatcher.is_ready.set()
        watch = Watch(dispatcher.transcripts_changed, log)
        house = Housekeeping(home, dispatcher, watch, stop, log)
        answering = (_answer_http(http, mcp, dispatcher, stop, log),) if http else ()
        await asyncio.gather(house.keep(), watch.run(stop), _compile_patterns(worker), *answering)
    finally:
        server.close()
        close_door(home, door)
        await worker.do(Urgency.HOUSEKEEPING, dispatcher.close)
        worker.stop()
        lock.release()
        log.info("stopped, process %d", os.getpid())
    if house.handing_over:
        os.execv(sys.executable, [sys.executable, "-P", "-m", "holdfast.daemon"])  # noqa: S606 - our own interpreter
    return 0


async def _listen(
    door: Endpoint, dispatcher: Dispatcher, mcp: Mcp, log: logging.Logger
) -> asyncio.AbstractServer:
    greet = functools.partial(
        serve_socket,
        token=door.token,
        connections=Connections(UNREAD_MOST, CONVERSING_MOST),
        answer=dispatcher.answer,
        converse=mcp.converse,
        log=log,
    )
    # So many are accepted before one of them is looked at; more may wait in the kernel.
    listen = asyncio.start_server if door.socket_path is None else asyncio.start_unix_server
    server = await listen(greet, sock=door.listener, backlog=ACCEPTED_AT_ONCE)
    door.listener.listen(BACKLOG)
    return server


def _raise_descriptor_limit() -> None:
    """Have descriptors for all connections that the listeners take, and for the store and transcripts."""
    if sys.platform == "win32":
        return
    import resource  # not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


def _http_door(home: Path, dispatcher: Dispatcher, log: logging.Logger) -> HttpListener | None:
    """The other door, if it is wanted and can be had: hooks do not need it."""
    from holdfast.daemon.http.listener import open_http_door

    settings = dispatcher.door_settings()
    try:
        door = open_http_door(home, settings, log) if settings.http_port else None
    except OSError as error:
        log.warning("the HTTP door cannot be opened: %s", error)
        return None
    if door:
        dispatcher.http, dispatcher.link = f"{door.address}/mcp", door.link
    return door


async def _compile_patterns(worker: Worker) -> None:
    """Compile what the next hooks will need, between whatever is more urgent."""
    loaded = [module for name, module in sys.modules.items() if name.startswith("holdfast.core.")]
    for module in loaded:
        await worker.do(Urgency.HOUSEKEEPING, functools.partial(compile_patterns, module))


async def _answer_http(
    door: HttpListener, mcp: Mcp, dispatcher: Dispatcher, stop: asyncio.Event, log: logging.Logger
) -> None:
    from holdfast.daemon.http.listener import serve

    await serve(door, mcp, dispatcher, stop, log)


def _note_interpreter(home: Path) -> None:
    """Say which Python can start us, for hooks that find nobody at home."""
    note = home / "bin" / "interpreter"
    note.parent.mkdir(mode=0o700, exist_ok=True)
    beside = note.with_name(f".interpreter.{os.getpid()}")
    beside.write_text(f"{sys.executable}\n", encoding="utf-8")
    beside.replace(note)
