"""Install what the browser tests need: Playwright, the system's chromium, and axe in a cache of its own.

What cannot be installed here is named in a sentence, and its tests are skipped; where none may be missing
(`HOLDFAST_ALL_CLIENTS=1`) that is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
AXE: Final = "axe-core@4.14.0"
LIMIT_S: Final = 900.0
CHROMIUM: Final = ("chromium", "chromium-browser", "google-chrome")


def chromium() -> str:
    """The browser; empty where there is none."""
    return next((found for name in CHROMIUM if (found := shutil.which(name))), "")


def axe() -> Path:
    """Where the accessibility checker stands, once it was fetched."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "holdfast-browser" / AXE / "node_modules" / "axe-core" / "axe.min.js"


def main() -> int:
    """Install what is missing; 1 if something is that may not be."""
    missing = [problem for problem in (_playwright(), _chromium(), _axe()) if problem]
    for problem in missing:
        print(f"note: {problem}", file=sys.stderr)
    return 1 if missing and os.environ.get("HOLDFAST_ALL_CLIENTS") == "1" else 0


def _playwright() -> str:
    wanted = str(ROOT / "requirements" / "browser.txt")
    quiet = ("-qq", "--disable-pip-version-check", "--no-input")
    if _run([sys.executable, "-m", "pip", *quiet, "install", "--requirement", wanted]):
        return ""
    return "Playwright cannot be installed, so the browser tests are skipped"


def _chromium() -> str:
    if chromium():
        return ""
    if os.geteuid() == 0 and shutil.which("apt-get"):
        _run(["apt-get", "-qq", "update"])
        _run(["apt-get", "install", "--yes", "--no-install-recommends", "chromium"])
    return (
        "" if chromium() else "there is no chromium, so the browser tests are skipped; `apt install chromium`"
    )


def _axe() -> str:
    if axe().is_file():
        return ""
    npm = shutil.which("npm")
    folder = axe().parents[2]
    folder.mkdir(parents=True, exist_ok=True)
    quiet = ("--no-audit", "--no-fund", "--ignore-scripts")
    if npm and _run([npm, "install", "--prefix", str(folder), *quiet, AXE]):
        return ""
    return "axe cannot be fetched by npm, so accessibility is not checked"


def _run(words: Sequence[str]) -> bool:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        done = subprocess.run(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            timeout=LIMIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


if __name__ == "__main__":
    sys.exit(main())
