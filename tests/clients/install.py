"""Install the pinned harnesses into a cache outside the repository and print where their binaries are.

A prepared copy is used as it is. A new one is installed beside its final place and renamed into it, so an
interrupted run leaves nothing that looks finished, and two runs at once end with one whole installation.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

NPM_LIMIT_S = 600.0
MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class InstallError(Exception):
    """A client could not be installed; the message says what the person can do."""


@dataclass(frozen=True, slots=True)
class Client:
    """A harness as npm has it: `binary` is found below the directory that it is installed into."""

    name: str
    title: str
    package: str
    version: str
    binary: str
    also: tuple[str, ...] = ()
    """What is installed with it, each at its version."""
    node: str = ""
    """The Node.js that is installed first, where it takes no other to be installed and run by."""

    def prefix(self) -> Path:
        """Where it lives: each version in its own directory, so that pins never mix."""
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        clients = os.environ.get("HOLDFAST_CLIENTS") or Path(cache) / "holdfast-clients"
        return Path(clients) / f"{self.name}-{self.version}"

    def installed(self) -> Path | None:
        """The binary of a finished installation, or None where there is none yet."""
        found = self._binary(self.prefix())
        return found if found is not None and os.access(found, os.X_OK) else None

    def install(self) -> Path:
        """The binary, installed first if need be."""
        present = self.installed()
        if present is not None:
            return present
        npm = shutil.which("npm")
        if npm is None:
            raise InstallError("npm is not on PATH; install Node.js with npm to run the real-client tests")
        target = self.prefix()
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".installing-", dir=target.parent) as scratch:
            fresh = Path(scratch) / "fresh"
            fresh.mkdir()
            if self.node:
                _run_npm(npm, fresh, f"node@{self.node}")
            _run_npm(npm, fresh, f"{self.package}@{self.version}", *self.also)
            self._check_version(self._binary(fresh), home=Path(scratch))
            self._move_into_place(fresh, target)
        return self.install()

    def _binary(self, root: Path) -> Path | None:
        return next(iter(sorted(root.glob(self.binary))), None)

    def _check_version(self, binary: Path | None, home: Path) -> None:
        # npm may skip the script that puts the real binary in the place of a stub; only running it tells.
        if binary is None:
            raise InstallError(f"npm finished, but {self.package} has no `{self.binary}`")
        try:
            answer = subprocess.run(
                [binary, "--version"],
                env={"PATH": f"{own_node(binary)}:/usr/bin:/bin", "HOME": str(home)},
                capture_output=True,
                encoding="utf-8",
                timeout=60,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallError(f"npm finished, but {binary} does not run: {error}") from error
        if self.version not in answer.stdout.split():
            said = (answer.stdout + answer.stderr).strip()
            raise InstallError(f"the installed client should be {self.version} but says: {said}")

    def _move_into_place(self, fresh: Path, target: Path) -> None:
        try:
            fresh.rename(target)
        except OSError as error:
            # Another run that finished first is as good; anything else there is not ours to remove.
            if self.installed() is None:
                raise InstallError(
                    f"{target} is in the way and holds no working client; remove it"
                ) from error


CLAUDE_CODE = Client(
    "claude-code", "Claude Code", "@anthropic-ai/claude-code", "2.1.325", "node_modules/.bin/claude"
)
# The native binary itself: what npm puts in front of it costs another start of Node each time.
CODEX = Client(
    "codex",
    "Codex",
    "@openai/codex",
    "0.166.0",
    f"node_modules/@openai/codex-*-{MACHINES.get(platform.machine().lower(), '*')}/vendor/*/bin/codex",
)
# Programs that check any server of MCP, and the Node.js that they need.
MCP_CHECKS = Client(
    "mcp-inspector-2.12.0-conformance-0.2.0-alpha.12-node",
    "MCP Inspector, and the conformance suite, on Node.js",
    "node",
    "v24.21.0",
    "node_modules/node/bin/node",
    ("@modelcontextprotocol/inspector@2.12.0", "@modelcontextprotocol/conformance@0.2.0-alpha.12"),
)
# pi, whose session files others write too; later versions name packages that are not published.
PI = Client(
    "pi-0.87.1-node",
    "pi, on Node.js",
    "node",
    "v24.21.0",
    "node_modules/node/bin/node",
    ("@earendil-works/pi-coding-agent@0.87.1",),
)
GEMINI = Client("gemini", "Gemini CLI", "@google/gemini-cli", "0.61.0", "node_modules/.bin/gemini")
# The native binary itself; npm puts one for older processors beside it.
OPENCODE = Client(
    "opencode",
    "OpenCode",
    "opencode-ai",
    "1.18.33",
    f"node_modules/opencode-*-{MACHINES.get(platform.machine().lower(), '*')}/bin/opencode",
)
OPENCLAW = Client(
    "openclaw", "OpenClaw", "openclaw", "2026.9.6", "node_modules/openclaw/openclaw.mjs", node="24.21.0"
)
CLIENTS = (CLAUDE_CODE, CODEX, GEMINI, OPENCODE, OPENCLAW, MCP_CHECKS, PI)


def own_node(binary: Path) -> Path:
    """The directory of the Node.js that was installed with a client; there may be none."""
    inside = next(folder for folder in binary.parents if folder.name == "node_modules")
    return inside / "node" / "bin"


def _run_npm(npm: str, root: Path, *packages: str) -> None:
    command = [npm, "install", "--prefix", str(root), "--no-audit", "--no-fund", *packages]
    try:
        done = subprocess.run(
            command,
            cwd=root,
            env={
                **os.environ,
                "PATH": f"{root / 'node_modules' / 'node' / 'bin'}:{os.environ.get('PATH', '')}",
            },
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            timeout=NPM_LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired as error:
        raise InstallError(f"npm did not finish within {NPM_LIMIT_S:.0f} s") from error
    if done.returncode != 0:
        raise InstallError(f"`{' '.join(command)}` failed:\n{done.stdout}")


def main(names: list[str]) -> int:
    chosen = [client for client in CLIENTS if client.name in names] if names else CLIENTS
    unknown = set(names) - {client.name for client in CLIENTS}
    if unknown:
        known = ", ".join(client.name for client in CLIENTS)
        print(f"error: no such client: {', '.join(sorted(unknown))}; one of: {known}", file=sys.stderr)
        return 1
    for client in chosen:
        try:
            binary = client.install()
        except InstallError as error:
            print(f"error: {client.title}: {error}", file=sys.stderr)
            return 1
        print(f"{client.title} {client.version}: {binary}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
