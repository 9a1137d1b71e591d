"""A harness, as far as a hook can tell: it runs the installed command line and reads what that prints."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from holdfast import hook
from tests.hook.fake_daemon import Received, parse

BASE_PYTHON: str = getattr(sys, "_base_executable", sys.executable)
CARRIED = ("ALPHA_SESSION_ID", "ALPHA_PID")
QUIET = ("Stop", "SessionEnd")
SECRETS = {"ANTHROPIC_API_KEY": "sk-ant-made-up", "ALPHA_MESSAGING_TOKEN": "token-made-up"}
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent", "ALPHA_SESSION_ID": "s-1", **SECRETS}
NOTHING = (0, b"", b"")


@dataclass(frozen=True, slots=True)
class Harness:
    """Its hooks are set up for the Holdfast home at `home`."""

    home: Path

    @property
    def command(self) -> str:
        return hook.command(BASE_PYTHON, str(self.home / "bin/hook.py"), "alpha", CARRIED, QUIET)

    @property
    def words(self) -> list[str]:
        """The command line without its ending, which would hide how the hook ended and what it said."""
        return shlex.split(self.command.removesuffix(" 2>/dev/null || :"))

    def fire(self, payload: bytes, environment: Mapping[str, str] | None = None) -> tuple[int, bytes, bytes]:
        """Exit status, stdout and stderr of the hook."""
        ran = subprocess.run(
            self.words,
            input=payload,
            env={**ENVIRONMENT, **(environment or {})},
            capture_output=True,
            check=False,
            timeout=60,
        )
        return ran.returncode, ran.stdout, ran.stderr

    def start(self) -> subprocess.Popen[bytes]:
        """The hook as our own child, with its pipes in the test's hands."""
        pipe = subprocess.PIPE
        return subprocess.Popen(self.words, stdin=pipe, stdout=pipe, stderr=pipe, env=ENVIRONMENT)

    def spooled(self) -> list[Received]:
        return [parse(path.read_bytes()) for path in sorted((self.home / "spool").glob("*.event"))]

    def spooled_fields(self) -> dict[str, object]:
        (only,) = self.spooled()
        fields: dict[str, object] = json.loads(only.payload)
        return fields

    def spool_names(self) -> list[str]:
        return sorted(path.name for path in (self.home / "spool").glob("*"))

    def counted(self, name: str) -> int:
        return int((self.home / "spool" / name).read_text())


def payload(event: str, **fields: object) -> bytes:
    return json.dumps({"session_id": "s-1", "hook_event_name": event, **fields}).encode()
