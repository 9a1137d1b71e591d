"""A crowd of sessions that never stops talking, and an account of what was acknowledged to it.

Half of the sessions are known by letters alone; the others write transcripts, and their letters are bells.
Letters are delivered as the hook does it, with its own functions and without its process.
"""

from __future__ import annotations

import itertools
import json
import random
import subprocess
import sys
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from holdfast import hook

HARNESS: Final = "claude-code"
ANSWER_S: Final = 2.0
MANY: Final = 1_000_000


@dataclass
class Crowd:
    """Sessions in one home of Holdfast, below the home of one user."""

    root: Path
    home: Path
    sessions: int
    written: dict[str, list[str]] = field(default_factory=dict)
    """What each session with a transcript wrote into it."""
    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    """The prompts of each session without one that the daemon answered or the spool took."""
    doubtful: set[str] = field(default_factory=set)
    """Prompts of which nobody was told whether they are safe."""
    daemons: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def prepare(self) -> None:
        """The home as setup leaves it."""
        (self.home / "bin").mkdir(mode=0o700, parents=True)
        (self.home / "bin" / "interpreter").write_text(f"{sys.executable}\n")
        (self.root / ".claude" / "projects" / "p").mkdir(parents=True)
        (self.root / "project").mkdir()
        (self.home / "spool").mkdir(mode=0o700)

    def speak(self, number: int) -> None:
        """One session says something new."""
        key, words = f"s-{number % self.sessions}", f"step {number} of the work"
        if number % self.sessions % 2:
            self._write(key, words, number)
        else:
            self._prompt(key, words)

    def transcript(self, key: str) -> Path:
        return self.root / ".claude" / "projects" / "p" / f"{key}.jsonl"

    def _write(self, key: str, words: str, number: int) -> None:
        record = {
            "type": "user",
            "uuid": f"u-{number}",
            "parentUuid": None,
            "isSidechain": False,
            "sessionId": key,
            "cwd": str(self.root / "project"),
            "timestamp": "2026-11-16T10:00:00.000Z",
            "message": {"role": "user", "content": words},
        }
        with self.transcript(key).open("ab") as file:
            file.write(json.dumps(record).encode() + b"\n")
        with self._lock:
            self.written.setdefault(key, []).append(words)
        self._deliver({"hook_event_name": "Stop", "transcript_path": str(self.transcript(key))}, key)

    def _prompt(self, key: str, words: str) -> None:
        safe = self._deliver({"hook_event_name": "UserPromptSubmit", "prompt": words}, key)
        with self._lock:
            if safe:
                self.acknowledged.setdefault(key, []).append(words)
            else:
                self.doubtful.add(words)

    def _deliver(self, fields: dict[str, str], key: str) -> bool:
        """Carry a letter as `hook.carry` does; whether the daemon answered or the spool holds it."""
        payload = json.dumps({"session_id": key, "cwd": str(self.root / "project"), **fields}).encode()
        name = f"{time.time_ns()}-{threading.get_ident()}"
        header = hook.write_header(name, HARNESS, (), "-")
        home = str(self.home)
        try:
            hook.ask(home, header, payload, time.monotonic() + ANSWER_S)
        except ConnectionRefusedError:
            kept = self._keep(name, header, payload)
            with suppress(OSError, ValueError):
                hook.ask_when_up(home, header, payload, self.start(), time.monotonic() + hook.STARTING_TIME)
                kept = True
                hook.discard(f"{home}/spool/{name}.event")
            return kept
        except (OSError, ValueError):
            return self._keep(name, header, payload)
        return True

    def _keep(self, name: str, header: bytes, payload: bytes) -> bool:
        try:
            hook.write(f"{self.home}/spool/{name}.probe", header + payload)
        except OSError:
            return False
        hook.discard(f"{self.home}/spool/{name}.probe")
        hook.keep(str(self.home), name, header, payload)
        return True

    def start(self) -> subprocess.Popen[bytes]:
        """Start a daemon as a hook does, which does not ask whether there is one."""
        daemon = hook.start_daemon(str(self.home))
        with self._lock:
            self.daemons.append(daemon)
        return daemon

    def reap(self) -> None:
        """Let no daemon that ended stay in the table of processes."""
        with self._lock:
            for daemon in self.daemons:
                daemon.poll()

    def talk(self, rate: float, stop: threading.Event, place: int, places: int) -> threading.Thread:
        """One of several who say so many things a second until they are told to stop."""
        rhythm = random.Random(place)

        def go_on() -> None:
            numbers = itertools.count(place, places)
            while not stop.wait(rhythm.expovariate(rate)):
                self.speak(next(numbers))

        thread = threading.Thread(target=go_on)
        thread.start()
        return thread
