"""Resume: which session a starting one continues, and the brief that it gets.

Lineage before the same worktree before the same project, within a time limit; a session whose process lives
is named, never continued. A brief is first compared with the current files and branch, and has a receipt.
"""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.brief.compose import Brief, BriefInput, Reason, Receipt
from holdfast.core.brief.startup_block import narrowed, written
from holdfast.core.documents.repository_ledger import StrangeLedger
from holdfast.core.events.durations import HOUR_MS
from holdfast.core.events.event import CompactionImminent, Sign, Source
from holdfast.core.events.world import Project
from holdfast.core.evidence.trail import Utterance
from holdfast.core.session.session import Phase, Process, Session, Trigger, begin, brief_owed
from holdfast.core.text.strings import elapsed
from holdfast.engine.briefing.startup import loaded_at_start
from holdfast.engine.briefing.suggested_queries import with_offers
from holdfast.engine.documents.ledger import leading
from holdfast.engine.engine import Engine
from holdfast.engine.liveness.sessions import Liveness, life_of
from holdfast.engine.repository import projects
from holdfast.engine.repository.verify import checked
from holdfast.engine.upkeep.maintain import caught_up, finalise
from holdfast.harnesses.base import Ask, Harness, HookEvent
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Lineage

SESSIONS_LOOKED_AT = 50
EVENTS_LOOKED_AT = 500
SESSION_CONTEXT = "Session context given before the compaction: "
SUMMARY_CHARS = 1_500
"""The budget of what a harness's own summary is asked to keep; it needs room for its own words."""

_STANDING = frozenset(Reason) - {Reason.SUMMARY, Reason.ASKED, Reason.RECALL}
"""Reasons of briefs that Holdfast gave unasked, not in a tool's answer or with a prompt."""


@dataclass(frozen=True, slots=True)
class Predecessors:
    """The session to continue, if any, and other sessions of the project that are only named."""

    predecessor: Session | None
    neighbours: tuple[Session, ...]


def answer(engine: Engine, hook_event: HookEvent, session: Session, harness: Harness) -> str:
    """The brief to reply to a start or a prompt; empty if there is none. Stores the receipt."""
    told = _told(engine, hook_event, session)
    if hook_event.ask is not Ask.TOOLS:
        _mark_answered(engine, session)
    fresh = _composed(engine, session, harness, told) if told else ""
    return standing(engine, session) if hook_event.ask is Ask.REQUEST else fresh


def standing(engine: Engine, session: Session) -> str:
    """All briefs that the session got in its present window, the same bytes each time."""
    given = [receipt for receipt in _receipts(engine, session) if receipt.reason in _STANDING]
    return "\n\n".join(receipt.text for receipt in reversed(given))


def _composed(engine: Engine, session: Session, harness: Harness, told: BriefInput) -> str:
    """The brief, with its receipt stored; empty if there is nothing to say."""
    config = engine.config(session.project)
    budget = min(config.continuity.recovery_budget_chars, config.brief.total_chars, harness.answer_limit)
    if told.reason is Reason.SUMMARY:
        budget = min(budget, SUMMARY_CHARS)
    brief = written(told, budget)
    offering = with_offers(engine, told, brief)
    if offering.offers:
        told, brief = offering, written(offering, budget)
    # The harness may count bytes or UTF-16 units instead of characters: leave items out until it fits.
    while (size := harness.answer_size(brief.text)) > harness.answer_limit:
        budget = budget * harness.answer_limit // size
        told = narrowed(told, harness.answer_limit / size)
        brief = written(told, budget)
    if not brief.text:
        return ""
    # Stored texts may have been redacted by an older version.
    redact = engine.redactor(session.project).of_session(told.session.key)
    brief = replace(brief, text=redact(brief.text))
    _account(engine, session, told, brief, budget)
    return brief.text


def next_brief(engine: Engine, project: Project) -> BriefInput | None:
    """The input of the brief for a session that started in this project now."""
    found = find_predecessor(engine, project, "", "", None)
    told = _continued(engine, found, Reason.STARTUP, None)
    return _accompanied(engine, told, Reason.STARTUP, begin("", "", project, engine.clock()))


