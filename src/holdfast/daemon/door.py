"""The door: where the daemon listens, and the note in the home that says where.

A Unix socket in the home; in a private runtime directory where the home's path is too long for one; loopback TCP with a
token where there are no Unix sockets.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

LONGEST_SOCKET_PATH = 100
"""A socket's path has room for 104 bytes on macOS and 108 on Linux."""


@dataclass(frozen=True, slots=True)
class Door:
    """An open door, the note that leads to it, and the token it asks for (empty: none)."""

    listener: socket.socket
    note: str
    token: str
    socket_path: Path | None


def open_door(home: Path, force_tcp: bool) -> Door:
    """Listen, and leave a note in the home. Only the one who holds the lock may call this."""
    run = home / "run"
    run.mkdir(mode=0o700, parents=True, exist_ok=True)
    door = _tcp(run) if force_tcp or not hasattr(socket, "AF_UNIX") else _unix(home)
    _write(run / "door", door.note)
    return door


def close_door(home: Path, door: Door) -> None:
    """Take the note down first, so that nobody knocks in vain, then the door."""
    (home / "run" / "door").unlink(missing_ok=True)
    door.listener.close()
    if door.socket_path is not None:
        door.socket_path.unlink(missing_ok=True)


def _unix(home: Path) -> Door:
    path = home / "run" / "daemon.sock"
    if len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        path = _private_directory(home) / "daemon.sock"
    # Whoever left this socket is gone: we hold the lock.
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(128)
    return Door(listener, f"unix {path}", "", path)


def _tcp(run: Path) -> Door:
    token = secrets.token_hex(32)
    _write(run / "token", token)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return Door(listener, f"tcp {listener.getsockname()[1]}", token, None)


def _private_directory(home: Path) -> Path:
    """A directory with a short path that is ours alone, the same for the same home."""
    base = os.environ.get("XDG_RUNTIME_DIR") or tempfile.gettempdir()
    name = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    directory = Path(base) / f"holdfast-{os.getuid()}-{name}"
    directory.mkdir(mode=0o700, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{directory} is not ours alone")
    return directory


def _write(path: Path, text: str) -> None:
    """Whole or not at all: a hook may be reading."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text + "\n", encoding="utf-8")
    beside.chmod(0o600)
    beside.replace(path)
