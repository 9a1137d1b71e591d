"""The lock: one daemon for one home, held exactly as long as its process lives."""

from __future__ import annotations

import contextlib
import os
import stat
from pathlib import Path

from holdfast import system


class Lock:
    """Holds the home's lock file; the system releases it when the process ends, however it ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def release(self) -> None:
        """Let another daemon have the home."""
        os.close(self._descriptor)


def take_lock(home: Path) -> Lock | None:
    """The home's lock, or None if a daemon has it."""
    run = home / "run"
    run.mkdir(mode=0o700, parents=True, exist_ok=True)
    status = run.lstat()
    if stat.S_ISDIR(status.st_mode) and system.is_own(status):
        run.chmod(0o700)  # or no daemon could ever listen in it
    descriptor = _open(run / "lock")
    try:
        system.lock(descriptor)
    except OSError:
        os.close(descriptor)
        return None
    os.ftruncate(descriptor, 0)
    os.write(descriptor, f"{os.getpid()}\n".encode())
    return Lock(descriptor)


def _open(path: Path) -> int:
    """Open the lock file; anything but a regular file is replaced, never followed or waited for."""
    with contextlib.suppress(FileNotFoundError):
        if not stat.S_ISREG(path.lstat().st_mode):
            path.unlink()
    return os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
