"""Session: one conversation in a harness as durable state, and how an event changes it.

`advance` decides. Nothing here reads, waits or writes: what has to be done is returned as effects.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import TypeAlias

from holdfast.core.events.event import (
    MAIN,
    BriefSeen,
    Compacted,
    CompactionImminent,
    CompactionSign,
    DigestGiven,
    Event,
    ModelChanged,
    Origin,
    Prompt,
    Remembered,
    SessionEnded,
    SessionStarted,
    Source,
    Titled,
    TurnEnded,
    Usage,
)
from holdfast.core.events.world import GitState, Project
from holdfast.core.evidence.follow import (
    after_start,
    follow,
    is_hook_record,
    same_prompt,
    with_transcript_record,
)
from holdfast.core.evidence.trail import Trail, Utterance, fast_replace
from holdfast.core.session.agent_prompts import Flush, FlushPolicy, after_event
from holdfast.core.session.pressure import (
    KnownModel,
    Pressure,
    capacity,
    in_new_window,
    percent,
    with_compaction,
    with_model,
    with_usage,
)
from holdfast.core.session.rolling import Rolling, RollingPolicy, after_checkpoint, is_checkpoint_due
from holdfast.core.text.strings import one_line, query_terms, shortened
from holdfast.core.text.untrusted import is_brief
from holdfast.core.work.compute import work_state
from holdfast.core.work.state import WorkState
from holdfast.core.work.title import shortened_title, title_of_trail
from holdfast.lazy_dataclass import dataclass

QUERIES_PENDING = 20
REMEMBERS_PENDING = 10
COMPACTIONS_KEPT = 4
SAME_COMPACTION_MS = 120_000
"""Signs of one compaction arrive within seconds of each other; each sign occurs once per compaction."""
IMPORTED = "imported"
"""The end reason of a session that was imported from an old transcript."""


class Phase(StrEnum):
    LIVE = "live"
    ENDED = "ended"
    ORPHANED = "orphaned"
    """The harness's process is gone, and it reported no end."""


class Trigger(StrEnum):
    """Why a checkpoint is taken."""

    PERIODIC = "periodic"
    THRESHOLD = "threshold"
    """The window reached a set share, or a set number of prompts came since the last one."""
    PRE_COMPACTION = "pre_compaction"
    AGENT = "agent"
    EXPLICIT = "explicit"
    SESSION_END = "session_end"
    CLEAR = "clear"
    ORPHAN = "orphan"


@dataclass(frozen=True, slots=True)
class Process:
    """A process, identified by pid and start time, so that a reused pid is another process."""

    pid: int
    start: int


@dataclass(frozen=True, slots=True)
class Compaction:
    """One compaction, and the signs of it that were seen so far."""

    at: int
    signs: tuple[CompactionSign, ...]


@dataclass(frozen=True, slots=True)
class SessionTitle:
    """The name that the user or the harness itself gave a session."""

    text: str
    by_user: bool = False


@dataclass(frozen=True, slots=True)
class Due:
    """A checkpoint that is due, but may wait a moment for further events."""

    trigger: Trigger
    since: int


@dataclass(frozen=True, slots=True)
class Policy:
    """The user's settings for checkpoints and pressure, and the known models."""

    prompt_interval: int = 10
    time_interval_ms: int = 900_000
    rolling: RollingPolicy = RollingPolicy()
    flush: FlushPolicy = FlushPolicy()
    models: tuple[KnownModel, ...] = ()


