"""Caller: which session's agent calls a tool, by what is known of the connection and the call.

The harness's own word counts first; a session that was cleared is followed to the one that replaced it. If
nothing names the session, it is the newest live one of the project, and the answer says so. The project must
be known: nothing is ever shown or stored across projects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from holdfast import harnesses
from holdfast.config import excluded
from holdfast.core.events.event import ToolCalled, ToolReturned
from holdfast.core.events.world import Project
from holdfast.core.session.session import Phase, Process, Session
from holdfast.core.text.untrusted import is_own_tool
from holdfast.engine.engine import Engine
from holdfast.engine.liveness import ancestors_of, start_of
from holdfast.engine.recording.record import Arrival, record
from holdfast.engine.repository import projects
from holdfast.errors import HarnessUnknown, HoldfastError
from holdfast.harnesses.base import Reader
from holdfast.lazy_dataclass import dataclass

SESSIONS_LOOKED_AT = 50
EVENTS_LOOKED_AT = 200
GENERATIONS = 20
"""How many sessions back a lineage is followed, in case it is a circle."""

CALLED = "the session that called"
CONTINUES = "the session that goes on where the calling one was cleared"
SHOWN = "the session whose transcript shows the call"
SAME_PROCESS = "the live session of the process that called"
NEWEST = "the newest live session of this project, because the call does not name its own"


@dataclass(frozen=True, slots=True)
class CallContext:
    """What is known of a call: the process that carries it, and what came with the call itself."""

    environment: Mapping[str, str] = field(default_factory=lambda: {})
    meta: Mapping[str, object] = field(default_factory=lambda: {})
    cwd: str = ""
    process: Process | None = None
    seen: str = ""
    """The key of the session whose transcript shows this call, if that was checked."""
    tool: str = ""
    """The name of the tool that is called."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The project that a call is for, its session if there is one, and how that was found."""

    project: Project
    session: Session | None
    how: str


@dataclass(frozen=True, slots=True)
class _Match:
    session: Session
    how: str


def find_caller(engine: Engine, call: CallContext, readers: Iterable[Reader]) -> Caller:
    """The caller; HoldfastError if its project is unknown or excluded."""
    match = (
        _named(engine, call, readers)
        or _waiting(engine, call)
        or _of_process(engine, call.process)
        or _newest(engine, call.cwd)
    )
    if match is None and not call.cwd:
        raise HoldfastError(
            "this connection does not say which project it is for",
            "tell the user to connect Holdfast with `holdfast setup`, which does, "
            "or to send the header `X-Holdfast-Project` with the project's directory",
        )
    project = _watched(engine, match.session.project) if match else _watched_at(engine, call.cwd)
    return Caller(project, match.session, match.how) if match else Caller(project, None, "")


def seen_calling(engine: Engine, id: str) -> str:
    """The key of the live session whose transcript shows the tool call of that id; empty if none does yet."""
    for session in engine.store.live_sessions():
        events = engine.store.events(session.key, EVENTS_LOOKED_AT)
        if any(isinstance(event, ToolCalled) and event.call == id for event in events):
            return session.key
    return ""


def _named(engine: Engine, call: CallContext, readers: Iterable[Reader]) -> _Match | None:
    """The session that the harness names, or the one that replaced it."""
    calling = engine.store.session(call.seen)
    if calling is not None:
        return _Match(calling, SHOWN)
    for reader in readers:
        key = reader.caller(call.environment, call.meta)
        if not key:
            continue
        session = engine.store.session(key)
        if session is None:
            session = _begun(engine, key, reader.name, call)
            return _Match(session, CALLED) if session else None
        if session.phase is Phase.LIVE:
            return _Match(session, CALLED)
        after = _successor(engine, session)
        return _Match(after, CONTINUES) if after else _Match(session, CALLED)
    return None


def _begun(engine: Engine, key: str, harness: str, call: CallContext) -> Session | None:
    """Begin and store a session that no hook has reported yet; None if its harness has no setup."""
    try:
        engine.harness(harness)
    except HarnessUnknown:
        return None
    if not call.cwd:
        return None
    project = _watched_at(engine, call.cwd)
    return record(engine, Arrival(key, harness, project, process=call.process)).session


