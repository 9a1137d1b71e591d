"""Home: which daemon holds a home, and what waits in its spool. It imports little, for quick commands."""

from __future__ import annotations

import stat
from pathlib import Path
from typing import Final

from holdfast.engine.liveness.processes import alive

PROC: Final = Path("/proc")
CHECK_STORE: Final = Path("run", "check-store")
"""If the home has this file, the next daemon checks the whole store before it uses it."""


def lock_holder(home: Path) -> int:
    """The daemon that holds the home's lock, as its file says; 0 if there is none."""
    try:
        lock = home / "run" / "lock"
        pid = int(lock.read_text(encoding="ascii")) if is_plain_file(lock) else 0
    except (OSError, ValueError):
        return 0
    # The file outlives its daemon, and pids are reused.
    return pid if alive(pid, 0) and runs_daemon(pid) else 0


def runs_daemon(pid: int) -> bool:
    """Whether the process is a Holdfast daemon; assumed if its command line cannot be seen."""
    if not PROC.is_dir():
        return True
    try:
        return b"holdfast.daemon" in (PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def spooled(home: Path) -> int:
    """How many hook events wait in the spool."""
    return sum(1 for _ in (home / "spool").glob("*.letter"))


def rejected(home: Path) -> int:
    """How many hook events could not be read or recorded since the count was last reset."""
    return count(home, "unreadable")


def count(home: Path, name: str) -> int:
    """A counter that hooks keep in the spool."""
    path = home / "spool" / name
    try:
        return int(path.read_text(encoding="ascii")) if is_plain_file(path) else 0
    except (OSError, ValueError):
        return 0


def is_plain_file(path: Path) -> bool:
    """Whether it is a regular file and no link; opening a FIFO would wait for ever."""
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False


def have_store_checked(home: Path) -> None:
    """Have the next daemon check the whole store before it uses it, and set it aside if it is damaged."""
    mark = home / CHECK_STORE
    mark.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    mark.touch(0o600)
