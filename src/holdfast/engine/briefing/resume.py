"""Resume: which session a starting one continues, and the brief that it gets.

Lineage before the same worktree before the same project, within a time limit; a session whose process lives
is named, never continued. A brief is first compared with the current files and branch, and has a receipt.
After a compaction it ends with queries that `recall` would answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field, replace
from itertools import chain, islice
from typing import Final

from holdfast.core.brief.brief_input import BriefInput, Reason, left_out_items, left_out_of
from holdfast.core.brief.budget import AnswerLimit, Budget, budget_for
from holdfast.core.brief.compose import (
    Brief,
    Receipt,
    SuggestedQuery,
    compose_for_start,
    is_new_query,
    items_for_start,
    suggest_queries,
)
from holdfast.core.documents.ledger_brief import RepositoryLedger
from holdfast.core.events.durations import HOUR_MS
from holdfast.core.events.event import CompactionImminent, CompactionSign, Source
from holdfast.core.events.world import Project
from holdfast.core.evidence.trail import Utterance
from holdfast.core.memory.memory import identity
from holdfast.core.memory.ranking import query_words
from holdfast.core.session.checkpoint import Checkpoint, own_words
from holdfast.core.session.session import Phase, Process, Session, begin, is_imported, needs_brief
from holdfast.core.sharing.provenance import shown_name
from holdfast.core.text.strings import elapsed, one_line, shortened
from holdfast.engine import index
from holdfast.engine.briefing.start_context import loaded_at_start
from holdfast.engine.documents.handoff import HandoffFile, received_handoffs
from holdfast.engine.documents.ledger import leading
from holdfast.engine.engine import Engine
from holdfast.engine.index import visible_from
from holdfast.engine.liveness import Liveness, liveness_of
from holdfast.engine.recording.imported_work import with_work
from holdfast.engine.recording.inherit import inherit_work
from holdfast.engine.recording.memorize import KIND as MEMORY
from holdfast.engine.redaction.redactor import Redactor
from holdfast.engine.repository import projects
from holdfast.engine.repository.world import compare_brief, compare_with_other_machine, git_position
from holdfast.engine.shared_sessions import PulledSession, pulled_session, pulled_sessions
from holdfast.engine.upkeep.maintain import finalise, read_to_end
from holdfast.errors import HarnessUnknown
from holdfast.harnesses.base import Ask, Harness, HookEvent
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Lineage

SESSIONS_LOOKED_AT = 50
PULLED_LOOKED_AT = 10
"""The most sessions of other machines that are read while a harness waits."""
EVENTS_LOOKED_AT = 500
RECEIPTS_LOOKED_AT = 50
SESSION_CONTEXT = "Session context given before the compaction: "
HANDOFFS_NAMED: Final = 2
PURPOSE_CHARS: Final = 80
_STANDING = frozenset(Reason) - {Reason.SUMMARY, Reason.ASKED, Reason.RECALL}
"""Reasons of briefs that Holdfast gave unasked, not in a tool's answer or with a prompt."""
OFFERED: Final = 2
LOOKED_UP: Final = 12
"""The most queries that are tried."""
HITS_LOOKED_AT: Final = 3


@dataclass(frozen=True, slots=True)
class Predecessors:
    """The session to continue, if any, and other sessions of the project that are only named."""

    predecessor: Session | None
    neighbours: tuple[Session, ...]
    pulled: Mapping[str, PulledSession] = field(default_factory=lambda: {})
    """Those of them that are from another machine, by key."""


@dataclass(frozen=True, slots=True)
class ComposedBrief:
    """A brief, what it was made from, and the budget that it keeps."""

    brief_input: BriefInput
    brief: Brief
    budget: Budget


def answer(engine: Engine, hook_event: HookEvent, session: Session, harness: Harness) -> str:
    """The brief to reply to a start or a prompt; empty if there is none. Stores the receipt."""
    brief_input = _brief_input(engine, hook_event, session)
    composed = brief_to_give(engine, session.project, brief_input, harness) if brief_input else None
    # A fork waits until its records name a parent.
    answers = hook_event.ask is not Ask.TOOLS and session.unanswered not in (None, Source.FORK)
    text = composed.brief.text if composed else ""
    if text or answers:
        with engine.store.writing():
            if answers:
                _mark_answered(engine, session)
            if composed and text:
                _store_receipt(engine, session, composed)
    return briefs_in_window(engine, session) if hook_event.ask is Ask.REQUEST else text