def _watched_at(engine: Engine, cwd: str) -> Project:
    """The project of a directory, which is stored if it is new; raises an error if it is excluded."""
    resolution = projects.resolve(engine.store, cwd)
    project = _watched(engine, resolution.project)
    projects.keep_up(engine.store, resolution, engine.clock())
    return project


def _watched(engine: Engine, project: Project) -> Project:
    """The project; raises an error if nothing of it may be stored."""
    config = engine.config(project)
    if config.continuity.enabled and not excluded(config, project.normalized):
        return project
    raise HoldfastError(
        f"Holdfast is turned off for `{project.path}`",
        "go on without it; its settings `continuity.enabled` and `capture.exclude` say so",
    )


def _successor(engine: Engine, over: Session) -> Session | None:
    """The live session that continues one that is over, directly or not, or has its process."""
    others = engine.store.sessions_of_project(over.project.project_id, 0, SESSIONS_LOOKED_AT)
    live = [session for session in others if session.phase is Phase.LIVE and session.key != over.key]
    after = next((session for session in live if over.key in _ancestors(engine, session.key)), None)
    return after or (_only_live(engine, over.process) if over.process else None)


def _ancestors(engine: Engine, key: str) -> list[str]:
    """The sessions that this one continues in the same process, the nearest first.

    A new start that was given another session's brief does not count: it has another caller.
    """
    ancestors: list[str] = []
    lineage = engine.store.lineage(key)
    while lineage and lineage.kind in ("clear", "previous") and len(ancestors) < GENERATIONS:
        ancestors.append(lineage.parent)
        lineage = engine.store.lineage(lineage.parent)
    return ancestors


def _waiting(engine: Engine, call: CallContext) -> _Match | None:
    """The only session of the calling process with an open call of this tool."""
    if call.process is None or not call.tool:
        return None
    sessions = _at_home(engine, call.process)
    live = [session for session in sessions if session.phase is Phase.LIVE]
    waiting = [session for session in live if _waits(engine, session, call.tool)]
    return _Match(waiting[0], SHOWN) if len(waiting) == 1 else None


def _at_home(engine: Engine, process: Process) -> list[Session]:
    """The sessions of a process or its nearest ancestor: a harness may start servers indirectly."""
    for each in (process, *(Process(pid, start_of(pid)) for pid in ancestors_of(process.pid))):
        sessions = engine.store.sessions_of_process(each, SESSIONS_LOOKED_AT)
        if sessions:
            return sessions
    return []


def _waits(engine: Engine, session: Session, tool: str) -> bool:
    events = engine.store.events(session.key, EVENTS_LOOKED_AT)
    over = {event.call for event in events if isinstance(event, ToolReturned)}
    return any(
        is_own_tool(event.tool) and event.tool.endswith(tool) and event.call not in over
        for event in events
        if isinstance(event, ToolCalled)
    )


def _of_process(engine: Engine, process: Process | None) -> _Match | None:
    """The only live session of the harness's process."""
    live = _only_live(engine, process) if process else None
    return _Match(live, SAME_PROCESS) if live else None


def _only_live(engine: Engine, process: Process) -> Session | None:
    """The only live session of a process; None if there are several."""
    sessions = engine.store.sessions_of_process(process, SESSIONS_LOOKED_AT)
    live = [session for session in sessions if session.phase is Phase.LIVE]
    return live[0] if len(live) == 1 else None


def _newest(engine: Engine, cwd: str) -> _Match | None:
    """The newest live session of the call's worktree, else of its project."""
    if not cwd:
        return None
    project = projects.resolve(engine.store, cwd).project
    sessions = engine.store.sessions_of_project(project.project_id, 0, SESSIONS_LOOKED_AT)
    live = [session for session in sessions if session.phase is Phase.LIVE]
    here = [session for session in live if session.project.worktree_id == project.worktree_id]
    chosen = next(iter(here or live), None)
    return _Match(chosen, NEWEST) if chosen else None


def session_around(environment: Mapping[str, str]) -> str:
    """The key of the session in whose shell a command runs, if the environment names it; or empty."""
    readers = map(harnesses.reader, harnesses.readable())
    return next((key for reader in readers if (key := reader.caller(environment, {}))), "")
