"""Maintain: periodic work that no hook event triggers.

Checkpoints that are due, sessions whose harness is gone, and rows past their retention.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace
from itertools import takewhile
from pathlib import Path

from holdfast.core.brief.brief_input import BriefInput, Reason
from holdfast.core.brief.compose import items_for_start
from holdfast.core.events.durations import DAY_MS, HOUR_MS
from holdfast.core.session.session import Phase, Session, TakeCheckpoint, Trigger, end_session, tick
from holdfast.engine.engine import Engine
from holdfast.engine.liveness import Liveness, liveness_of
from holdfast.engine.recording.record import CLOCK_SKEW_MS, Arrival, perform, record
from holdfast.engine.recording.transcripts import ReadableTranscript, read_on, transcript_access
from holdfast.lazy_dataclass import dataclass
from holdfast.settings import Records

DEBOUNCE_MS = 2_500
"""How long a due checkpoint waits for further events."""
GRACE_MS = 30_000
"""How long a session without a process must be silent: a hook run by hand comes from a short-lived shell."""
NEWEST_KEPT_DAYS = 90
MB = 1_000_000
SESSIONS_REDATED = 10_000
PASSAGES_AT_ONCE = 500
"""Passages of one pruning step: a hook event that arrives meanwhile waits less than a tenth of a second."""


@dataclass(frozen=True, slots=True)
class Pruned:
    """How much was removed because it was past its retention."""

    checkpoints: int
    sessions: int
    passages: int = 0


def take_due_checkpoints(engine: Engine, waited_ms: int = DEBOUNCE_MS) -> int:
    """Take the checkpoints that have been due for at least that long; returns how many."""
    live = [session for session in engine.store.live_sessions() if not engine.is_stopped(session.project)]
    return sum(_flushed(engine, one.key, waited_ms) for one in live if _calls(engine, one, waited_ms))


def _calls(engine: Engine, session: Session, waited_ms: int) -> bool:
    """Whether a session has a checkpoint due; most do not, and need no transaction."""
    now = engine.clock()
    ticked = tick(session, engine.policy(session.project), now)
    return ticked is not session or (ticked.due is not None and now - ticked.due.since >= waited_ms)


def _flushed(engine: Engine, key: str, waited_ms: int) -> int:
    now = engine.clock()
    with engine.store.writing():
        session = engine.store.session(key)
        if session is None:
            return 0
        ticked = tick(session, engine.policy(session.project), now)
        count = 0
        if ticked.due is not None and now - ticked.due.since >= waited_ms:
            ticked, _ = perform(engine, ticked, TakeCheckpoint(ticked.due.trigger), now)
            count = 1
        if ticked is not session:
            engine.store.put_session(ticked)
    if count:
        # What makes each text fit to be shown remembers it: at a compaction the harness waits for that.
        items_for_start(BriefInput(Reason.SUMMARY, ticked, now))
    return count


def finalise_orphans(engine: Engine) -> list[str]:
    """Close the sessions whose harness is gone without saying so; returns their keys."""
    live = [session for session in engine.store.live_sessions() if not engine.is_stopped(session.project)]
    return [finalise(engine, session).key for session in live if _is_gone(engine, session)]


def _is_gone(engine: Engine, session: Session) -> bool:
    """Whether its process is gone; if that is unknown, whether the session is too old to continue."""
    quiet = engine.clock() - session.last_event_at
    match liveness_of(engine, session):
        case Liveness.OWN:
            return False
        case Liveness.GONE:
            return quiet >= GRACE_MS
        case Liveness.SHARED | Liveness.UNKNOWN:
            return quiet > engine.config(session.project).continuity.recovery_window_hours * HOUR_MS


def read_to_end(engine: Engine, session: Session) -> Session:
    """The session after the rest of its transcript and its waiting prompts."""
    path = Path(session.transcript) if session.transcript else None
    if path is not None and isinstance(
        transcript_access(session.transcript, (path.parent,)), ReadableTranscript
    ):
        read_on(engine, session.key, session.harness, session.project, path, lambda: True)
    session = engine.store.session(session.key) or session
    if session.waiting:
        arrival = Arrival(session.key, session.harness, session.project, events=session.waiting)
        session = record(engine, arrival).session
    return session


def finalise(engine: Engine, session: Session) -> Session:
    """Read the rest of a session's transcript, take a checkpoint, and mark the session as orphaned."""
    session = read_to_end(engine, session)
    now = engine.clock()
    with engine.store.writing_durably():
        session = engine.store.session(session.key) or session
        if session.phase is not Phase.LIVE:
            return session
        session = end_session(session, Phase.ORPHANED, now, "orphaned")
        if not session.trail.is_empty():
            session, _ = perform(engine, session, TakeCheckpoint(Trigger.ORPHAN), now)
        engine.store.put_session(session)
    return session


