"""The client: what the command line needs to speak to the daemon and to start it.

Standard library only, and of Holdfast only the hook, the wire format, the errors and what differs between
systems: quick commands load this.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sys
import time
from pathlib import Path
from typing import Any

from holdfast import hook, system
from holdfast.daemon.local import wire
from holdfast.errors import DaemonAway

PASSED_ON = (
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "TMPDIR",
    "XDG_RUNTIME_DIR",
    "SYSTEMROOT",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "TEMP",
    "TMP",
)
START_TIME = 10.0
PROBE_BYTES = 64 * 1024


def ask(home: Path, verb: str, timeout: float = 10.0, **body: object) -> dict[str, Any]:
    """The daemon's answer to a control request; DaemonAway if no daemon answers."""
    try:
        with _connect(home, timeout) as connection:
            connection.sendall(wire.control(verb, json.dumps(body).encode(), _token(home)))
            connection.shutdown(socket.SHUT_WR)
            received = b""
            while chunk := connection.recv(65536):
                received += chunk
    except (OSError, ValueError) as error:
        raise DaemonAway(f"the daemon does not answer: {error}", "start it with `holdfast up`") from error
    answer = wire.answered(received)
    if answer is None:
        raise DaemonAway("the daemon's answer was not complete", "look at `holdfast logs`")
    decoded: dict[str, Any] = json.loads(answer)
    return decoded


def is_up(home: Path) -> bool:
    """Whether a daemon answers."""
    try:
        ask(home, "status", timeout=2.0)
    except DaemonAway:
        return False
    return True


def is_listening(home: Path) -> bool:
    """Whether a daemon listens, even if it does not answer."""
    try:
        _connect(home, timeout=2.0).close()
    except (FileNotFoundError, ConnectionError, ValueError):
        return False
    except OSError:
        # It listens, but its queue of connections is full.
        return True
    return True


def start(home: Path) -> None:
    """Start the daemon, detached, and wait until it answers."""
    _refuse_if_unwritable(home)
    with contextlib.suppress(OSError):
        (home / hook.REFUSED).unlink()
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    environment |= {name: value for name, value in os.environ.items() if name.startswith("HOLDFAST_")}
    environment["HOLDFAST_HOME"] = str(home)
    child = system.start_detached([sys.executable, "-P", "-m", "holdfast.daemon"], environment)
    until = time.monotonic() + START_TIME
    while time.monotonic() < until:
        if is_up(home):
            return
        if child.poll() not in (None, 0):
            raise DaemonAway(*_reason(home))
        time.sleep(0.02)
    raise DaemonAway("the daemon did not answer in time", "look at `holdfast logs`")


def _reason(home: Path) -> tuple[str, str]:
    """Why the daemon that was just started could not, and what to do."""
    try:
        message, hint, *_ = (home / hook.REFUSED).read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError):
        return "the daemon stopped as soon as it was started", "the reason is in `holdfast logs`"
    return message, hint


def _refuse_if_unwritable(home: Path) -> None:
    """Raise DaemonAway if the home is not writable: a daemon that cannot write its log could not say why."""
    probe = home / f".probe-{os.getpid()}"
    try:
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        probe.write_bytes(bytes(PROBE_BYTES))
    except OSError as error:
        hint = "make room, or name another home in HOLDFAST_HOME"
        raise DaemonAway(f"the daemon cannot live in `{home}`: {error.strerror}", hint) from error
    finally:
        with contextlib.suppress(OSError):
            probe.unlink()


def _connect(home: Path, timeout: float) -> socket.socket:
    kind, _, place = _endpoint_note(home).strip().partition(" ")
    if kind == "tcp":
        return socket.create_connection(("127.0.0.1", int(place)), timeout)
    if sys.platform == "win32":
        raise ConnectionRefusedError("the daemon listens where this system cannot connect")
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    connection.settimeout(timeout)
    try:
        connection.connect(place)
    except OSError:
        connection.close()
        raise
    return connection


def _endpoint_note(home: Path) -> str:
    """Where the daemon listens, also if it is one of an earlier version."""
    current, earlier = (home / name for name in wire.ENDPOINT_NOTES)
    return (current if current.exists() else earlier).read_text(encoding="utf-8")


def _token(home: Path) -> str:
    with contextlib.suppress(OSError):
        return (home / "run" / "token").read_text(encoding="utf-8").strip()
    return ""
