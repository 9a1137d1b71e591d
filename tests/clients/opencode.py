"""Drive the real OpenCode against a scripted model server.

It takes seconds to start, so that one server is at home to many sessions and projects; a headless prompt is
run where its own process matters. Every wait has a limit, and every process that was started is ended.
"""

from __future__ import annotations

import json
import subprocess
import urllib.request
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

from tests.clients.install import OPENCODE
from tests.clients.model_server import ModelServer
from tests.clients.opencode_api import BASE
from tests.clients.person import KEY, LIMIT_S, Person, end

PLUGIN: Final = "@opencode-ai/plugin"
WINDOW: Final = 100_000
LONGEST_ANSWER: Final = 8_000
FULL: Final = 97_000
"""So many tokens leave no room for the longest answer: then it compacts by itself."""


@dataclass(frozen=True, slots=True)
class Result:
    """What one headless run said."""

    code: int
    stdout: str
    stderr: str


class OpenCode(Person):
    """One person's OpenCode, and the model server that answers."""

    def __init__(self, binary: Path, root: Path, server: ModelServer) -> None:
        off = ("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS")
        super().__init__(
            root, {"TMPDIR": str(root / "tmp"), **{f"OPENCODE_DISABLE_{name}": "1" for name in off}}
        )
        self.binary = binary
        self.folder = self.home / ".config" / "opencode"
        self.settings = self.folder / "opencode.jsonc"
        self._give_what_it_would_install()
        told = json.dumps(settings(server.url), indent=2)
        # With a comment, and a comma too many, as people have them.
        self.settings.write_text(f"// What I like.\n{told[:-2]},\n}}\n", encoding="utf-8")

    def _give_what_it_would_install(self) -> None:
        """At each start it asks npm for this package, and waits for more than a minute if nobody answers."""
        package = self.folder / "node_modules" / PLUGIN
        package.mkdir(parents=True, exist_ok=True)
        wants = {"dependencies": {PLUGIN: OPENCODE.version}}
        has = {"": wants, f"node_modules/{PLUGIN}": {"version": OPENCODE.version}}
        lock = {"name": "opencode", "lockfileVersion": 3, "requires": True, "packages": has}
        for file, content in (
            (package / "package.json", {"name": PLUGIN, "version": OPENCODE.version}),
            (self.folder / "package.json", wants),
            (self.folder / "package-lock.json", lock),
        ):
            file.write_text(json.dumps(content), encoding="utf-8")

    def make_project(self, name: str) -> Path:
        """One more project of theirs, a repository with one commit."""
        folder = self.project.parent / name
        folder.mkdir()
        (folder / "README.md").write_text("A project.\n", encoding="utf-8")
        for words in (("init", "--quiet"), ("add", "."), ("commit", "--quiet", "--message", "Begin")):
            self.git(*words, cwd=folder)
        return folder

    def prompt(self, text: str, *flags: str, limit: float = 2 * LIMIT_S) -> Result:
        """Run one headless prompt to its end."""
        with self.started([str(self.binary), "run", *flags], None, subprocess.PIPE) as process:
            try:
                # An argument with spaces would be quoted by it.
                stdout, stderr = process.communicate(text, timeout=limit)
            finally:
                end(process)
        return Result(process.returncode, stdout, stderr)

    def start(self, text: str, *flags: str) -> subprocess.Popen[str]:
        """Start a headless prompt without waiting for it; whoever starts it ends it."""
        process = self.started([str(self.binary), "run", *flags], None, subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(text)
        process.stdin.close()
        return process

    @contextmanager
    def serve(self) -> Generator[Served]:
        """A server that listens, ended however the test ends."""
        command = [str(self.binary), "serve", "--port", "0", "--hostname", "127.0.0.1"]
        with self.started(command, None, subprocess.DEVNULL) as process:
            try:
                yield Served(_url(process), process)
            finally:
                end(process)


def settings(url: str) -> dict[str, Any]:
    """What a person has in their settings: who answers, and that nothing has to be asked."""
    limit = {"context": WINDOW, "output": LONGEST_ANSWER}
    provider = {
        "npm": "@ai-sdk/anthropic",
        "options": {"baseURL": f"{url}{BASE}", "apiKey": KEY},
        "models": {"large": {"name": "Large", "limit": limit}, "small": {"name": "Small", "limit": limit}},
    }
    return {
        "model": "test/large",
        "small_model": "test/small",
        "provider": {"test": provider},
        "permission": {"*": "allow"},
        "share": "disabled",
    }


class Served:
    """A running server of OpenCode; each project is a directory that requests name."""

    def __init__(self, url: str, process: subprocess.Popen[str]) -> None:
        self.url = url
        self.process = process

    def session(self, project: Path) -> Session:
        """A new session."""
        told = self.ask("POST", "/session", project, {})
        return Session(self, project, str(told["id"]))

    def ask(self, method: str, path: str, project: Path, body: Mapping[str, object] | None) -> Any:  # noqa: ANN401 - it is JSON
        request = urllib.request.Request(
            f"{self.url}{path}?{urlencode({'directory': project})}",
            data=None if body is None else json.dumps(body).encode(),
            headers={"content-type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=2 * LIMIT_S) as answer:
            said = answer.read()
        return json.loads(said) if said else None


@dataclass(frozen=True, slots=True)
class Session:
    """One session in a server."""

    server: Served
    project: Path
    id: str

    def prompt(self, text: str) -> None:
        """Say something, and wait for all that comes of it."""
        self.server.ask(
            "POST",
            f"/session/{self.id}/message",
            self.project,
            {"parts": [{"type": "text", "text": text}]},
        )

    def questions(self) -> list[str]:
        """The ids of what the person is asked and has not answered."""
        asked = self.server.ask("GET", "/question", self.project, None)
        return [str(one["id"]) for one in asked if one["sessionID"] == self.id]

    def answer(self, question: str, answer: str) -> None:
        """Choose this answer."""
        self.server.ask("POST", f"/question/{question}/reply", self.project, {"answers": [[answer]]})

    def fork(self) -> Session:
        """A new session that begins with all that was said in this one."""
        told = self.server.ask("POST", f"/session/{self.id}/fork", self.project, {})
        return Session(self.server, self.project, str(told["id"]))

    def compact(self) -> None:
        """As `/compact` does."""
        asked = {"providerID": "test", "modelID": "large"}
        assert self.server.ask("POST", f"/session/{self.id}/summarize", self.project, asked) is True


def _url(process: subprocess.Popen[str]) -> str:
    """Where a server says that it listens."""
    assert process.stdout is not None
    for line in process.stdout:
        if "listening on " in line:
            return line.rpartition(" ")[2].strip()
    raise AssertionError(f"it did not listen: {process.stderr.read() if process.stderr else ''}")
