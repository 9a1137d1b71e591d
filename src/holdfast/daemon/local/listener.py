"""The local listener: the endpoint for hooks and commands, and its connections.

One request and one answer for each connection; only MCP connections stay open. A file in the home says where
the endpoint is.

No request may stop the daemon. One that cannot be answered is closed without an answer, and the hook writes
its event to the spool. Connections are bounded: if too many have not sent a whole request, the one that
waited longest is closed, so that a hook always gets in.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import hmac
import logging
import os
import secrets
import socket
import stat
import sys
import tempfile
from collections.abc import Awaitable, Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from holdfast import system
from holdfast.daemon.local import wire
from holdfast.lazy_dataclass import dataclass

LONGEST_SOCKET_PATH = 100
"""A socket's path has room for 104 bytes on macOS and 108 on Linux."""
BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An open listener, the note that says where it is, and the token it requires (empty: none)."""

    listener: socket.socket
    note: str
    token: str
    socket_path: Path | None


def open_endpoint(home: Path) -> Endpoint:
    """Listen where this system can, and leave a note in the home. The caller must hold the lock."""
    if sys.platform == "win32":
        return open_tcp_endpoint(home)
    path = _socket_path(home)
    return _announce(home, _unix(path) if path else _tcp(home / "run"))


def open_tcp_endpoint(home: Path) -> Endpoint:
    """Listen on loopback TCP, as on systems without Unix sockets."""
    return _announce(home, _tcp(home / "run"))


def close_endpoint(home: Path, endpoint: Endpoint) -> None:
    """Remove the note first, so that no client connects in vain, then close the listener."""
    for note in wire.ENDPOINT_NOTES:
        (home / note).unlink(missing_ok=True)
    endpoint.listener.close()
    if endpoint.socket_path is not None:
        endpoint.socket_path.unlink(missing_ok=True)
        if endpoint.socket_path.parent != home / "run":
            with contextlib.suppress(OSError):
                endpoint.socket_path.parent.rmdir()


def _announce(home: Path, endpoint: Endpoint) -> Endpoint:
    # Hooks, relays and plugins stay as they were set up until `setup` runs again, and find the older note.
    for note in wire.ENDPOINT_NOTES:
        write_note(home / note, endpoint.note)
    return endpoint


def _socket_path(home: Path) -> Path | None:
    """Where the socket fits: in the home, else in a private runtime directory; None if nowhere."""
    inside = home / "run" / "daemon.sock"
    if _fits(inside):
        return inside if _make_private(inside.parent) else _elsewhere(home)
    return _elsewhere(home)


def _elsewhere(home: Path) -> Path | None:
    """A path in a directory for runtime files: by the usual name, or by a new one if that is not private."""
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
        if not base or not _fits(Path(base) / (_name(home) + "-12345678") / "daemon.sock"):
            continue
        directory = Path(base) / _name(home)
        with contextlib.suppress(OSError):
            if not _make_private(directory):
                # Another user made it first, perhaps to listen in the daemon's place.
                directory = Path(tempfile.mkdtemp(prefix=f"{_name(home)}-", dir=base))
            return directory / "daemon.sock"
    return None


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST_SOCKET_PATH


def _unix(path: Path) -> Endpoint:
    if sys.platform == "win32":
        raise OSError("there are no Unix sockets")
    # The daemon that left this socket is gone: this process holds the lock.
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(BACKLOG)
    return Endpoint(listener, f"unix {path}", "", path)


def _tcp(run: Path) -> Endpoint:
    token = secrets.token_hex(32)
    write_note(run / "token", token)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(BACKLOG)
    return Endpoint(listener, f"tcp {listener.getsockname()[1]}", token, None)


def _name(home: Path) -> str:
    """A short name, the same for the same home."""
    user = getattr(os, "getuid", int)()
    return f"holdfast-{user}-{hashlib.sha256(os.fsencode(home)).hexdigest()[:12]}"


def _make_private(directory: Path) -> bool:
    """Make the directory if it is missing; whether only this user can use it."""
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    return stat.S_ISDIR(status.st_mode) and system.is_own(status) and not system.is_exposed(status)


def write_note(path: Path, text: str) -> None:
    """Write a file atomically and readable only by its owner: a hook may be reading it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.chmod(0o600)
    system.replace(temporary, path)


HEAD_TIME = 2.0
"""Seconds in which the head of a request must arrive; a hook sends it with its first bytes."""
READ_TIME = 5.0

Answer = Callable[[wire.Request], Awaitable[bytes]]
Converse = Callable[[wire.Request, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Connections:
    """The open connections of one listener, bounded."""

    def __init__(self, most_unread: int, most_conversing: int) -> None:
        """Limit connections that have not sent a whole request, and those that stay open."""
        self._most_unread = most_unread
        self._most_conversing = most_conversing
        self._unread: dict[asyncio.StreamWriter, None] = {}
        self._conversing = 0

    @contextmanager
    def reading(self, writer: asyncio.StreamWriter) -> Generator[None]:
        """Count a connection while its request is read; beyond the limit, the oldest is closed."""
        self._unread[writer] = None
        if len(self._unread) > self._most_unread:
            oldest = next(iter(self._unread))
            del self._unread[oldest]
            oldest.transport.abort()
        try:
            yield
        finally:
            self._unread.pop(writer, None)

    @contextmanager
    def conversing(self) -> Generator[bool]:
        """Count a connection that stays open; false if there are too many, and it must close."""
        self._conversing += 1
        try:
            yield self._conversing <= self._most_conversing
        finally:
            self._conversing -= 1


async def serve(
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
    *,
    token: str,
    connections: Connections,
    answer: Answer,
    converse: Converse,
    log: logging.Logger,
) -> None:
    """Answer one connection."""
    try:
        with connections.reading(writer):
            # `asyncio.wait_for` of Python 3.11 swallows a cancellation that comes together with the result.
            # A daemon that stops would then wait for this connection for ever.
            async with asyncio.timeout(READ_TIME):
                request = await _read(reader)
        if request is None or not _allowed(request, token):
            return
        if request.kind == "mcp":
            with connections.conversing() as has_room:
                if has_room:
                    await converse(request, reader, writer)
                else:
                    log.warning("too many MCP connections; one more was refused")
            return
        writer.write(wire.answer(await answer(request)))
        await writer.drain()
    except (ConnectionError, TimeoutError):
        pass  # The client is gone or sent nothing; logging each would let any client fill the log.
    except Exception:  # Boundary of a request: one bad request must not stop the daemon.
        log.exception("a request could not be answered")
    finally:
        writer.close()


async def _read(reader: asyncio.StreamReader) -> wire.Request | None:
    """The request, as soon as all of it arrived; the client may keep its side of the connection open."""
    received, whole = bytearray(), 0
    head_until = asyncio.get_running_loop().time() + HEAD_TIME
    while not whole or len(received) < whole:
        async with asyncio.timeout_at(None if whole else head_until):
            chunk = await reader.read(1 << 16)
        if not chunk:
            break
        received += chunk
        if len(received) > wire.BODY_LIMIT:
            return None
        if received.startswith(wire.GREETING) and (greeting := wire.opening(bytes(received))):
            return greeting
        whole = whole or wire.length_of(bytes(received[: wire.HEADER_LIMIT]))
    return wire.parse(bytes(received))


def _allowed(request: wire.Request, token: str) -> bool:
    """A Unix socket is guarded by its file's mode; TCP by the token."""
    return not token or hmac.compare_digest(request.fields.get("token", "").encode(), token.encode())
