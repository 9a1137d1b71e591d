"""A server on loopback that answers as a provider's API does, or as badly as one can."""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self, TypeAlias, cast

Json: TypeAlias = dict[str, Any]
LONGEST_WAIT_S = 30.0


@dataclass(frozen=True)
class Said:
    """One answer: a body, as it is or as JSON; `held`: only once the gate is open."""

    body: bytes | Json
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    held: bool = False


def anthropic(text: str, stop: str = "end_turn", **usage: int) -> Said:
    content = [{"type": "text", "text": text}] if text else []
    counted = {"input_tokens": 100, "output_tokens": 10, **usage}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": content}
    return Said({**message, "stop_reason": stop, "stop_sequence": None, "usage": counted})


def openai(text: str, stop: str = "stop", **message: str) -> Said:
    choice = {"index": 0, "finish_reason": stop, "message": {"role": "assistant", "content": text, **message}}
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
    head = {"id": "c_1", "object": "chat.completion", "created": 1, "model": "m"}
    return Said({**head, "choices": [choice], "usage": usage})


@dataclass(frozen=True)
class Seen:
    path: str
    headers: Mapping[str, str]
    body: Json


class ApiServer:
    """Gives its answers one after the other, and remembers what it was asked."""

    def __init__(self) -> None:
        self.answers: list[Said] = []
        self.seen: list[Seen] = []
        self.gate = threading.Event()
        self._listener = _Listener(self)
        self._thread = threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.gate.set()
        self._listener.shutdown()
        self._listener.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._listener.server_port}"

    def script(self, *answers: Said) -> None:
        self.answers += answers

    def answer(self, seen: Seen) -> Said:
        self.seen.append(seen)
        said = self.answers.pop(0)
        if said.held:
            self.gate.wait(LONGEST_WAIT_S)
        return said


class _Listener(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, owner: ApiServer) -> None:
        super().__init__(("127.0.0.1", 0), _Exchange)
        self.owner = owner

    def handle_error(self, request: Any, client_address: Any) -> None:  # noqa: ANN401 - socketserver's own types
        """Say nothing: a client that did not wait is what some tests are about."""


class _Exchange(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        headers = {name.lower(): value for name, value in self.headers.items()}
        said = cast("_Listener", self.server).owner.answer(Seen(self.path, headers, body))
        content = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
        self.send_response(said.status)
        for name, value in {"Content-Type": "application/json", **said.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Say nothing: the terminal belongs to pytest."""