def brief_when_asked(engine: Engine, project: Project, session: Session | None) -> BriefInput | None:
    """The input of the brief for an agent that asks: its own session if compacted or without predecessor."""
    key, process = (session.key, session.process) if session else ("", None)
    lineage = engine.store.lineage(key)
    found = find_predecessor(engine, project, key, lineage.parent if lineage else "", process)
    if session and (session.window > 0 or (found.predecessor is None and _has_a_story(engine, session))):
        found = replace(found, predecessor=session)
    return _continued(engine, found, Reason.ASKED, session)


def find_predecessor(
    engine: Engine, project: Project, key: str, previous: str, process: Process | None
) -> Predecessors:
    """The session that a new one in this project continues, by lineage, then worktree, then project."""
    now = engine.clock()
    since = now - engine.config(project).continuity.recovery_window_hours * HOUR_MS
    sessions = [
        session
        for session in engine.store.sessions_of_project(project.project_id, since, SESSIONS_LOOKED_AT)
        if session.key != key and _has_a_story(engine, session)
    ]
    if previous:
        named = engine.store.session(previous)
        if named is not None and named.project.project_id == project.project_id:
            return Predecessors(named, ())
    busy = tuple(session for session in sessions if _is_busy(engine, session, process))
    free = [session for session in sessions if session not in busy]
    here = [session for session in free if session.project.worktree_id == project.worktree_id]
    return Predecessors(next(iter(here or free), None), busy)


def _told(engine: Engine, hook_event: HookEvent, session: Session) -> BriefInput | None:
    """The input of the brief for this hook event; None if it gets no brief."""
    match hook_event.ask:
        case Ask.COMPACTION:
            return BriefInput(Reason.SUMMARY, session, engine.clock())
        case Ask.PROMPT if brief_owed(session):
            return _own(engine, session, Reason.LATE)
        case Ask.PROMPT if session.prompts_told <= 1 and session.unanswered in (Source.STARTUP, Source.CLEAR):
            # A start that came through the spool got no answer: the first prompt carries its brief.
            return _told_at_start(engine, hook_event, session, session.unanswered)
        case Ask.START:
            return _told_at_start(engine, hook_event, session, hook_event.source)
        case Ask.REQUEST if brief_owed(session) and not _given(engine, session):
            cleared = session.unanswered is Source.CLEAR
            return _own(engine, session, Reason.CLEAR if cleared else Reason.COMPACT)
        case Ask.REQUEST if session.unanswered in (Source.STARTUP, Source.CLEAR, Source.RESUME):
            return _told_at_start(engine, hook_event, session, session.unanswered)
        case Ask.TOOLS if brief_owed(session) and not _given(engine, session):
            # Compacted in the middle of a turn, and no start event followed.
            return _own(engine, session, Reason.LATE)
        case _:
            return None


def _told_at_start(
    engine: Engine, hook_event: HookEvent, session: Session, source: Source | None
) -> BriefInput | None:
    match source:
        case Source.COMPACT:
            return _own(engine, session, Reason.COMPACT)
        case Source.RESUME | Source.FORK if brief_owed(session):
            return _own(engine, session, Reason.LATE)
        case Source.RESUME:
            return _news(engine, session, Reason.RESUME)
        case Source.FORK | None:
            return None
        case Source.CLEAR:
            told = _continued(engine, _cleared(engine, session, hook_event.previous), Reason.CLEAR, session)
            return _accompanied(engine, told, Reason.CLEAR, session)
        case Source.STARTUP:
            found = find_predecessor(
                engine, session.project, session.key, hook_event.previous, session.process
            )
            told = _continued(engine, _settled(engine, found), Reason.STARTUP, session)
            return _accompanied(engine, told, Reason.STARTUP, session)


def _accompanied(
    engine: Engine, told: BriefInput | None, reason: Reason, session: Session
) -> BriefInput | None:
    """The input with the leading ledger and the continuity, if the user's settings ask for them."""
    told = _led(engine, told, reason, session)
    loaded = loaded_at_start(engine, session.project)
    if loaded is None:
        return told
    return replace(told or BriefInput(reason, session, engine.clock()), loaded=loaded)


