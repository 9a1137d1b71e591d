"""Install the pinned Claude Code into a cache outside the repository and print where its binary is.

A prepared copy is used as it is. A new one is installed beside its final place and renamed into it, so an
interrupted run leaves nothing that looks finished, and two runs at once end with one whole installation.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGE = "@anthropic-ai/claude-code"
VERSION = "2.1.325"
NPM_LIMIT_S = 600.0


class InstallError(Exception):
    """The client could not be installed; the message says what the person can do."""


def prefix() -> Path:
    """Where the pinned client lives: each version in its own directory, so that pins never mix."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    clients = os.environ.get("HOLDFAST_CLIENTS") or Path(cache) / "holdfast-clients"
    return Path(clients) / f"claude-code-{VERSION}"


def installed() -> Path | None:
    """The binary of a finished installation, or None where there is none yet."""
    binary = _binary(prefix())
    return binary if os.access(binary, os.X_OK) else None


def install() -> Path:
    """The binary of the pinned client, installed first if need be."""
    present = installed()
    if present is not None:
        return present
    npm = shutil.which("npm")
    if npm is None:
        raise InstallError("npm is not on PATH; install Node.js with npm to run the real-client tests")
    target = prefix()
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".installing-", dir=target.parent) as scratch:
        fresh = Path(scratch) / "fresh"
        fresh.mkdir()
        _run_npm(npm, fresh)
        _check_version(_binary(fresh), home=Path(scratch))
        _move_into_place(fresh, target)
    return _binary(target)


def _binary(root: Path) -> Path:
    return root / "node_modules" / ".bin" / "claude"


def _run_npm(npm: str, root: Path) -> None:
    command = [npm, "install", "--prefix", str(root), "--no-audit", "--no-fund", f"{PACKAGE}@{VERSION}"]
    try:
        done = subprocess.run(
            command,
            cwd=root,
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


def _check_version(binary: Path, home: Path) -> None:
    # npm may skip the script that puts the real binary in the place of a stub; only running it tells.
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(home)}
    try:
        answer = subprocess.run(
            [binary, "--version"],
            env=environment,
            capture_output=True,
            encoding="utf-8",
            timeout=60,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"npm finished, but {binary} does not run: {error}") from error
    if not answer.stdout.startswith(VERSION):
        said = (answer.stdout + answer.stderr).strip()
        raise InstallError(f"the installed client should be {VERSION} but says: {said}")


def _move_into_place(fresh: Path, target: Path) -> None:
    try:
        fresh.rename(target)
    except OSError as error:
        # Another run that finished first is as good; anything else there is not ours to remove.
        if installed() is None:
            raise InstallError(f"{target} is in the way and holds no working client; remove it") from error


def main() -> int:
    try:
        binary = install()
    except InstallError as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"Claude Code {VERSION}: {binary}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
