"""Tool checks: whether agents can reach the tools as setup installed them, and what they cost in tokens.

Part of `doctor`. Nothing is fixed here, and no tool is called.
"""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

from holdfast.engine.health.doctor import Finding, Mend, fine, wrong
from holdfast.engine.tools import table
from holdfast.errors import ManifestUnreadable
from holdfast.files.manifest import read_manifest
from holdfast.harnesses.base import Harness

ANSWER_TIME: Final = 20.0
_HELLO: Final = {
    "protocolVersion": "2025-06-18",
    "capabilities": {},
    "clientInfo": {"name": "holdfast doctor", "version": "1"},
}
_LINES: Final = (
    {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": _HELLO},
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
    {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
)


def check_tools(home: Path, harness: Harness, relay: Sequence[str]) -> Finding:
    """Check that the tools' server answers when it is started as this harness starts it."""
    check, again = f"tools of {harness.name}", f"run `holdfast setup {harness.name}`"
    if relay[3] not in _placed(home):
        return fine(check, "its agents have none; `holdfast setup` without `--no-mcp` gives them some")
    began = time.monotonic()
    try:
        response = _response(relay)
    except (OSError, subprocess.TimeoutExpired) as error:
        return wrong(check, f"their server could not be run: {error}", again, Mend.SETUP)
    took = round((time.monotonic() - began) * 1000)
    missing = [name for name in table.names() if f'"{name}"' not in response]
    if missing:
        return wrong(check, f"their server does not know {', '.join(missing)}", "look at `holdfast logs`")
    cost = f"about {table.cost():,} tokens of every context window"
    return fine(check, f"{len(table.names())} tools answered in {took} ms; they take {cost}")


def _placed(home: Path) -> set[str]:
    """The identities of the entries that setup put into other programs' files."""
    try:
        return {one.identity for record in read_manifest(home).edited for one in record.placed}
    except ManifestUnreadable:
        return set()


def _response(relay: Sequence[str]) -> str:
    requests = b"".join(msgspec.json.encode(line) + b"\n" for line in _LINES)
    done = subprocess.run(
        relay, input=requests, capture_output=True, timeout=ANSWER_TIME, check=False, cwd="/"
    )
    return done.stdout.decode("utf-8", "replace")