def briefs_in_window(engine: Engine, session: Session) -> str:
    """All briefs that the session got in its present window, the same bytes each time."""
    receipts = [receipt for receipt in _receipts(engine, session) if receipt.reason in _STANDING]
    return "\n\n".join(receipt.text for receipt in reversed(receipts))


def brief_to_give(
    engine: Engine, project: Project, brief_input: BriefInput, harness: Harness
) -> ComposedBrief:
    """The brief for a session that starts in this harness."""
    limit = limit_of(harness)
    budget = budget_for(brief_input.reason, engine.budget_settings(project), limit)
    return _redacted(_fitting(engine, brief_input, budget, limit), engine.redactor(project))


def limit_of(harness: Harness) -> AnswerLimit:
    """The largest answer that the harness accepts."""
    return AnswerLimit(harness.answer_limit, harness.answer_size, not harness.stores_injected_text)


def _fitting(
    engine: Engine, brief_input: BriefInput, budget: Budget, limit: AnswerLimit | None
) -> ComposedBrief:
    """The brief with its suggested queries, within the budget and the harness's limit."""
    items = items_for_start(brief_input)
    brief = compose_for_start(brief_input, budget, items)
    offering = with_suggested_queries(engine, brief_input, brief)
    if offering.suggested_queries:
        brief_input, brief = offering, compose_for_start(offering, budget, items)
    # The harness may count bytes or UTF-16 units instead of characters: leave items out until it fits.
    while limit and not limit.fits(brief.text):
        budget = budget.reduced(limit, brief.text)
        brief = compose_for_start(brief_input, budget, items)
    brief = replace(brief, items=(*brief.items, *left_out_items(brief_input)))
    return ComposedBrief(brief_input, brief, budget)


def _redacted(composed: ComposedBrief, redactor: Redactor) -> ComposedBrief:
    """The same redacted once more: stored texts may have been redacted by an older version."""
    redact = redactor.of_session(composed.brief_input.session.key)
    return replace(composed, brief=replace(composed.brief, text=redact(composed.brief.text)))


def preview_brief(
    engine: Engine, project: Project, reason: Reason, chars: int | None
) -> ComposedBrief | None:
    """The brief that a start in this project would get now; None if there is nothing. Nothing is stored.

    It is made for the harness of the session that it is about, unless its size is named.
    """
    brief_input = _input_for_reason(engine, project, reason)
    if brief_input is None:
        return None
    return _fit_and_redact(engine, project, brief_input, chars)


def preview_of_session(
    engine: Engine,
    session: Session,
    reason: Reason,
    chars: int | None,
    pulled: PulledSession | None = None,
) -> ComposedBrief:
    """The brief that a start would get if it continued this session, however long ago; nothing is stored."""
    project = session.project
    if reason is Reason.COMPACT and pulled is None:
        brief_input: BriefInput | None = _input_from_session(engine, session, reason)
    else:
        starting = begin("", session.harness, project, engine.clock())
        predecessors = Predecessors(session, (), {session.key: pulled} if pulled else {})
        brief_input = _input_from_predecessor(engine, predecessors, reason, starting)
        brief_input = _with_ledger_and_continuity(engine, brief_input, reason, starting)
    empty = BriefInput(reason, session, engine.clock())
    return _fit_and_redact(engine, project, brief_input or empty, chars)


def preview_if_compacted(engine: Engine, session: Session) -> ComposedBrief:
    """The brief that the session would get if it were compacted now; nothing is stored."""
    return _fit_and_redact(
        engine, session.project, _input_from_session(engine, session, Reason.COMPACT), None
    )


def _fit_and_redact(
    engine: Engine, project: Project, brief_input: BriefInput, chars: int | None
) -> ComposedBrief:
    settings = engine.budget_settings(project)
    if chars is None:
        limit = _limit_of_session(engine, brief_input.session)
        composed = _fitting(engine, brief_input, budget_for(brief_input.reason, settings, limit), limit)
    else:
        composed = _fitting(engine, brief_input, Budget(chars, chars, settings.continuity_lines), None)
    return _redacted(composed, engine.redactor_to_show(project))


def _limit_of_session(engine: Engine, session: Session) -> AnswerLimit | None:
    """The limit of the session's harness; None if there is no session or its harness is no longer known."""
    try:
        return limit_of(engine.harness(session.harness)) if session.harness else None
    except HarnessUnknown:
        return None


