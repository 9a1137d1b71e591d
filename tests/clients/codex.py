"""Drive the real Codex against a scripted model server, each test in a home of its own.

Headless prompts (`codex exec`), and the server that its terminal and editors talk to (`codex app-server`), in
which one process has many prompts and many sessions. Every wait has a limit, and every process that was
started is ended and reaped.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final, Self, TypeAlias

from tests.clients.model_server import ModelServer
from tests.clients.person import KEY, LIMIT_S, Person, end, pipes

MODEL: Final = "test-model"
CODE_MODEL: Final = "test-model-code"
"""A model that is given one tool, which takes a program; this is what most of the vendor's are."""

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What one headless run said."""

    code: int
    stdout: str
    stderr: str

    @property
    def events(self) -> list[Json]:
        return [json.loads(line) for line in self.stdout.splitlines() if line.startswith("{")]

    @property
    def session(self) -> str:
        started = (one["thread_id"] for one in self.events if one["type"] == "thread.started")
        return str(next(started, ""))

    @property
    def text(self) -> str:
        said = [one["item"] for one in self.events if one["type"] == "item.completed"]
        words = [str(one["text"]) for one in said if one["type"] == "agent_message"]
        return words[-1] if words else ""


class Codex(Person):
    """One person's Codex, and the model server that answers."""

    def __init__(self, binary: Path, root: Path, server: ModelServer, models: list[Json]) -> None:
        super().__init__(root, {"OPENAI_API_KEY": KEY, "TMPDIR": str(root / "tmp"), "SHELL": "/bin/sh"})
        self.binary = binary
        self.folder = self.home / ".codex"
        self.folder.mkdir(exist_ok=True)
        catalog = root / "models.json"
        catalog.write_text(json.dumps({"models": models}), encoding="utf-8")
        self.config = self.folder / "config.toml"
        self.config.write_text(_CONFIG.format(catalog=catalog, url=server.url, model=MODEL), encoding="utf-8")

    def prompt(
        self,
        text: str,
        *flags: str,
        resume: str | None = None,
        fork: str | None = None,
        cwd: Path | None = None,
        limit: float = LIMIT_S,
    ) -> Result:
        """Run one headless prompt to its end."""
        chosen = ["resume", resume] if resume else ["fork", fork] if fork else []
        command = ["exec", "--json", "--skip-git-repo-check", *flags, *chosen, text]
        with self._started(command, cwd, subprocess.DEVNULL) as process:
            try:
                stdout, stderr = process.communicate(timeout=limit)
            finally:
                end(process)
        return Result(process.returncode, stdout, stderr)

    def start(self, text: str, *flags: str) -> subprocess.Popen[str]:
        """Start a headless prompt without waiting for it; whoever starts it ends it."""
        command = ["exec", "--json", "--skip-git-repo-check", *flags, text]
        return self._started(command, None, subprocess.DEVNULL)

    def review_hooks(self) -> None:
        """Trust every hook as it is now, as the person does who looks at them in the review dialog."""
        with self.start_server() as app:
            for entry in app.call("hooks/list", cwds=[str(self.project)])["data"]:
                trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in entry["hooks"]}
                edit = {"keyPath": "hooks.state", "value": trusted, "mergeStrategy": "upsert"}
                app.call("config/batchWrite", edits=[edit])
            app.close()

    def install_plugin(self, marketplace: Path, plugin: str) -> None:
        """Install a plugin from a marketplace, as the person does by its commands."""
        # Tests turn plugins off: Codex would look for a marketplace on the network.
        allowed = self.config.read_text(encoding="utf-8").replace("plugins = false", "plugins = true")
        self.config.write_text(allowed, encoding="utf-8")
        self.printed([str(self.binary), "plugin", "marketplace", "add", str(marketplace)])
        self.printed([str(self.binary), "plugin", "add", plugin])

    def start_server(self, *settings: str) -> AppServer:
        """Start the process that serves many sessions; settings are `key=value`."""
        chosen = [word for one in settings for word in ("-c", one)]
        process = self._started([*chosen, "app-server"], None, subprocess.PIPE)
        return AppServer(process, self.project)

    def rollout(self, session: str) -> Path:
        """Where Codex writes a session down."""
        (found,) = (self.folder / "sessions").rglob(f"rollout-*-{session}.jsonl")
        return found

    def _started(self, arguments: Sequence[str], cwd: Path | None, stdin: int) -> subprocess.Popen[str]:
        return self.started([str(self.binary), *arguments], cwd, stdin)


_QUESTIONS = "item/tool/requestUserInput"


