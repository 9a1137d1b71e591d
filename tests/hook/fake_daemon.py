"""A daemon that answers as a test tells it to, on a real socket of either kind.

It keeps every request it was sent. It decides nothing and stores nothing.
"""

from __future__ import annotations

import socket
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

DoorKind = Literal["unix", "tcp"]
TOKEN = "c0ffee" * 8


@dataclass(frozen=True, slots=True)
class Received:
    """One request: its first line, its header, and the letter."""

    first_line: str
    header: dict[str, str]
    payload: bytes


def parse(request: bytes) -> Received:
    head, _, payload = request.partition(b"\n\n")
    first_line, *lines = head.decode().split("\n")
    return Received(first_line, dict(line.split(": ", 1) for line in lines), payload)


def answer(text: bytes) -> bytes:
    return b"HOLDFAST/1 ok %d\n" % len(text) + text


class FakeDaemon:
    """Answers each request with `reply`, byte for byte; with None it takes the request and stays silent."""

    def __init__(
        self, home: Path, reply: bytes | None, kind: DoorKind = "unix", note_name: str = "endpoint"
    ) -> None:
        self.received: list[Received] = []
        self.asked = threading.Event()
        self._reply = reply
        self._silent: list[socket.socket] = []
        (home / "run").mkdir(exist_ok=True)
        if kind == "tcp":
            self._listener = socket.create_server(("127.0.0.1", 0))
            (home / "run/token").write_text(f"{TOKEN}\n")
            note = f"tcp {self._listener.getsockname()[1]}"
        else:
            self._listener = socket.socket(socket.AF_UNIX)
            self._listener.bind(str(home / "run/s"))
            self._listener.listen()
            note = f"unix {home}/run/s"
        (home / "run" / note_name).write_text(f"{note}\n")
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes the thread
        self._thread.join()
        self._listener.close()
        for connection in self._silent:
            connection.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.received.append(parse(_read_to_end(connection)))
            self.asked.set()
            if self._reply is None:
                self._silent.append(connection)
                continue
            with connection:
                connection.sendall(self._reply)


def _read_to_end(connection: socket.socket) -> bytes:
    chunks: list[bytes] = []
    while chunk := connection.recv(1 << 20):
        chunks.append(chunk)
    return b"".join(chunks)
