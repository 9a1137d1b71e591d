"""Ask a real daemon everything that its OpenAPI allows, and much that it does not, with schemathesis.

    python -m tests.fuzz.api [--seconds 60] [--seed 7]

The daemon has a home of its own with something in it. No answer may be a 5xx, or other than the document says
that it is; without a key nothing may be answered. `/api/live` has no end and is left to tests/daemon/api.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

from tests.daemon.api.served import Caller, furnish, write_continuity
from tests.daemon.conftest import Lodging

CHECKS: Final = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "negative_data_rejection",
    "ignored_auth",
    "unsupported_method",
    "use_after_free",
)
SETTINGS: Final = """\
[checks.negative_data_rejection]
expected-statuses = ["400", "401", "403", "404", "405", "406", "409", "413", "415", "422", "429"]
"""
"""Of its own, it does not know that a body may be refused because it is long."""
PATIENCE_S: Final = 25
"""For one answer: the daemon itself gives up after 20 seconds."""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=int, default=60, help="how long to ask")
    parser.add_argument("--seed", type=int, default=0, help="where chance begins; anywhere if it is 0")
    options = parser.parse_args()
    # A socket's path must be short.
    root = Path(tempfile.mkdtemp(prefix="hf-")).resolve()
    lodging = Lodging(root)
    try:
        furnished = furnish(lodging)
        write_continuity(lodging.home, furnished.project, "## Goal\n- Ship it\n")
        (root / "schemathesis.toml").write_text(SETTINGS)
        lodging.start()
        caller = Caller(lodging)
        caller.get("/api/health")  # The first request has the API loaded.
        command = _command(caller, options.seconds, options.seed)
        return subprocess.run(command, cwd=root, check=False).returncode
    finally:
        lodging.end()
        shutil.rmtree(root)


def _command(caller: Caller, seconds: int, seed: int) -> list[str]:
    return [
        str(Path(sys.executable).with_name("schemathesis")),
        "run",
        f"http://127.0.0.1:{caller.port}/api/openapi.json",
        f"--header=Authorization: Bearer {caller.token}",
        f"--checks={','.join(CHECKS)}",
        f"--max-time={seconds}",
        f"--request-timeout={PATIENCE_S}",
        "--rate-limit=auto",
        "--exclude-path=/api/live",
        "--generation-database=none",
        "--suppress-health-check=all",
        "--warnings=off",
        "--no-color",
        *((f"--seed={seed}",) if seed else ()),
    ]


if __name__ == "__main__":
    sys.exit(main())