def _input_for_reason(engine: Engine, project: Project, reason: Reason) -> BriefInput | None:
    """The input of the brief for a start with this reason: for all but a startup, of the newest session."""
    if reason is Reason.STARTUP:
        return next_brief(engine, project, "")
    newest = _newest_here(engine, project)
    if reason is Reason.CLEAR:
        starting = begin("", newest.harness if newest else "", project, engine.clock())
        brief_input = _input_from_predecessor(engine, Predecessors(newest, ()), Reason.CLEAR, starting)
        return _with_ledger_and_continuity(engine, brief_input, Reason.CLEAR, starting)
    return _input_from_session(engine, newest, reason) if newest else None


def _newest_here(engine: Engine, project: Project) -> Session | None:
    """The session of this worktree with the latest event, among those that have anything to say."""
    sessions = engine.store.sessions_of_project(project.project_id, 0, SESSIONS_LOOKED_AT)
    here = (session for session in sessions if session.project.worktree_id == project.worktree_id)
    return next((session for session in here if has_content(engine, session)), None)


def next_brief(engine: Engine, project: Project, harness: str) -> BriefInput | None:
    """The input of the brief for a session that started in this project now.

    Without a harness it starts in that of the session which it continues.
    """
    starting = begin("", harness, project, engine.clock())
    predecessors = find_predecessor(engine, project, "", "", None)
    brief_input = _input_from_predecessor(engine, predecessors, Reason.STARTUP, starting if harness else None)
    return _with_ledger_and_continuity(engine, brief_input, Reason.STARTUP, starting)


def brief_when_asked(engine: Engine, project: Project, session: Session | None) -> BriefInput | None:
    """The input of the brief for an agent that asks: its own session if compacted or without predecessor."""
    key, process = (session.key, session.process) if session else ("", None)
    lineage = engine.store.lineage(key)
    predecessors = find_predecessor(engine, project, key, lineage.parent if lineage else "", process)
    if session and (
        session.window > 0 or (predecessors.predecessor is None and has_content(engine, session))
    ):
        predecessors = replace(predecessors, predecessor=session, pulled={})
    return _input_from_predecessor(engine, predecessors, Reason.ASKED, session)


def find_predecessor(
    engine: Engine, project: Project, key: str, previous: str, process: Process | None
) -> Predecessors:
    """The session that a new one in this project continues, by lineage, then worktree, then project."""
    now = engine.clock()
    since = now - engine.config(project).continuity.recovery_window_hours * HOUR_MS
    parent = _parent(engine, project, previous)
    if parent is not None:
        return parent
    local = engine.store.sessions_of_project(project.project_id, since, SESSIONS_LOOKED_AT)
    pulled = {each.session.key: each for each in _own_elsewhere(engine, project, since)}
    sessions = [
        session
        for session in _latest_first(local, pulled)
        if session.key != key and (session.key in pulled or has_content(engine, session))
    ]
    # An import must not change what is continued of work that Holdfast has seen itself.
    sessions = [session for session in sessions if not is_imported(session)] or sessions
    busy = tuple(
        session
        for session in sessions
        if (
            _is_busy_elsewhere(engine, session)
            if session.key in pulled
            else _is_busy(engine, session, process)
        )
    )
    free = [session for session in sessions if session not in busy]
    branch = _branch(project) if pulled else ""
    here = [
        session for session in free if _is_here(session, project, branch, is_pulled=session.key in pulled)
    ]
    return Predecessors(next(iter(here or free), None), busy, pulled)


def _parent(engine: Engine, project: Project, key: str) -> Predecessors | None:
    """The session that the harness named as the one before, if it is of this project."""
    parent = engine.store.session(key) if key else None
    if parent is not None:
        is_of_project = parent.project.project_id == project.project_id
        return Predecessors(parent, ()) if is_of_project else None
    pulled = pulled_session(engine, project, key)
    if pulled is None or not pulled.provenance.is_mine:
        return None
    return Predecessors(pulled.session, (), {key: pulled})


def _own_elsewhere(engine: Engine, project: Project, since: int) -> Iterator[PulledSession]:
    """The sessions of the user's other machines that say anything; a teammate's is never continued."""
    for each in pulled_sessions(engine, project, since, PULLED_LOOKED_AT):
        has_work = not each.session.trail.is_empty() or bool(each.around.words)
        if each.provenance.is_mine and has_work:
            yield each


