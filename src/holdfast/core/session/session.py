"""Session: one conversation in a harness as durable state, and how an event changes it.

`advance` decides; nothing here looks, waits or writes: what has to be done comes back as effects.
"""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from typing import TypeAlias

from holdfast.core.events.event import (
    MAIN,
    BriefSeen,
    Compacted,
    CompactionImminent,
    DigestGiven,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    Remembered,
    SessionEnded,
    SessionStarted,
    Sign,
    Source,
    TurnEnded,
    Usage,
)
from holdfast.core.events.fence import is_brief
from holdfast.core.events.world import GitState, Project
from holdfast.core.evidence.follow import follow, restarted, swapped, told_by_hook, twin
from holdfast.core.evidence.replaced import renewed
from holdfast.core.evidence.trail import Trail
from holdfast.core.session.flush import Flush, FlushPolicy, acted
from holdfast.core.session.pressure import (
    KnownModel,
    Pressure,
    capacity,
    counted,
    emptied,
    percent,
    switched,
    taught,
)
from holdfast.core.session.rolling import Rolling, RollingPolicy, due, taken
from holdfast.core.text.strings import query_terms, shortened
from holdfast.lazy_dataclass import dataclass

QUERIES_PENDING = 20
REMEMBERS_PENDING = 10
COMPACTIONS_KEPT = 4
SAME_COMPACTION_MS = 120_000
"""Signs of one compaction arrive within seconds of each other; no sign comes twice for the same one."""
IMPORTED = "imported"
"""Why a session is over that was brought in from an old transcript."""


class Phase(StrEnum):
    LIVE = "live"
    ENDED = "ended"
    ORPHANED = "orphaned"
    """Its harness is gone and said nothing."""


class Trigger(StrEnum):
    """Why a checkpoint is taken."""

    PERIODIC = "periodic"
    THRESHOLD = "threshold"
    """The window is so full, or there were so many prompts since the last one."""
    PRE_COMPACTION = "pre_compaction"
    AGENT = "agent"
    EXPLICIT = "explicit"
    SESSION_END = "session_end"
    CLEAR = "clear"
    ORPHAN = "orphan"


@dataclass(frozen=True, slots=True)
class Process:
    """A process, known by pid and start time so that a reused pid is another process."""

    pid: int
    start: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction and the signs by which it became known so far."""

    at: int
    signs: tuple[Sign, ...]


@dataclass(frozen=True, slots=True)
class Due:
    """A checkpoint that is due but may wait a moment for more to come."""

    trigger: Trigger
    since: int


@dataclass(frozen=True, slots=True)
class Policy:
    """What the user's settings say about checkpoints and pressure, and what is known of models."""

    prompt_interval: int = 10
    time_interval_ms: int = 900_000
    rolling: RollingPolicy = RollingPolicy()
    flush: FlushPolicy = FlushPolicy()
    models: tuple[KnownModel, ...] = ()


@dataclass(frozen=True)  # without slots, to be renewed
class Session:
    """Everything that must survive about a session; the whole of it is durable."""

    key: str
    harness: str
    project: Project
    started_at: int
    last_event_at: int
    phase: Phase = Phase.LIVE
    ended_at: int = 0
    end_reason: str = ""
    process: Process | None = None
    transcript: str = ""
    model: str = ""
    prompt_count: int = 0
    waiting: tuple[Prompt, ...] = ()
    """Prompts that a letter told and the transcript has not shown yet."""
    prompts_at_checkpoint: int = 0
    last_checkpoint_at: int = 0
    changed_at: int = 0
    """When something last happened that is worth keeping."""
    unsaved: bool = False
    """Whether that is in no checkpoint yet."""
    pending_queries: tuple[str, ...] = ()
    pending_remembers: tuple[str, ...] = ()
    due: Due | None = None
    window: int = 0
    compactions: tuple[Compaction, ...] = ()
    compaction_announced: bool = False
    briefed_window: int = -1
    unanswered: Source | None = None
    """A start that was heard of, but too late to answer."""
    turn_open: bool = False
    """Whether the agent was given a prompt and has not been seen to stop since."""
    pressure: Pressure = Pressure()
    rolling: Rolling = Rolling()
    flush: Flush = Flush()
    advised: tuple[str, ...] = ()
    """Which rows of the table of advice were given."""
    git: GitState | None = None
    trail: Trail = Trail()

    @property
    def prompts_told(self) -> int:
        """How many prompts are known, by transcript or by letter."""
        return self.prompt_count + len(self.waiting)

    @property
    def messages(self) -> int:
        """How many messages are known, the user's and the agent's."""
        return self.prompts_told + self.pressure.answers


@dataclass(frozen=True, slots=True)
class TakeCheckpoint:
    """Take a checkpoint now; `words` are the agent's or the harness's own and go into its digest."""

    trigger: Trigger
    words: str = ""


Effect: TypeAlias = TakeCheckpoint


