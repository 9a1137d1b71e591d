"""Drive the real Claude Code against a scripted model server, each test in a home of its own.

Headless prompts, and long-lived streams of them. Every wait has a limit, and every process that was started
is ended and reaped.
"""

from __future__ import annotations

import json
import re
import subprocess
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Self, TypeAlias

from tests.clients.model_server import ModelServer
from tests.clients.person import KEY, LIMIT_S, Person, end, pipes

Json: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What one headless run said. `reply` is its result object, empty where it printed none."""

    code: int
    stdout: str
    stderr: str
    reply: Mapping[str, Any]

    @property
    def text(self) -> str:
        return str(self.reply.get("result", ""))

    @property
    def session(self) -> str:
        return str(self.reply.get("session_id", ""))


class Claude(Person):
    """One person's Claude Code, and the model server that answers."""

    def __init__(
        self, binary: Path, root: Path, server: ModelServer, *, env: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(root, _environment(root / "tmp", server.url) | dict(env or {}))
        self.binary = binary

    def prompt(
        self,
        text: str,
        *flags: str,
        resume: str | None = None,
        fork: bool = False,
        session_id: str | None = None,
        cwd: Path | None = None,
        limit: float = LIMIT_S,
    ) -> Result:
        """Run one headless prompt to its end; `fork` continues a copy of the resumed session."""
        chosen = _session_flags(resume, session_id) + (["--fork-session"] if fork else [])
        command = ["-p", text, "--output-format", "json", *chosen, *flags]
        with self._started(command, cwd, stdin=subprocess.DEVNULL) as process:
            try:
                stdout, stderr = process.communicate(timeout=limit)
            finally:
                end(process)
        return Result(process.returncode, stdout, stderr, _result_object(stdout))

    def compact(self, session: str, instructions: str = "") -> Result:
        """Compact a session by hand, as `/compact` does."""
        return self.prompt(f"/compact {instructions}".rstrip(), resume=session)

    def start_stream(
        self,
        *flags: str,
        resume: str | None = None,
        session_id: str | None = None,
        cwd: Path | None = None,
        decide: Callable[[Json], Json] | None = None,
    ) -> Stream:
        """Start a process that takes many prompts, one after the other; `decide` says which tools may run."""
        formats = ["--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        command = ["-p", *formats, *_session_flags(resume, session_id), *flags]
        return Stream(self._started(command, cwd, stdin=subprocess.PIPE), decide)

    def install_hooks(self, command: str, events: Iterable[str]) -> None:
        """Have one command called for the given events. Tests of the product use its own `setup` instead."""
        entry = [{"hooks": [{"type": "command", "command": command}]}]
        self.write_settings({"hooks": dict.fromkeys(events, entry)})

    def write_settings(self, settings: Mapping[str, object]) -> None:
        """Replace the person's own settings file."""
        path = self.home / ".claude" / "settings.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(settings, indent=2), encoding="utf-8")

    def transcript(self, session: str, cwd: Path | None = None) -> Path:
        """Where the client writes a session down. The file appears only after the first prompt's hooks."""
        folder = re.sub(r"[^A-Za-z0-9]", "-", str((cwd or self.project).resolve()))
        return self.home / ".claude" / "projects" / folder / f"{session}.jsonl"

    def records(self, session: str, cwd: Path | None = None) -> list[Json]:
        """The session's transcript, one object per line."""
        lines = self.transcript(session, cwd).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def _started(self, arguments: Sequence[str], cwd: Path | None, stdin: int) -> subprocess.Popen[str]:
        return self.started([str(self.binary), *arguments], cwd, stdin)


class Stream:
    """A running stream-json process. Use it as a context manager: leaving it kills what still runs."""

    def __init__(self, process: subprocess.Popen[str], decide: Callable[[Json], Json] | None) -> None:
        self._process = process
        self._decide = decide
        self._stdin, stdout, stderr = pipes(process)
        self._news = threading.Condition()
        self._lines: list[Json] = []
        self._results_taken = 0
        self._over = False
        self._complaints: list[str] = []
        self._readers = (
            threading.Thread(target=self._read_lines, args=(stdout,), daemon=True),
            # Read all the time, or a talkative client would block on a full pipe.
            threading.Thread(target=self._complaints.extend, args=(stderr,), daemon=True),
        )
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def lines(self) -> tuple[Json, ...]:
        """Everything it has printed so far."""
        with self._news:
            return tuple(self._lines)

    @property
    def stderr(self) -> str:
        return "".join(self._complaints)

    @property
    def session(self) -> str:
        """The id that the newest line carries, or "" before the first; `/clear` changes it."""
        carried = [str(line["session_id"]) for line in self.lines if line.get("session_id")]
        return carried[-1] if carried else ""

    def send(self, text: str) -> None:
        """Write a prompt, without waiting for the answer."""
        self._write({"type": "user", "message": {"role": "user", "content": text}})

    def ask(self, text: str, limit: float = LIMIT_S) -> Json:
        """Write a prompt (or `/compact`, or `/clear`) and wait for its result."""
        self.send(text)
        return self.next_result(limit)

    def next_result(self, limit: float = LIMIT_S) -> Json:
        """The oldest result that has not been given back yet."""
        self.wait_until(lambda: len(self._results()) > self._results_taken, limit)
        self._results_taken += 1
        return self._results()[self._results_taken - 1]

    def wait_until(self, condition: Callable[[], bool], limit: float = LIMIT_S) -> None:
        """Return once `condition` holds; it is looked at after every line."""
        with self._news:
            self._news.wait_for(lambda: condition() or self._over, limit)
            if not condition():
                raise TimeoutError(f"not so; its last lines: {self._lines[-3:]}\n{self.stderr}")

    def close(self, limit: float = LIMIT_S) -> int:
        """Close its input, as a person who leaves does, and give back its exit code."""
        self._stdin.close()
        try:
            return self._process.wait(limit)
        finally:
            self.kill()

    def kill(self) -> None:
        """SIGKILL: none of its hooks gets to run any more. Harmless where it has ended already."""
        end(self._process)
        for reader in self._readers:
            reader.join(LIMIT_S)
        # A prompt that it never read is still in the buffer, and closing tries to write it.
        with suppress(BrokenPipeError), self._process:
            pass

    def _results(self) -> list[Json]:
        return [line for line in self.lines if line["type"] == "result"]

    def _write(self, line: Json) -> None:
        self._stdin.write(json.dumps(line) + "\n")
        self._stdin.flush()

    def _answer(self, asked: Json) -> None:
        """Say whether a tool may run, and with what."""
        if self._decide is not None and asked["request"]["subtype"] == "can_use_tool":
            decision = self._decide(asked["request"])
            answer = {"subtype": "success", "request_id": asked["request_id"], "response": decision}
            self._write({"type": "control_response", "response": answer})

    def _read_lines(self, stdout: IO[str]) -> None:
        for line in stdout:
            told = json.loads(line)
            with self._news:
                self._lines.append(told)
                self._news.notify_all()
            if told["type"] == "control_request":
                self._answer(told)
        with self._news:
            self._over = True
            self._news.notify_all()


def _environment(scratch: Path, url: str) -> dict[str, str]:
    return {
        "ANTHROPIC_API_KEY": KEY,
        "ANTHROPIC_BASE_URL": url,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_TMPDIR": str(scratch),
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_TELEMETRY": "1",
    }


def _session_flags(resume: str | None, session_id: str | None) -> list[str]:
    resumed = ["--resume", resume] if resume else []
    return resumed + (["--session-id", session_id] if session_id else [])


def _result_object(stdout: str) -> Mapping[str, Any]:
    """The result of a run with `--output-format json`, which `--verbose` puts at the end of a list."""
    try:
        printed = json.loads(stdout)
    except ValueError:
        return {}
    last = printed[-1] if isinstance(printed, list) else printed
    return last if isinstance(last, dict) else {}