def _latest_first(local: list[Session], pulled: Mapping[str, PulledSession]) -> list[Session]:
    if not pulled:
        return local
    sessions = (*local, *(each.session for each in pulled.values()))
    return sorted(sessions, key=lambda session: -session.last_event_at)


def _branch(project: Project) -> str:
    position = git_position(project)
    return position.branch if position else ""


def _is_here(session: Session, project: Project, branch: str, *, is_pulled: bool) -> bool:
    """Whether a session was at work in this worktree or, on another machine, on its branch."""
    if is_pulled:
        return bool(branch) and session.git is not None and session.git.branch == branch
    return session.project.worktree_id == project.worktree_id


def _is_busy_elsewhere(engine: Engine, session: Session) -> bool:
    """Whether a session on another machine is live, as far as this one knows."""
    return session.phase is Phase.LIVE and _is_recent(engine, session)


def _brief_input(engine: Engine, hook_event: HookEvent, session: Session) -> BriefInput | None:
    """The input of the brief for this hook event; None if it gets no brief."""
    if not engine.config(session.project).brief.inject:
        return None
    match hook_event.ask:
        case Ask.COMPACTION:
            return BriefInput(Reason.SUMMARY, session, engine.clock())
        case Ask.PROMPT if needs_brief(session):
            return _own(engine, session, Reason.LATE)
        case Ask.PROMPT if session.prompts_known <= 1 and session.unanswered in (
            Source.STARTUP,
            Source.CLEAR,
        ):
            # A start that came through the spool got no answer: the first prompt carries its brief.
            return _input_at_start(engine, hook_event, session, session.unanswered)
        case Ask.START:
            return _input_at_start(engine, hook_event, session, hook_event.source)
        case Ask.REQUEST if needs_brief(session) and not _reasons_given(engine, session):
            cleared = session.unanswered is Source.CLEAR
            return _own(engine, session, Reason.CLEAR if cleared else Reason.COMPACT)
        case Ask.REQUEST if session.unanswered in (Source.STARTUP, Source.CLEAR, Source.RESUME):
            return _input_at_start(engine, hook_event, session, session.unanswered)
        case Ask.TOOLS if needs_brief(session) and not _reasons_given(engine, session):
            # Compacted in the middle of a turn, and no start event followed.
            return _own(engine, session, Reason.LATE)
        case _:
            return None


def _input_at_start(
    engine: Engine, hook_event: HookEvent, session: Session, source: Source | None
) -> BriefInput | None:
    match source:
        case Source.COMPACT:
            return _own(engine, session, Reason.COMPACT)
        case Source.RESUME | Source.FORK if needs_brief(session):
            return _own(engine, session, Reason.LATE)
        case Source.RESUME:
            return _news(engine, session, Reason.RESUME)
        case Source.FORK | None:
            return None
        case Source.CLEAR:
            brief_input = _input_from_predecessor(
                engine, _cleared(engine, session, hook_event.previous), Reason.CLEAR, session
            )
            return _with_ledger_and_continuity(engine, brief_input, Reason.CLEAR, session)
        case Source.STARTUP:
            predecessors = find_predecessor(
                engine, session.project, session.key, hook_event.previous, session.process
            )
            brief_input = _input_from_predecessor(
                engine, _settled(engine, predecessors), Reason.STARTUP, session
            )
            return _with_ledger_and_continuity(engine, brief_input, Reason.STARTUP, session)


def _with_ledger_and_continuity(
    engine: Engine, brief_input: BriefInput | None, reason: Reason, session: Session
) -> BriefInput | None:
    """The input with the leading ledger and the continuity, if the user's settings ask for them.

    It also names the handoffs that wait for the user.
    """
    brief_input = _with_ledger(engine, brief_input, reason, session)
    brief_input = _with_handoffs(engine, brief_input, reason, session)
    loaded = loaded_at_start(engine, session.project)
    if loaded is None:
        return brief_input
    return replace(brief_input or BriefInput(reason, session, engine.clock()), startup=loaded)