def begin(key: str, harness: str, project: Project, at: int) -> Session:
    """A session that nothing is known of yet."""
    return Session(key, harness, project, started_at=at, last_event_at=at, last_checkpoint_at=at)


def advance(session: Session, event: Event, policy: Policy) -> tuple[Session, tuple[Effect, ...]]:
    """The session after an event that it has not seen, and what to do about it."""
    session = _heard_of(session, event)
    match event:
        case Prompt(agent="main", origin=Origin.HUMAN):
            return _prompted(session, event, policy), ()
        case Usage(agent="main"):
            return _counted(session, event, policy)
        case Compacted():
            return _compacted(session, event)
        case CompactionImminent():
            words = event.session_context or event.instructions
            announced = renewed(session, compaction_announced=True)
            return announced, _take(announced, Trigger.PRE_COMPACTION, words)
        case SessionEnded():
            return _ended(session, event)
        case DigestGiven(text=text):
            trigger = Trigger.EXPLICIT if event.origin is Origin.HUMAN else Trigger.AGENT
            told = renewed(session, changed_at=max(session.changed_at, event.at))
            return told, (TakeCheckpoint(trigger, text),)
        case _:
            return _told(session, event), ()


def _heard_of(session: Session, event: Event) -> Session:
    """The session with when it was heard of; of a record that tells several things, most change nothing."""
    started_at = min(session.started_at, event.at) if event.at else session.started_at
    last_event_at = max(session.last_event_at, event.at)
    flush = acted(session.flush, session.trail, event)
    if (started_at, last_event_at) == (session.started_at, session.last_event_at) and flush is session.flush:
        return session
    return renewed(session, started_at=started_at, last_event_at=last_event_at, flush=flush)


def _told(session: Session, event: Event) -> Session:
    """The session after an event that calls for nothing."""
    match event:
        case SessionStarted():
            return _started(session, event)
        case TurnEnded():
            return renewed(session, turn_open=False)
        case Remembered(text=text):
            return record_remember(session, text, event.at)
        case BriefSeen(text=text) if is_brief(text):
            return renewed(session, briefed_window=session.window)
        case ModelChanged(model=model, window=window):
            return renewed(session, model=model, pressure=switched(session.pressure, model, window))
        case _:
            return _worked(session, event)


def revise(session: Session, event: Event) -> Session:
    """The session after a later revision of an event that it has seen: nothing counts twice."""
    if isinstance(event, Usage):
        return renewed(session, pressure=_with_count(session, event))
    return renewed(session, trail=follow(session.trail, event, session.project.root))


def wait(session: Session, prompt: Prompt, policy: Policy) -> Session:
    """The session after a letter told a prompt that the transcript will show; it counts at once, and once."""
    if twin(session.trail, prompt) is not None:
        return session
    hook_event = record_prompt(_worked(session, prompt), prompt.text, prompt.at)
    return _due(renewed(hook_event, waiting=(*hook_event.waiting, prompt)), policy, prompt.at)


def record_prompt(session: Session, text: str, at: int) -> Session:
    """One more prompt, at which the agent is at work; its content words are kept as a query."""
    terms = query_terms(text)
    queries = (*session.pending_queries, terms)[-QUERIES_PENDING:] if terms else session.pending_queries
    changed_at = max(session.changed_at, at)
    return renewed(session, pending_queries=queries, changed_at=changed_at, unsaved=True, turn_open=True)


def record_remember(session: Session, text: str, at: int) -> Session:
    """One more thing that was said to be worth remembering."""
    remembers = (*session.pending_remembers, shortened(text, 500))[-REMEMBERS_PENDING:]
    return renewed(session, pending_remembers=remembers, changed_at=max(session.changed_at, at), unsaved=True)


def should_checkpoint(session: Session, policy: Policy, now: int) -> bool:
    """Whether enough prompts or enough time with something new in it have passed."""
    if session.prompts_told - session.prompts_at_checkpoint >= policy.prompt_interval:
        return True
    return session.unsaved and now - session.last_checkpoint_at >= policy.time_interval_ms


def consume(session: Session, at: int) -> Session:
    """The session after a checkpoint took what was pending."""
    return renewed(
        session,
        prompts_at_checkpoint=session.prompts_told,
        last_checkpoint_at=at,
        unsaved=False,
        pending_queries=(),
        pending_remembers=(),
        due=None,
    )


def clear(session: Session, phase: Phase, at: int, reason: str) -> Session:
    """The session when it is over; what it knew stays."""
    return renewed(session, phase=phase, ended_at=at, end_reason=reason, due=None, turn_open=False)


def is_imported(session: Session) -> bool:
    """Whether only what was said in the session is kept, and nothing that one could go on from."""
    return session.end_reason == IMPORTED


def tick(session: Session, policy: Policy, now: int) -> Session:
    """The session after time has passed: a checkpoint may have come due with no prompt to say so."""
    return _due(session, policy, now) if session.phase is Phase.LIVE else session


def brief_owed(session: Session) -> bool:
    """Whether the session was compacted and the brief for its present window is not known to have arrived."""
    return session.window > 0 and session.briefed_window < session.window


