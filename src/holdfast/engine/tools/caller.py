"""Caller: whose agent calls a tool, found from what the connection and the call tell.

The harness's own word first; a session that was cleared is followed to the one that goes on in its place.
Where nothing tells the session, it is the newest live one of the project, and the answer says so. Which
project it is must be known: nothing is ever told or kept across projects.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field

from holdfast import harnesses
from holdfast.config import excluded
from holdfast.core.events.event import ToolCalled, ToolReturned
from holdfast.core.events.fence import is_own_tool
from holdfast.core.events.world import Project
from holdfast.core.session.session import Phase, Process, Session
from holdfast.engine.engine import Engine
from holdfast.engine.liveness.processes import above, start_of
from holdfast.engine.recording.record import Arrival, record
from holdfast.engine.repository import projects
from holdfast.errors import HarnessUnknown, HoldfastError
from holdfast.harnesses.base import Reader
from holdfast.lazy_dataclass import dataclass

SESSIONS_LOOKED_AT = 50
EVENTS_LOOKED_AT = 200
GENERATIONS = 20
"""How many sessions back a lineage is followed; it may be told to go round in a circle."""

CALLED = "the session that called"
CONTINUES = "the session that goes on where the calling one was cleared"
SHOWN = "the session whose transcript shows the call"
SAME_PROCESS = "the live session of the process that called"
NEWEST = "the newest live session of this project, because the call does not name its own"


@dataclass(frozen=True, slots=True)
class Call:
    """What is known of a call: the process that carries it, and what came with the call itself."""

    environment: Mapping[str, str] = field(default_factory=lambda: {})
    meta: Mapping[str, object] = field(default_factory=lambda: {})
    cwd: str = ""
    process: Process | None = None
    seen: str = ""
    """The key of the session whose transcript shows this very call, where it was looked for."""
    tool: str = ""
    """Which of our tools is called."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The project that a call is for, its session if there is one, and how that was found."""

    project: Project
    session: Session | None
    how: str


@dataclass(frozen=True, slots=True)
class _Taken:
    session: Session
    how: str


def find_caller(engine: Engine, call: Call, readers: Iterable[Reader]) -> Caller:
    """Whose agent calls; HoldfastError where not even the project is known, or is not to be watched."""
    taken = (
        _named(engine, call, readers)
        or _waiting(engine, call)
        or _of_process(engine, call.process)
        or _newest(engine, call.cwd)
    )
    if taken is None and not call.cwd:
        raise HoldfastError(
            "this connection does not say which project it is for",
            "tell the user to connect Holdfast with `holdfast setup`, which does, "
            "or to send the header `X-Holdfast-Project` with the project's directory",
        )
    project = _watched(engine, taken.session.project) if taken else _watched_at(engine, call.cwd)
    return Caller(project, taken.session, taken.how) if taken else Caller(project, None, "")


def seen_calling(engine: Engine, id: str) -> str:
    """The key of the live session whose transcript shows the tool call of that id; empty if none does yet."""
    for session in engine.store.live_sessions():
        events = engine.store.events(session.key, EVENTS_LOOKED_AT)
        if any(isinstance(event, ToolCalled) and event.call == id for event in events):
            return session.key
    return ""


def _named(engine: Engine, call: Call, readers: Iterable[Reader]) -> _Taken | None:
    """The session that a harness tells, as it goes on now."""
    shown = engine.store.session(call.seen)
    if shown is not None:
        return _Taken(shown, SHOWN)
    for reader in readers:
        key = reader.caller(call.environment, call.meta)
        if not key:
            continue
        session = engine.store.session(key)
        if session is None:
            session = _begun(engine, key, reader.name, call)
            return _Taken(session, CALLED) if session else None
        if session.phase is Phase.LIVE:
            return _Taken(session, CALLED)
        after = _successor(engine, session)
        return _Taken(after, CONTINUES) if after else _Taken(session, CALLED)
    return None


