"""Drive the real Gemini CLI against a scripted model server, each test in a home of its own.

Headless prompts only. Every wait has a limit, and every process that was started is ended and reaped.
"""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.clients.model_server import ModelServer
from tests.clients.person import KEY, LIMIT_S, Person, end

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

    def compact_early(self) -> None:
        """Have it compact as soon as there is anything to compact."""
        settings = json.loads(self.settings.read_text(encoding="utf-8"))
        settings["model"]["compressionThreshold"] = 0.01
        self.settings.write_text(json.dumps(settings, indent=2), encoding="utf-8")
