"""A real daemon in a home of its own, gone when the test is."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from holdfast.daemon.local import client, wire
from tests import fork_server

LIMIT_S: Final = 20.0


class Lodging:
    """A home in which daemons may live."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.home = root / "holdfast"
        self.home.mkdir(mode=0o700)
        self._started: list[subprocess.Popen[bytes]] = []
        self._adopted: set[int] = set()
        self._open_process: type[subprocess.Popen[bytes]] = fork_server.Popen

    def start(self, **environment: str) -> subprocess.Popen[bytes]:
        """A daemon that listens."""
        daemon = self.launch(**environment)
        wait_until(lambda: client.is_up(self.home) or daemon.poll() is not None)
        return daemon

    def launch(self, **environment: str) -> subprocess.Popen[bytes]:
        """A daemon, whatever becomes of it."""
        base = {"PATH": os.environ["PATH"], "HOME": str(self.root), "HOLDFAST_HOME": str(self.home)}
        daemon = self._open_process(
            [sys.executable, "-P", "-m", "holdfast.daemon"],
            cwd="/",
            env=base | environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._started.append(daemon)
        return daemon

    def executes(self) -> None:
        """From now on start daemons in new interpreters, for a test of what one loads."""
        self._open_process = subprocess.Popen

    def ask(self, verb: str) -> dict[str, Any]:
        return client.ask(self.home, verb)

    def payload(self, text: str, id: str, **fields: str) -> bytes | None:
        """Send a letter as a hook does; the body of the answer, None if there was no complete one."""
        return wire.answered(self.send(request(text, id, **fields)))

    def send(self, raw: bytes, *, hang_up: bool = True) -> bytes:
        """Send anything, and close our end of the line if that is wanted; all that comes back."""
        kind, _, place = (self.home / "run" / "door").read_text().strip().partition(" ")
        family = socket.AF_INET if kind == "tcp" else socket.AF_UNIX
        with socket.socket(family, socket.SOCK_STREAM) as connection:
            connection.settimeout(LIMIT_S)
            connection.connect(("127.0.0.1", int(place)) if kind == "tcp" else place)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                connection.sendall(raw)
                if hang_up:
                    connection.shutdown(socket.SHUT_WR)
            received = b""
            with contextlib.suppress(ConnectionResetError):
                while chunk := connection.recv(65536):
                    received += chunk
            return received

    def log(self) -> str:
        return (self.home / "logs" / "daemon.log").read_text()

    def adopt(self) -> None:
        """End a daemon that something else started here, too."""
        with contextlib.suppress(OSError, ValueError):
            self._adopted.add(int((self.home / "run" / "lock").read_text()))

    def end(self) -> None:
        for pid in self._adopted:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for daemon in self._started:
            if daemon.poll() is None:
                daemon.send_signal(signal.SIGCONT)
                daemon.kill()
            daemon.wait(LIMIT_S)
            if daemon.stderr:
                daemon.stderr.close()


def request(text: str, id: str, **fields: str) -> bytes:
    """The bytes of a letter in its envelope."""
    payload = text.encode()
    head = {"id": id, "harness": "claude-code", "at": "1800000000000", **fields, "length": str(len(payload))}
    lines = "".join(f"{name}: {value}\n" for name, value in head.items())
    return f"HOLDFAST/1 letter\n{lines}\n".encode() + payload


def wait_until(condition: Callable[[], bool]) -> None:
    """Return once something that another process does has come about."""
    until = time.monotonic() + LIMIT_S
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("it did not come about")
        time.sleep(0.01)


@pytest.fixture
def lodging(tmp_path: Path) -> Iterator[Lodging]:
    found = Lodging(tmp_path)
    try:
        yield found
    finally:
        found.end()