def _begun(engine: Engine, key: str, harness: str, call: Call) -> Session | None:
    """A session of which no hook has told yet, known from now on; None if its harness cannot be set up."""
    try:
        engine.harness(harness)
    except HarnessUnknown:
        return None
    if not call.cwd:
        return None
    project = _watched_at(engine, call.cwd)
    return record(engine, Arrival(key, harness, project, process=call.process))


def _watched_at(engine: Engine, cwd: str) -> Project:
    """The project of a directory, known from now on; refused as below."""
    found = projects.resolve(engine.store, cwd)
    project = _watched(engine, found.project)
    projects.keep_up(engine.store, found, engine.clock())
    return project


def _watched(engine: Engine, project: Project) -> Project:
    """The project, refused if it is one that nothing may be kept of."""
    config = engine.config(project)
    if config.continuity.enabled and not excluded(config, project.normalized):
        return project
    raise HoldfastError(
        f"Holdfast is turned off for `{project.path}`",
        "go on without it; its settings `continuity.enabled` and `capture.exclude` say so",
    )


def _successor(engine: Engine, over: Session) -> Session | None:
    """The live session that continues one that is over, over however many in between, or has its process."""
    others = engine.store.sessions_of_project(over.project.project_id, 0, SESSIONS_LOOKED_AT)
    live = [session for session in others if session.phase is Phase.LIVE and session.key != over.key]
    after = next((session for session in live if over.key in _ancestors(engine, session.key)), None)
    return after or (_only_live(engine, over.process) if over.process else None)


def _ancestors(engine: Engine, key: str) -> list[str]:
    """The sessions that one took over from in the same place, the nearest first.

    One that was started anew and given another's work has another caller.
    """
    found: list[str] = []
    lineage = engine.store.lineage(key)
    while lineage and lineage.kind in ("clear", "previous") and len(found) < GENERATIONS:
        found.append(lineage.parent)
        lineage = engine.store.lineage(lineage.parent)
    return found


def _waiting(engine: Engine, call: Call) -> _Taken | None:
    """The one session of the calling process that was seen to call this tool, and waits for it still."""
    if call.process is None or not call.tool:
        return None
    sessions = _at_home(engine, call.process)
    live = [session for session in sessions if session.phase is Phase.LIVE]
    waiting = [session for session in live if _waits(engine, session, call.tool)]
    return _Taken(waiting[0], SHOWN) if len(waiting) == 1 else None


def _at_home(engine: Engine, process: Process) -> list[Session]:
    """The sessions of a process, or of the nearest one above it: a harness may start servers by another."""
    for each in (process, *(Process(pid, start_of(pid)) for pid in above(process.pid))):
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


def _of_process(engine: Engine, process: Process | None) -> _Taken | None:
    """The live session of the harness's own process, whatever it calls itself."""
    live = _only_live(engine, process) if process else None
    return _Taken(live, SAME_PROCESS) if live else None


def _only_live(engine: Engine, process: Process) -> Session | None:
    """The one live session of a process; None if there are several: it may be at home to many."""
    sessions = engine.store.sessions_of_process(process, SESSIONS_LOOKED_AT)
    live = [session for session in sessions if session.phase is Phase.LIVE]
    return live[0] if len(live) == 1 else None


def _newest(engine: Engine, cwd: str) -> _Taken | None:
    """The newest live session where the call comes from: of its worktree, else of its project."""
    if not cwd:
        return None
    project = projects.resolve(engine.store, cwd).project
    found = engine.store.sessions_of_project(project.project_id, 0, SESSIONS_LOOKED_AT)
    live = [session for session in found if session.phase is Phase.LIVE]
    here = [session for session in live if session.project.worktree_id == project.worktree_id]
    chosen = next(iter(here or live), None)
    return _Taken(chosen, NEWEST) if chosen else None


def session_around(environment: Mapping[str, str]) -> str:
    """The key of the session in whose shell a command runs, if its harness tells its children; or empty."""
    readers = map(harnesses.reader, harnesses.readable())
    return next((key for reader in readers if (key := reader.caller(environment, {}))), "")
