"""The HTTP listener, on the loopback address by default; the server is loaded on the first connection.

The kernel holds the first connection while a thread loads `http.server`, which answers it; until then the
listener costs only a socket. Port and tokens stay the same over restarts, so that clients need no new
settings. Not here: who may use it (`access.guard`), and the routes.
"""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import socket
import time
from collections.abc import Iterable
from importlib import import_module
from pathlib import Path

from holdfast.daemon.access import OPEN_PATH, Guard, Keys, Limits, Names
from holdfast.daemon.local.listener import write_note
from holdfast.daemon.mcp.calls import Mcp
from holdfast.daemon.work.dispatcher import Dispatcher
from holdfast.lazy_dataclass import dataclass
from holdfast.settings import Daemon as Settings

HOST = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Tls:
    """The files for TLS."""

    certificate: Path
    key: Path


@dataclass(frozen=True, slots=True)
class HttpListener:
    """An open HTTP socket, its keys, and its host names."""

    listener: socket.socket
    host: str
    port: int
    keys: Keys
    names: Names
    tls: Tls | None = None

    @property
    def address(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.host}:{self.port}"

    def link(self) -> str:
        """A login address for a browser: valid once, for a short time."""
        return f"{self.address}{OPEN_PATH}?key={self.keys.link()}"


def open_http_listener(home: Path, settings: Settings, log: logging.Logger) -> HttpListener:
    """Listen on the port used last, else on the configured one, else on any.

    An address that other machines can reach is used only with TLS, because the traffic is private.
    """
    folder, wanted_port, host = home / "http", settings.http_port, settings.http_host
    folder.mkdir(mode=0o700, exist_ok=True)
    tls = _tls(settings)
    if not is_loopback(host) and tls is None:
        log.warning("`daemon.http_host` is %s, and there is no TLS for it; it listens on %s", host, HOST)
        host = HOST
    listener = _listening(host, (_port_before(folder, wanted_port), wanted_port, 0))
    port: int = listener.getsockname()[1]
    write_note(folder / "port", f"{wanted_port} {port}")
    hosts = dict.fromkeys((HOST, "localhost", host, *settings.http_names))
    names = Names(tuple(f"{name.lower()}:{port}" for name in hosts), tls=tls is not None)
    return HttpListener(listener, host, port, Keys(folder, time.time), names, tls)


async def serve(
    listener: HttpListener, mcp: Mcp, dispatcher: Dispatcher, stop: asyncio.Event, log: logging.Logger
) -> None:
    """Answer requests until told to stop."""
    try:
        if await _first_connection(listener.listener, stop):
            loaded = await asyncio.to_thread(import_module, "holdfast.daemon.http.server")
            log.info("the first request came to %s", listener.address)
            app = loaded.make_app(mcp.caller, dispatcher, listener.keys, stop, log)
            guard = Guard(app, listener.names, listener.keys, Limits(time.monotonic))
            await loaded.serve(guard, listener, stop, log)
    except Exception:  # Boundary of HTTP: without it the daemon still answers hooks.
        log.exception("the HTTP listener failed")
    finally:
        listener.listener.close()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach that address."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _tls(settings: Settings) -> Tls | None:
    if not (settings.tls_certificate and settings.tls_key):
        return None
    return Tls(Path(settings.tls_certificate).expanduser(), Path(settings.tls_key).expanduser())


async def _first_connection(listener: socket.socket, stop: asyncio.Event) -> bool:
    """Whether a client connected before it was time to stop; the connection is not accepted yet."""
    loop = asyncio.get_running_loop()
    connected = asyncio.Event()
    loop.add_reader(listener.fileno(), connected.set)
    waits = [asyncio.create_task(event.wait()) for event in (connected, stop)]
    try:
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    finally:
        loop.remove_reader(listener.fileno())
        for wait in waits:
            wait.cancel()
    return connected.is_set() and not stop.is_set()


def _listening(host: str, ports: Iterable[int]) -> socket.socket:
    """A socket on the first of these ports that is free; 0 as the last one means any port."""
    *preferred, last = dict.fromkeys(ports)
    for port in preferred:
        try:
            return _listener(host, port)
        except OSError:
            continue  # In use, or not permitted.
    return _listener(host, last)


def _listener(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # asyncio sets TCP_NODELAY only if the protocol is given. Without it, the end of each answer waits for
    # the client's acknowledgement of the beginning, which takes 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    # Connections of the previous daemon may linger; two listeners at once are still refused.
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.settimeout(0)
    try:
        listener.bind((host, port))
        listener.listen(64)
    except OSError:
        listener.close()
        raise
    return listener


def _port_before(folder: Path, wanted_port: int) -> int:
    """The port that was used last time in place of the configured one; the configured one if none was."""
    try:
        asked_port, used_port = map(int, (folder / "port").read_text(encoding="ascii").split())
    except (OSError, ValueError):
        return wanted_port
    return used_port if asked_port == wanted_port and 0 < used_port < 1 << 16 else wanted_port
