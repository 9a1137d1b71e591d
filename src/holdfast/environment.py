"""Environment: which Python runs this Holdfast, and which one was noted in the home.

Two notes beside the hook: `interpreter` names the Python that starts the daemon; `version` names the version
that wrote the hook, and the Python of the hook's command lines. Every command
loads this, so it imports little.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from holdfast import __version__

_UV_CACHE: Final = ("archive-v", "environments-v")
"""How the folders of uv's cache begin that hold environments."""


def base_python() -> str:
    """The interpreter behind a virtual environment: it is still there when the environment is gone."""
    return getattr(sys, "_base_executable", None) or sys.executable


def interpreter_note(home: Path) -> Path:
    """The file that names the Python that starts the daemon, for hooks that find none running."""
    return home / "bin" / "interpreter"


def version_note(home: Path) -> Path:
    """The file that says which Holdfast wrote the hook and what is installed with it."""
    return home / "bin" / "version"


def own_interpreter() -> bytes:
    """What `interpreter_note` holds if this Holdfast starts the daemon."""
    return f"{sys.executable}\n".encode()


def own_version() -> bytes:
    """What `version_note` holds if this Holdfast, with this Python, wrote what setup writes."""
    return f"{__version__} {base_python()}\n".encode()


def noted_version(home: Path) -> str:
    """The version of the Holdfast that wrote what setup writes; empty if it is older than this note."""
    return _line(version_note(home)).partition(" ")[0]


def noted_interpreter(home: Path) -> str:
    """The Python that starts the daemon; empty if none is noted."""
    return _line(interpreter_note(home))


def is_due(home: Path) -> bool:
    """Whether a command should renew what setup wrote: the noted Python is this one, or is gone.

    Another installation that is still there keeps what it wrote, as long as its daemon runs.
    """
    noted = noted_interpreter(home)
    if noted == sys.executable:
        return is_outdated(home) or has_other_hook(home)
    return is_abandoned(home) and (home / "bin" / "hook.py").exists() and not is_temporary(sys.prefix)


def is_outdated(home: Path) -> bool:
    """Whether setup was run, and by another version or with another Python than this one."""
    has_hook = (home / "bin" / "hook.py").exists()
    return has_hook and _line(version_note(home)) != own_version().decode().strip()


def has_other_hook(home: Path) -> bool:
    """Whether the hook is not this version's, as after a `setup` of a version that wrote no note."""
    try:
        return (home / "bin" / "hook.py").read_bytes() != Path(__file__).with_name("hook.py").read_bytes()
    except OSError:
        return False  # Setup was not run.


def is_abandoned(home: Path) -> bool:
    """Whether the noted Python is gone, as when its environment was moved, removed or made anew."""
    noted = noted_interpreter(home)
    return bool(noted) and not os.access(noted, os.X_OK)


def is_temporary(prefix: str) -> bool:
    """Whether `uvx` or `pipx run` made this environment for a single command: it may be gone tomorrow."""
    parts = Path(prefix).parts
    return any(part.startswith(_UV_CACHE) for part in parts) or ("pipx" in parts and "venvs" not in parts)


def _line(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").partition("\n")[0].strip()
    except OSError:
        return ""