def _led(engine: Engine, told: BriefInput | None, reason: Reason, session: Session) -> BriefInput | None:
    """The input, led by the worktree's ledger if there is one that may lead."""
    before = told.session if told and told.reason is not Reason.PARALLEL else None
    lead = leading(engine, session.project, session.key, before)
    if lead is None:
        return told
    if isinstance(lead, StrangeLedger):
        # A ledger that may not lead comes after the session's work, and alone is no reason for a brief.
        return replace(told, strange=lead) if told and before else told
    if told is None or before is None:
        told = BriefInput(reason, session, engine.clock(), neighbours=told.neighbours if told else ())
    return replace(told, lead=lead)


def _own(engine: Engine, session: Session, reason: Reason) -> BriefInput | None:
    """The session's own state, given once for each of its windows.

    A brief that the transcript does not show after the compaction never arrived, and is given again.
    """
    given = _given(engine, session)
    shown = bool(session.compactions) and Sign.BOUNDARY in session.compactions[-1].signs
    # Some harnesses do not record the brief in the transcript; they are sent it with each request.
    keeps = engine.harness(session.harness).stores_injected_text
    lost = given == [Reason.COMPACT] and reason is Reason.LATE and shown and keeps
    if given and not lost:
        return None
    told = BriefInput(reason, session, engine.clock(), kept=engine.harness(session.harness).kept)
    told = _with_words(engine, _checked(engine, told))
    return replace(told, words=(*_given_at_compaction(engine, session), *told.words)[:2])


def _given_at_compaction(engine: Engine, session: Session) -> tuple[Utterance, ...]:
    """The harness's words about the session when it announced the compaction that ended the last window."""
    compacted = [one.at for one in session.compactions[-2:]] or [session.last_event_at]
    before = compacted[0] if len(compacted) == 2 else 0
    for event in engine.store.events_backwards(session.key, EVENTS_LOOKED_AT):
        if isinstance(event, CompactionImminent) and before < event.at <= compacted[-1]:
            text = event.session_context
            return (Utterance(f"{SESSION_CONTEXT}{text}", event.at, event.record),) if text else ()
    return ()


def _given(engine: Engine, session: Session) -> list[Reason]:
    """The reasons of the briefs about its own state that the session got in its present window."""
    return [
        receipt.reason
        for receipt in _receipts(engine, session)
        if receipt.predecessor == session.key and receipt.reason is not Reason.SUMMARY
    ]


def _receipts(engine: Engine, session: Session) -> list[Receipt]:
    """The receipts of the session's present window, the newest first."""
    every = engine.store.receipts(session.key, SESSIONS_LOOKED_AT)
    return [receipt for receipt in every if receipt.window == session.window]


def _checked(engine: Engine, told: BriefInput) -> BriefInput:
    project = told.session.project
    redact = engine.redactor_to_show(project).of_session(told.session.key)
    return checked(told, redact, projects.root_now(engine.store, project))


def _continued(
    engine: Engine, found: Predecessors, reason: Reason, starting: Session | None
) -> BriefInput | None:
    now, predecessor = engine.clock(), found.predecessor
    neighbours = tuple(_named(session, now) for session in found.neighbours)
    if predecessor is None:
        if not neighbours:
            return None
        return BriefInput(Reason.PARALLEL, found.neighbours[0], now, neighbours=neighbours)
    elsewhere = starting is not None and starting.harness != predecessor.harness
    told = BriefInput(
        reason,
        predecessor,
        now,
        neighbours=neighbours,
        elsewhere=engine.harness(predecessor.harness).title if elsewhere else "",
        may_go_on=predecessor.phase is Phase.LIVE and life_of(engine, predecessor) is Liveness.SHARED,
    )
    return _with_words(engine, _checked(engine, told))


