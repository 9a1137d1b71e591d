"""Record: the only path by which an event changes anything.

Redact, advance, checkpoint, commit: a batch of events, the cursor behind it and all that follows from them
share one transaction.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Final, TypeAlias, TypeVar

from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.event import (
    MAIN,
    AssistantText,
    CompactionImminent,
    DigestGiven,
    Event,
    Origin,
    Prompt,
    Remembered,
    SessionEnded,
    SessionStarted,
    Skipped,
    Source,
    Usage,
    map_text,
)
from holdfast.core.events.world import GitState, Project
from holdfast.core.evidence.file_edits import edit_updates
from holdfast.core.evidence.follow import same_prompt
from holdfast.core.evidence.trail import Trail
from holdfast.core.memory.memory import Memory, asked_to_remember
from holdfast.core.session.checkpoint import Checkpoint, record_id, take
from holdfast.core.session.pressure import AutoCompact
from holdfast.core.session.session import (
    Effect,
    Policy,
    Process,
    Session,
    TakeCheckpoint,
    Trigger,
    advance,
    begin,
    expect_prompt,
    is_imported,
    record_remember,
    revise,
)
from holdfast.engine.engine import Engine
from holdfast.engine.index import checkpoint_document
from holdfast.engine.recording.memorize import MemoryRequest, remember_again, store_memory
from holdfast.engine.redaction.redactor import Redactor
from holdfast.errors import HoldfastError
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Novelty

ACCESSED_SHOWN: Final = 5

CLOCK_SKEW_MS: Final = DAY_MS
"""How far in the future an event may be dated before its time is not trusted."""

_Redact: TypeAlias = Callable[[str], str]
_E = TypeVar("_E", bound=Event)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A batch of events of one session, with what else is known of it."""

    session: str
    harness: str
    project: Project
    events: tuple[Event, ...] = ()
    is_history: bool = False
    """Whether the events come from an old file, whose dates are trusted whatever the clock says."""
    waiting: tuple[Prompt, ...] = ()
    """Prompts that the transcript will show; stored with the session until it does."""
    source: str = ""
    """The file that the events were read from; `cursor` says how far."""
    cursor: str = ""
    skipped: tuple[Skipped, ...] = ()
    process: Process | None = None
    transcript: str = ""
    git: GitState | None = None
    auto: AutoCompact | None = None
    """When the harness compacts by itself, if known."""
    window: int = 0
    """How many tokens the model's window holds, if the harness said so."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What recording a batch did: the session after it, and the checkpoints that were taken."""

    session: Session
    checkpoints: tuple[Checkpoint, ...] = ()


def record(engine: Engine, arrival: Arrival) -> Recorded:
    """Record a batch with all that follows from it, in one transaction."""
    _remember_again(engine, arrival)
    redactor = engine.redactor(arrival.project)
    arrival = redacted_arrival(arrival, redactor)
    must_last = _must_last((*arrival.events, *arrival.waiting))
    writing = engine.store.writing_durably if must_last else engine.store.writing
    with writing():
        return _record_redacted(engine, arrival, redactor)


def record_inside(engine: Engine, arrival: Arrival) -> Recorded:
    """Record a batch inside an open transaction."""
    redactor = engine.redactor(arrival.project)
    return _record_redacted(engine, redacted_arrival(arrival, redactor), redactor)


def _record_redacted(engine: Engine, arrival: Arrival, redactor: Redactor) -> Recorded:
    forgotten_at = engine.store.forgotten_at(arrival.session)
    latest = engine.clock() + CLOCK_SKEW_MS
    if not arrival.is_history:
        arrival = _dated(_after(arrival, forgotten_at, latest), latest, engine.clock())
    stored_session = _stored_session(engine, arrival.session)
    if stored_session is None and engine.store.imported_work(arrival.session) is not None:
        _drop_import(engine, arrival.session)
    recorded = Recorded(_placed(stored_session or _begun(engine, arrival), arrival))
    # Reading a transcript again does not bring back what was forgotten.
    if stored_session or not forgotten_at or arrival.events or arrival.waiting:
        recorded = _advanced(engine, recorded.session, arrival, redactor)
    if arrival.source:
        engine.store.put_cursor(arrival.source, arrival.cursor)
    for skipped in arrival.skipped:
        engine.store.count_skipped(skipped.reason, 1)
    return recorded


def redacted_arrival(arrival: Arrival, redactor: Redactor) -> Arrival:
    """The batch without secrets in any of its texts."""
    return _redacted(_joined(arrival, redactor), redactor.of_session(arrival.session))


