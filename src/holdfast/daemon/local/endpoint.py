"""The local endpoint: where the daemon listens for hooks and commands, and the file that says where.

A Unix socket in the home; in a private runtime directory if the home's path is too long for one; loopback TCP
with a token if there are no Unix sockets. The file is `run/door` in the home.
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
    """An open listener, the note that says where it is, and the token it requires (empty: none)."""

    listener: socket.socket
    note: str
    token: str
    socket_path: Path | None


def open_endpoint(home: Path) -> Endpoint:
    """Listen where this system can, and leave a note in the home. The caller must hold the lock."""
    path = _socket_path(home) if hasattr(socket, "AF_UNIX") else None
    return _announce(home, _unix(path) if path else _tcp(home / "run"))


def open_tcp_endpoint(home: Path) -> Endpoint:
    """Listen on loopback TCP, as on systems without Unix sockets."""
    return _announce(home, _tcp(home / "run"))


def close_endpoint(home: Path, endpoint: Endpoint) -> None:
    """Remove the note first, so that no client connects in vain, then close the listener."""
    (home / "run" / "door").unlink(missing_ok=True)
    endpoint.listener.close()
    if endpoint.socket_path is not None:
        endpoint.socket_path.unlink(missing_ok=True)
        if endpoint.socket_path.parent != home / "run":
            with contextlib.suppress(OSError):
                endpoint.socket_path.parent.rmdir()


def _announce(home: Path, endpoint: Endpoint) -> Endpoint:
    write_note(home / "run" / "door", endpoint.note)
    return endpoint


def _socket_path(home: Path) -> Path | None:
    """Where the socket fits: in the home, else in a private runtime directory; None if nowhere."""
    inside = home / "run" / "daemon.sock"
    if _fits(inside):
        return inside if _make_private(inside.parent) else _elsewhere(home)
    return _elsewhere(home)


def _elsewhere(home: Path) -> Path | None:
    """A path in a directory for runtime files: by the usual name, or by a new one if that is not private."""
    for base in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir()):
        if not base or not _fits(Path(base) / (_name(home) + "-12345678") / "daemon.sock"):
            continue
        directory = Path(base) / _name(home)
        with contextlib.suppress(OSError):
            if not _make_private(directory):
                # Another user made it first, perhaps to listen in the daemon's place.
                directory = Path(tempfile.mkdtemp(prefix=f"{_name(home)}-", dir=base))
            return directory / "daemon.sock"
    return None


def _fits(path: Path) -> bool:
    return len(os.fsencode(path)) <= LONGEST_SOCKET_PATH


def _unix(path: Path) -> Endpoint:
    # The daemon that left this socket is gone: this process holds the lock.
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


def _make_private(directory: Path) -> bool:
    """Make the directory if it is missing; whether only this user can use it."""
    directory.mkdir(mode=0o700, exist_ok=True)
    status = directory.lstat()
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


def write_note(path: Path, text: str) -> None:
    """Write a file atomically and readable only by its owner: a hook may be reading it."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(text + "\n", encoding="utf-8")
    temporary.chmod(0o600)
    temporary.replace(path)
