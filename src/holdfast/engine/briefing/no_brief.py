"""Why a start in a project would be given nothing, in a sentence that says what to do about it."""

from __future__ import annotations

from holdfast.core.events.durations import HOUR_MS
from holdfast.core.events.world import Project
from holdfast.core.session.session import Phase, Session
from holdfast.core.text.strings import ago
from holdfast.engine.briefing.resume import SESSIONS_LOOKED_AT, has_content
from holdfast.engine.engine import Engine
from holdfast.engine.ids import SHORTEST, short_id
from holdfast.engine.shared_sessions import pulled_sessions
from holdfast.stores.base import RowKind


def why_nothing(engine: Engine, project: Project) -> str:
    """Why nothing of this project's sessions can be given back."""
    sessions = engine.store.sessions_of_project(project.project_id, 0, SESSIONS_LOOKED_AT)
    telling = next((session for session in sessions if has_content(engine, session)), None)
    if telling is None and (elsewhere := _too_old_elsewhere(engine, project)):
        return elsewhere
    if not sessions:
        return (
            f"no session was seen in `{project.path}`; `holdfast setup` connects a harness, "
            "`holdfast import` brings in earlier sessions"
        )
    if telling is None:
        return why_nothing_of(engine, sessions[0])
    hours = engine.config(project).continuity.recovery_window_hours
    age = engine.clock() - telling.last_event_at
    if age <= hours * HOUR_MS:
        return "nothing that a session here did is worth giving back"
    ended = "was last active" if telling.phase is Phase.LIVE else "ended"
    return (
        f"the last session here {ended} {ago(age)}; the window is {hours} h: "
        f"`holdfast brief --session {_id(engine, telling)}`, or set `continuity.recovery_window_hours`"
    )


def _too_old_elsewhere(engine: Engine, project: Project) -> str:
    """Why the latest session of the user's other machines is not given back; empty if there is none."""
    pulled = pulled_sessions(engine, project, 0, SESSIONS_LOOKED_AT)
    latest = next((each for each in pulled if each.provenance.is_mine), None)
    if latest is None:
        return ""
    hours, key = engine.config(project).continuity.recovery_window_hours, latest.session.key[:SHORTEST]
    age = ago(engine.clock() - latest.session.last_event_at)
    return (
        f"the last session of this project ended {age} on {latest.provenance.machine_name}; the window is "
        f"{hours} h: `holdfast brief --session {key}`, or set `continuity.recovery_window_hours`"
    )


def why_nothing_of(engine: Engine, session: Session) -> str:
    """Why nothing of one session can be given back."""
    if session.trail.is_empty() and session.prompts_known:
        return (
            f"of session {_id(engine, session)} only the conversation is stored; search it with "
            "`holdfast recall`"
        )
    return f"nothing happened in session {_id(engine, session)} that could be given back"


def _id(engine: Engine, session: Session) -> str:
    return short_id(engine.store, RowKind.SESSION, session.key)
