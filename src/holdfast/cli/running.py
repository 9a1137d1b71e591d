"""Whether the daemon runs, for commands that need neither settings nor store and should start fast."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.daemon.local import client
from holdfast.engine.liveness import lock_holder
from holdfast.errors import DaemonAway
from holdfast.home import home as home_of


def home() -> Path:
    """The Holdfast home."""
    return home_of(os.environ)


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def daemon_status(where: Path) -> dict[str, Any] | None:
    """The daemon's status; None if no daemon answers.

    A daemon that has the lock but does not listen yet was just started by a hook, so this waits for it. One
    that accepts a connection and does not answer hangs, and is not waited for.
    """
    until = time.monotonic() + client.START_TIME
    while not client.is_listening(where):
        if not lock_holder(where) or time.monotonic() > until:
            return None
        time.sleep(0.02)
    try:
        return client.ask(where, "status", timeout=2.0)
    except DaemonAway:
        return None


def troubles_of(status: Mapping[str, Any]) -> str:
    """The daemon's failing housekeeping tasks, from its status; empty if none fails."""
    troubles: Mapping[str, str] = status.get("troubles") or {}
    return ", ".join(f"{chore} ({error})" for chore, error in troubles.items())
