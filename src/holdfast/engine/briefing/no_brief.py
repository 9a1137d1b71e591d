"""Why a start in a project would be given nothing, in a sentence that says what to do about it."""

from __future__ import annotations

from holdfast.core.events.durations import HOUR_MS
from holdfast.core.events.world import Project
from holdfast.core.session.session import Phase, Session
from holdfast.core.text.strings import ago
from holdfast.engine.briefing.resume import SESSIONS_LOOKED_AT, has_content
from holdfast.engine.engine import Engine
from holdfast.engine.ids import short_id
from holdfast.stores.base import RowKind


def why_nothing(engine: Engine, project: Project) -> str:
    """Why nothing of this project's sessions can be given back."""
    sessions = engine.store.sessions_of_project(project.project_id, 0, SESSIONS_LOOKED_AT)
    if not sessions:
        return (
            f"no session was seen in `{project.path}`; `holdfast setup` connects a harness, "
            "`holdfast import` brings in earlier sessions"
        )
    telling = next((session for session in sessions if has_content(engine, session)), None)
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