@dataclass(frozen=True)  # without slots, to be renewed
class Session:
    """Everything about a session that must survive. All fields are stored."""

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
    """Prompts that a hook event reported and the transcript has not shown yet."""
    prompts_at_checkpoint: int = 0
    last_checkpoint_at: int = 0
    changed_at: int = 0
    """When something worth storing last happened."""
    unsaved: bool = False
    """Whether no checkpoint contains that yet."""
    pending_queries: tuple[str, ...] = ()
    pending_remembers: tuple[str, ...] = ()
    due: Due | None = None
    window: int = 0
    compactions: tuple[Compaction, ...] = ()
    compaction_announced: bool = False
    briefed_window: int = -1
    unanswered: Source | None = None
    """A start that was reported too late to be answered with a brief."""
    turn_open: bool = False
    """Whether the agent was given a prompt and has not been seen to stop since."""
    pressure: Pressure = Pressure()
    rolling: Rolling = Rolling()
    flush: Flush = Flush()
    advised: tuple[str, ...] = ()
    """Marks of the advice that was given already."""
    git: GitState | None = None
    title: SessionTitle | None = None
    """Its title in the harness; None where it has none."""
    trail: Trail = Trail()

    @property
    def prompts_known(self) -> int:
        """How many prompts are known, from the transcript or from hook events."""
        return self.prompt_count + len(self.waiting)

    @property
    def messages(self) -> int:
        """How many messages of the user and the agent are known."""
        return self.prompts_known + self.pressure.answers


@dataclass(frozen=True, slots=True)
class TakeCheckpoint:
    """Take a checkpoint now; `words` are the agent's or the harness's own and go into its digest."""

    trigger: Trigger
    words: str = ""


Effect: TypeAlias = TakeCheckpoint


def begin(key: str, harness: str, project: Project, at: int) -> Session:
    """A new session, of which nothing but its identity is known."""
    return Session(key, harness, project, started_at=at, last_event_at=at, last_checkpoint_at=at)


def advance(session: Session, event: Event, policy: Policy) -> tuple[Session, tuple[Effect, ...]]:
    """The session after a new event, and the effects to carry out."""
    session = _with_activity(session, event)
    match event:
        case Prompt(agent="main", origin=Origin.HUMAN):
            return _prompted(session, event, policy), ()
        case Usage(agent="main"):
            return _counted(session, event, policy)
        case Compacted():
            return _compacted(_worked(session, event), event)
        case CompactionImminent():
            words = event.session_context or event.instructions
            announced = fast_replace(session, compaction_announced=True)
            return announced, _take(announced, Trigger.PRE_COMPACTION, words)
        case SessionEnded():
            return _ended(session, event)
        case DigestGiven(text=text):
            trigger = Trigger.EXPLICIT if event.origin is Origin.HUMAN else Trigger.AGENT
            changed = fast_replace(session, changed_at=max(session.changed_at, event.at))
            return changed, (TakeCheckpoint(trigger, text),)
        case _:
            return _without_effects(session, event), ()


def _with_activity(session: Session, event: Event) -> Session:
    """The session with its times of activity updated; most events of a record change nothing here."""
    started_at = min(session.started_at, event.at) if event.at else session.started_at
    last_event_at = max(session.last_event_at, event.at)
    flush = after_event(session.flush, session.trail, event)
    if (started_at, last_event_at) == (session.started_at, session.last_event_at) and flush is session.flush:
        return session
    return fast_replace(session, started_at=started_at, last_event_at=last_event_at, flush=flush)


def _without_effects(session: Session, event: Event) -> Session:
    """The session after an event that has no effects."""
    match event:
        case SessionStarted():
            return _started(session, event)
        case TurnEnded():
            return fast_replace(session, turn_open=False)
        case Remembered(text=text):
            return record_remember(session, text, event.at)
        case BriefSeen(text=text) if is_brief(text):
            return fast_replace(session, briefed_window=session.window)
        case Titled():
            return fast_replace(session, title=after_title(session.title, event))
        case ModelChanged(model=model, window=window):
            return fast_replace(session, model=model, pressure=with_model(session.pressure, model, window))
        case _:
            return _worked(session, event)


def revise(session: Session, event: Event) -> Session:
    """The session after a later revision of a known event; nothing is counted twice."""
    if isinstance(event, Usage):
        return fast_replace(session, pressure=_with_count(session, event))
    return fast_replace(session, trail=follow(session.trail, event, session.project.root))


def expect_prompt(session: Session, prompt: Prompt, policy: Policy) -> Session:
    """The session after a hook event reported a prompt that the transcript will show; it counts once."""
    if same_prompt(session.trail, prompt) is not None:
        return session
    prompted = record_prompt(_worked(session, prompt), prompt.text, prompt.at)
    return _due(fast_replace(prompted, waiting=(*prompted.waiting, prompt)), policy, prompt.at)


