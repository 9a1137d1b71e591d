"""The door: where the daemon listens, and the note in the home that says where.

A Unix socket in the home; in a private runtime directory where the home's path is too long for one; loopback
TCP with a token where there are no Unix sockets.
"""

from __future__ import annotations

import hashlib
import os
import secrets
import socket
import stat
import tempfile
from pathlib import Path

from holdfast.lazy_dataclass import dataclass

LONGEST_SOCKET_PATH = 100
"""A socket's path has room for 104 bytes on macOS and 108 on Linux."""


@dataclass(frozen=True, slots=True)
class Door:
    """An open door, the note that leads to it, and the token it asks for (empty: none)."""

    listener: socket.socket
    note: str
    token: str
    socket_path: Path | None


def open_door(home: Path) -> Door:
    """Listen where this system can, and leave a note in the home. Only who holds the lock may call this."""
    path = _socket_path(home) if hasattr(socket, "AF_UNIX") else None
    return _noted(home, _unix(path) if path else _tcp(home / "run"))


def open_tcp_door(home: Path) -> Door:
    """Listen on loopback, as where there are no Unix sockets."""
    return _noted(home, _tcp(home / "run"))


def close_door(home: Path, door: Door) -> None:
    """Take the note down first, so that nobody knocks in vain, then the door."""
    (home / "run" / "door").unlink(missing_ok=True)
    door.listener.close()
    if door.socket_path is not None:
        door.socket_path.unlink(missing_ok=True)


def _noted(home: Path, door: Door) -> Door:
    write_note(home / "run" / "door", door.note)
    return door


def _socket_path(home: Path) -> Path | None:
    """Where the socket fits: in the home, else in a private directory of ours; None if nowhere."""
    inside = home / "run" / "daemon.sock"
    if _fits(inside):
        return inside
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
        if base and _fits(path := _private_directory(base, home) / "daemon.sock"):
            return path
    return None


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST_SOCKET_PATH


def _unix(path: Path) -> Door:
    path.parent.mkdir(mode=0o700, exist_ok=True)
    _refuse_if_shared(path.parent)
    # Whoever left this socket is gone: we hold the lock.
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(128)
    return Door(listener, f"unix {path}", "", path)


def _tcp(run: Path) -> Door:
    token = secrets.token_hex(32)
    write_note(run / "token", token)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return Door(listener, f"tcp {listener.getsockname()[1]}", token, None)


def _private_directory(base: str, home: Path) -> Path:
    """A directory with a short path, the same for the same home."""
    name = hashlib.sha256(os.fsencode(home)).hexdigest()[:12]
    return Path(base) / f"holdfast-{os.getuid()}-{name}"


def _refuse_if_shared(directory: Path) -> None:
    """Someone else may have made the directory first, to listen in our place."""
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{directory} is not ours alone")


def write_note(path: Path, text: str) -> None:
    """Write a note for its owner's eyes only, whole or not at all: a hook may be reading."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text + "\n", encoding="utf-8")
    beside.chmod(0o600)
    beside.replace(path)
