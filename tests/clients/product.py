"""Holdfast as a person has it: its commands run in that person's home, and its daemon ended with the test."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

from holdfast.engine.liveness import is_alive
from tests.clients import commands
from tests.clients.person import Person

LIMIT_S: Final = 30.0
TITLE: Final = "## Session Recovery Context"


class Product:
    """The installed product of one person."""

    def __init__(self, person: Person) -> None:
        self._person = person
        self.home = person.home / ".holdfast"

    def run(self, *arguments: str, cwd: Path | None = None, stdin: str = "") -> str:
        """What a command prints; a command that fails fails the test."""
        done = self._done(arguments, cwd, stdin)
        assert done.returncode == 0, f"holdfast {' '.join(arguments)}: {done.stdout}{done.stderr}"
        return done.stdout

    def json(self, *arguments: str, cwd: Path | None = None) -> Any:  # noqa: ANN401 - it is JSON
        return json.loads(self.run(*arguments, "--json", cwd=cwd))

    def findings(self) -> list[dict[str, Any]]:
        """What doctor finds, whether or not something is wrong."""
        found: list[dict[str, Any]] = json.loads(self._done(("doctor", "--json"), None, "").stdout)
        return found

    def checkpoints(self, session: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.json("checkpoints", "--session", session)
        return found

    def daemon(self) -> int:
        """The daemon's pid; 0 where none runs."""
        try:
            pid = int((self.home / "run" / "lock").read_text())
        except (OSError, ValueError):
            return 0
        return pid if is_alive(pid, 0) else 0

    def kill_daemon(self, how: signal.Signals = signal.SIGKILL) -> None:
        pid = self.daemon()
        assert pid, "no daemon runs"
        os.kill(pid, how)
        if how is not signal.SIGSTOP:
            wait_until(lambda: self.daemon() == 0)

    def end(self) -> None:
        """Leave no daemon behind, whatever the test did to it."""
        wait_until(self._is_down)

    def _is_down(self) -> bool:
        """Whether none runs; one that does is told to stop, also if a relay has just started it."""
        pid = self.daemon()
        with suppress(ProcessLookupError):
            for told in (signal.SIGCONT, signal.SIGTERM) if pid else ():
                os.kill(pid, told)
        return not pid

    def _done(
        self, arguments: Sequence[str], cwd: Path | None, stdin: str
    ) -> subprocess.CompletedProcess[str]:
        return commands.run(arguments, cwd or self._person.project, self._person.env, stdin, limit=LIMIT_S)


@contextmanager
def installed_package(person: Person) -> Generator[Product]:
    """The package where the programs that install tools put it, and nothing set up."""
    person.put_holdfast_on_path()
    product = Product(person)
    try:
        yield product
    finally:
        product.end()


def wait_until(condition: Callable[[], bool], limit: float = LIMIT_S) -> None:
    """Return once something that another process does has come about."""
    until = time.monotonic() + limit
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("it did not come about")
        time.sleep(0.02)
