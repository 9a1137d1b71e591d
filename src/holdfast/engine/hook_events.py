"""Hook events: what a harness sends is recorded, and answered.

The transcript is the log and a hook only triggers a read: first the transcript is read on, then what only the
hook event says is recorded.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import msgspec

from holdfast.config import excluded
from holdfast.core.events.event import CompactionImminent, Event, Prompt, SessionEnded, Skipped, Source
from holdfast.core.events.world import GitState, Project
from holdfast.core.session.pressure import capacity
from holdfast.core.session.session import Session
from holdfast.core.session.status_line import project_name, status_line
from holdfast.core.text.strings import one_line
from holdfast.core.text.untrusted import printable
from holdfast.engine.briefing import pressure_warning, prompt_memories, resume
from holdfast.engine.documents import handoff, ledger
from holdfast.engine.engine import Engine
from holdfast.engine.recording.inherit import inherit_at_fork
from holdfast.engine.recording.record import Arrival, record
from holdfast.engine.recording.transcripts import (
    MissingTranscript,
    ReadableTranscript,
    RefusedTranscript,
    TranscriptAccess,
    read_on,
    transcript_access,
    transcript_bytes,
)
from holdfast.engine.repository import projects
from holdfast.engine.repository.world import git_position, git_state
from holdfast.errors import ProtectionUnreadable
from holdfast.harnesses.base import Ask, Envelope, Harness, HookEvent, StatusInput, StatusLine
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Lineage

NOTIFIED: Final = "notified_of_unreadable_settings"
"""The fact in which the store notes which sessions got the notice, by a hash of their keys."""
SESSIONS_NOTED: Final = 1_000


@dataclass(frozen=True, slots=True)
class RecordedHook:
    """A hook event that was parsed and recorded."""

    hook_event: HookEvent
    session: Session
    transcript_bytes: int
    """How large the transcript was before it was read."""


def receive_hook_event(
    engine: Engine, envelope: Envelope, payload: bytes, in_time: Callable[[], bool]
) -> bytes:
    """Record a hook event and return the reply for the harness, empty if there is none."""
    recorded = record_hook_event(engine, envelope, payload, in_time)
    return (reply_if_settled(engine, envelope, recorded) if recorded else None) or b""


def reply_if_settled(engine: Engine, envelope: Envelope, recorded: RecordedHook) -> bytes | None:
    """The reply to a recorded hook event; None if it depends on what the transcript will soon show."""
    hook_event, session, harness = recorded.hook_event, recorded.session, engine.harness(envelope.harness)
    if hook_event.ask is Ask.NOTHING:
        return b""
    if pressure_warning.is_behind(engine, hook_event, session):
        return None
    brief = resume.answer(engine, hook_event, session, harness) if _takes_brief(hook_event, harness) else ""
    limit = resume.limit_of(harness)
    brief = brief or prompt_memories.memories_for_prompt(engine, hook_event, session, limit)
    warning = pressure_warning.warn(
        engine, hook_event, session, envelope.at, lambda text: limit.fits(brief, text)
    )
    return harness.render_reply(hook_event, "\n\n".join(filter(None, (brief, warning))))


def has_grown(recorded: RecordedHook) -> bool:
    """Whether the transcript is larger or smaller than when it was read; asks the file system only."""
    return transcript_bytes(recorded.hook_event.transcript) != recorded.transcript_bytes


def read_further(
    engine: Engine, envelope: Envelope, recorded: RecordedHook, in_time: Callable[[], bool]
) -> RecordedHook:
    """The recorded hook event with its session after what the transcript has shown since."""
    hook_event, session, harness = recorded.hook_event, recorded.session, engine.harness(envelope.harness)
    size = transcript_bytes(hook_event.transcript)
    transcript = transcript_access(
        hook_event.transcript, harness.transcript_roots(engine.user_home, envelope.environment)
    )
    if isinstance(transcript, ReadableTranscript):
        read_on(engine, session.key, harness.name, session.project, transcript.path, in_time)
    # Whoever follows the transcript may have read it first.
    return RecordedHook(hook_event, engine.store.session(session.key) or session, size)


def _takes_brief(hook_event: HookEvent, harness: Harness) -> bool:
    """Whether this hook event can carry a brief; otherwise a brief that is due stays due."""
    if harness.stores_injected_text:
        return hook_event.ask is not Ask.STOP
    return hook_event.ask in (Ask.START, Ask.REQUEST, Ask.COMPACTION)


def record_hook_event(
    engine: Engine, envelope: Envelope, payload: bytes, in_time: Callable[[], bool]
) -> RecordedHook | None:
    """Record a hook event; None if there is nothing in it to record.

    Raises ProtectionUnreadable if the settings that say what may be stored cannot be read.
    """
    harness = engine.harness(envelope.harness)
    hook_event = harness.parse_hook(payload, envelope)
    if isinstance(hook_event, Skipped):
        with engine.store.writing():
            engine.store.count_skipped(f"hook event: {hook_event.reason}", 1)
        return None
    resolution = projects.resolve(engine.store, hook_event.cwd)
    project = resolution.project
    config = engine.config(project)
    if engine.owns(project) or not config.continuity.enabled or excluded(config, project.normalized):
        return None
    projects.keep_up(engine.store, resolution, engine.clock())
    transcript = transcript_access(
        hook_event.transcript, harness.transcript_roots(engine.user_home, envelope.environment)
    )
    size, session_read = transcript_bytes(hook_event.transcript), None
    if isinstance(transcript, ReadableTranscript):
        session_read = read_on(engine, hook_event.session, harness.name, project, transcript.path, in_time)
    content = _content(hook_event, transcript, session_read or engine.store.session(hook_event.session))
    arrival = Arrival(
        session=hook_event.session,
        harness=harness.name,
        project=project,
        events=content.events,
        waiting=content.waiting,
        process=envelope.process,
        transcript="" if isinstance(transcript, RefusedTranscript) else hook_event.transcript,
        git=_git_state(project, hook_event),
        auto=harness.auto_compact(engine.user_home, envelope.environment),
    )
    session = _related(engine, record(engine, arrival).session, hook_event)
    ledger.keep_up(
        engine,
        session,
        hook_event.events,
        handed_off=lambda: handoff.handoffs_of(project, session),
    )
    return RecordedHook(hook_event, session, size)


@dataclass(frozen=True, slots=True)
class _Content:
    events: tuple[Event, ...]
    waiting: tuple[Prompt, ...]


def _content(hook_event: HookEvent, transcript: TranscriptAccess, session: Session | None) -> _Content:
    """What to take from the hook event itself, given what the transcript can show.

    A harness may create its transcript only after the first prompt's hook has returned, so a missing one has
    until the next hook event to show a prompt. If there is none to open, the hook event is used at once.
    """
    waiting = tuple(event for event in hook_event.stand_ins if isinstance(event, Prompt))
    others = tuple(event for event in hook_event.stand_ins if not isinstance(event, Prompt))
    overdue = session.waiting if session else ()
    over = any(isinstance(event, SessionEnded) for event in hook_event.events)
    match transcript:
        case ReadableTranscript():
            return _Content((*(overdue if over else ()), *hook_event.events), waiting)
        case MissingTranscript():
            return _Content((*overdue, *others, *hook_event.events), waiting)
        case RefusedTranscript():
            return _Content((*overdue, *hook_event.stand_ins, *hook_event.events), ())


def _git_state(project: Project, hook_event: HookEvent) -> GitState | None:
    """The git state that the session leaves: read when a turn or a window ends, not while the user waits.

    At a start it is not the session's work yet, and would hide differences. Finding dirty files has to check
    each file, so that is done only when a checkpoint is about to be taken.
    """
    if hook_event.ask in (Ask.START, Ask.PROMPT, Ask.REQUEST, Ask.TOOLS):
        return None
    closing = any(isinstance(event, CompactionImminent | SessionEnded) for event in hook_event.events)
    return git_state(project) if closing else git_position(project)


def _related(engine: Engine, session: Session, hook_event: HookEvent) -> Session:
    """The session, with its lineage stored if a hook event or shared records show it."""
    forked = session.unanswered is Source.FORK
    # A harness whose hooks do not distinguish forks from resumed sessions may do so in its transcript.
    if not (hook_event.previous or forked or hook_event.source is Source.RESUME):
        return session
    if engine.store.lineage(session.key) is not None:
        return session
    parent = (
        hook_event.previous or _pointed_to(engine, session) or (_sharing(engine, session) if forked else "")
    )
    if parent in ("", session.key):
        return session
    kind = "previous" if hook_event.previous else "fork"
    with engine.store.writing():
        engine.store.add_lineage(Lineage(session.key, parent, kind, session.last_event_at))
        if forked and kind == "fork":
            engine.store.put_session(replace(session, unanswered=None))
        if kind == "fork":
            inherit_at_fork(engine, session.key, parent)
        return engine.store.session(session.key) or session


def _pointed_to(engine: Engine, session: Session) -> str:
    """The session whose transcript has the beginning of this one, as its own transcript says."""
    harness = engine.harness(session.harness)
    earlier = harness.earlier_transcripts(Path(session.transcript)) if session.transcript else ()
    return harness.session_of(earlier[-1]) if earlier else ""


def _sharing(engine: Engine, session: Session) -> str:
    """The session that shares records with this one."""
    shared = engine.store.sessions_sharing_records(session.key)
    return shared[0] if shared else ""


def notice_once(engine: Engine, envelope: Envelope, payload: bytes, error: ProtectionUnreadable) -> bytes:
    """A reply that says why nothing of a session is stored; empty if the session got it before."""
    harness = engine.harness(envelope.harness)
    hook_event = harness.parse_hook(payload, envelope)
    if isinstance(hook_event, Skipped) or hook_event.ask not in (Ask.START, Ask.PROMPT, Ask.REQUEST):
        return b""
    name = hashlib.sha256(hook_event.session.encode(errors="replace")).hexdigest()[:16]
    text = f"Holdfast (tell the user): {error.message}. To go on, {error.hint}."
    reply = harness.render_reply(hook_event, one_line(printable(text)))
    with engine.store.writing():
        noted = engine.store.fact(NOTIFIED)
        notified: list[str] = msgspec.json.decode(noted, type=list[str]) if noted else []
        if not reply or name in notified:
            return b""
        engine.store.put_fact(NOTIFIED, msgspec.json.encode([*notified, name][-SESSIONS_NOTED:]).decode())
    return reply


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
    if glance.window in (0, session.pressure.reported_window) or engine.is_stopped(session.project):
        return session
    arrival = Arrival(session.key, session.harness, session.project, window=glance.window)
    return record(engine, arrival).session


_EVENT: Final = ("hook_event_name", "hookEventName")
_KEYS: Final = ("session_id", "sessionId", "session_key", "sessionKey")
_PATHS: Final = ("transcript_path", "transcriptPath", "agent_transcript_path")


def without_foreign_paths(engine: Engine, event: str, raw: bytes) -> bytes | None:
    """The hook event with its event's name and only known paths; None if it is not a JSON object."""
    try:
        fields = msgspec.json.decode(raw, type=dict[str, object])
    except (msgspec.DecodeError, RecursionError):
        return None
    if not any(fields.get(name) for name in _EVENT):
        fields[_EVENT[0]] = event
    key = next((str(fields[name]) for name in _KEYS if fields.get(name)), "")
    session = engine.store.session(key) if key else None
    known_path = session.transcript if session else ""
    allowed = {
        name: value
        for name, value in fields.items()
        if name not in _PATHS or (known_path and value == known_path)
    }
    return msgspec.json.encode(allowed)
