"""The door: where the daemon listens, and the note in the home that says where.

A Unix socket in the home; in a private runtime directory where the home's path is too long for one; loopback
TCP with a token where there are no Unix sockets.
"""

from __future__ import annotations

import contextlib
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
BACKLOG = 128


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An open door, the note that leads to it, and the token it asks for (empty: none)."""

    listener: socket.socket
    note: str
    token: str
    socket_path: Path | None


def open_door(home: Path) -> Endpoint:
    """Listen where this system can, and leave a note in the home. Only who holds the lock may call this."""
    path = _socket_path(home) if hasattr(socket, "AF_UNIX") else None
    return _noted(home, _unix(path) if path else _tcp(home / "run"))


def open_tcp_door(home: Path) -> Endpoint:
    """Listen on loopback, as where there are no Unix sockets."""
    return _noted(home, _tcp(home / "run"))


def close_door(home: Path, door: Endpoint) -> None:
    """Take the note down first, so that nobody knocks in vain, then the door."""
    (home / "run" / "door").unlink(missing_ok=True)
    door.listener.close()
    if door.socket_path is not None:
        door.socket_path.unlink(missing_ok=True)
        if door.socket_path.parent != home / "run":
            with contextlib.suppress(OSError):
                door.socket_path.parent.rmdir()


def _noted(home: Path, door: Endpoint) -> Endpoint:
    write_note(home / "run" / "door", door.note)
    return door


def _socket_path(home: Path) -> Path | None:
    """Where the socket fits: in the home, else in a private directory of ours; None if nowhere."""
    inside = home / "run" / "daemon.sock"
    if _fits(inside):
        return inside if _made_private(inside.parent) else _elsewhere(home)
    return _elsewhere(home)


def _elsewhere(home: Path) -> Path | None:
    """In a directory for runtime files, by our usual name; by a new one if that is not ours alone."""
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
        if not base or not _fits(Path(base) / (_name(home) + "-12345678") / "daemon.sock"):
            continue
        directory = Path(base) / _name(home)
        with contextlib.suppress(OSError):
            if not _made_private(directory):
                # Someone else made it first, to listen in our place or to keep us from it.
                directory = Path(tempfile.mkdtemp(prefix=f"{_name(home)}-", dir=base))
            return directory / "daemon.sock"
    return None


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST_SOCKET_PATH


def _unix(path: Path) -> Endpoint:
    # Whoever left this socket is gone: we hold the lock.
    path.unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    path.chmod(0o600)
    listener.listen(BACKLOG)
    return Endpoint(listener, f"unix {path}", "", path)


def _tcp(run: Path) -> Endpoint:
    token = secrets.token_hex(32)
    write_note(run / "token", token)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.bind(("127.0.0.1", 0))
    listener.listen(BACKLOG)
    return Endpoint(listener, f"tcp {listener.getsockname()[1]}", token, None)


def _name(home: Path) -> str:
    """A short name, the same for the same home."""
    return f"holdfast-{os.getuid()}-{hashlib.sha256(os.fsencode(home)).hexdigest()[:12]}"


def _made_private(directory: Path) -> bool:
    """Have the directory there; whether it is ours alone."""
    directory.mkdir(mode=0o700, exist_ok=True)
    found = directory.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077


def write_note(path: Path, text: str) -> None:
    """Write a note for its owner's eyes only, whole or not at all: a hook may be reading."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(text + "\n", encoding="utf-8")
    beside.chmod(0o600)
    beside.replace(path)