def _with_ledger(
    engine: Engine, brief_input: BriefInput | None, reason: Reason, session: Session
) -> BriefInput | None:
    """The input, led by the worktree's ledger if there is one that may lead."""
    before = brief_input.session if brief_input and brief_input.reason is not Reason.PARALLEL else None
    lead = leading(engine, session.project, session.key, before)
    if lead is None:
        return brief_input
    if isinstance(lead, RepositoryLedger):
        # A ledger that may not lead comes after the session's work, and alone is no reason for a brief.
        return replace(brief_input, repository_ledger=lead) if brief_input and before else brief_input
    if brief_input is None or before is None:
        brief_input = BriefInput(
            reason, session, engine.clock(), neighbours=brief_input.neighbours if brief_input else ()
        )
    return replace(brief_input, leading_ledger=lead)


def _with_handoffs(
    engine: Engine, brief_input: BriefInput | None, reason: Reason, session: Session
) -> BriefInput | None:
    """The input with a line for each handoff that somebody else sent to the user."""
    now, project = engine.clock(), session.project
    lines = tuple(
        _waiting_line(each, now) for each in received_handoffs(engine, project) if each.waits_for_user
    )[:HANDOFFS_NAMED]
    if not lines:
        return brief_input
    return replace(brief_input or BriefInput(reason, session, now), handoffs=lines)


def _waiting_line(waiting: HandoffFile, now: int) -> str:
    sender = waiting.provenance
    where = f"{sender.label}, {elapsed(now - sender.at)} old" if sender else ""
    purpose = shortened(one_line(waiting.head.purpose), PURPOSE_CHARS)
    name = waiting.name.removesuffix(".md")
    return f"A handoff for the user waits (from {where}): “{purpose}”; `holdfast handoff pickup {name}`."


def _own(engine: Engine, session: Session, reason: Reason) -> BriefInput | None:
    """The session's own state, given once for each of its windows.

    A brief that the transcript does not show after the compaction never arrived, and is given again.
    """
    reasons = _reasons_given(engine, session)
    boundary_recorded = bool(session.compactions) and CompactionSign.BOUNDARY in session.compactions[-1].signs
    # Some harnesses do not record the brief in the transcript; they are sent it with each request.
    keeps = engine.harness(session.harness).stores_injected_text
    lost = reasons == [Reason.COMPACT] and reason is Reason.LATE and boundary_recorded and keeps
    if reasons and not lost:
        return None
    brief_input = _input_from_session(engine, session, reason)
    return replace(brief_input, context=_context_at_compaction(engine, session))


def _input_from_session(engine: Engine, session: Session, reason: Reason) -> BriefInput:
    brief_input = BriefInput(
        reason, session, engine.clock(), kept_by_harness=engine.harness(session.harness).kept_by_harness
    )
    return _with_words(engine, _checked(engine, brief_input))


def _context_at_compaction(engine: Engine, session: Session) -> Utterance | None:
    """The harness's words about the session when it announced the compaction that ended the last window."""
    compacted = [one.at for one in session.compactions[-2:]] or [session.last_event_at]
    before = compacted[0] if len(compacted) == 2 else 0
    for event in engine.store.events_backwards(session.key, EVENTS_LOOKED_AT):
        if isinstance(event, CompactionImminent) and before < event.at <= compacted[-1]:
            text = event.session_context
            return Utterance(f"{SESSION_CONTEXT}{text}", event.at, event.record) if text else None
    return None


def _reasons_given(engine: Engine, session: Session) -> list[Reason]:
    """The reasons of the briefs about its own state that the session got in its present window."""
    return [
        receipt.reason
        for receipt in _receipts(engine, session)
        if receipt.predecessor == session.key and receipt.reason is not Reason.SUMMARY
    ]


def _receipts(engine: Engine, session: Session) -> list[Receipt]:
    """The receipts of the session's present window, the newest first."""
    return engine.store.receipts_in_window(session.key, session.window, RECEIPTS_LOOKED_AT)


def _checked(engine: Engine, brief_input: BriefInput) -> BriefInput:
    project = brief_input.session.project
    redact = engine.redactor_to_show(project).of_session(brief_input.session.key)
    return compare_brief(brief_input, redact, projects.root_now(engine.store, project))


