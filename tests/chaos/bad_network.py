"""A network between a machine and a hub that delays, drops, doubles and cuts what goes through it."""

from __future__ import annotations

import contextlib
import socket
import threading
from random import Random

CHUNK = 65_536
LONGEST_DELAY_S = 0.05


class BadNetwork:
    """Listens on a free port and passes on to a server's, for better or worse."""

    def __init__(self, server_port: int, random: Random) -> None:
        self._server_port = server_port
        self._random = random
        self._pairs = set[tuple[socket.socket, socket.socket]]()
        self._closed = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.is_bad = True
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()

    @property
    def port(self) -> int:
        """The port that a machine connects to."""
        return int(self._listener.getsockname()[1])

    def cut(self) -> None:
        """End every connection at once."""
        for pair in list(self._pairs):
            self._end(pair)

    def close(self) -> None:
        self._closed.set()
        # A thread that waits in `accept` is woken by this alone.
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut()
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while not self._closed.is_set():
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(("127.0.0.1", self._server_port), timeout=10)
            except OSError:
                client.close()
                continue
            pair = (client, server)
            self._pairs.add(pair)
            for source, target in (pair, pair[::-1]):
                pump = threading.Thread(target=self._pump, args=(pair, source, target), daemon=True)
                self._threads.append(pump)
                pump.start()

    def _pump(
        self, pair: tuple[socket.socket, socket.socket], source: socket.socket, target: socket.socket
    ) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(CHUNK):
                if not self.is_bad:
                    target.sendall(data)
                    continue
                fate = self._random.random()
                if fate < 0.02:
                    break  # It is lost, and the connection with it.
                self._closed.wait(self._random.uniform(0, LONGEST_DELAY_S) if fate < 0.2 else 0)
                target.sendall(data * 2 if fate > 0.99 else data)
                if fate > 0.96:
                    break  # It arrived, and nobody hears of that.
        self._end(pair)

    def _end(self, pair: tuple[socket.socket, socket.socket]) -> None:
        self._pairs.discard(pair)
        for each in pair:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()
