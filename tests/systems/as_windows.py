"""Run a Python program in an interpreter that is like Windows's: `as_windows.py -m holdfast.cli …`.

It says that it is Windows, lacks what Python lacks there (modules, functions, signals, Unix sockets, flags
of `open`), and refuses what Windows refuses: opening a directory, renaming over a file, replacing or
deleting what this process has open. What it starts with this interpreter runs in the same way. The standard
library and what Holdfast is built from are imported first, as the Linux programs that they are.

It is a model, made from Python's documentation: paths, quoting, consoles and permissions stay those of Linux.
"""

from __future__ import annotations

import _socket
import asyncio
import asyncio.unix_events
import contextlib
import ctypes
import errno
import fcntl
import importlib
import io
import os
import runpy
import shutil
import signal
import socket
import stat
import struct
import subprocess
import sys
import types
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NoReturn

NOT_THERE: Final = ("fcntl", "grp", "pwd", "pty", "readline", "resource", "syslog", "termios", "tty")
BUILT_FROM: Final = (
    "anyio._backends._asyncio",
    "apsw",
    "click",
    "concurrent.futures.process",
    "concurrent.futures.thread",
    "fastapi",
    "logging.handlers",
    "msgspec",
    "multiprocessing.connection",
    "rich.console",
    "rich.live",
    "rich.progress",
    "rich.table",
    "simsimd",
    "sqlite3",
    "ssl",
    "tarfile",
    "urllib.request",
    "uuid",
    "uvicorn.server",
    "watchfiles",
    "zipfile",
    "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd",
)
ONLY_POSIX: Final = (
    *("chown", "fchmod", "fchown", "fork", "forkpty", "getegid", "geteuid", "getgid", "getgroups", "getpgid"),
    *("getpriority", "getsid", "getuid", "killpg", "lchown", "mkfifo", "nice", "openpty", "set_blocking"),
    *("setegid", "seteuid", "setgid", "setpgid", "setsid", "setuid", "uname", "wait", "waitid"),
    *("O_CLOEXEC", "O_DIRECTORY", "O_NOFOLLOW", "O_NONBLOCK", "O_SYNC", "O_NOCTTY", "WNOHANG"),
)
ONLY_POSIX_SIGNALS: Final = (
    *("SIGALRM", "SIGCHLD", "SIGHUP", "SIGKILL", "SIGPIPE", "SIGQUIT", "SIGSTOP", "SIGTSTP", "SIGUSR1"),
    *("alarm", "pthread_sigmask", "sigpending", "sigwait", "SIG_BLOCK", "SIG_SETMASK"),
)
CREATION_FLAGS: Final = {"DETACHED_PROCESS": 0x8, "CREATE_NEW_PROCESS_GROUP": 0x200}
SHARING_VIOLATION: Final = "[WinError 32] The process cannot access the file because it is being used"
SELF: Final = str(Path(__file__).resolve())


def main(arguments: Sequence[str]) -> None:
    """Run the program of a command line: `-m module …`, `-c code …` or a file, after Python's options."""
    for name in BUILT_FROM:
        importlib.import_module(name)
    _become_windows()
    words = [word for word in arguments if word not in ("-I", "-S", "-P", "-B")]
    kind, *rest = words
    if kind == "-m":
        sys.argv = rest
        sys.path.insert(0, "")
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif kind == "-c":
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.argv = words
        runpy.run_path(kind, run_name="__main__")


def _become_windows() -> None:
    _make_files_stubborn()
    _make_processes_detachable()
    _make_sockets_plain()
    _add_what_windows_has(fcntl.fcntl, fcntl.F_OFD_SETLK, fcntl.F_WRLCK)
    modules: dict[str, Any] = sys.modules
    for name in NOT_THERE:
        modules[name] = None  # This makes an import of it fail.
    for module, names in ((os, ONLY_POSIX), (signal, ONLY_POSIX_SIGNALS)):
        for name in names:
            with contextlib.suppress(AttributeError):
                delattr(module, name)
    sys.platform = "win32"


