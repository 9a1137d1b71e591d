"""Record: the only path by which an event changes anything.

Redact, advance, checkpoint, commit: a batch of events, the cursor behind it and all that follows from them
share one transaction.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.core.checkpoint import take
from holdfast.core.events import (
    CompactionImminent,
    DigestGiven,
    Event,
    Prompt,
    Remembered,
    SessionEnded,
    Skipped,
    map_text,
)
from holdfast.core.redact import redact
from holdfast.core.session import (
    Effect,
    Policy,
    Process,
    Session,
    TakeCheckpoint,
    advance,
    begin,
    revise,
    wait,
)
from holdfast.core.world import GitState, Project
from holdfast.engine.desk import Desk
from holdfast.stores.base import Document, Novelty


@dataclass(frozen=True, slots=True)
class Arrival:
    """What came in at once about one session."""

    session: str
    harness: str
    project: Project
    events: tuple[Event, ...] = ()
    waiting: tuple[Prompt, ...] = ()
    """Prompts that the transcript will show; kept with the session until it does."""
    source: str = ""
    """Where the events were read from, and below how far it is read now."""
    cursor: str = ""
    skipped: tuple[Skipped, ...] = ()
    process: Process | None = None
    transcript: str = ""
    git: GitState | None = None


def record(desk: Desk, arrival: Arrival) -> Session:
    """Keep what came in, with all that follows from it; the session as it is then."""
    arrival = _redacted(arrival)
    writing = desk.store.writing_durably if _must_last(arrival.events) else desk.store.writing
    policy = desk.policy(arrival.project)
    with writing():
        session = _introduced(desk, arrival)
        for event in arrival.events:
            session = _kept(desk, session, event, policy)
        for prompt in arrival.waiting:
            session = wait(session, prompt, policy)
        if arrival.source:
            desk.store.put_cursor(arrival.source, arrival.cursor)
        for skipped in arrival.skipped:
            desk.store.count_skipped(skipped.reason, 1)
        desk.store.put_session(session)
    return session


def perform(desk: Desk, session: Session, effect: Effect, at: int) -> Session:
    """Do what the core decided; called inside a transaction."""
    match effect:
        case TakeCheckpoint(trigger=trigger, words=words):
            session, checkpoint = take(session, trigger, words, desk.new_id(), at)
            desk.store.add_checkpoint(checkpoint)
            keep = desk.config(session.project).continuity.max_checkpoints_per_session
            desk.store.trim_checkpoints(session.key, keep)
            desk.store.add_document(
                Document(checkpoint.id, "checkpoint", checkpoint.project_id, checkpoint.digest)
            )
    return session


def _kept(desk: Desk, session: Session, event: Event, policy: Policy) -> Session:
    match desk.store.add_event(event):
        case Novelty.NEW:
            session, effects = advance(session, event, policy)
            for effect in effects:
                session = perform(desk, session, effect, event.at)
        case Novelty.REVISED:
            session = revise(session, event)
        case Novelty.KNOWN:
            pass
    return session


def _introduced(desk: Desk, arrival: Arrival) -> Session:
    """The session as it is kept, or a new one, with what the arrival says about where it lives."""
    session = desk.store.session(arrival.session)
    if session is None:
        at = min(
            (event.at for event in (*arrival.events, *arrival.waiting) if event.at), default=desk.clock()
        )
        session = begin(arrival.session, arrival.harness, arrival.project, at)
        # Events refer to their session, so it has to be there before them.
        desk.store.put_session(session)
    return replace(
        session,
        process=arrival.process or session.process,
        transcript=arrival.transcript or session.transcript,
        git=arrival.git or session.git,
    )


def _redacted(arrival: Arrival) -> Arrival:
    return replace(
        arrival,
        events=tuple(map_text(event, redact) for event in arrival.events),
        waiting=tuple(map_text(prompt, redact) for prompt in arrival.waiting),
        git=redacted_git(arrival.git),
    )


def redacted_git(git: GitState | None) -> GitState | None:
    """Commit messages and branch names are a stranger's text too."""
    if git is None:
        return None
    commits = tuple(redact(subject) for subject in git.last_commits)
    return replace(git, branch=redact(git.branch), last_commits=commits)


def _must_last(events: Sequence[Event]) -> bool:
    """Whether someone is about to be told that this is safe."""
    return any(
        isinstance(event, CompactionImminent | DigestGiven | Remembered | SessionEnded) for event in events
    )