def record_prompt(session: Session, text: str, at: int) -> Session:
    """The session after one more prompt, whose content words become a query; the agent is working on it."""
    terms = query_terms(text)
    queries = (*session.pending_queries, terms)[-QUERIES_PENDING:] if terms else session.pending_queries
    changed_at = max(session.changed_at, at)
    return fast_replace(session, pending_queries=queries, changed_at=changed_at, unsaved=True, turn_open=True)


def record_remember(session: Session, text: str, at: int) -> Session:
    """The session after one more text that is to be remembered."""
    remembers = (*session.pending_remembers, shortened(text, 500))[-REMEMBERS_PENDING:]
    return fast_replace(
        session, pending_remembers=remembers, changed_at=max(session.changed_at, at), unsaved=True
    )


def should_checkpoint(session: Session, policy: Policy, now: int) -> bool:
    """Whether enough prompts came since the last checkpoint, or enough time passed with something unsaved."""
    if session.prompts_known - session.prompts_at_checkpoint >= policy.prompt_interval:
        return True
    return session.unsaved and now - session.last_checkpoint_at >= policy.time_interval_ms


def consume(session: Session, at: int) -> Session:
    """The session after a checkpoint was taken; nothing is pending."""
    return fast_replace(
        session,
        prompts_at_checkpoint=session.prompts_known,
        last_checkpoint_at=at,
        unsaved=False,
        pending_queries=(),
        pending_remembers=(),
        due=None,
    )


def end_session(session: Session, phase: Phase, at: int, reason: str) -> Session:
    """The session after its end; its evidence stays."""
    return fast_replace(session, phase=phase, ended_at=at, end_reason=reason, due=None, turn_open=False)


def is_imported(session: Session) -> bool:
    """Whether only the conversation is stored, and no state to continue from."""
    return session.end_reason == IMPORTED


def work_of(session: Session, written: Sequence[Utterance] = ()) -> WorkState:
    """The work state of a session, which everything that shows the session renders."""
    state = work_state(session.trail, session.git, session.project, written)
    return replace(state, title=shortened_title(session.title.text)) if session.title else state


def title_of(session: Session) -> str:
    """What a session is called: by its user, by its harness, or by what it is about."""
    return shortened_title(session.title.text) if session.title else title_of_trail(session.trail)


def after_title(before: SessionTitle | None, event: Titled) -> SessionTitle | None:
    """The title after the harness wrote one; what the user set stays until the user changes it."""
    text = one_line(event.text)
    if event.by_user or before is None or not before.by_user:
        return SessionTitle(text, event.by_user) if text else None
    return before


def tick(session: Session, policy: Policy, now: int) -> Session:
    """The session after time has passed: a checkpoint may be due without a prompt."""
    return _due(session, policy, now) if session.phase is Phase.LIVE else session


def needs_brief(session: Session) -> bool:
    """Whether the session was compacted, and no brief is known to have reached its current window."""
    return session.window > 0 and session.briefed_window < session.window


def _prompted(session: Session, event: Prompt, policy: Policy) -> Session:
    session = _revived(session, event.at)
    before = same_prompt(session.trail, event)
    if before is None:
        prompted = record_prompt(_worked(session, event), event.text, event.at)
        return _due(fast_replace(prompted, prompt_count=prompted.prompt_count + 1), policy, event.at)
    waiting = tuple(prompt for prompt in session.waiting if prompt.record != before.record)
    prompt_count = session.prompt_count + len(session.waiting) - len(waiting)
    trail = (
        session.trail
        if is_hook_record(event.record)
        else with_transcript_record(session.trail, before, event)
    )
    return fast_replace(session, waiting=waiting, prompt_count=prompt_count, trail=trail)