def perform(engine: Engine, session: Session, effect: Effect, at: int) -> tuple[Session, Checkpoint]:
    """Carry out an effect that the core decided on; called inside a transaction."""
    match effect:
        case TakeCheckpoint(trigger=trigger, words=words):
            id = engine.new_id()
            own = record_id(at, id) if trigger is Trigger.THRESHOLD else id
            session, checkpoint = take(session, trigger, words, own, at, _accessed(engine, session))
            redactor = engine.redactor(session.project)
            # The session's state may have been redacted by an older version.
            checkpoint = _redacted_checkpoint(checkpoint, redactor.of_session(session.key))
            engine.store.add_checkpoint(checkpoint, redactor.mark)
            most = engine.config(session.project).continuity.max_checkpoints_per_session
            engine.store.trim_checkpoints(session.key, most)
            engine.store.add_document(checkpoint_document(checkpoint), redactor.mark)
            return session, checkpoint


def _accessed(engine: Engine, session: Session) -> list[Memory]:
    """The memories given to the session since its last checkpoint, the most often recalled first."""
    memory_ids = [id for id, at in engine.store.recalls(session.key) if at > session.last_checkpoint_at]
    return sorted(engine.store.memories_named(memory_ids), key=lambda memory: -memory.found)[:ACCESSED_SHOWN]


def _remember_again(engine: Engine, arrival: Arrival) -> None:
    """Allow forgotten wordings again that the user has since typed to remember."""
    prompts = (each for each in (*arrival.events, *arrival.waiting) if isinstance(each, Prompt))
    requests = [each for each in prompts if asked_to_remember(each.text) and each.origin is Origin.HUMAN]
    if not requests or not engine.store.forgotten_wordings():
        return
    with engine.store.writing_durably():
        for prompt in requests:
            with contextlib.suppress(HoldfastError):
                wish = MemoryRequest(prompt.text)
                remember_again(engine, arrival.project, wish, session=arrival.session, at=prompt.at)


def _with_memory(engine: Engine, session: Session, prompt: Prompt, redactor: Redactor) -> Session:
    """The session after a prompt that may ask to remember something; hook and transcript count once."""
    text = asked_to_remember(prompt.text)
    is_typed = prompt.agent == MAIN and prompt.origin is Origin.HUMAN
    if not text or not is_typed or same_prompt(session.trail, prompt) is not None:
        return session
    at = prompt.at or engine.clock()
    # Text that is too long for a memory is still a prompt.
    with contextlib.suppress(HoldfastError):
        outcome = store_memory(
            engine,
            session.project,
            MemoryRequest(text),
            redactor,
            source="prompt",
            session=session.key,
            at=at,
        )
        return record_remember(session, outcome.memory.text, at)
    return session


def _stored_session(engine: Engine, key: str) -> Session | None:
    """The stored session; None for an imported one, which begins anew: none of its events are stored."""
    session = engine.store.session(key)
    return None if session is not None and is_imported(session) else session


def _drop_import(engine: Engine, key: str) -> None:
    """Drop the checkpoint of an imported session that goes on: it is read again from its start."""
    engine.store.trim_checkpoints(key, 0)
    engine.store.drop_imported_work(key)


def _begun(engine: Engine, arrival: Arrival) -> Session:
    """A new session, which begins at the earliest time in the batch."""
    times = (event.at for event in (*arrival.events, *arrival.waiting) if event.at)
    return begin(arrival.session, arrival.harness, arrival.project, min(times, default=engine.clock()))


def _placed(session: Session, arrival: Arrival) -> Session:
    """The session with the project, process, transcript, git state and window size of the batch."""
    return replace(
        session,
        project=arrival.project if _resumes_elsewhere(session, arrival) else session.project,
        process=arrival.process or session.process,
        transcript=arrival.transcript or session.transcript,
        git=arrival.git or session.git,
        pressure=replace(
            session.pressure,
            auto=arrival.auto or session.pressure.auto,
            reported_window=arrival.window or session.pressure.reported_window,
        ),
    )


def _resumes_elsewhere(session: Session, arrival: Arrival) -> bool:
    """Whether the session is resumed in another worktree of its repository."""
    here, there = session.project, arrival.project
    if there.project_id != here.project_id or there.worktree_id == here.worktree_id:
        return False
    starts = (event for event in arrival.events if isinstance(event, SessionStarted))
    return any(start.source is Source.RESUME for start in starts)


def _advanced(engine: Engine, session: Session, arrival: Arrival, redactor: Redactor) -> Recorded:
    """The session after the whole batch, stored, and the checkpoints that the batch led to."""
    policy = engine.policy(arrival.project)
    checkpoints: list[Checkpoint] = []
    for event in arrival.events:
        session, taken = _record_event(engine, session, event, policy, redactor)
        checkpoints += taken
    for prompt in arrival.waiting:
        session = expect_prompt(_with_memory(engine, session, prompt, redactor), prompt, policy)
    engine.store.put_session(session, redactor.mark)
    return Recorded(session, tuple(checkpoints))


