"""Auto-save: merges the work of a session that is over into the continuity, if the settings ask for it.

Each state of a session is saved once, by the daemon when it sees the end or by the wrapper that started the
harness, whichever is first. A model may be asked, so this never runs where the user waits.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

import msgspec

from holdfast.core.documents.continuity_audit import AuditScope, AuditTrigger
from holdfast.core.events.world import Project
from holdfast.core.session.session import Phase, Session
from holdfast.engine.documents import continuity, continuity_source
from holdfast.engine.documents.continuity import Outcome, Task
from holdfast.engine.documents.continuity_source import Choice, Source
from holdfast.engine.engine import Engine
from holdfast.engine.models.summarize import Means

LOOKED_AT: Final = 20
NEWS_MS: Final = 24 * 3_600_000
"""Sessions that ended longer ago are not saved: the next one has long gone on from its brief."""
SAVED: Final = "continuity_saved"
"""The fact in which the store notes up to which moment recent sessions are in the continuity."""
NOTED: Final = 50


def due(engine: Engine) -> Session | None:
    """A session that is over and not in the continuity yet, in a project whose settings ask for auto-save."""
    saved_until, now = _saved_until(engine), engine.clock()
    # Housekeeping asks often: the settings of a project are read once.
    projects: dict[str, bool] = {}
    for session in engine.store.sessions(LOOKED_AT):
        if session.phase is Phase.LIVE or now - session.last_event_at > NEWS_MS:
            continue
        project = session.project.project_id
        if project not in projects:
            projects[project] = engine.config(session.project).continuity.auto_save
        if (
            projects[project]
            and saved_until.get(_session_hash(session), 0) < session.changed_at
            and _is_enabled(engine, session)
        ):
            return session
    return None


def save(engine: Engine, session: Session, means: Means) -> Outcome | None:
    """Merge a session's work into both layers; None if another process does that."""
    if engine.home is None or not _claim(engine, session):
        return None
    here = continuity.room(engine, engine.home, session.project)
    source = Source(Choice.PRIMARY, session.harness, Path(session.transcript), session.key)
    return continuity.save(engine, here, Task(AuditScope.BOTH, source, AuditTrigger.WRAPPER), means)


def save_latest(engine: Engine, project: Project, since: int, means: Means) -> Outcome | None:
    """Save the project's latest primary session, if it was active since then and the settings ask for it."""
    session = continuity_source.primary(engine, project)
    if session is None or session.changed_at < since or not _is_enabled(engine, session):
        return None
    return save(engine, session, means)


def _is_enabled(engine: Engine, session: Session) -> bool:
    return (
        bool(session.transcript)
        and not engine.is_stopped(session.project)
        and engine.config(session.project).continuity.auto_save
        and continuity_source.is_primary(engine, session)
    )


def _claim(engine: Engine, session: Session) -> bool:
    """Whether this process is to save the session; noted first, so that a failure is not retried for ever."""
    with engine.store.writing():
        saved_until = _saved_until(engine)
        if saved_until.pop(_session_hash(session), 0) >= session.changed_at:
            return False
        latest = dict([*saved_until.items(), (_session_hash(session), session.changed_at)][-NOTED:])
        engine.store.put_fact(SAVED, msgspec.json.encode(latest).decode())
    return True


def _session_hash(session: Session) -> str:
    """A hash of the session's key, so that nothing here reveals a forgotten session."""
    return hashlib.sha256(session.key.encode()).hexdigest()[:16]


def _saved_until(engine: Engine) -> dict[str, int]:
    fact = engine.store.fact(SAVED)
    return msgspec.json.decode(fact, type=dict[str, int]) if fact else {}