class AppServer:
    """A running `codex app-server`. Use it as a context manager: leaving it kills what still runs."""

    def __init__(self, process: subprocess.Popen[str], project: Path) -> None:
        self._process = process
        self._project = project
        self._stdin, stdout, stderr = pipes(process)
        self._news = threading.Condition()
        self._lines: list[Json] = []
        self._over = False
        self._complaints: list[str] = []
        self._readers = (
            threading.Thread(target=self._read_lines, args=(stdout,), daemon=True),
            threading.Thread(target=self._complaints.extend, args=(stderr,), daemon=True),
        )
        for reader in self._readers:
            reader.start()
        self.call("initialize", clientInfo={"name": "tests", "version": "1"})
        self._write({"method": "initialized"})

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def begin(self, source: str = "startup", cwd: Path | None = None) -> str:
        """A new session; `clear` says that it takes the place of the one before."""
        started = self.call("thread/start", cwd=str(cwd or self._project), sessionStartSource=source)
        return str(started["thread"]["id"])

    def ask(self, session: str, text: str) -> None:
        """A prompt, and its turn to the end."""
        self.send(session, text)
        self.wait_for("turn/completed", session)

    def send(self, session: str, text: str) -> str:
        """A prompt, without waiting for the end of its turn; the turn's id."""
        self._forget("turn/completed", session)
        started = self.call("turn/start", threadId=session, input=[{"type": "text", "text": text}])
        return str(started["turn"]["id"])

    def answer(self, **chosen: str) -> None:
        """What the person answers to the questions, by their ids, as soon as they are asked."""
        self._wait_until(lambda: any(line.get("method") == _QUESTIONS for line in self._lines))
        asked = next(line for line in self._lines if line.get("method") == _QUESTIONS)
        answers = {id: {"answers": [words]} for id, words in chosen.items()}
        self._write({"id": asked["id"], "result": {"answers": answers}})

    def compact(self, session: str) -> None:
        """What `/compact` does."""
        self._forget("turn/completed", session)
        self.call("thread/compact/start", threadId=session)
        self.wait_for("turn/completed", session)

    def call(self, method: str, **parameters: object) -> Json:
        """The result of a request."""
        number = self._write({"id": f"{method} {len(self._lines)}", "method": method, "params": parameters})
        self._wait_until(lambda: any(line.get("id") == number for line in self._lines))
        answer = next(line for line in self._lines if line.get("id") == number)
        assert "result" in answer, f"{method}: {answer}"
        result: Json = answer["result"]
        return result

    def wait_for(self, notice: str, session: str) -> None:
        """Return once the server has sent such a notice about a session."""
        self._wait_until(lambda: any(_is_about(line, notice, session) for line in self._lines))

    def wait_until_ready(self, tools: str) -> None:
        """Return once every session's own server of these tools has started."""
        self._wait_until(lambda: any(_is_ready(line, tools) for line in self._lines))

    def close(self) -> None:
        """Close its input, as an editor that is closed does."""
        self._stdin.close()
        try:
            self._process.wait(LIMIT_S)
        finally:
            self.kill()

    def kill(self) -> None:
        """SIGKILL: none of its hooks gets to run any more. Harmless where it has ended already."""
        end(self._process)
        for reader in self._readers:
            reader.join(LIMIT_S)
        with suppress(BrokenPipeError), self._process:
            pass

    def _write(self, message: Json) -> object:
        self._stdin.write(json.dumps(message) + "\n")
        self._stdin.flush()
        return message.get("id")

    def _forget(self, notice: str, session: str) -> None:
        with self._news:
            self._lines = [line for line in self._lines if not _is_about(line, notice, session)]

    def _wait_until(self, condition: Callable[[], bool]) -> None:
        with self._news:
            self._news.wait_for(lambda: condition() or self._over, LIMIT_S)
            if not condition():
                raise TimeoutError(f"not so; its last lines: {self._lines[-3:]}\n{''.join(self._complaints)}")

    def _read_lines(self, stdout: IO[str]) -> None:
        for line in stdout:
            with self._news:
                self._lines.append(json.loads(line))
                self._news.notify_all()
        with self._news:
            self._over = True
            self._news.notify_all()


def models_of(binary: Path, home: Path) -> list[Json]:
    """Two models for tests, made of one that this Codex knows: with a tool for each thing, and with one."""
    environment = {"HOME": str(home), "PATH": "/usr/bin:/bin"}
    listed = subprocess.run(
        [binary, "debug", "models"], env=environment, capture_output=True, check=True, timeout=LIMIT_S
    )
    known: list[Json] = json.loads(listed.stdout)["models"]
    plain = next(model for model in known if not model.get("tool_mode"))
    ours: Json = {"base_instructions": "You are a test.", "supports_search_tool": False, "upgrade": None}
    return [
        {**plain, **ours, "slug": MODEL},
        {**plain, **ours, "slug": CODE_MODEL, "tool_mode": "code_mode_only"},
    ]


def _is_ready(line: Mapping[str, Any], tools: str) -> bool:
    told = line.get("params", {})
    is_status = line.get("method") == "mcpServer/startupStatus/updated"
    return is_status and (told.get("name"), told.get("status")) == (tools, "ready")


def _is_about(line: Mapping[str, Any], notice: str, session: str) -> bool:
    return line.get("method") == notice and line.get("params", {}).get("threadId") == session


_CONFIG: Final = """\
# Written by a test.
model = "{model}"
model_provider = "test"
model_catalog_json = "{catalog}"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false

[model_providers.test]
name = "test"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0

[analytics]
enabled = false

[feedback]
enabled = false

[features]
plugins = false  # it would look for a marketplace
"""