def _settled(engine: Engine, found: Predecessors) -> Predecessors:
    """Read an unclosed predecessor's transcript to its end, and close it unless it may still go on."""
    predecessor = found.predecessor
    if predecessor is None or predecessor.phase is not Phase.LIVE:
        return found
    settle = caught_up if life_of(engine, predecessor) is Liveness.SHARED else finalise
    return replace(found, predecessor=settle(engine, predecessor))


def _news(engine: Engine, session: Session, reason: Reason) -> BriefInput:
    since = session.changed_at
    others = engine.store.sessions_of_project(session.project.project_id, since, SESSIONS_LOOKED_AT)
    worked = [other for other in others if other.key != session.key and other.changed_at > since]
    now = engine.clock()
    told = BriefInput(reason, session, now, neighbours=tuple(_named(other, now) for other in worked))
    return _checked(engine, told)


def _cleared(engine: Engine, session: Session, previous: str) -> Predecessors:
    """The session that this process just cleared; never simply the newest."""
    if previous:
        return find_predecessor(engine, session.project, session.key, previous, session.process)
    if session.process is None:
        return Predecessors(None, ())
    before = [
        other
        for other in engine.store.sessions_of_process(session.process, SESSIONS_LOOKED_AT)
        if other.key != session.key and other.project.project_id == session.project.project_id
    ]
    if life_of(engine, session) is Liveness.SHARED:
        worktree = session.project.worktree_id
        before = [each for each in before if each.project.worktree_id == worktree and not each.turn_open]
    predecessor = next((other for other in before if _has_a_story(engine, other)), None)
    return Predecessors(predecessor, ())


def _has_a_story(engine: Engine, session: Session) -> bool:
    """Whether there is anything to say of a session: evidence, or its own digest."""
    return not session.trail.is_empty() or bool(_words(engine, session))


def _is_busy(engine: Engine, session: Session, process: Process | None) -> bool:
    """Whether a session is live: its process lives, or may live and was active recently."""
    if session.phase is not Phase.LIVE:
        return False
    match life_of(engine, session):
        case Liveness.GONE:
            return False
        case Liveness.OWN:
            return session.process != process
        case Liveness.SHARED:
            return session.turn_open
        case Liveness.UNKNOWN:
            idle = engine.clock() - session.last_event_at
            return idle < engine.config(session.project).continuity.time_interval_ms


def _named(session: Session, now: int) -> str:
    age = elapsed(now - session.changed_at)
    state = "is live" if session.phase is Phase.LIVE else "was"
    place = f"`{session.project.path}` (last record {age} ago)"
    return f"Session {session.key[:8]} {state} at work in {place}; its work is not in this brief."


def _with_words(engine: Engine, told: BriefInput) -> BriefInput:
    """The input with the latest digests in someone's own words."""
    return replace(told, words=_words(engine, told.session)[:2])


def _words(engine: Engine, session: Session) -> tuple[Utterance, ...]:
    """A session's digests in the words of its agent or user, newest first."""
    return tuple(
        Utterance(checkpoint.words, checkpoint.created_at, checkpoint.id)
        for checkpoint in engine.store.checkpoints_of_session(session.key, SESSIONS_LOOKED_AT)
        if checkpoint.words and checkpoint.trigger in (Trigger.AGENT, Trigger.EXPLICIT)
    )


def _mark_answered(engine: Engine, session: Session) -> None:
    """Note that the start is answered, if only with nothing. A fork waits until its records name a parent."""
    if session.unanswered in (None, Source.FORK):
        return
    with engine.store.writing():
        kept = engine.store.session(session.key)
        if kept is not None:
            engine.store.put_session(replace(kept, unanswered=None))


def _account(engine: Engine, session: Session, told: BriefInput, brief: Brief, budget: int) -> None:
    receipt = Receipt(
        id=engine.new_id(),
        session=session.key,
        window=session.window,
        reason=told.reason,
        predecessor=told.session.key,
        created_at=told.now,
        budget=budget,
        text=brief.text,
        items=brief.items,
    )
    with engine.store.writing():
        engine.store.add_receipt(receipt)
        if told.session.key != session.key and told.reason is not Reason.PARALLEL:
            engine.store.add_lineage(Lineage(session.key, told.session.key, told.reason.value, told.now))
