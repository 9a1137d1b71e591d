"""Sessions: whether a session's harness still runs, and what that says about the session.

Most sessions have a process of their own, which ends with them. Some harnesses have one process for all
sessions: it outlives each of them, and does not show which of them is live.
"""

from __future__ import annotations

from enum import Enum, auto

from holdfast.core.session.session import Session
from holdfast.engine.engine import Engine
from holdfast.engine.liveness.processes import alive, command_of


class Liveness(Enum):
    """What is known of a session's process."""

    UNKNOWN = auto()
    GONE = auto()
    OWN = auto()
    """It lives, and is this session's own."""
    SHARED = auto()
    """It lives, and serves other sessions as well."""


def life_of(engine: Engine, session: Session) -> Liveness:
    """Whether the session's process lives."""
    process = session.process
    if process is None:
        return Liveness.UNKNOWN
    if not alive(process.pid, process.start):
        return Liveness.GONE
    shared = engine.harness(session.harness).is_shared(command_of(process.pid))
    return Liveness.SHARED if shared else Liveness.OWN
