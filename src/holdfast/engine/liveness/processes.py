"""Processes: whether a session's process is still the same one and still alive.

A pid alone says little, because pids are reused; a pid and its start name one process. Nothing here
ends a process or waits for it. The start is a number to compare, not a time: clock ticks since boot where
there is `/proc`, seconds elsewhere, 0 where it is unknown.
"""

import calendar
import os
import sys
import time
from pathlib import Path
from typing import Final

from holdfast.lazy_dataclass import dataclass

_PROC: Final = Path("/proc")
_PS: Final = "/bin/ps"
_PS_SECONDS: Final = 2.0
_DEAD: Final = frozenset("ZX")
_GENERATIONS: Final = 8


@dataclass(frozen=True, slots=True)
class Sighting:
    """A process as the system shows it: the letter of its state, and its start."""

    state: str
    start: int


def start_of(pid: int) -> int:
    """The number that tells this process from a later one with the same pid; 0 when unknown."""
    sighting = _seen(pid) if pid > 0 else None
    return sighting.start if sighting is not None else 0


def alive(pid: int, start: int) -> bool:
    """Whether the process with this pid and start lives; with start 0, any process with this pid.

    A zombie is dead. A process that exists but may not be looked at counts as alive: a session is taken over
    only from a process that is known to be gone.
    """
    if pid <= 0 or not _exists(pid):
        return False
    sighting = _seen(pid)
    if sighting is None:
        return True
    return sighting.state not in _DEAD and (0 in (start, sighting.start) or sighting.start == start)


def command_of(pid: int) -> tuple[str, ...]:
    """The command line of the process; empty where it cannot be seen."""
    try:
        words = (_PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return tuple(_ps(pid, "args=").split()) if not _PROC.is_dir() else ()
    return tuple(os.fsdecode(word) for word in words.split(b"\0") if word)


def above(pid: int) -> tuple[int, ...]:
    """The ancestors of the process, the nearest first, as far as the system shows them."""
    ancestors: list[int] = []
    while len(ancestors) < _GENERATIONS and (pid := _parent_of(pid)) > 1:
        ancestors.append(pid)
    return tuple(ancestors)


def _parent_of(pid: int) -> int:
    try:
        return int((_PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def from_proc(text: bytes) -> Sighting | None:
    """Read a `/proc/<pid>/stat`; the name in it may hold spaces and brackets, so it ends at the last one."""
    fields = text.rpartition(b")")[2].split()
    try:
        return Sighting(state=fields[0].decode("ascii"), start=int(fields[19]))
    except (IndexError, ValueError):
        return None


def from_ps(line: str) -> Sighting | None:
    """Read what `ps -o state= -o lstart=` prints, as in `Ss   Sat Nov 15 20:14:00 2025`."""
    state, _, started = line.strip().partition(" ")
    try:
        at = time.strptime(started.strip(), "%a %b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return Sighting(state[:1], calendar.timegm(at))


def _seen(pid: int) -> Sighting | None:
    if (_PROC / "self" / "stat").exists():
        return _seen_in_proc(pid)
    return _seen_by_ps(pid)


def _seen_in_proc(pid: int) -> Sighting | None:
    try:
        return from_proc((_PROC / str(pid) / "stat").read_bytes())
    except OSError:
        return None


def _seen_by_ps(pid: int) -> Sighting | None:
    return from_ps(_ps(pid, "state=", "lstart="))


def _ps(pid: int, *columns: str) -> str:
    """In English and UTC whatever the user's settings: the same process must give the same number twice."""
    import subprocess  # noqa: PLC0415 - every command loads this module, and only systems without /proc run ps

    command = [_PS, *(word for column in columns for word in ("-o", column)), "-p", str(pid)]
    try:
        done = subprocess.run(
            command,
            env={"LC_ALL": "C", "TZ": "UTC"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PS_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return ""
    return done.stdout


def _exists(pid: int) -> bool:
    if sys.platform == "win32":
        return (
            True  # signal 0 would interrupt the process there; nothing else in the standard library can tell
        )
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True
