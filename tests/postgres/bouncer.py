"""A real PgBouncer in transaction mode before a server: it lends a connection for a single transaction."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.postgres.server import Address, waited_for


def bouncer_program() -> str | None:
    """Where PgBouncer is; None if it is not installed."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin")


@contextmanager
def bounced(server: Address) -> Generator[Address]:
    """The address of a PgBouncer before this server, with fewer connections than clients."""
    program = bouncer_program()
    if program is None:
        raise FileNotFoundError("pgbouncer")
    folder = Path(tempfile.mkdtemp(prefix="holdfast-pgb-"))
    as_root: list[str] = []
    if os.geteuid() == 0:
        # It refuses to run as root.
        nobody = pwd.getpwnam("nobody")
        os.chown(folder, nobody.pw_uid, nobody.pw_gid)
        as_root = ["user = nobody"]
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        "\n".join(
            [
                "[databases]",
                f"* = host={server.folder} port={server.port} user=postgres",
                "[pgbouncer]",
                "pool_mode = transaction",
                "default_pool_size = 2",
                "max_client_conn = 200",
                "auth_type = any",
                "listen_addr =",
                "listen_port = 6432",
                f"unix_socket_dir = {folder}",
                f"logfile = {folder / 'log'}",
                # A server connection that kept anything of its last client would show it to the next.
                "server_round_robin = 1",
                *as_root,
            ]
        ),
        encoding="utf-8",
    )
    settings.chmod(0o644)
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen([program, str(settings)], stdout=output, stderr=output)
    try:
        socket = folder / ".s.PGSQL.6432"
        waited_for(lambda: socket.exists() or process.poll() is not None)
        if process.poll() is not None:
            raise RuntimeError(f"PgBouncer did not start:\n{(folder / 'output').read_text()}")
        yield Address(str(folder), 6432)
    finally:
        process.terminate()
        process.wait()
        shutil.rmtree(folder, ignore_errors=True)
