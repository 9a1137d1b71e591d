"""Whether the daemon runs. For commands that need neither settings nor store, so that they start at once."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.daemon.local import client
from holdfast.engine.liveness.home import lock_holder
from holdfast.errors import DaemonAway
from holdfast.home import home as home_of


def home() -> Path:
    """The Holdfast home."""
    return home_of(os.environ)


def now() -> int:
    """Milliseconds since 1970."""
    return time.time_ns() // 1_000_000


def daemon_status(where: Path) -> dict[str, Any] | None:
    """What the daemon says of itself, given the time that it needs to open its door; None if nobody answers.

    A hook starts it and goes away: one that has the lock and no door yet is about to answer. One that takes
    a call and says nothing hangs, and is not waited for.
    """
    until = time.monotonic() + client.START_TIME
    while not client.opens(where):
        if not lock_holder(where) or time.monotonic() > until:
            return None
        time.sleep(0.02)
    try:
        return client.ask(where, "status", timeout=2.0)
    except DaemonAway:
        return None


def troubles_of(status: Mapping[str, Any]) -> str:
    """What of the daemon's housekeeping fails, as it says of itself; empty if nothing does."""
    troubles: Mapping[str, str] = status.get("troubles") or {}
    return ", ".join(f"{chore} ({error})" for chore, error in troubles.items())