def _counted(session: Session, event: Usage, policy: Policy) -> tuple[Session, tuple[Effect, ...]]:
    """The session after one more answered request; the window may now be full enough for a checkpoint."""
    pressure = _with_count(session, event)
    pressure = replace(pressure, answers=pressure.answers + 1)
    after = fast_replace(session, pressure=pressure, model=pressure.model or session.model)
    share = percent(pressure.used, capacity(pressure, policy.models))
    if not is_checkpoint_due(after.rolling, policy.rolling, pressure.used, share, after.prompts_known):
        return after, ()
    rolled = fast_replace(
        after, rolling=after_checkpoint(after.rolling, policy.rolling, share, after.prompts_known)
    )
    return rolled, _take(rolled, Trigger.THRESHOLD, "")


def _with_count(session: Session, event: Usage) -> Pressure:
    """The pressure with this count, unless it is a subagent's or older than the last compaction."""
    last = session.compactions[-1].at if session.compactions else 0
    return session.pressure if event.agent != MAIN or event.at < last else with_usage(session.pressure, event)


def _due(session: Session, policy: Policy, at: int) -> Session:
    if session.due is None and should_checkpoint(session, policy, at):
        return fast_replace(session, due=Due(Trigger.PERIODIC, at))
    return session


def _worked(session: Session, event: Event) -> Session:
    trail = follow(session.trail, event, session.project.root)
    if trail is session.trail:
        return session
    return fast_replace(session, trail=trail, changed_at=max(session.changed_at, event.at), unsaved=True)


def _started(session: Session, event: SessionStarted) -> Session:
    pressure, model = with_model(session.pressure, event.model), event.model or session.model
    started = fast_replace(
        _revived(session, event.at), model=model, pressure=pressure, unanswered=event.source
    )
    started = fast_replace(started, trail=after_start(started.trail, event.source))
    if event.source is not Source.CLEAR or event.previous != session.key:
        return started
    # The session continues under the same key, with an empty window.
    return _in_new_window(fast_replace(started, window=started.window + 1))


def _revived(session: Session, at: int) -> Session:
    """The session, live again if the event is from after its end."""
    if session.phase is Phase.LIVE or at <= session.ended_at:
        return session
    return fast_replace(session, phase=Phase.LIVE, ended_at=0, end_reason="")


def _compacted(session: Session, event: Compacted) -> tuple[Session, tuple[Effect, ...]]:
    known = next(
        (
            compaction
            for compaction in reversed(session.compactions)
            if event.sign not in compaction.signs and abs(event.at - compaction.at) <= SAME_COMPACTION_MS
        ),
        None,
    )
    if known is not None:
        updated = replace(known, signs=(*known.signs, event.sign))
        compactions = tuple(updated if other is known else other for other in session.compactions)
        return fast_replace(
            session, compactions=compactions, pressure=with_compaction(session.pressure, event)
        ), ()
    # No hook announced this compaction: the state is lost unless a checkpoint is taken now.
    effects = () if session.compaction_announced else _take(session, Trigger.PRE_COMPACTION, "")
    compactions = (*session.compactions, Compaction(event.at, (event.sign,)))[-COMPACTIONS_KEPT:]
    after = fast_replace(
        session, window=session.window + 1, compactions=compactions, compaction_announced=False
    )
    return _in_new_window(fast_replace(after, pressure=with_compaction(after.pressure, event))), effects


def _in_new_window(session: Session) -> Session:
    """The session at the start of a window: token counts, flush prompts and rolling checkpoints start again.

    Whether the agent acted on the last flush prompt stays open.
    """
    return fast_replace(
        session,
        pressure=in_new_window(session.pressure),
        rolling=Rolling(prompts=session.prompts_known),
        flush=replace(session.flush, asked=()),
    )


def _ended(session: Session, event: SessionEnded) -> tuple[Session, tuple[Effect, ...]]:
    ended = end_session(session, Phase.ENDED, event.at, event.reason)
    if event.reason != Source.CLEAR:
        return ended, _take(session, Trigger.SESSION_END, "")
    # A harness that continues under the same key does so with an empty window.
    return _in_new_window(ended), _take(session, Trigger.CLEAR, "")


def _take(session: Session, trigger: Trigger, words: str) -> tuple[Effect, ...]:
    """The effect of taking a checkpoint; none for a session in which nothing happened."""
    if session.trail.is_empty() and not words and not session.pending_remembers:
        return ()
    return (TakeCheckpoint(trigger, words),)
