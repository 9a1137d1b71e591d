"""A newcomer: someone with an empty home who installs Holdfast with uv or pipx, from a shelf of wheels.

Their environment is written out here in full. No installer of theirs reaches the network: it finds Holdfast
on the shelf, as on a package index, and what Holdfast needs beside it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from tests.clients.person import Person
from tests.clients.product import Product
from tests.install.prepare import PACKAGES, TOOLS

SILENT: Final = (0, "", "")
"""How a hook ends that has nothing to say: its status, stdout and stderr."""
INSTALL_LIMIT_S: Final = 240.0
LIMIT_S: Final = 60.0
BASE_PYTHON: Final = getattr(sys, "_base_executable", sys.executable)


class Shelf:
    """A folder that installers look at as they look at a package index."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder

    def publish(self, wheel: Path) -> None:
        """Put one more version on the shelf."""
        shutil.copy(wheel, self.folder)


class Newcomer(Person):
    """Someone without a project yet: they are in an empty directory."""

    def __init__(self, root: Path, shelf: Shelf, uv_cache: Path) -> None:
        super().__init__(root, environment(root, shelf, uv_cache))

    def types(
        self, *words: str, stdin: str = "", limit: float = INSTALL_LIMIT_S, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a program as they would type it."""
        program = shutil.which(words[0], path=self.env["PATH"])
        assert program, f"{words[0]} is not on their search path"
        return subprocess.run(
            [program, *words[1:]],
            cwd=self.project,
            env={**self.env, **variables},
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            timeout=limit,
            check=False,
        )

    def gets(self, *words: str) -> str:
        """What a program prints that must end well."""
        done = self.types(*words)
        assert done.returncode == 0, f"{' '.join(words)}: {done.stdout}{done.stderr}"
        return done.stdout

    def has(self, program: str) -> bool:
        return shutil.which(program, path=self.env["PATH"]) is not None

    def settings(self) -> Any:  # noqa: ANN401 - it is JSON
        """Claude Code's settings."""
        return json.loads((self.home / ".claude" / "settings.json").read_text(encoding="utf-8"))

    def hook_command(self) -> str:
        """The command line that Claude Code runs when a prompt is submitted."""
        return str(self.settings()["hooks"]["UserPromptSubmit"][0]["hooks"][0]["command"])

    def status_command(self) -> str:
        """The command line of Claude Code's status line."""
        return str(self.settings()["statusLine"]["command"])

    def relay_command(self) -> list[str]:
        """How Claude Code starts Holdfast's MCP server."""
        servers = json.loads((self.home / ".claude.json").read_text(encoding="utf-8"))["mcpServers"]
        return [servers["holdfast"]["command"], *servers["holdfast"]["args"]]

    def fires_prompt(self, number: int) -> tuple[int, str, str]:
        """Run the hook for a prompt of its own: status, stdout and stderr."""
        fields = {"session_id": "s1", "prompt_id": f"p{number}", "prompt": f"Do step {number}."}
        done = self.fires(self.hook_command(), hook_event_name="UserPromptSubmit", **fields)
        return done.returncode, done.stdout, done.stderr

    def fires(self, command: str, **fields: object) -> subprocess.CompletedProcess[str]:
        """Run a harness's command line as the harness does, with a hook event on stdin."""
        return self.types("sh", "-c", command, stdin=json.dumps({"cwd": str(self.project), **fields}))


class Installed(Product):
    """The Holdfast that a newcomer has installed: its own program, not the one of this tree."""

    def __init__(self, newcomer: Newcomer) -> None:
        super().__init__(newcomer)
        self._newcomer = newcomer

    def types(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of it, however it ends."""
        return self._newcomer.types("holdfast", *words, limit=LIMIT_S)

    def version(self) -> str:
        """The version of the daemon that runs; empty if none answers."""
        status = json.loads(self.types("status", "--json").stdout)
        return str(status.get("version", ""))

    def prompts(self) -> int:
        """How many prompts the only session holds."""
        (session,) = self.json("sessions")
        return int(self.json("show", session["session_key"])["prompt_count"])

    def log(self) -> str:
        log = self.home / "logs" / "daemon.log"
        return log.read_text(encoding="utf-8") if log.exists() else ""

    def _done(
        self, arguments: Sequence[str], cwd: Path | None, stdin: str
    ) -> subprocess.CompletedProcess[str]:
        return self._newcomer.types("holdfast", *arguments, stdin=stdin, limit=LIMIT_S)


def environment(root: Path, shelf: Shelf, uv_cache: Path) -> Mapping[str, str]:
    """The variables of someone with this root; pre-releases count, since the tree may be one."""
    places = (str(PACKAGES), str(shelf.folder))
    # Of the tools only these two: no Python and no pip beside them.
    tools = root / "tools"
    tools.mkdir(parents=True, exist_ok=True)
    for name in ("uv", "uvx", "pipx"):
        if not (tools / name).exists():
            (tools / name).symlink_to(TOOLS / name)
    return {
        "PATH": os.pathsep.join((str(root / "home" / ".local" / "bin"), str(tools), "/usr/bin", "/bin")),
        "TMPDIR": str(root / "tmp"),
        "UV_CACHE_DIR": str(uv_cache),
        "UV_OFFLINE": "1",
        "UV_FIND_LINKS": ",".join(places),
        "UV_PRERELEASE": "allow",
        "UV_PYTHON": BASE_PYTHON,
        "UV_PYTHON_DOWNLOADS": "never",
        "UV_SYSTEM_CERTS": "1",
        "PIPX_DEFAULT_BACKEND": "pip",
        "PIPX_DEFAULT_PYTHON": BASE_PYTHON,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": " ".join(places),
        "PIP_PRE": "1",
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


def held_files(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, by its path in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
