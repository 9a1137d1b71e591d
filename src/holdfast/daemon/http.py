"""HTTP, the light half: the daemon's other door, on the loopback address, asleep until someone knocks.

The kernel holds the first connection while a thread loads `http_app`, which answers it; until then the door
costs a socket. Port and token stay the same over restarts, so that what was told of them stays true. What can
be asked is not here.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import secrets
import socket
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, TypeAlias

from holdfast.daemon.door import write_note
from holdfast.daemon.mcp import Mcp

HOST = "127.0.0.1"
BODY_TIME = 10.0
"""Seconds between two pieces of a request's body."""

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class HttpDoor:
    """A door that listens, and the token that opens it."""

    listener: socket.socket
    port: int
    token: str

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}"


def open_http_door(home: Path, wanted: int) -> HttpDoor:
    """Listen on the wanted port, or on the one that took its place before, or on any."""
    folder = home / "http"
    folder.mkdir(mode=0o700, exist_ok=True)
    listener = _listening((_port_before(folder, wanted), wanted, 0))
    port: int = listener.getsockname()[1]
    write_note(folder / "port", f"{wanted} {port}")
    return HttpDoor(listener, port, _token(folder / "token"))


async def serve(door: HttpDoor, mcp: Mcp, stop: asyncio.Event, log: logging.Logger) -> None:
    """Answer whoever knocks, until told to stop."""
    try:
        if await _knocked(door.listener, stop):
            loaded = await asyncio.to_thread(import_module, "holdfast.daemon.http_app")
            log.info("the first request came to %s", door.address)
            app = Guard(loaded.make_app(mcp.call), door.port, door.token)
            await loaded.serve(app, door.listener, stop, log)
    except Exception:  # A door: without this one the daemon is still there for hooks.
        log.exception("the HTTP door cannot be kept open")
    finally:
        door.listener.close()


class Guard:
    """Lets a request in if it comes to us by our name, from no other site, and with the token.

    A page in a browser can send requests to the loopback address, and reach it under a name of its own. So
    the name is looked at first, and nothing of a request is read before all three are right.
    """

    def __init__(self, app: App, port: int, token: str) -> None:
        self._app = app
        self._names = tuple(f"{name}:{port}".encode() for name in (HOST, "localhost"))
        self._proof = f"Bearer {token}".encode()

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        status, why = self._refusal(scope["headers"])
        if status and scope["type"] == "http":
            await _refuse(send, status, why)
        elif not status:
            await self._app(scope, _timely(receive), send)

    def _refusal(self, headers: Iterable[tuple[bytes, bytes]]) -> tuple[int, str]:
        """The status and the reason of a refusal; 0 if there is none."""
        found = [(name.lower(), value) for name, value in headers]
        hosts = [value.lower() for name, value in found if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._names:
            return 421, "this is not the name of this server"
        origins = [value.lower().removeprefix(b"http://") for name, value in found if name == b"origin"]
        if any(origin not in self._names for origin in origins):
            return 403, "requests from another site are not answered"
        proofs = [value for name, value in found if name == b"authorization"]
        if len(proofs) != 1 or not hmac.compare_digest(proofs[0], self._proof):
            return 401, "the bearer token is missing or wrong; it is in `http/token` in the Holdfast home"
        return 0, ""


async def _refuse(send: Send, status: int, why: str) -> None:
    body = f"{why}\n".encode()
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),
        *(((b"www-authenticate", b"Bearer"),) if status == 401 else ()),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def _timely(receive: Receive) -> Receive:
    """The same, but a body that does not go on is given up; behind it, a hang-up is waited for as long."""
    reading = True

    async def receive_in_time() -> Message:
        nonlocal reading
        if not reading:
            return await receive()
        message = await asyncio.wait_for(receive(), BODY_TIME)
        reading = message["type"] == "http.request" and bool(message.get("more_body"))
        return message

    return receive_in_time


async def _knocked(listener: socket.socket, stop: asyncio.Event) -> bool:
    """Whether someone knocked, before it was time to stop; nobody is let in yet."""
    loop = asyncio.get_running_loop()
    knocked = asyncio.Event()
    loop.add_reader(listener.fileno(), knocked.set)
    waits = [asyncio.create_task(event.wait()) for event in (knocked, stop)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(listener.fileno())
        for wait in waits:
            wait.cancel()
    return knocked.is_set() and not stop.is_set()


def _listening(ports: Iterable[int]) -> socket.socket:
    """A listener on the first of these ports that can be had; the last may be any."""
    *preferred, last = dict.fromkeys(ports)
    for port in preferred:
        try:
            return _listener(port)
        except OSError:
            continue  # Taken, or not ours to take.
    return _listener(last)


def _listener(port: int) -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    # Connections of the daemon before us may linger; two that listen at once are refused all the same.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.settimeout(0)
    try:
        listener.bind((HOST, port))
        listener.listen(64)
    except OSError:
        listener.close()
        raise
    return listener


def _port_before(folder: Path, wanted: int) -> int:
    """The port that was found in place of the wanted one last time; the wanted one if there was none."""
    try:
        asked, got = map(int, (folder / "port").read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return wanted
    return got if asked == wanted and 0 < got < 1 << 16 else wanted


def _token(path: Path) -> str:
    """The token in the file; a new one where there is none, or where others could have read it."""
    try:
        token = path.read_text(encoding="ascii").strip()
        if len(token) >= 32 and not path.stat().st_mode & 0o077:
            return token
    except (OSError, ValueError):
        pass
    token = secrets.token_urlsafe(32)
    write_note(path, token)
    return token
