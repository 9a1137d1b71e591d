"""A PgBouncer in transaction mode before the server of a test."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Final

import psycopg

from tests.postgres.install import pgbouncer
from tests.postgres.server import Address, waited_for

_ACCOUNT: Final = "nobody"


class Pooler:
    """One PgBouncer, with one connection to the server for each person and database. Stop it."""

    def __init__(self, server: Address, logins: dict[str, str]) -> None:
        """`logins` are roles and the verifiers of their passwords."""
        # As root another user runs it, who may not enter pytest's folder.
        self.folder = Path(tempfile.mkdtemp(prefix="holdfast-pgb-"))
        self.port = _free_port()
        users = "".join(f'"{login}" "{verifier}"\n' for login, verifier in logins.items())
        (self.folder / "users").write_text(users, encoding="utf-8")
        settings = self.folder / "pgbouncer.ini"
        settings.write_text(
            _SETTINGS.format(
                folder=self.folder, port=self.port, server=server.folder, server_port=server.port
            ),
            encoding="utf-8",
        )
        account: dict[str, int] = {}
        if not os.geteuid():
            known = pwd.getpwnam(_ACCOUNT)
            account = {"user": known.pw_uid, "group": known.pw_gid}
            for path in (self.folder, settings, self.folder / "users"):
                os.chown(path, known.pw_uid, known.pw_gid)
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(
                [pgbouncer(), str(settings)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                **account,  # type: ignore[call-overload]
            )
        waited_for(lambda: self._answers() or self._process.poll() is not None)
        assert self._process.poll() is None, (self.folder / "log").read_text(errors="replace")

    def url(self, database: str, user: str) -> str:
        return f"postgresql://{user}@127.0.0.1:{self.port}/{database}"

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port)).close()
        except OSError:
            return False
        return True


def verifiers(server: Address, logins: list[str]) -> dict[str, str]:
    """What the server checks these roles' passwords with; PgBouncer needs the same."""
    with psycopg.connect(server.url("postgres")) as connection:
        rows = connection.execute(
            "select rolname, rolpassword from pg_authid where rolname = any(%s)", (logins,)
        ).fetchall()
    return dict(rows)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


_SETTINGS: Final = """
[databases]
* = host={server} port={server_port}

[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = scram-sha-256
auth_file = {folder}/users
pool_mode = transaction
default_pool_size = 1
max_client_conn = 100
server_reset_query = discard all
server_reset_query_always = 1
server_login_retry = 1
query_wait_timeout = 5
"""
