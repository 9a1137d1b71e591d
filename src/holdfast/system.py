"""What differs between operating systems: one function for each difference.

Each function asks `sys.platform` when it is called, and imports what only one system has where it is used, so
that every module can be imported everywhere. The hook and the relay know these differences themselves: they
are copied out of the package.
"""

from __future__ import annotations

import contextlib
import os
import signal
import stat
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from subprocess import Popen

REPLACE_TIME: Final = 1.0
"""Seconds in which a file that somebody else has open may be released."""
_LOCKED_BYTE: Final = 1 << 30
_CREATION_FLAGS: Final = ("DETACHED_PROCESS", "CREATE_NEW_PROCESS_GROUP")


def lock(descriptor: int) -> None:
    """Lock the file until the descriptor is closed or the process ends; OSError if it is taken."""
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415 - on Windows only

        # What is locked there cannot be read by others, so it is a byte that the file does not have.
        os.lseek(descriptor, _LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
    else:
        import fcntl  # noqa: PLC0415 - not on Windows

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def replace(draft: Path, target: Path) -> None:
    """Put the draft in place of the target in one step."""
    if sys.platform == "win32":
        _replace_once_released(draft, target)
    else:
        draft.replace(target)


def exchange(one: Path, other: Path) -> bool:
    """Swap two directories in one step; False, and nothing is done, if this system cannot."""
    if sys.platform == "win32":
        return False
    import ctypes  # noqa: PLC0415 - for one command

    library = ctypes.CDLL(None, use_errno=True)
    first, second = os.fsencode(one), os.fsencode(other)
    swap_flag = 2  # RENAME_EXCHANGE in linux/fs.h, and RENAME_SWAP in macOS's stdio.h
    if sys.platform == "darwin":
        swap = getattr(library, "renamex_np", None)
        failed = swap is None or swap(first, second, swap_flag)
    else:
        swap, here = getattr(library, "renameat2", None), -100  # AT_FDCWD
        failed = swap is None or swap(here, first, here, second, swap_flag)
    # Where system or file system do not know it, the caller has another way, which tells the reason.
    return not failed


def _replace_once_released(draft: Path, target: Path) -> None:
    until = time.monotonic() + REPLACE_TIME
    while True:
        try:
            draft.replace(target)
        except PermissionError:  # Somebody has it open, and there that keeps a file in its place.
            if time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def sync_folder(folder: Path) -> None:
    """Make the names in the folder durable; Windows has no call for that."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def keep_owner(descriptor: int, replaced: os.stat_result) -> None:
    """Give the open file owner and mode of the one that it replaces; on Windows they come from its folder."""
    if sys.platform == "win32":
        return
    # Under sudo the file would otherwise change hands; without it there is nothing to give away.
    with contextlib.suppress(PermissionError):
        os.fchown(descriptor, replaced.st_uid, replaced.st_gid)
    os.fchmod(descriptor, stat.S_IMODE(replaced.st_mode))


def set_mode(descriptor: int, mode: int) -> None:
    """Set the open file's mode, where files have one."""
    if sys.platform != "win32":
        os.fchmod(descriptor, mode)


def is_own(status: os.stat_result) -> bool:
    """Whether the file is this user's; on Windows, where it does not say, it is assumed."""
    return sys.platform == "win32" or status.st_uid == os.getuid()


def is_exposed(status: os.stat_result) -> bool:
    """Whether others may use the file by its mode; on Windows the user's folder keeps them out."""
    return sys.platform != "win32" and bool(status.st_mode & 0o077)


def start_detached(words: Sequence[str], environment: Mapping[str, str]) -> Popen[bytes]:
    """Start a program that outlives this one, its terminal and its session."""
    import subprocess  # noqa: PLC0415 - most commands start nothing

    flags = sum(getattr(subprocess, name) for name in _CREATION_FLAGS) if sys.platform == "win32" else 0
    return subprocess.Popen(
        words,
        cwd="/",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        umask=0o077,
        creationflags=flags,
    )


def become(words: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    """Run another program in place of this one, with the same terminal."""
    if sys.platform == "win32":
        import subprocess  # noqa: PLC0415 - most commands start nothing

        # There, `exec` would return to the shell at once, and take words apart at their spaces.
        sys.exit(subprocess.run(words, env=environment, check=False).returncode)
    os.execve(words[0], list(words), environment)  # noqa: S606 - the caller chose the program


def end_tree(pid: int) -> None:
    """End at once a process that leads a session of its own, and what it started."""
    if sys.platform == "win32":
        import subprocess  # noqa: PLC0415 - only where a command took too long

        words = ["taskkill", "/F", "/T", "/PID", str(pid)]
        subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    else:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGKILL)


def ways_to_end() -> tuple[signal.Signals, ...]:
    """The signals that end a process, the kindest first."""
    if sys.platform == "win32":
        return (signal.SIGTERM,)  # It ends a process at once there.
    return (signal.SIGTERM, signal.SIGKILL)


def process_exists(pid: int) -> bool:
    """Whether there is a process with this pid, also if it may not be looked at."""
    if sys.platform == "win32":
        return _exists_on_windows(pid)
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


def _exists_on_windows(pid: int) -> bool:
    """Ask for a handle: signal 0 would end the process there."""
    if sys.platform == "win32":
        import ctypes  # noqa: PLC0415 - on Windows only

        may_wait, is_running, refused = 0x00100000, 0x102, 5
        handle = ctypes.windll.kernel32.OpenProcess(may_wait, 0, pid)
        if not handle:
            return bool(ctypes.windll.kernel32.GetLastError() == refused)
        try:
            return bool(ctypes.windll.kernel32.WaitForSingleObject(handle, 0) == is_running)
        finally:
            ctypes.windll.kernel32.CloseHandle(handle)
    return False
