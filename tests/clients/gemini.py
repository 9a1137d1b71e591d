"""Drive the real Gemini CLI against a scripted model server, each test in a home of its own.

Headless prompts, and a terminal for what can only be typed. Every wait has a limit, and every process that
was started is ended and reaped.
"""

from __future__ import annotations

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from tests.clients.model_server import ModelServer
from tests.clients.person import KEY, LIMIT_S, Person, end
from tests.clients.product import wait_until

AGAIN_S: Final = 1.5
TIMES: Final = 40
EMPTY: Final = b"\x15"
"""The key that takes away what was typed so far."""
READY: Final = b"Type your message"
ROWS_AND_COLUMNS: Final = (40, 120)
SETTINGS = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
    # Otherwise a small model is asked first which one should answer.
    "model": {"name": "gemini-2.5-flash"},
}


@dataclass(frozen=True, slots=True)
class Result:
    """What one headless run said."""

    code: int
    stdout: str
    stderr: str


class Gemini(Person):
    """One person's Gemini CLI, and the model server that answers."""

    def __init__(self, binary: Path, root: Path, server: ModelServer) -> None:
        super().__init__(
            root,
            {
                "GEMINI_API_KEY": KEY,
                "GOOGLE_GEMINI_BASE_URL": server.url,
                "GEMINI_CLI_TRUST_WORKSPACE": "true",
                "GEMINI_CLI_NO_RELAUNCH": "true",
                "TMPDIR": str(root / "tmp"),
            },
        )
        self.binary = binary
        self.settings = self.home / ".gemini" / "settings.json"
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_text(json.dumps(SETTINGS, indent=2), encoding="utf-8")

    def prompt(self, text: str, *flags: str, resume: bool = False, limit: float = 2 * LIMIT_S) -> Result:
        """Run one headless prompt to its end: in a new session, or in the latest."""
        chosen = ["--resume", "latest"] if resume else []
        command = [str(self.binary), "--prompt", text, "--yolo", *chosen, *flags]
        with self.started(command, None, subprocess.DEVNULL) as process:
            try:
                stdout, stderr = process.communicate(timeout=limit)
            finally:
                end(process)
        return Result(process.returncode, stdout, stderr)

    def start(self, text: str) -> subprocess.Popen[str]:
        """Start a headless prompt without waiting for it; whoever starts it ends it."""
        return self.started([str(self.binary), "--prompt", text, "--yolo"], None, subprocess.DEVNULL)

    def at_terminal(self, *flags: str) -> Terminal:
        """Open it as a person does who sits at a terminal."""
        return Terminal(self, [str(self.binary), "--yolo", *flags])

    def chats(self) -> list[Path]:
        """The files in which it writes sessions down, the oldest first."""
        return sorted(
            (self.home / ".gemini" / "tmp").glob("*/chats/*.jsonl"), key=lambda one: one.stat().st_mtime
        )

    def take_hook_away(self, event: str) -> None:
        """Have it call nobody for this event."""
        settings = json.loads(self.settings.read_text(encoding="utf-8"))
        del settings["hooks"][event]
        self.settings.write_text(json.dumps(settings, indent=2), encoding="utf-8")

    def compact_early(self) -> None:
        """Have it compact as soon as there is anything to compact."""
        settings = json.loads(self.settings.read_text(encoding="utf-8"))
        settings["model"]["compressionThreshold"] = 0.01
        self.settings.write_text(json.dumps(settings, indent=2), encoding="utf-8")


class Terminal:
    """A running Gemini CLI at a terminal. Use it as a context manager: leaving it kills what still runs."""

    def __init__(self, person: Person, command: Sequence[str]) -> None:
        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *ROWS_AND_COLUMNS, 0, 0))
        self._process = subprocess.Popen(
            command,
            cwd=person.project,
            env=person.env | {"TERM": "xterm-256color"},
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            text=True,
            start_new_session=True,
        )
        os.close(theirs)
        self._shown = bytearray()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> Self:
        wait_until(lambda: READY in self._shown, LIMIT_S)
        return self

    def __exit__(self, *_: object) -> None:
        end(self._process)
        self._reader.join(LIMIT_S)
        os.close(self._ours)

    def enter(self, text: str, done: Callable[[], bool]) -> None:
        """Type a line until it is seen on the screen, and press Enter until it was taken.

        While it starts or clears, it drops what is typed; Enter right behind a text counts as a part of that.
        Either may be pressed again without harm: the line is emptied first, and an empty one is not taken.
        """
        before, last_word = len(self._shown), text.rsplit(maxsplit=1)[-1].encode()
        self._press(EMPTY + text.encode(), lambda: last_word in self._shown[before:])
        self._press(b"\r", done)

    def _press(self, keys: bytes, done: Callable[[], bool]) -> None:
        for _ in range(TIMES):
            os.write(self._ours, keys)
            until = time.monotonic() + AGAIN_S
            while time.monotonic() < until:
                if done():
                    return
                time.sleep(0.05)
        raise TimeoutError(self._shown[-2_000:].decode(errors="replace"))

    def _read(self) -> None:
        while True:
            try:
                read = os.read(self._ours, 65_536)
            except OSError:  # Nobody holds the other end any more.
                return
            self._shown += read