def _record_event(
    engine: Engine, session: Session, event: Event, policy: Policy, redactor: Redactor
) -> tuple[Session, list[Checkpoint]]:
    checkpoints: list[Checkpoint] = []
    match engine.store.add_event(event, redactor.mark):
        case Novelty.NEW:
            if isinstance(event, Prompt):
                session = _with_memory(engine, session, event, redactor)
            before = session.trail
            session, effects = advance(session, event, policy)
            _store_edits(engine, session, event, before, redactor)
            for effect in effects:
                session, checkpoint = perform(engine, session, effect, event.at)
                checkpoints.append(checkpoint)
        case Novelty.REVISED:
            before = session.trail
            session = revise(session, event)
            _store_edits(engine, session, event, before, redactor)
        case Novelty.KNOWN:
            pass
    return session, checkpoints


def _store_edits(engine: Engine, session: Session, event: Event, before: Trail, redactor: Redactor) -> None:
    """Store which files an event says were changed, and why."""
    project = session.project
    if updates := edit_updates(before, session.trail, event, project.project_id, project.root):
        engine.store.update_file_edits(session.key, updates, redactor.mark)


def _after(arrival: Arrival, at: int, latest: int) -> Arrival:
    """The part of a batch that happened after a time; all of it if the time is 0.

    Events dated in the future count as before, because their true time is unknown.
    """
    if not at:
        return arrival
    events = tuple(event for event in arrival.events if at < event.at <= latest)
    waiting = tuple(prompt for prompt in arrival.waiting if at < prompt.at <= latest)
    return replace(arrival, events=events, waiting=waiting)


def _dated(arrival: Arrival, latest: int, now: int) -> Arrival:
    """The batch with future dates set to now: a wrong clock must not win over real work."""
    if all(event.at <= latest for event in (*arrival.events, *arrival.waiting)):
        return arrival
    return replace(
        arrival,
        events=tuple(_at_most(event, latest, now) for event in arrival.events),
        waiting=tuple(_at_most(prompt, latest, now) for prompt in arrival.waiting),
    )


def _at_most(event: _E, latest: int, now: int) -> _E:
    return event if event.at <= latest else replace(event, at=now)


def _joined(arrival: Arrival, redactor: Redactor) -> Arrival:
    """The batch with the blocks of each message redacted as one text."""
    redact = redactor.parts_of_session(arrival.session)
    events = list(arrival.events)
    for blocks in _messages(events):
        texts = redact([event.text for _, event in blocks])
        for (place, event), text in zip(blocks, texts, strict=True):
            events[place] = replace(event, text=text)
    return replace(arrival, events=tuple(events))


def _messages(events: Sequence[Event]) -> Iterator[list[tuple[int, Prompt | AssistantText]]]:
    """The messages of several blocks, each block with its place. Only token counts may be between them."""
    places = ((place, event) for place, event in enumerate(events) if not isinstance(event, Usage))
    for _, blocks in groupby(places, key=lambda each: _message(each[1])):
        texts = [(place, event) for place, event in blocks if isinstance(event, Prompt | AssistantText)]
        if len(texts) > 1:
            yield texts


def _message(event: Event) -> tuple[type[Event], str, str]:
    """The key that the blocks of one message share.

    Some harnesses write each block of an answer as a record of its own, so consecutive texts of an agent
    count as one message.
    """
    record = "" if isinstance(event, AssistantText) else event.record.partition("/")[0]
    return type(event), event.agent, record


def _redacted(arrival: Arrival, redact: _Redact) -> Arrival:
    return replace(
        arrival,
        events=tuple(map_text(event, redact) for event in arrival.events),
        waiting=tuple(map_text(prompt, redact) for prompt in arrival.waiting),
        skipped=tuple(replace(skipped, reason=redact(skipped.reason)) for skipped in arrival.skipped),
        git=_redacted_git(arrival.git, redact) if arrival.git else None,
    )


def _redacted_git(git: GitState, redact: _Redact) -> GitState:
    """The git state without secrets in commit messages and in names of branches and files."""
    commits, dirty = map(redact, git.last_commits), map(redact, git.dirty)
    return replace(git, branch=redact(git.branch), last_commits=tuple(commits), dirty=tuple(dirty))


def _redacted_checkpoint(checkpoint: Checkpoint, redact: _Redact) -> Checkpoint:
    return replace(
        checkpoint,
        digest=redact(checkpoint.digest),
        words=redact(checkpoint.words),
        memory_queries=tuple(map(redact, checkpoint.memory_queries)),
        recent_remembers=tuple(map(redact, checkpoint.recent_remembers)),
        outline=checkpoint.outline.mapped(redact),
    )


def _must_last(events: Sequence[Event]) -> bool:
    """Whether the user or agent is about to be told that this is safe on the disk."""
    return any(
        isinstance(event, CompactionImminent | DigestGiven | Remembered | SessionEnded)
        or (isinstance(event, Prompt) and asked_to_remember(event.text))
        for event in events
    )