def redate(engine: Engine) -> int:
    """Give sessions dated in the future the date of the latest one that is not; returns how many.

    They were recorded while the system's clock was wrong, or before events were dated on arrival. Among equal
    times, the session that was received last is the newest.
    """
    latest = engine.clock() + CLOCK_SKEW_MS
    with engine.store.writing():
        newest = engine.store.sessions(SESSIONS_REDATED)
        ahead = list(takewhile(lambda session: session.last_event_at > latest, newest))
        at = newest[len(ahead)].last_event_at if len(ahead) < len(newest) else engine.clock()
        for session in ahead:
            engine.store.put_session(_at_latest(session, at))
    return len(ahead)


def _at_latest(session: Session, at: int) -> Session:
    return replace(
        session,
        started_at=min(session.started_at, at),
        last_event_at=at,
        changed_at=min(session.changed_at, at),
        ended_at=min(session.ended_at, at),
        last_checkpoint_at=min(session.last_checkpoint_at, at),
        due=None,
    )


def prune_records(engine: Engine, records: Records, most: int = PASSAGES_AT_ONCE) -> int:
    """Remove some passages that are old or over the size limit, in one step; returns how many."""
    with engine.store.writing():
        return _prune_records_inside(engine, records, most)


def prune(engine: Engine, retention_days: int, records: Records) -> Pruned:
    """Remove checkpoints past their retention, and sessions that have none left."""
    with engine.store.writing():
        return _prune_inside(engine, retention_days, records)


def prune_all(engine: Engine, retention_days: int, records: Records) -> Pruned:
    """Prune everything; passages step by step, so that other writers get their turn."""
    pruned = prune(engine, retention_days, records)
    return replace(pruned, passages=sum(iter(lambda: prune_records(engine, records), 0)))


def would_prune(engine: Engine, retention_days: int, records: Records) -> Pruned:
    """How much `prune_all` would remove now; it prunes in one transaction and rolls back."""
    pruned = Pruned(0, 0)
    with contextlib.suppress(_Undo), engine.store.writing():
        pruned = _prune_inside(engine, retention_days, records)
        passages = sum(iter(lambda: _prune_records_inside(engine, records, PASSAGES_AT_ONCE), 0))
        pruned = replace(pruned, passages=passages)
        raise _Undo
    return pruned


class _Undo(Exception):
    """Raised to roll back a transaction."""


def _prune_inside(engine: Engine, retention_days: int, records: Records) -> Pruned:
    now = engine.clock()
    newest_before = now - NEWEST_KEPT_DAYS * DAY_MS
    imported_before = now - records.retention_days * DAY_MS
    before = now - retention_days * DAY_MS
    checkpoints = engine.store.prune_checkpoints(before, newest_before, imported_before)
    sessions = engine.store.prune_sessions(newest_before, imported_before)
    engine.store.prune_sites(newest_before)
    return Pruned(checkpoints, sessions)


def _prune_records_inside(engine: Engine, records: Records, most: int) -> int:
    before = engine.clock() - records.retention_days * DAY_MS
    engine.store.prune_file_edits(before, most)
    return engine.store.prune_records(before, records.max_mb * MB, most)
