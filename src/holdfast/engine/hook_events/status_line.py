"""Status line: the line that a harness shows below its prompt.

It is drawn again and again while the user works: so it is made from stored state, reads no transcript, and
writes only if the harness reports something new about its window.
"""

from __future__ import annotations

from holdfast.core.events.event import Skipped
from holdfast.core.session.pressure import capacity
from holdfast.core.session.session import Session
from holdfast.core.session.status_line import project_name, status_line
from holdfast.engine.engine import Engine
from holdfast.engine.recording.record import Arrival, record
from holdfast.harnesses.base import StatusInput, StatusLine


def show_status(engine: Engine, harness: str, payload: bytes) -> bytes:
    """The harness's status line; empty if the session is unknown."""
    drawing = engine.harness(harness)
    glance = drawing.parse_status(payload) if isinstance(drawing, StatusLine) else Skipped("no status line")
    if isinstance(glance, Skipped):
        return b""
    session = engine.store.session(glance.session)
    if session is None:
        return project_name(glance.cwd).encode()
    return line_of(engine, _store_window(engine, session, glance), glance.used).encode(errors="replace")


def line_of(engine: Engine, session: Session, used: int = 0) -> str:
    """The line of a session; `used` is the harness's own token count, if it gave one."""
    models = engine.policy(session.project).models
    now = used or session.pressure.used
    return status_line(session, now, capacity(session.pressure, models), engine.clock())


def _store_window(engine: Engine, session: Session, glance: StatusInput) -> Session:
    if glance.window in (0, session.pressure.told) or engine.is_stopped(session.project):
        return session
    return record(engine, Arrival(session.key, session.harness, session.project, window=glance.window))
