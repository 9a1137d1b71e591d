"""Holdfast as a person has it: its commands run in that person's home, and its daemon ended with the test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from holdfast.engine.processes import alive
from tests.clients.claude import Claude

LIMIT_S: Final = 30.0
TITLE: Final = "## Session Recovery Context"


class Product:
    """The installed product of one person."""

    def __init__(self, claude: Claude) -> None:
        self._claude = claude
        self.home = claude.home / ".holdfast"

    def run(self, *arguments: str, cwd: Path | None = None, stdin: str = "") -> str:
        """What a command prints; a command that fails fails the test."""
        done = subprocess.run(
            [sys.executable, "-m", "holdfast.cli", *arguments],
            cwd=cwd or self._claude.project,
            env=self._claude.env,
            input=stdin,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, f"holdfast {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def json(self, *arguments: str, cwd: Path | None = None) -> Any:  # noqa: ANN401 - it is JSON
        return json.loads(self.run(*arguments, "--json", cwd=cwd))

    def checkpoints(self, session: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.json("checkpoints", "--session", session)
        return found

    def daemon(self) -> int:
        """The daemon's pid; 0 where none runs."""
        try:
            pid = int((self.home / "run" / "lock").read_text())
        except (OSError, ValueError):
            return 0
        return pid if alive(pid, 0) else 0

    def kill_daemon(self, how: signal.Signals = signal.SIGKILL) -> None:
        pid = self.daemon()
        assert pid, "no daemon runs"
        os.kill(pid, how)
        if how is not signal.SIGSTOP:
            wait_until(lambda: self.daemon() == 0)

    def end(self) -> None:
        """Leave no daemon behind, whatever the test did to it."""
        if pid := self.daemon():
            os.kill(pid, signal.SIGCONT)
            os.kill(pid, signal.SIGTERM)
            wait_until(lambda: self.daemon() == 0)


def wait_until(condition: Callable[[], bool], limit: float = LIMIT_S) -> None:
    """Return once something that another process does has come about."""
    until = time.monotonic() + limit
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("it did not come about")
        time.sleep(0.02)
