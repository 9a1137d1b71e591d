"""Status: what a harness shows below its prompt, and what is learnt when it asks for that.

A status line is drawn again and again while a person works: it is answered from what is kept, reads no
transcript, and writes only if the harness says something about its window that was not known.
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
    """The line for this harness's status line; empty if it cannot be told which session is meant."""
    drawing = engine.harness(harness)
    glance = drawing.parse_status(payload) if isinstance(drawing, StatusLine) else Skipped("no status line")
    if isinstance(glance, Skipped):
        return b""
    session = engine.store.session(glance.session)
    if session is None:
        return project_name(glance.cwd).encode()
    return line_of(engine, _learnt(engine, session, glance), glance.used).encode(errors="replace")


def line_of(engine: Engine, session: Session, used: int = 0) -> str:
    """The line of a session; `used` is what the harness counts now, where it is known better."""
    models = engine.policy(session.project).models
    now = used or session.pressure.used
    return status_line(session, now, capacity(session.pressure, models), engine.clock())


def _learnt(engine: Engine, session: Session, glance: StatusInput) -> Session:
    if glance.window in (0, session.pressure.told) or engine.is_stopped(session.project):
        return session
    return record(engine, Arrival(session.key, session.harness, session.project, window=glance.window))
