"""Drive the real OpenClaw against a scripted model server.

Its gateway takes half a minute to start, so that one is at home to many agents, each with a workspace of its
own, and is spoken to over HTTP. Every wait has a limit, and every process that was started is ended.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.clients.install import own_node
from tests.clients.model_server import ModelServer
from tests.clients.openclaw_api import BASE
from tests.clients.person import KEY, LIMIT_S, Person, end

WINDOW: Final = 60_000
FULL: Final = 50_000
"""So many tokens leave no room for the next turn: then it writes notes and compacts by itself."""
CALL: Final = Path(__file__).with_name("openclaw_call.mjs")
START_LIMIT_S: Final = 300.0
TURN_LIMIT_S: Final = 300.0
NOT_NEEDED: Final = (
    *("browser", "canvas", "cua-computer", "device-pair", "file-transfer", "geolocation", "github"),
    *("linux-node", "talk-voice", "xai", "ollama", "openai"),
)


class OpenClaw(Person):
    """One person's OpenClaw, and the model server that answers."""

    def __init__(self, binary: Path, root: Path, server: ModelServer, agents: tuple[str, ...]) -> None:
        super().__init__(root, {"TMPDIR": str(root / "tmp"), "OPENCLAW_DISABLE_BONJOUR": "1"})
        self._node = str(own_node(binary) / "node")
        self._binary = str(binary)
        self.port = _free_port()
        self.state = self.home / ".openclaw"
        self.settings = self.state / "openclaw.json"
        self.state.mkdir(exist_ok=True)
        self._process: subprocess.Popen[str] | None = None
        workspaces = {name: str(self.workspace(name)) for name in agents}
        written = settings(server.url, self.port, workspaces, self.scratch / "openclaw.log")
        self.settings.write_text(f"{json.dumps(written, indent=2)}\n", encoding="utf-8")

    def workspace(self, agent: str) -> Path:
        """The directory that an agent works in."""
        folder = self.project / agent
        folder.mkdir(exist_ok=True)
        return folder

    def start(self) -> None:
        """Start the gateway, and wait until it answers."""
        output = self.scratch / "gateway.out"
        with output.open("a", encoding="utf-8") as log:
            self._process = subprocess.Popen(
                [self._node, self._binary, "gateway", "run"],
                cwd=self.project,
                env=self.env,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                encoding="utf-8",
                start_new_session=True,
            )
        until = time.monotonic() + START_LIMIT_S
        while not self._answers():
            assert self._process.poll() is None, output.read_text(encoding="utf-8")
            assert time.monotonic() < until, "the gateway did not start"
            time.sleep(0.1)

    def kill(self) -> None:
        """End the gateway as a crash does."""
        if self._process is not None:
            end(self._process)
            self._process = None

    def stop(self) -> None:
        """End the gateway as a person does."""
        if self._process is not None:
            os.kill(self._process.pid, signal.SIGTERM)
            self._process.wait(LIMIT_S)
            self._process = None

    def have_summaries_from(self, provider: str) -> None:
        """Have a plugin write the summaries of compactions, from the next start on."""
        told = json.loads(self.settings.read_text(encoding="utf-8"))
        told["agents"]["defaults"]["compaction"]["provider"] = provider
        self.settings.write_text(json.dumps(told, indent=2), encoding="utf-8")

    def session(self, agent: str, name: str = "main") -> Session:
        """A session of an agent, known by its key; it begins with its first prompt."""
        return Session(self, agent, f"agent:{agent}:{name}")

    def call(self, method: str, params: Mapping[str, object]) -> Any:  # noqa: ANN401 - it is JSON
        """What the gateway answers to a call of one of its methods, as its own commands make them."""
        words = (self._node, str(CALL), str(self.port), KEY, method, json.dumps(params))
        return json.loads(self.printed(words, limit=TURN_LIMIT_S))

    def post(self, path: str, body: Mapping[str, object], headers: Mapping[str, str]) -> Any:  # noqa: ANN401 - it is JSON
        request = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}",
            data=json.dumps(body).encode(),
            headers={"content-type": "application/json", "authorization": f"Bearer {KEY}", **headers},
        )
        try:
            with urllib.request.urlopen(request, timeout=TURN_LIMIT_S) as answer:
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{path}: {error.code} {error.read().decode()}") from error

    def _answers(self) -> bool:
        try:
            self.post("/api/v1/admin/rpc", {"method": "health", "params": {}}, {})
        except (AssertionError, OSError):
            return False
        return True


@dataclass(frozen=True, slots=True)
class Session:
    """One session in a gateway."""

    openclaw: OpenClaw
    agent: str
    key: str

    def prompt(self, text: str) -> str:
        """What it answers, after all that comes of it."""
        said = self.openclaw.post(
            "/v1/chat/completions",
            {"model": f"openclaw/{self.agent}", "messages": [{"role": "user", "content": text}]},
            {"x-openclaw-session-key": self.key},
        )
        return str(said["choices"][0]["message"]["content"])

    def compact(self) -> None:
        """As `openclaw sessions compact` does."""
        assert self.openclaw.call("sessions.compact", {"key": self.key})["compacted"]

    def fork(self) -> Session:
        """A new session that begins with all that was said in this one."""
        wanted = {"parentSessionKey": self.key, "fork": True, "agentId": self.agent}
        return Session(self.openclaw, self.agent, str(self.openclaw.call("sessions.create", wanted)["key"]))

    def reset(self) -> None:
        """Begin anew, as `/new` does."""
        said = {"sessionKey": self.key, "message": "/new", "idempotencyKey": f"new {self.key}"}
        assert self.openclaw.call("agent", said)["status"] == "ok"


def settings(url: str, port: int, workspaces: Mapping[str, str], log: Path) -> dict[str, Any]:
    """What a person has in their settings: who answers, and who works where."""
    free = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    model = {
        "id": "large",
        "name": "Large",
        "reasoning": False,
        "input": ["text"],
        "contextWindow": WINDOW,
        "maxTokens": 2_000,
        "cost": free,
    }
    provider = {"baseUrl": f"{url}{BASE}", "apiKey": KEY, "api": "anthropic-messages", "models": [model]}
    compaction = {
        "mode": "safeguard",
        "memoryFlush": {"enabled": True, "softThresholdTokens": 4_000},
        "keepRecentTokens": 200,
        "recentTurnsPreserve": 1,
        "qualityGuard": {"enabled": False},
    }
    defaults = {
        "workspace": next(iter(workspaces.values())),
        "skipBootstrap": True,
        "model": {"primary": "test/large"},
        "compaction": compaction,
    }
    return {
        "gateway": {
            "mode": "local",
            "port": port,
            "bind": "loopback",
            "auth": {"mode": "token", "token": KEY},
            "http": {"endpoints": {"chatCompletions": {"enabled": True}}},
        },
        "update": {"checkOnStart": False},
        "models": {
            "mode": "replace",
            "providers": {"test": provider},
            "catalogRefresh": {"enabled": False},
        },
        "agents": {
            "defaults": defaults,
            "entries": {name: {"workspace": folder} for name, folder in workspaces.items()},
        },
        "plugins": {
            "entries": {
                "admin-http-rpc": {"enabled": True},
                **{name: {"enabled": False} for name in NOT_NEEDED},
            }
        },
        "logging": {"file": str(log), "level": "info"},
        "tools": {"toolSearch": False},
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