def _input_from_predecessor(
    engine: Engine, predecessors: Predecessors, reason: Reason, starting: Session | None
) -> BriefInput | None:
    now, predecessor = engine.clock(), predecessors.predecessor
    neighbours = tuple(
        _named(session, now, predecessors.pulled.get(session.key)) for session in predecessors.neighbours
    )
    if predecessor is None:
        if not neighbours:
            return None
        return BriefInput(Reason.PARALLEL, predecessors.neighbours[0], now, neighbours=neighbours)
    if pulled := predecessors.pulled.get(predecessor.key):
        return _input_from_elsewhere(engine, pulled, reason, starting, neighbours)
    if predecessor.trail.is_empty():
        # An imported session that is chosen by name may have no work state yet.
        predecessor = with_work(engine, predecessor).session
    elsewhere = starting is not None and starting.harness != predecessor.harness
    brief_input = BriefInput(
        reason,
        predecessor,
        now,
        neighbours=neighbours,
        elsewhere=engine.harness(predecessor.harness).title if elsewhere else "",
        may_go_on=predecessor.phase is Phase.LIVE and liveness_of(engine, predecessor) is Liveness.SHARED,
    )
    return _with_words(engine, _checked(engine, brief_input))


def _input_from_elsewhere(
    engine: Engine,
    pulled: PulledSession,
    reason: Reason,
    starting: Session | None,
    neighbours: tuple[str, ...],
) -> BriefInput:
    """The input of a brief about a session of another machine, compared with what is here."""
    session = pulled.session
    is_other_harness = starting is not None and starting.harness != session.harness
    brief_input = BriefInput(
        reason,
        session,
        engine.clock(),
        words=pulled.around.words,
        neighbours=neighbours,
        elsewhere=_harness_title(engine, session.harness) if is_other_harness else "",
        machine=pulled.provenance.machine_name,
        may_go_on=session.phase is Phase.LIVE,
    )
    redact = engine.redactor_to_show(session.project).of_session(session.key)
    root = projects.root_now(engine.store, session.project)
    return compare_with_other_machine(brief_input, pulled.around, redact, root)


def _harness_title(engine: Engine, name: str) -> str:
    """The title of a harness; its name if this version does not know it."""
    try:
        return engine.harness(name).title
    except HarnessUnknown:
        return shown_name(name)


def _settled(engine: Engine, predecessors: Predecessors) -> Predecessors:
    """Read an unclosed predecessor's transcript to its end, and close it unless it may still go on."""
    predecessor = predecessors.predecessor
    if predecessor is None or predecessor.phase is not Phase.LIVE or predecessor.key in predecessors.pulled:
        return predecessors
    settle = read_to_end if liveness_of(engine, predecessor) is Liveness.SHARED else finalise
    return replace(predecessors, predecessor=settle(engine, predecessor))


def _news(engine: Engine, session: Session, reason: Reason) -> BriefInput:
    since = session.changed_at
    others = engine.store.sessions_of_project(session.project.project_id, since, SESSIONS_LOOKED_AT)
    worked = [other for other in others if other.key != session.key and other.changed_at > since]
    now = engine.clock()
    brief_input = BriefInput(reason, session, now, neighbours=tuple(_named(other, now) for other in worked))
    return _checked(engine, brief_input)


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
    if liveness_of(engine, session) is Liveness.SHARED:
        worktree = session.project.worktree_id
        before = [each for each in before if each.project.worktree_id == worktree and not each.turn_open]
    predecessor = next((other for other in before if has_content(engine, other)), None)
    return Predecessors(predecessor, ())


def has_content(engine: Engine, session: Session) -> bool:
    """Whether there is anything to say of a session: evidence, or its own digest."""
    return not session.trail.is_empty() or bool(_words(engine, session.key))


def _is_busy(engine: Engine, session: Session, process: Process | None) -> bool:
    """Whether a session is live: its process lives, or may live and was active recently."""
    if is_imported(session):
        # Its harness may still be at work in it, unseen.
        return _is_recent(engine, session)
    if session.phase is not Phase.LIVE:
        return False
    match liveness_of(engine, session):
        case Liveness.GONE:
            return False
        case Liveness.OWN:
            return session.process != process
        case Liveness.SHARED:
            return session.turn_open
        case Liveness.UNKNOWN:
            return _is_recent(engine, session)


def _is_recent(engine: Engine, session: Session) -> bool:
    idle = engine.clock() - session.last_event_at
    return idle < engine.config(session.project).continuity.time_interval_ms


def _named(session: Session, now: int, pulled: PulledSession | None = None) -> str:
    age = elapsed(now - session.changed_at)
    state = "is live" if session.phase is Phase.LIVE else "was"
    where = f"on {pulled.provenance.machine_name}" if pulled else f"in `{session.project.path}`"
    place = f"{where} (last record {age} ago)"
    return f"Session {session.key[:8]} {state} at work {place}; its work is not in this brief."