def _make_files_stubborn() -> None:
    real = types.SimpleNamespace(open=os.open, rename=os.rename, replace=os.replace, unlink=os.unlink)

    def open_file(path: Any, flags: int, mode: int = 0o777, *, dir_fd: int | None = None) -> int:
        if dir_fd is not None:
            raise NotImplementedError("dir_fd unavailable on this platform")
        if os.path.isdir(path):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        descriptor: int = real.open(path, flags, mode)
        return descriptor

    def rename(source: Any, target: Any) -> None:
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, "[WinError 183] Cannot create a file that exists", target)
        _refuse_if_open(source)
        real.rename(source, target)

    def replace(source: Any, target: Any) -> None:
        _refuse_if_open(source)
        _refuse_if_open(target)
        real.replace(source, target)

    def unlink(path: Any) -> None:
        _refuse_if_open(path)
        real.unlink(path)

    os.open, os.rename, os.replace, os.unlink, os.remove = open_file, rename, replace, unlink, unlink  # type: ignore[assignment]
    os.supports_dir_fd.clear()
    shutil._use_fd_functions = False  # type: ignore[attr-defined]


def _refuse_if_open(path: Any) -> None:
    """Raise what Windows raises if this process has the file open."""
    try:
        wanted = os.lstat(path)
    except OSError:
        return
    if not stat.S_ISREG(wanted.st_mode):
        return
    for name in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError):
            status = os.stat(f"/proc/self/fd/{name}")
            if (status.st_dev, status.st_ino) == (wanted.st_dev, wanted.st_ino):
                raise PermissionError(errno.EACCES, SHARING_VIOLATION, os.fspath(path)) from None


def _make_processes_detachable() -> None:
    real_init = subprocess.Popen.__init__

    def start(self: Any, words: Any, *arguments: Any, creationflags: int = 0, **options: Any) -> None:
        if isinstance(words, (list, tuple)) and words[0] == sys.executable:
            words = [sys.executable, SELF, *words[1:]]
        # Windows knows no session and no umask; a detached process outlives its console all the same.
        options.pop("umask", None)
        options["start_new_session"] = bool(creationflags & CREATION_FLAGS["DETACHED_PROCESS"])
        real_init(self, words, *arguments, **options)

    def kill(pid: int, number: int) -> None:
        if number == 0:
            raise AssertionError("on Windows, signal 0 ends the process")
        real_kill(pid, number)

    real_kill = os.kill
    popen: Any = subprocess.Popen
    popen.__init__ = start
    os.kill = kill
    for name, value in CREATION_FLAGS.items():
        setattr(subprocess, name, value)


def _make_sockets_plain() -> None:
    real_pair, family = socket.socketpair, socket.AF_UNIX
    socket.socketpair = lambda *_: real_pair(family)
    for module in (socket, _socket):
        delattr(module, "AF_UNIX")
    del asyncio.start_unix_server, asyncio.open_unix_connection

    def refuse(*_: object) -> NoReturn:
        raise NotImplementedError

    loop: Any = vars(asyncio.unix_events)["_UnixSelectorEventLoop"]
    loop.add_signal_handler = refuse


def _add_what_windows_has(control: Any, set_lock: int, write_lock: int) -> None:
    """`msvcrt.locking` by a lock of Linux that belongs to the open file, and the calls of kernel32 in use."""

    def locking(descriptor: int, mode: int, size: int) -> None:
        start = os.lseek(descriptor, 0, os.SEEK_CUR)
        control(descriptor, set_lock, struct.pack("hhqqi4x", write_lock, os.SEEK_SET, start, size, 0))

    def open_process(access: int, inherit: int, pid: int) -> int:
        return pid if Path("/proc", str(pid)).is_dir() else 0

    def wait(handle: int, milliseconds: int) -> int:
        state = Path("/proc", str(handle), "stat").read_bytes().rpartition(b")")[2].split()[0]
        return 0 if state in {b"Z", b"X"} else 0x102

    msvcrt: Any = types.ModuleType("msvcrt")
    msvcrt.LK_NBLCK, msvcrt.locking = 2, locking
    sys.modules["msvcrt"] = msvcrt
    kernel32 = types.SimpleNamespace(
        OpenProcess=open_process, WaitForSingleObject=wait, CloseHandle=int, GetLastError=lambda: 87
    )
    io._WindowsConsoleIO = type("_WindowsConsoleIO", (), {})  # type: ignore[attr-defined]
    ctypes.windll = types.SimpleNamespace(kernel32=kernel32)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(sys.argv[1:])
