"""The composition root: long-lived objects are made here and passed on; the log in the home is set up here.

The hook's endpoint opens first. The worker opens the store, and heavy modules are loaded only when needed.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import os
import signal
import stat
import sys
import time
from copy import copy
from io import TextIOWrapper
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast import config, environment, hook, system
from holdfast.core.redaction.redact import NO_LISTS, redact
from holdfast.core.text.lazy_patterns import compile_patterns
from holdfast.core.text.untrusted import printable
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
from holdfast.daemon.mcp.calls import Mcp
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.daemon.work.housekeeping import Housekeeping, Watch
from holdfast.daemon.work.worker import Urgency, Worker
from holdfast.engine.redaction.redactor import lists_of
from holdfast.errors import ConfigError, HoldfastError

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
        with contextlib.suppress(OSError):
            hook.write(str(home / hook.REFUSED), f"{error.message}\n{error.hint}\n".encode())
    except OSError as error:
        log.critical("the daemon cannot live in %s: %s", home, error)
    return 1


async def _live(home: Path, lock: Lock, log: logging.Logger) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    _stop_by_signals(loop, stop)
    _note_interpreter(home)
    wants_tcp = os.environ.get("HOLDFAST_ENDPOINT") == "tcp"
    endpoint = open_tcp_endpoint(home) if wants_tcp else open_endpoint(home)
    worker = Worker(loop)
    dispatcher = Dispatcher(home, worker, stop, log, endpoint.note)
    mcp = Mcp(dispatcher, log)
    server = await _listen(endpoint, dispatcher, mcp, log)
    log.info("listening at %s, process %d", endpoint.note, os.getpid())
    try:
        await worker.do(Urgency.HOOK_EVENT, functools.partial(dispatcher.open, time.time_ns() // 1_000_000))
        with contextlib.suppress(OSError):
            (home / hook.REFUSED).unlink()
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
        await asyncio.to_thread(dispatcher.stop_sharing)
        await worker.do(Urgency.HOUSEKEEPING, dispatcher.close)
        worker.stop()
        lock.release()
        log.info("stopped, process %d", os.getpid())
    if housekeeping.handing_over:
        _start_successor()
    return 0


def _stop_by_signals(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        if sys.platform == "win32":
            signal.signal(number, lambda _number, _frame: loop.call_soon_threadsafe(stop.set))
        else:
            loop.add_signal_handler(number, stop.set)


def _start_successor() -> None:
    """Have a daemon of the installed version take over, in this process where that is possible."""
    words = [sys.executable, "-P", "-m", "holdfast.daemon"]
    if sys.platform == "win32":
        system.start_detached(words, os.environ)
    else:
        os.execv(sys.executable, words)  # noqa: S606 - our own interpreter


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
    if sys.platform == "win32" or endpoint.socket_path is None:
        server = await asyncio.start_server(greet, sock=endpoint.listener, backlog=ACCEPTED_AT_ONCE)
    else:
        server = await asyncio.start_unix_server(greet, sock=endpoint.listener, backlog=ACCEPTED_AT_ONCE)
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
    note = environment.interpreter_note(home)
    note.parent.mkdir(mode=0o700, exist_ok=True)
    temporary = note.with_name(f".interpreter.{os.getpid()}")
    temporary.write_bytes(environment.own_interpreter())
    temporary.replace(note)


LOG_BYTES = 1_000_000
LOGS_KEPT = 3


class _Redacting(logging.Formatter):
    """Formats and redacts a whole record, with its traceback, before any of it is written."""

    def __init__(self, home: Path) -> None:
        super().__init__("%(asctime)s %(levelname)s %(message)s")
        self._home = home
        self._lists = NO_LISTS

    def format(self, record: logging.LogRecord) -> str:
        # While the settings cannot be read, the lists that were read last apply, and tracebacks, which may
        # repeat a user's text, are left out.
        try:
            self._lists = lists_of(config.load(self._home, None, None, os.environ).config)
        except ConfigError:
            record = copy(record)
            record.exc_info = record.exc_text = None
        # Hidden characters go first: they could split a secret. Continuation lines are indented.
        return redact(printable(super().format(record)), lists=self._lists).replace("\n", "\n  ")


class _OwnFile(RotatingFileHandler):
    """Writes to a regular file only: a link or anything else at its path is replaced, never followed."""

    def _open(self) -> TextIOWrapper:
        path = Path(self.baseFilename)
        with contextlib.suppress(FileNotFoundError):
            if not stat.S_ISREG(path.lstat().st_mode):
                path.unlink()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        descriptor = os.open(path, flags, 0o600)
        return os.fdopen(descriptor, "a", encoding=self.encoding, errors=self.errors)


def open_log(home: Path) -> logging.Logger:
    """The daemon's logger, writing to the home."""
    directory = home / "logs"
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    handler = _OwnFile(
        directory / "daemon.log",
        maxBytes=LOG_BYTES,
        backupCount=LOGS_KEPT,
        encoding="utf-8",
        errors="replace",
    )
    handler.setFormatter(_Redacting(home))
    logger = logging.getLogger("holdfast.daemon")
    logger.setLevel(logging.INFO)
    logger.propagate = False
    logger.handlers = [handler]
    return logger