def _prompted(session: Session, event: Prompt, policy: Policy) -> Session:
    session = _revived(session, event.at)
    told = twin(session.trail, event)
    if told is None:
        hook_event = record_prompt(_worked(session, event), event.text, event.at)
        return _due(renewed(hook_event, prompt_count=hook_event.prompt_count + 1), policy, event.at)
    waiting = tuple(prompt for prompt in session.waiting if prompt.record != told.record)
    shown = session.prompt_count + len(session.waiting) - len(waiting)
    trail = session.trail if told_by_hook(event.record) else swapped(session.trail, told, event)
    return renewed(session, waiting=waiting, prompt_count=shown, trail=trail)


def _counted(session: Session, event: Usage, policy: Policy) -> tuple[Session, tuple[Effect, ...]]:
    """The session after one more request was answered; the window may now be so full that it is saved."""
    pressure = _with_count(session, event)
    pressure = replace(pressure, answers=pressure.answers + 1)
    after = renewed(session, pressure=pressure, model=pressure.model or session.model)
    share = percent(pressure.used, capacity(pressure, policy.models))
    if not due(after.rolling, policy.rolling, pressure.used, share, after.prompts_told):
        return after, ()
    rolled = renewed(after, rolling=taken(after.rolling, policy.rolling, share, after.prompts_told))
    return rolled, _take(rolled, Trigger.THRESHOLD, "")


def _with_count(session: Session, event: Usage) -> Pressure:
    """With this count, unless it is a subagent's, or from before the last compaction and only read now."""
    last = session.compactions[-1].at if session.compactions else 0
    return session.pressure if event.agent != MAIN or event.at < last else counted(session.pressure, event)


def _due(session: Session, policy: Policy, at: int) -> Session:
    if session.due is None and should_checkpoint(session, policy, at):
        return renewed(session, due=Due(Trigger.PERIODIC, at))
    return session


def _worked(session: Session, event: Event) -> Session:
    trail = follow(session.trail, event, session.project.root)
    if trail is session.trail:
        return session
    return renewed(session, trail=trail, changed_at=max(session.changed_at, event.at), unsaved=True)


def _started(session: Session, event: SessionStarted) -> Session:
    pressure, model = switched(session.pressure, event.model), event.model or session.model
    started = renewed(_revived(session, event.at), model=model, pressure=pressure, unanswered=event.source)
    started = renewed(started, trail=restarted(started.trail, event.source))
    if event.source is not Source.CLEAR or event.previous != session.key:
        return started
    # It goes on under the same key: what its last window was given is gone with that.
    return _emptied(renewed(started, window=started.window + 1))


def _revived(session: Session, at: int) -> Session:
    """A session that goes on after its end is live again; records from before the end are no sign of that."""
    if session.phase is Phase.LIVE or at <= session.ended_at:
        return session
    return renewed(session, phase=Phase.LIVE, ended_at=0, end_reason="")


def _compacted(session: Session, event: Compacted) -> tuple[Session, tuple[Effect, ...]]:
    known = next(
        (
            one
            for one in reversed(session.compactions)
            if event.sign not in one.signs and abs(event.at - one.at) <= SAME_COMPACTION_MS
        ),
        None,
    )
    if known is not None:
        seen = replace(known, signs=(*known.signs, event.sign))
        rest = tuple(seen if one is known else one for one in session.compactions)
        return renewed(session, compactions=rest, pressure=taught(session.pressure, event)), ()
    # A compaction that no hook announced: its state is only safe if we take it now.
    effects = () if session.compaction_announced else _take(session, Trigger.PRE_COMPACTION, "")
    compactions = (*session.compactions, Compaction(event.at, (event.sign,)))[-COMPACTIONS_KEPT:]
    after = renewed(session, window=session.window + 1, compactions=compactions, compaction_announced=False)
    return _emptied(renewed(after, pressure=taught(after.pressure, event))), effects


def _emptied(session: Session) -> Session:
    """The session at the start of a window: nothing of what was counted, asked or saved in the last holds.

    Whether the agent did as it was last asked is still to be seen.
    """
    return renewed(
        session,
        pressure=emptied(session.pressure),
        rolling=Rolling(prompts=session.prompts_told),
        flush=replace(session.flush, asked=()),
    )


def _ended(session: Session, event: SessionEnded) -> tuple[Session, tuple[Effect, ...]]:
    ended = clear(session, Phase.ENDED, event.at, event.reason)
    if event.reason != Source.CLEAR:
        return ended, _take(session, Trigger.SESSION_END, "")
    # Where a harness goes on under the same key, it does so with an empty window.
    return _emptied(ended), _take(session, Trigger.CLEAR, "")


def _take(session: Session, trigger: Trigger, words: str) -> tuple[Effect, ...]:
    """A session in which nothing happened needs no checkpoint."""
    if session.trail.is_empty() and not words and not session.pending_remembers:
        return ()
    return (TakeCheckpoint(trigger, words),)
