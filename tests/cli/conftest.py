"""A person at a shell, with a home and a Holdfast of their own; no daemon outlives a test."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from holdfast.engine.liveness import lock_holder
from tests import fork_server

TIME_LIMIT = 60.0
HARNESS = "claude-code"


@dataclass(frozen=True, slots=True)
class Done:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> Any:  # noqa: ANN401 - a test knows what it asked for
        return json.loads(self.out)


@dataclass(frozen=True, slots=True)
class Person:
    """Someone with a directory of their own, who types commands in their project."""

    root: Path
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.root / "holdfast"

    @property
    def user_home(self) -> Path:
        return self.root / "user"

    @property
    def project(self) -> Path:
        return self.root / "project"

    @property
    def settings(self) -> Path:
        return self.user_home / ".claude" / "settings.json"

    @property
    def environment(self) -> dict[str, str]:
        own = {"HOME": str(self.user_home), "HOLDFAST_HOME": str(self.home), "PATH": str(self.root / "bin")}
        return own | self.variables

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "holdfast.cli", *words]

    def types(self, *words: str, given: str | bytes = b"", cwd: Path | None = None) -> Done:
        stdin = given.encode() if isinstance(given, str) else given
        done = fork_server.run(
            self.command(*words),
            input=stdin,
            capture_output=True,
            env=self.environment,
            cwd=cwd or self.project,
            timeout=TIME_LIMIT,
            check=False,
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def prompts(self, text: str, session: str = "s1") -> Done:
        """The hook event of a prompt in a session that has no transcript."""
        payload = {
            "session_id": session,
            "transcript_path": None,
            "cwd": str(self.project),
            "hook_event_name": "UserPromptSubmit",
            "prompt": text,
        }
        return self.types("hook", "--harness", HARNESS, given=json.dumps(payload))


@pytest.fixture
def person() -> Iterator[Person]:
    # Not tmp_path: a socket's path must be short.
    root = Path(tempfile.mkdtemp(prefix="hf-")).resolve()
    someone = Person(root)
    someone.settings.parent.mkdir(parents=True)
    someone.project.mkdir()
    try:
        yield someone
        if lock_holder(someone.home):
            assert someone.types("down").status == 0
        assert not lock_holder(someone.home), "a daemon outlived its test"
    finally:
        if holder := lock_holder(someone.home):
            os.kill(holder, signal.SIGKILL)
        shutil.rmtree(root, ignore_errors=True)
