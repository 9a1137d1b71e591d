"""An agent's end of the line: the relay as a harness starts it, spoken to in raw lines."""

from __future__ import annotations

import json
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Final, Self

from holdfast import relay
from tests.daemon.conftest import LIMIT_S, Lodging

BASE_PYTHON: Final[str] = getattr(sys, "_base_executable", sys.executable)
SESSION_ID: Final = "CLAUDE_CODE_SESSION_ID"
INITIALIZE: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "test", "version": "1"},
}


class Agent:
    """A running relay. Use it as a context manager: leaving it ends what still runs."""

    def __init__(self, lodging: Lodging, cwd: Path, **environment: str) -> None:
        (lodging.home / "bin").mkdir(exist_ok=True)
        (lodging.home / "bin" / "interpreter").write_text(f"{sys.executable}\n")
        self._process = subprocess.Popen(
            [BASE_PYTHON, "-I", "-S", relay.__file__, "claude-code", SESSION_ID, str(lodging.home)],
            cwd=cwd,
            env={"PATH": "/usr/bin:/bin", "HOME": str(lodging.root), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._stdin, stdout = _pipes(self._process)
        self._said: queue.Queue[bytes] = queue.Queue()
        self._numbers = 0
        self._reader = threading.Thread(target=self._read, args=(stdout,), daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(LIMIT_S)
        self._reader.join(LIMIT_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe:
                pipe.close()

    def shake_hands(self) -> dict[str, Any]:
        """The handshake of the protocol's older versions; what the server says of itself."""
        result: dict[str, Any] = self.ask("initialize", INITIALIZE)["result"]
        self.tell("notifications/initialized")
        return result

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """What a tool answers."""
        result: dict[str, Any] = self.ask("tools/call", {"name": tool, "arguments": arguments})["result"]
        return result

    def ask(self, method: str, params: Mapping[str, object] | None = None) -> dict[str, Any]:
        """Send a request and give back the next message that comes."""
        self._numbers += 1
        self.send(request(self._numbers, method, params or {}))
        return self.hear()

    def tell(self, method: str, params: Mapping[str, object] | None = None) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}))

    def send(self, line: str | bytes) -> None:
        self._stdin.write((line.encode() if isinstance(line, str) else line) + b"\n")
        self._stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next message that comes."""
        message: dict[str, Any] = json.loads(self._said.get(timeout=LIMIT_S))
        return message

    def close(self) -> None:
        """Say nothing more."""
        self._stdin.close()

    def reads(self) -> bool:
        """Whether the relay may still read what is said to it."""
        return Path(f"/proc/{self._process.pid}/fd/0").exists()

    def hang_up(self) -> tuple[int, list[dict[str, Any]], bytes]:
        """Say that nothing more will come: the exit status, what was still said, and the complaints."""
        self.close()
        status = self._process.wait(LIMIT_S)
        self._reader.join(LIMIT_S)
        stderr = self._process.stderr.read() if self._process.stderr else b""
        return status, [json.loads(self._said.get()) for _ in range(self._said.qsize())], stderr

    def _read(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            self._said.put(line)


def request(id: str | int, method: str, params: Mapping[str, object]) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


def begin(lodging: Lodging, cwd: Path, session: str = "s1", **fields: str) -> None:
    """A session that its harness has told of."""
    payload = {"session_id": session, "cwd": str(cwd), "hook_event_name": "SessionStart", "source": "startup"}
    lodging.payload(json.dumps({**payload, **fields}), f"start-{session}")


def _pipes(process: subprocess.Popen[bytes]) -> tuple[IO[bytes], IO[bytes]]:
    if process.stdin is None or process.stdout is None:
        raise ValueError("an agent needs both ends")
    return process.stdin, process.stdout