def _with_words(engine: Engine, brief_input: BriefInput) -> BriefInput:
    """The input with the latest digest, if need be of a session whose work it is, and what is not used."""
    session, trail = brief_input.session, brief_input.session.trail
    ancestors = reversed(trail.inherits) if trail.goal and trail.goal.inherited else ()
    checkpoints = engine.store.checkpoints_of_session(session.key, SESSIONS_LOOKED_AT)
    digests = chain([_words_in(checkpoints)], (_words(engine, each) for each in ancestors))
    latest = next((words for words in digests if words), ())
    asked = next((one for one in checkpoints if one.outline.was_model_asked), None)
    return replace(
        brief_input,
        words=latest[:1],
        model_left_out=left_out_of(asked.outline) if asked else (),
    )


def _words(engine: Engine, key: str) -> tuple[Utterance, ...]:
    """A session's digests in the words of its agent, its user or a model, newest first."""
    return _words_in(engine.store.checkpoints_of_session(key, SESSIONS_LOOKED_AT))


def _words_in(checkpoints: Iterable[Checkpoint]) -> tuple[Utterance, ...]:
    return tuple(words for one in checkpoints if (words := own_words(one)))


def _mark_answered(engine: Engine, session: Session) -> None:
    """Note that the start is answered, if only with nothing; inside a transaction."""
    stored_session = engine.store.session(session.key)
    if stored_session is not None:
        engine.store.put_session(replace(stored_session, unanswered=None))


def note_given(engine: Engine, session: Session, composed: ComposedBrief) -> None:
    """Note that a session started with this brief, where no hook's answer carried it."""
    with engine.store.writing():
        _store_receipt(engine, session, composed)
        _mark_answered(engine, session)


def _store_receipt(engine: Engine, session: Session, composed: ComposedBrief) -> None:
    """Store the receipt and, if the brief is of another session, which one is continued; in a transaction."""
    brief_input, brief = composed.brief_input, composed.brief
    receipt = Receipt(
        id=engine.new_id(),
        session=session.key,
        window=session.window,
        reason=brief_input.reason,
        predecessor=brief_input.session.key,
        created_at=brief_input.now,
        budget=composed.budget.brief_most,
        text=brief.text,
        items=brief.items,
    )
    engine.store.add_receipt(receipt)
    if brief_input.session.key != session.key and brief_input.reason is not Reason.PARALLEL:
        engine.store.add_lineage(
            Lineage(session.key, brief_input.session.key, brief_input.reason.value, brief_input.now)
        )
        inherit_work(engine, session.key, brief_input.session.key)


def with_suggested_queries(engine: Engine, brief_input: BriefInput, brief: Brief) -> BriefInput:
    """The input with suggested queries for what a compaction just removed and `recall` would find."""
    if brief_input.reason not in (Reason.COMPACT, Reason.LATE) or not brief.text:
        return brief_input
    return replace(
        brief_input,
        suggested_queries=tuple(
            offer.query for offer in islice(_answered_queries(engine, brief_input, brief), OFFERED)
        ),
    )


def _answered_queries(engine: Engine, brief_input: BriefInput, brief: Brief) -> Iterator[SuggestedQuery]:
    suggested = list[SuggestedQuery]()
    new = (offer for offer in suggest_queries(brief_input, brief) if is_new_query(offer, suggested))
    told_already = identity(brief.text)
    for offer in islice(new, LOOKED_UP):
        if _is_answered(engine, brief_input, offer, told_already):
            suggested.append(offer)
            yield offer


def _is_answered(engine: Engine, brief_input: BriefInput, offer: SuggestedQuery, told_already: str) -> bool:
    """Whether a search finds a text with most of the words that is not in the brief."""
    where = visible_from(brief_input.session.project)
    if offer.durable:
        where = replace(where, kinds=(MEMORY, index.MEMORY_FILE))
    words = query_words(offer.query)
    hits = [hit.id for hit in engine.store.search(words, where, HITS_LOOKED_AT)]
    superseded = engine.store.superseded_among(hits)
    documents = engine.store.around([id for id in hits if id not in superseded], 0, where)
    return any(
        2 * sum(word.lower() in document.text.lower() for word in words) >= len(words)
        and identity(document.text) not in told_already
        for document in documents
    )
