"""Install what the tests on PostgreSQL need beside Python packages: PgBouncer, where the system can bring it.

Without it its tests are skipped, and a sentence says so; where none may be missing (`HOLDFAST_ALL_CLIENTS=1`)
that is an error.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from typing import Final

LIMIT_S: Final = 900.0


def pgbouncer() -> str:
    """The program; empty where there is none."""
    return shutil.which("pgbouncer", path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin") or ""


def main() -> int:
    """Install what is missing; 1 if something is that may not be."""
    if not pgbouncer() and os.geteuid() == 0 and shutil.which("apt-get"):
        _run("apt-get", "-qq", "update")
        _run("apt-get", "install", "--yes", "--no-install-recommends", "pgbouncer")
    if pgbouncer():
        return 0
    sys.stderr.write("note: there is no PgBouncer, so its tests are skipped; `apt install pgbouncer`\n")
    return 1 if os.environ.get("HOLDFAST_ALL_CLIENTS") == "1" else 0


def _run(*words: str) -> None:
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(
        words, check=False, timeout=LIMIT_S, env=environment, stdin=subprocess.DEVNULL, stdout=sys.stderr
    )


if __name__ == "__main__":
    sys.exit(main())
