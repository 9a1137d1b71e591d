"""Record: the only path by which an event changes anything.

Redact, advance, checkpoint, commit: a batch of events, the cursor behind it and all that follows from them
share one transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import TypeAlias

from holdfast.core.checkpoint import Checkpoint, take
from holdfast.core.events import (
    AssistantText,
    CompactionImminent,
    DigestGiven,
    Event,
    Prompt,
    Remembered,
    SessionEnded,
    Skipped,
    map_text,
)
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
from holdfast.engine.redactor import Redactor
from holdfast.stores.base import Document, Novelty

_Redact: TypeAlias = Callable[[str], str]


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
    redactor = desk.redactor(arrival.project)
    arrival = _redacted(_joined(arrival, redactor), redactor.of_session(arrival.session))
    writing = desk.store.writing_durably if _must_last(arrival.events) else desk.store.writing
    with writing():
        forgotten_at = desk.store.forgotten_at(arrival.session)
        arrival = _after(arrival, forgotten_at)
        known = desk.store.session(arrival.session)
        session = _placed(known or _begun(desk, arrival), arrival)
        # What was forgotten does not come back because its transcript is read once more.
        if known or not forgotten_at or arrival.events or arrival.waiting:
            session = _advanced(desk, session, arrival, redactor)
        if arrival.source:
            desk.store.put_cursor(arrival.source, arrival.cursor)
        for skipped in arrival.skipped:
            desk.store.count_skipped(skipped.reason, 1)
    return session


def perform(desk: Desk, session: Session, effect: Effect, at: int) -> Session:
    """Do what the core decided; called inside a transaction."""
    match effect:
        case TakeCheckpoint(trigger=trigger, words=words):
            session, checkpoint = take(session, trigger, words, desk.new_id(), at)
            redactor = desk.redactor(session.project)
            # What the session knows may be older than this redactor.
            checkpoint = _redacted_checkpoint(checkpoint, redactor.of_session(session.key))
            desk.store.add_checkpoint(checkpoint, redactor.mark)
            keep = desk.config(session.project).continuity.max_checkpoints_per_session
            desk.store.trim_checkpoints(session.key, keep)
            findable = Document(checkpoint.id, "checkpoint", checkpoint.project_id, checkpoint.digest)
            desk.store.add_document(findable, redactor.mark)
    return session


def _begun(desk: Desk, arrival: Arrival) -> Session:
    """A session that was not known, from the first that is known of it."""
    times = (event.at for event in (*arrival.events, *arrival.waiting) if event.at)
    return begin(arrival.session, arrival.harness, arrival.project, min(times, default=desk.clock()))


def _placed(session: Session, arrival: Arrival) -> Session:
    """The session with what the arrival says about where it lives."""
    return replace(
        session,
        process=arrival.process or session.process,
        transcript=arrival.transcript or session.transcript,
        git=arrival.git or session.git,
    )


def _advanced(desk: Desk, session: Session, arrival: Arrival, redactor: Redactor) -> Session:
    """The session after all that arrived, and kept with it."""
    policy = desk.policy(arrival.project)
    for event in arrival.events:
        session = _kept(desk, session, event, policy, redactor.mark)
    for prompt in arrival.waiting:
        session = wait(session, prompt, policy)
    desk.store.put_session(session, redactor.mark)
    return session


def _kept(desk: Desk, session: Session, event: Event, policy: Policy, redactor: str) -> Session:
    match desk.store.add_event(event, redactor):
        case Novelty.NEW:
            session, effects = advance(session, event, policy)
            for effect in effects:
                session = perform(desk, session, effect, event.at)
        case Novelty.REVISED:
            session = revise(session, event)
        case Novelty.KNOWN:
            pass
    return session


def _after(arrival: Arrival, at: int) -> Arrival:
    """What of an arrival happened after that time; all of it where there is none."""
    if not at:
        return arrival
    events = tuple(event for event in arrival.events if event.at > at)
    return replace(arrival, events=events, waiting=tuple(each for each in arrival.waiting if each.at > at))


def _joined(arrival: Arrival, redactor: Redactor) -> Arrival:
    """The arrival with what was said in several blocks of one record redacted as one text."""
    redact = redactor.parts_of_session(arrival.session)
    events: list[Event] = []
    for _, blocks in groupby(arrival.events, key=_message):
        block = list(blocks)
        said = [event for event in block if isinstance(event, Prompt | AssistantText)]
        if len(said) > 1:
            texts = redact([event.text for event in said])
            events += [replace(event, text=text) for event, text in zip(said, texts, strict=True)]
        else:
            events += block
    return replace(arrival, events=tuple(events))


def _message(event: Event) -> tuple[type[Event], str]:
    """What the blocks of one message share."""
    return type(event), event.record.partition("/")[0]


def _redacted(arrival: Arrival, redact: _Redact) -> Arrival:
    return replace(
        arrival,
        events=tuple(map_text(event, redact) for event in arrival.events),
        waiting=tuple(map_text(prompt, redact) for prompt in arrival.waiting),
        skipped=tuple(replace(skipped, reason=redact(skipped.reason)) for skipped in arrival.skipped),
        git=_redacted_git(arrival.git, redact) if arrival.git else None,
    )


def _redacted_git(git: GitState, redact: _Redact) -> GitState:
    """Commit messages, names of branches and of files are a stranger's text too."""
    commits, dirty = map(redact, git.last_commits), map(redact, git.dirty)
    return replace(git, branch=redact(git.branch), last_commits=tuple(commits), dirty=tuple(dirty))


def _redacted_checkpoint(checkpoint: Checkpoint, redact: _Redact) -> Checkpoint:
    return replace(
        checkpoint,
        digest=redact(checkpoint.digest),
        words=redact(checkpoint.words),
        memory_queries=tuple(map(redact, checkpoint.memory_queries)),
        recent_remembers=tuple(map(redact, checkpoint.recent_remembers)),
    )


def _must_last(events: Sequence[Event]) -> bool:
    """Whether someone is about to be told that this is safe."""
    return any(
        isinstance(event, CompactionImminent | DigestGiven | Remembered | SessionEnded) for event in events
    )
