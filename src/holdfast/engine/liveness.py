"""Liveness: whether a process, a session's harness or the daemon of a home is still there.

A pid alone says little, because pids are reused; a pid and its start name one process. Nothing here
ends a process or waits for it. The start is a number to compare, not a time: clock ticks since boot where
there is `/proc`, seconds elsewhere, 0 where it is unknown.

Most sessions have a process of their own, which ends with them. Some harnesses have one process for all
sessions: it outlives each of them, and does not show which of them is live.

Quick commands load this module, so it imports little.
"""

from __future__ import annotations

import calendar
import os
import stat
import time
from enum import Enum, auto
from pathlib import Path
from typing import TYPE_CHECKING, Final

from holdfast import hook, system
from holdfast.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from holdfast.core.session.session import Session
    from holdfast.engine.engine import Engine

PROC: Final = Path("/proc")
_PS: Final = "/bin/ps"
_PS_SECONDS: Final = 2.0
_DEAD: Final = frozenset("ZX")
_GENERATIONS: Final = 8
SPOOLED: Final = (hook.SPOOLED, ".letter")
"""How the names of spooled hook events end; the second is what hooks of version 0.1.0 write."""
CHECK_STORE: Final = Path("run", "check-store")
"""If the home has this file, the next daemon checks the whole store before it uses it."""


@dataclass(frozen=True, slots=True)
class ProcessState:
    """A process as the system shows it: the letter of its state, and its start."""

    state: str
    start: int


def start_of(pid: int) -> int:
    """The number that tells this process from a later one with the same pid; 0 when unknown."""
    sighting = _seen(pid) if pid > 0 else None
    return sighting.start if sighting is not None else 0


def is_alive(pid: int, start: int) -> bool:
    """Whether the process with this pid and start lives; with start 0, any process with this pid.

    A zombie is dead. A process that exists but may not be looked at counts as alive: a session is taken over
    only from a process that is known to be gone.
    """
    if pid <= 0 or not system.process_exists(pid):
        return False
    sighting = _seen(pid)
    if sighting is None:
        return True
    return sighting.state not in _DEAD and (0 in (start, sighting.start) or sighting.start == start)


def command_of(pid: int) -> tuple[str, ...]:
    """The command line of the process; empty where it cannot be seen."""
    try:
        words = (PROC / str(pid) / "cmdline").read_bytes()
    except OSError:
        return tuple(_ps(pid, "args=").split()) if not PROC.is_dir() else ()
    return tuple(os.fsdecode(word) for word in words.split(b"\0") if word)


def ancestors_of(pid: int) -> tuple[int, ...]:
    """The ancestors of the process, the nearest first, as far as the system shows them."""
    ancestors: list[int] = []
    while len(ancestors) < _GENERATIONS and (pid := _parent_of(pid)) > 1:
        ancestors.append(pid)
    return tuple(ancestors)


def _parent_of(pid: int) -> int:
    try:
        return int((PROC / str(pid) / "stat").read_bytes().rpartition(b")")[2].split()[1])
    except (OSError, IndexError, ValueError):
        return 0


def parse_proc_stat(text: bytes) -> ProcessState | None:
    """Read a `/proc/<pid>/stat`; the name in it may hold spaces and brackets, so it ends at the last one."""
    fields = text.rpartition(b")")[2].split()
    try:
        return ProcessState(state=fields[0].decode("ascii"), start=int(fields[19]))
    except (IndexError, ValueError):
        return None


def parse_ps(line: str) -> ProcessState | None:
    """Read what `ps -o state= -o lstart=` prints, as in `Ss   Sat Nov 15 20:14:00 2025`."""
    state, _, started = line.strip().partition(" ")
    try:
        at = time.strptime(started.strip(), "%a %b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return ProcessState(state[:1], calendar.timegm(at))


def _seen(pid: int) -> ProcessState | None:
    if (PROC / "self" / "stat").exists():
        return _seen_in_proc(pid)
    return _seen_by_ps(pid)


def _seen_in_proc(pid: int) -> ProcessState | None:
    try:
        return parse_proc_stat((PROC / str(pid) / "stat").read_bytes())
    except OSError:
        return None


def _seen_by_ps(pid: int) -> ProcessState | None:
    return parse_ps(_ps(pid, "state=", "lstart="))


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


class Liveness(Enum):
    """What is known of a session's process."""

    UNKNOWN = auto()
    GONE = auto()
    OWN = auto()
    """It lives, and is this session's own."""
    SHARED = auto()
    """It lives, and serves other sessions as well."""


def liveness_of(engine: Engine, session: Session) -> Liveness:
    """Whether the session's process lives."""
    process = session.process
    if process is None:
        return Liveness.UNKNOWN
    if not is_alive(process.pid, process.start):
        return Liveness.GONE
    shared = engine.harness(session.harness).is_shared(command_of(process.pid))
    return Liveness.SHARED if shared else Liveness.OWN


def lock_holder(home: Path) -> int:
    """The daemon that holds the home's lock, as its file says; 0 if there is none."""
    try:
        lock = home / "run" / "lock"
        pid = int(lock.read_text(encoding="ascii")) if is_plain_file(lock) else 0
    except (OSError, ValueError):
        return 0
    # The file outlives its daemon, and pids are reused.
    return pid if is_alive(pid, 0) and runs_daemon(pid) else 0


def runs_daemon(pid: int) -> bool:
    """Whether the process is a Holdfast daemon; assumed if its command line cannot be seen."""
    return not PROC.is_dir() or "holdfast.daemon" in command_of(pid)


def spooled_files(home: Path) -> list[Path]:
    """The files of the hook events that wait in the spool, oldest first."""
    return sorted(path for path in (home / "spool").glob("*") if path.suffix in SPOOLED)


def spooled_hook_events(home: Path) -> int:
    """How many hook events wait in the spool."""
    return len(spooled_files(home))


def rejected_hook_events(home: Path) -> int:
    """How many hook events could not be read or recorded since the count was last reset."""
    return spool_counter(home, "unreadable")


def spool_counter(home: Path, name: str) -> int:
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
