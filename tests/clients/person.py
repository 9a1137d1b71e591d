"""A person with a home and a project of their own, in which they run a harness.

Nothing of the real person's configuration, credentials or environment is in it: the environment is written
out here in full. Every process that was started is ended and reaped.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Final

KEY: Final = "dummy-test-key"
LIMIT_S: Final = 60.0


class Person:
    """A home, a project directory, and the environment in which everything of theirs runs.

    Two harnesses of one person are two of these with the same root. The project is an empty directory until
    `make_repository` is called.
    """

    def __init__(self, root: Path, environment: Mapping[str, str]) -> None:
        self.home = root / "home"
        self.project = root / "project"
        self.scratch = root / "tmp"
        for directory in (self.home, self.project, self.scratch):
            directory.mkdir(parents=True, exist_ok=True)
        self.env = {
            "PATH": "/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            **environment,
        }

    def put_holdfast_on_path(self) -> None:
        """Make `holdfast` a command of theirs, where tools for the installation of programs put it."""
        program = self.home / ".local" / "bin" / "holdfast"
        program.parent.mkdir(parents=True)
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m holdfast.cli "$@"\n', encoding="utf-8")
        program.chmod(0o755)

    def make_repository(self) -> None:
        """Make the project a git repository with one commit."""
        self.git("init", "--quiet", "--initial-branch=main")
        (self.project / "README.md").write_text("A project.\n", encoding="utf-8")
        self.git("add", ".")
        self.git("commit", "--quiet", "--message", "Begin")

    def git(self, *arguments: str, cwd: Path | None = None) -> str:
        """What git prints, run with no configuration but the repository's own."""
        identity = ("-c", "user.name=Test", "-c", "user.email=test@example.invalid")
        return subprocess.run(
            ["git", *identity, *arguments],
            cwd=cwd or self.project,
            env=self.env,
            check=True,
            capture_output=True,
            text=True,
            timeout=LIMIT_S,
        ).stdout

    def printed(
        self, command: Sequence[str], env: Mapping[str, str] | None = None, limit: float = LIMIT_S
    ) -> str:
        """What a command of theirs prints that must end well."""
        done = subprocess.run(
            command,
            cwd=self.project,
            env=env or self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def started(self, command: Sequence[str], cwd: Path | None, stdin: int) -> subprocess.Popen[str]:
        """A process of theirs."""
        return subprocess.Popen(
            command,
            cwd=cwd or self.project,
            env=self.env,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            # A group of its own, so that ending it also ends the tools and hooks that it started.
            start_new_session=True,
        )


def end(process: subprocess.Popen[str]) -> None:
    """Kill a process that still runs, with its group, and reap it."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(LIMIT_S)


def pipes(process: subprocess.Popen[str]) -> tuple[IO[str], IO[str], IO[str]]:
    """The three pipes of a process that was started with all of them."""
    stdin, stdout, stderr = process.stdin, process.stdout, process.stderr
    if stdin is None or stdout is None or stderr is None:
        raise ValueError("a stream needs all three of its pipes")
    return stdin, stdout, stderr
