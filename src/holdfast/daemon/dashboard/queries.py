"""The rows for each page, fetched in the executor's thread before they are redacted and shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path, PurePath
from typing import Any, Final

from holdfast.core.brief.brief_input import Reason
from holdfast.core.brief.compose import Receipt
from holdfast.core.documents.continuity import LayerName
from holdfast.core.events.durations import DAY_MS
from holdfast.core.events.event import Action, ToolCalled, ToolReturned
from holdfast.core.events.world import Project
from holdfast.core.memory.memory import Memory, MemoryScope
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.reason_words import reason_words
from holdfast.core.session.score import SessionScore
from holdfast.core.session.session import Phase, Session
from holdfast.core.text.strings import one_line, shortened
from holdfast.daemon.api.dependencies import Paging
from holdfast.daemon.api.memories import NOWHERE
from holdfast.daemon.api.project_files import layer_rows, ledger_row
from holdfast.daemon.api.reviews import candidate_row
from holdfast.daemon.api.sessions import diff_row
from holdfast.daemon.dashboard.continuity import (
    EXPLAINED,
    LAYER_EMPTY,
    LEDGER_ALLOWED,
    LEDGER_EMPTY,
    LEDGER_EMPTY_OFF,
    LEDGER_OFF,
    LEDGER_ON,
    TITLES,
    EditableText,
    handoff_path,
)
from holdfast.daemon.dashboard.frame import session_path
from holdfast.daemon.dashboard.home import HomeFacts
from holdfast.daemon.dashboard.sessions import SessionPageFacts
from holdfast.engine.briefing import resume
from holdfast.engine.documents import continuity as continuity_files
from holdfast.engine.documents import dream, handoff, ledger
from holdfast.engine.engine import Engine
from holdfast.engine.evaluation.usage import statistics
from holdfast.engine.health import examine
from holdfast.engine.health.doctor import verdict_of
from holdfast.engine.health.examine import Surroundings
from holdfast.engine.ids import session_named
from holdfast.engine.memory import recall, remember
from holdfast.engine.recording.imported_work import ImportedSession, with_work
from holdfast.engine.repository.projects import project_if_stored, project_named
from holdfast.engine.shared_sessions import pulled_unless_here
from holdfast.engine.views import file_history, measurements, timeline
from holdfast.engine.views.file_history import edited_files
from holdfast.engine.views.measurements import Metrics, measure
from holdfast.engine.views.search import SearchKind, SearchRequest, search
from holdfast.engine.views.serialisation import (
    Row,
    TitleLookup,
    memory_row,
    session_details_row,
    session_row,
    title_lookup,
)
from holdfast.engine.views.session_lists import SessionChoice, listed_sessions
from holdfast.engine.views.team import TeamChoice, team_view
from holdfast.engine.views.timeline import (
    PROMPT_CHARS,
    FailedCall,
    Moment,
    Point,
    TimelineView,
    timeline_view,
)
from holdfast.errors import NotThere
from holdfast.files import ledger as ledger_files
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import EVERYWHERE, START, PageMark
from holdfast.stores.codec import to_iso

LIVE_MOST: Final = 24
RECENT_SHOWN: Final = 40
LATEST_SHOWN: Final = 10
FEED_SHOWN: Final = 14
RECEIPTS_LOOKED_AT: Final = 60
MEMORIES_IN_FEED: Final = 3
PROJECTS_LOOKED_INTO: Final = 20
STATEMENT_CHARS: Final = 220
BRIEFS_LISTED: Final = 12
FILES_LISTED: Final = 60
FILES_MOST: Final = 5_000
CALLS_LOOKED_AT: Final = 100
NEIGHBOURS_SHOWN: Final = 2
CHECKPOINTS_SHOWN: Final = 20
ABOUT_CHARS: Final = 160
DOUBTS_SHOWN: Final = 50
PAST_SHOWN: Final = 5
SCORES_LOOKED_AT: Final = 500
USES_SHOWN: Final = 12
OTHERS_SHOWN: Final = 5
FOUND_MOST: Final = 20
"""One page: a person who does not find it adds words instead of reading on."""


def home(engine: Engine, home: Path, days: Sequence[int]) -> HomeFacts:
    """What the home page shows: problems, live and latest sessions, the news, and the counts by day."""
    recent = engine.store.page_of_sessions("", START, RECENT_SHOWN)
    live = engine.store.live_sessions()[:LIVE_MOST]
    live_keys = {session.key for session in live}
    verdict = verdict_of(examine.at_a_glance(engine, Surroundings(home, engine.user_home, os.environ)))
    others = [session for session in recent if session.key not in live_keys][:LATEST_SHOWN]
    return HomeFacts(
        [_live(engine, session) for session in live],
        [session_row(engine, session) for session in others],
        _feed(engine, recent),
        [each.row for each in verdict.problems],
        engine.store.activity(days),
    )


def _live(engine: Engine, session: Session) -> Row:
    checkpoints = engine.store.checkpoints_of_session(session.key, 1)
    statements = session.trail.statements
    return {
        **session_row(engine, session),
        "last_checkpoint": to_iso(checkpoints[0].created_at) if checkpoints else None,
        "last_statement": _prose(statements[-1].text) if statements else "",
    }


def _prose(text: str) -> str:
    """The beginning of a message, up to its first block of code."""
    words = text.partition("```")[0].replace("**", "")
    return shortened(one_line(words or text), STATEMENT_CHARS)


def _feed(engine: Engine, recent: Sequence[Session]) -> list[Row]:
    """The latest briefs, crashes, memories, and handoffs that wait; the newest first."""
    titles = title_lookup(engine)
    receipts = engine.store.receipts("", RECEIPTS_LOOKED_AT)
    rows = [
        *_each_once(_brief_news(receipt, titles) for receipt in receipts if receipt.reason in _NEWS),
        *(_crashed(session, titles) for session in recent if session.phase is Phase.ORPHANED),
        *(
            _remembered(memory)
            for memory in engine.store.page_of_memories(EVERYWHERE, START, MEMORIES_IN_FEED)
        ),
    ]
    rows.sort(key=lambda row: str(row["at"]), reverse=True)
    return [*_handoffs_waiting(engine, recent), *rows[:FEED_SHOWN]]


_NEWS: Final = frozenset(
    {Reason.COMPACT, Reason.LATE, Reason.STARTUP, Reason.CLEAR, Reason.FORK, Reason.RESUME}
)
"""The reasons of briefs that are news: others are given in passing."""


def _each_once(rows: Iterable[Row]) -> list[Row]:
    """The latest row of each kind about a session, with how often that happened."""
    latest: dict[tuple[object, object], Row] = {}
    occasions: dict[tuple[object, object], set[object]] = {}
    for row in rows:
        news = row["kind"], row["key"]
        latest.setdefault(news, row)
        occasions.setdefault(news, set()).add(row["occasion"])
    return [{**row, "times": len(occasions[news])} for news, row in latest.items()]


def _brief_news(receipt: Receipt, titles: TitleLookup) -> Row:
    is_compaction = receipt.reason in (Reason.COMPACT, Reason.LATE)
    return {
        "kind": "compaction" if is_compaction else "brief",
        "key": receipt.session,
        # A brief that got lost is given again: in its window, it was one compaction.
        "occasion": receipt.window if is_compaction else receipt.id,
        "at": to_iso(receipt.created_at),
        "title": titles(receipt.session) or receipt.session,
        "href": f"/briefs/{receipt.id}",
        "detail": "" if is_compaction else reason_words(receipt.reason),
    }


def _crashed(session: Session, titles: TitleLookup) -> Row:
    return {
        "kind": "crash",
        "at": to_iso(session.ended_at or session.last_event_at),
        "title": titles(session.key) or session.key,
        "href": session_path(session.key),
        "detail": "",
    }


def _remembered(memory: Memory) -> Row:
    return {
        "kind": "memory",
        "at": to_iso(memory.created_at),
        "title": shortened(one_line(memory.text), ABOUT_CHARS),
        "href": f"/memory#memory-{memory.id}",
        "detail": "",
    }


def _handoffs_waiting(engine: Engine, recent: Sequence[Session]) -> list[Row]:
    """The open handoffs of the projects that were worked on last; others are not looked into."""
    projects = {session.project.root: session.project for session in reversed(recent)}
    waiting = [
        (project, each)
        for project in list(projects.values())[-PROJECTS_LOOKED_INTO:]
        for each in handoff.handoffs_here(engine, project)
        if each.head.is_open
    ]
    each_once = {each.place: (project, each) for project, each in waiting}
    return [
        {
            "kind": "handoff",
            "at": each.head.created,
            "title": each.head.purpose,
            "href": handoff_path(project.project_id, each.name),
            "detail": _where_from(PurePath(project.path).name, each),
        }
        for project, each in each_once.values()
    ]


def _where_from(project: str, waiting: handoff.HandoffFile) -> str:
    return f"{project}, from {waiting.provenance.label}" if waiting.provenance else project


def one_handoff(engine: Engine, project_id: str, name: str) -> Row:
    """A handoff, with the title of the session that it is from."""
    project = project_named(engine, project_id)
    handoffs = handoff.handoffs_here(engine, project)
    chosen = next((each for each in handoffs if name and each.name == name), None)
    if chosen is None:
        raise NotThere("this handoff is gone", "`holdfast handoff list` shows those there are.")
    head = chosen.head
    return {
        "name": chosen.name.removesuffix(".md"),
        "path": "" if chosen.provenance else str(chosen.path),
        "sender": chosen.provenance.label if chosen.provenance else "",
        "text": chosen.text,
        "purpose": head.purpose,
        "created": head.created,
        "taken_at": head.taken[0],
        "session_key": head.session,
        "title": title_lookup(engine)(head.session),
        "project": project.path,
    }


@dataclass(frozen=True, slots=True)
class ListFilter:
    """What of a list is shown; an empty field lets everything pass."""

    project: str = ""
    harness: str = ""
    days: int = 0
    kind: str = ""
    session: str = ""
    """One session of the results, of which all that was found is shown."""
    person: str = ""
    machine: str = ""
    """The id of a machine."""

    def since(self, now: int) -> int:
        """The time with which the list begins."""
        return now - self.days * DAY_MS if self.days else 0

    @property
    def row(self) -> Row:
        """The filter as the page's fields have it."""
        days = str(self.days) if self.days else ""
        return {
            "project": self.project,
            "harness": self.harness,
            "since": days,
            "kind": self.kind,
            "session": self.session,
            "person": self.person,
            "machine": self.machine,
        }


def projects_and_harnesses(engine: Engine) -> tuple[list[Row], list[str]]:
    """What lists can be filtered by."""
    rows = _by_path(engine.store.projects())
    return rows, [captured.harness for captured in engine.store.captured()]


def sessions(engine: Engine, chosen_filter: ListFilter, paging: Paging) -> Row:
    """A page of the sessions that the filter lets pass."""
    project = project_if_stored(engine, chosen_filter.project) if chosen_filter.project else None
    if chosen_filter.project and project is None:
        return {"items": [], "next": None}
    choice = SessionChoice(
        project,
        chosen_filter.harness,
        chosen_filter.since(engine.clock()),
        (),
        chosen_filter.person,
        chosen_filter.machine,
    )
    rows = listed_sessions(engine, choice, paging.behind, paging.rows_to_fetch)
    return paging.page(rows, lambda listed: listed.mark, lambda listed: listed.row(engine))


def team(engine: Engine, chosen_filter: ListFilter) -> Row:
    """What other machines and people shared, as far as the filter lets it pass."""
    project = project_named(engine, chosen_filter.project) if chosen_filter.project else None
    return team_view(engine, TeamChoice(chosen_filter.person, chosen_filter.machine, project))


def results(engine: Engine, words: str, chosen_filter: ListFilter) -> list[Row]:
    """The results of a search."""
    kinds = {kind.value: kind for kind in SearchKind}
    since = chosen_filter.since(engine.clock())
    request = SearchRequest(
        words,
        kinds.get(chosen_filter.kind),
        chosen_filter.project,
        chosen_filter.harness,
        since,
        chosen_filter.session,
    )
    return search(engine, request)


def passages(engine: Engine, id: str) -> list[Row]:
    """A text that was found, and those beside it in its session."""
    documents = engine.store.around([id], NEIGHBOURS_SHOWN, EVERYWHERE)
    if not any(document.id == id for document in documents):
        raise NotThere("this text is gone", "It may have been forgotten, or has served its time.")
    documents.sort(key=lambda document: document.place)
    session = next((document.session for document in documents if document.id == id), "")
    stored = engine.store.session(session) if session else None
    row = session_row(engine, stored) if stored else None
    return [
        {
            "id": document.id,
            "kind": document.kind,
            "text": document.text,
            "at": to_iso(document.at) if document.at else None,
            "source": document.source,
            "session": row,
        }
        for document in documents
    ]


def would_keep(engine: Engine, key: str) -> Row:
    """What a session would be given back if it were compacted now, and the session's title."""
    session = _session(engine, key)
    text = resume.preview_if_compacted(engine, session).brief.text
    return {"session_key": session.key, "title": title_lookup(engine)(session.key), "text": text}


def one_session(engine: Engine, key: str, point: str, compared: tuple[str, str]) -> SessionPageFacts:
    """A session, its timeline, its checkpoints and briefs, the chosen point, and two checkpoints compared."""
    pulled = pulled_unless_here(engine, key)
    session = pulled.session if pulled else _session(engine, key)
    key = session.key
    shown = with_work(engine, session) if pulled is None else ImportedSession(session, "")
    older, newer = map(engine.store.checkpoint, compared)
    checkpoints = engine.store.checkpoints_of_session(key, CHECKPOINTS_SHOWN + 1)
    before = [*checkpoints[1:], None][: len(checkpoints)]
    row = session_details_row(engine, shown.session, pulled)
    parent = str(row["parent"] or "")
    return SessionPageFacts(
        {
            **row,
            "note": shown.note,
            "project_id": session.project.project_id,
            "parent_title": title_lookup(engine)(parent) if parent else "",
        },
        _with_trail(timeline_view(engine, session), shown.session),
        [_checkpoint_row(*each) for each in zip(checkpoints, before, strict=True)][:CHECKPOINTS_SHOWN],
        [_brief_link(receipt) for receipt in engine.store.receipts(key, BRIEFS_LISTED)],
        [_brief_link(receipt) for receipt in engine.store.receipts_made_from(key, BRIEFS_LISTED)],
        _point(engine, key, point) if point else None,
        diff_row(older, newer) if older and newer else None,
        _files_changed(shown.session),
    )


def _with_trail(view: TimelineView, session: Session) -> TimelineView:
    """The timeline; where no event is stored, with the prompts and failures that the trail still has."""
    if view.work or view.counts or view.prompts:
        return view
    trail = session.trail
    prompts = [
        Moment(each.at, "", "prompt", shortened(one_line(each.text), PROMPT_CHARS))
        for each in trail.prompts
        if not each.inherited
    ]
    failures = [
        FailedCall(
            run.at,
            "",
            shortened(one_line(run.command), PROMPT_CHARS),
            shortened(one_line(run.reason) or "failed", PROMPT_CHARS),
        )
        for run in trail.commands
        if run.ok is False and not run.inherited
    ]
    return replace(view, prompts=tuple(prompts), failures=tuple(failures))


def _files_changed(session: Session) -> list[Row]:
    root = f"{session.project.root}/"
    touched = sorted(session.trail.files, key=lambda touch: (touch.at, touch.step), reverse=True)
    return [
        {"path": (touch.renamed_to or touch.path).removeprefix(root), "times": touch.times}
        for touch in touched
        if touch.action is not Action.READ
    ]


def _brief_link(receipt: Receipt) -> Row:
    return {"id": receipt.id, "reason": receipt.reason.value, "created_at": to_iso(receipt.created_at)}


def _checkpoint_row(checkpoint: Checkpoint, before: Checkpoint | None) -> Row:
    """A checkpoint as one line: when, why, and how many lines changed since the one before."""
    now = set(checkpoint.digest.splitlines())
    then = set(before.digest.splitlines()) if before else set[str]()
    return {
        "id": checkpoint.id,
        "created_at": to_iso(checkpoint.created_at),
        "trigger": checkpoint.trigger,
        "prompt_count": checkpoint.prompt_count,
        "added": len(now - then) if before else None,
        "removed": len(then - now) if before else None,
    }


def one_checkpoint(engine: Engine, id: str) -> tuple[Row, Row | None]:
    """A checkpoint, and what changed since the one before it in its session."""
    checkpoint = engine.store.checkpoint(id)
    if checkpoint is None:
        raise NotThere(f"there is no checkpoint `{id}`", "It may have served its time.")
    mark = PageMark(checkpoint.created_at, checkpoint.id)
    before = engine.store.page_of_session_checkpoints(checkpoint.session, mark, 1)
    row: Row = {
        "id": checkpoint.id,
        "session_key": checkpoint.session,
        "title": title_lookup(engine)(checkpoint.session),
        "trigger": checkpoint.trigger,
        "created_at": to_iso(checkpoint.created_at),
        "digest": checkpoint.digest,
    }
    return row, diff_row(before[0], checkpoint) if before else None


def _point(engine: Engine, key: str, id: str) -> Row | None:
    """The checkpoint, brief or record with that id, with the command if it is a command's result."""
    checkpoint, receipt = engine.store.checkpoint(id), engine.store.receipt(id)
    point: Point | None = None
    command = ""
    if checkpoint and checkpoint.session == key:
        point = timeline.of_checkpoint(checkpoint)
    elif receipt and receipt.session == key:
        point = timeline.of_receipt(receipt)
    elif event := timeline.event_named(engine, key, id):
        point = timeline.of_event(event)
        command = _command_of(engine, event) if isinstance(event, ToolReturned) else ""
    return {**asdict(point), "at": to_iso(point.at), "command": command} if point else None


def _command_of(engine: Engine, returned: ToolReturned) -> str:
    """What was called: one of the events shortly before."""
    mark = PageMark(returned.at + 1, "")
    before = engine.store.page_of_events(returned.session, mark, CALLS_LOOKED_AT)
    calls = (one for one in before if isinstance(one, ToolCalled) and one.call == returned.call)
    return next((call.subject or call.tool for call in calls), "")


def redacted_timeline(view: TimelineView, redact: Callable[[list[str]], list[str]]) -> TimelineView:
    """The same timeline with redacted texts."""
    subjects = redact([failed.subject for failed in view.failures])
    errors = redact([failed.error for failed in view.failures])
    return replace(
        view,
        moments=_with_titles(view.moments, redact),
        prompts=_with_titles(view.prompts, redact),
        failures=tuple(
            replace(failed, subject=subject, error=error)
            for failed, subject, error in zip(view.failures, subjects, errors, strict=True)
        ),
    )


def _with_titles(moments: Sequence[Moment], redact: Callable[[list[str]], list[str]]) -> tuple[Moment, ...]:
    titles = redact([moment.title for moment in moments])
    return tuple(replace(moment, title=title) for moment, title in zip(moments, titles, strict=True))


def memories(engine: Engine, words: str, paging: Paging) -> Row:
    """The memories that match the words, the best first; without words all, the newest first."""
    now, paths = engine.clock(), {project.project_id: project.path for project in engine.store.projects()}

    def row_of(memory: Memory) -> Row:
        is_everywhere = memory.scope is MemoryScope.USER
        return {
            **memory_row(memory, now),
            "project": "" if is_everywhere else paths.get(memory.project_id, ""),
        }

    if not words:
        rows = engine.store.page_of_memories(EVERYWHERE, paging.behind, paging.rows_to_fetch)
        return paging.page(
            rows,
            lambda memory: PageMark(memory.created_at, memory.id),
            row_of,
        )
    query = recall.Query(words, FOUND_MOST + 1, ("memory",), all_projects=True)
    ids = [memory.id for memory in recall.look_up(engine, NOWHERE, query)]
    by_id: dict[str, Memory] = {memory.id: memory for memory in engine.store.memories_named(ids[:FOUND_MOST])}
    items = [row_of(by_id[id]) for id in ids if id in by_id]
    others = [row for row in search(engine, SearchRequest(words)) if row["kind"] != "memory"][:OTHERS_SHOWN]
    return {"items": items, "next": None, "left_out": len(ids) > FOUND_MOST, "others": others}


def doubts(engine: Engine) -> Row:
    """Memories that are worth a look: some of them, and how many there are."""
    audited = remember.audit_memories(engine, NOWHERE, all_projects=True)
    visible = audited.doubts[:DOUBTS_SHOWN]
    rows = [{**asdict(doubt), "text": memory.text} for doubt, memory in visible]
    return {"items": rows, "all": len(audited.doubts)}


def continuity(engine: Engine, home: Path, project: str) -> tuple[list[Row], str, list[EditableText]]:
    """The projects there are, which of them is shown, and its texts."""
    listed, chosen = _projects(engine, project)
    if not chosen:
        return listed, "", []
    files = continuity_files.continuity_files(engine, home, project_named(engine, chosen))
    put = f"/api/projects/{chosen}/continuity"
    texts = [
        _layer(row, f"{put}/{row['layer']}", files.places.versions(LayerName(str(row["layer"]))))
        for row in layer_rows(engine, files)
    ]
    return listed, chosen, [*texts, _ledger(engine, home, chosen)]


def _layer(row: Row, put: str, versions: Sequence[Path]) -> EditableText:
    past: list[Row] = [
        {"at": to_iso(int(path.stem)), "text": path.read_text(encoding="utf-8", errors="replace")}
        for path in versions[:PAST_SHOWN]
    ]
    layer = str(row["layer"])
    return EditableText(
        TITLES[layer],
        str(row["path"]),
        str(row["text"]),
        str(row["print"]),
        put,
        past,
        explained=EXPLAINED[layer],
        when_empty=LAYER_EMPTY,
    )


def _ledger(engine: Engine, home: Path, chosen: str) -> EditableText:
    project = project_named(engine, chosen)
    rules = ledger.rules(
        engine.config(project).session, decided=True, root=Path(project.root), environment={}
    )
    place = ledger.place_of(home, project, rules.path)
    row = ledger_row(engine, place, project)
    versions = ledger_files.versions(place)[:PAST_SHOWN]
    past: list[Row] = [{"at": to_iso(version.at), "text": version.text()} for version in versions]
    notes: Any = row["notices"]
    is_allowed = ledger.is_enabled(engine, project)
    warnings = (
        ["It came with the repository: a stranger may have written it."] if row["came_with_the_clone"] else []
    )
    return EditableText(
        "Ledger",
        place.path,
        str(row["text"]),
        str(row["print"]),
        f"/api/projects/{chosen}/ledger",
        past,
        [*warnings, *notes],
        (LEDGER_ON if engine.config(project).session.ledger else LEDGER_ALLOWED)
        if is_allowed
        else LEDGER_OFF,
        LEDGER_EMPTY if is_allowed else LEDGER_EMPTY_OFF,
    )


def redacted_texts(texts: Sequence[EditableText], redact: Callable[[Any], Any]) -> list[EditableText]:
    """The same texts, redacted."""
    return [
        replace(text, text=redact(text.text), past=redact(list(text.past)), notes=redact(list(text.notes)))
        for text in texts
    ]


def candidates(engine: Engine, home: Path, project: str) -> tuple[list[Row], str, list[Row]]:
    """The projects there are, which of them is shown, and its candidates."""
    listed, chosen = _projects(engine, project)
    if not chosen:
        return listed, "", []
    files = continuity_files.continuity_files(engine, home, project_named(engine, chosen))
    snapshot = dream.inspect(files).snapshot
    return (
        listed,
        chosen,
        [candidate_row(files, candidate) for candidate in snapshot.candidates] if snapshot else [],
    )


def files(engine: Engine, project: str, words: str) -> tuple[list[Row], str, list[Row], int]:
    """The projects there are, which of them is shown, the files that match, and how many more do."""
    listed, chosen = _projects(engine, project)
    changed = edited_files(engine, project_named(engine, chosen), FILES_MOST) if chosen else []
    parts = words.casefold().split()
    matching = [row for row in changed if all(part in str(row["path"]).casefold() for part in parts)]
    return listed, chosen, matching[:FILES_LISTED], max(0, len(matching) - FILES_LISTED)


def file_answer(engine: Engine, project: str, path: str, line: int) -> Row:
    """Why a file, or a line of it, was changed."""
    _, chosen = _projects(engine, project)
    return asdict(file_history.file_answer(engine, project_named(engine, chosen), path, line))


def _projects(engine: Engine, wanted_id: str) -> tuple[list[Row], str]:
    every = engine.store.projects()
    ids = [project.project_id for project in every]
    latest = engine.store.page_of_sessions("", START, 1)
    usual = latest[0].project.project_id if latest else ""
    return _by_path(every), wanted_id if wanted_id in ids else usual


def _by_path(projects: Sequence[Project]) -> list[Row]:
    """Projects for a list to choose from, in the order of their paths."""
    ordered = sorted(projects, key=lambda project: project.path.casefold())
    return [{"project_id": project.project_id, "path": project.path} for project in ordered]


def stats(engine: Engine, days: int) -> tuple[Row, list[Row]]:
    """The statistics, and the latest briefs of which the use is known, with the title of their session."""
    row, titles = statistics(engine, days), title_lookup(engine)
    use: Any = row["use"]
    known = [brief for brief in use["by_brief"] if brief["used"] is not None and brief["names"]]
    return row, [{**brief, "title": titles(brief["session_key"])} for brief in known[:USES_SHOWN]]


@dataclass(frozen=True, slots=True)
class HealthFacts:
    """What the page of health shows, before it is redacted."""

    verdict: str
    """What the findings mean together, in one line, as `holdfast doctor` ends."""
    problems: list[Row]
    passed: list[Row]
    absent: list[Row]
    """What was not checked, because its program is not installed."""
    metrics: Metrics
    survival: Row | None
    scores: list[SessionScore]


def health(engine: Engine, home: Path, *, deep: bool) -> HealthFacts:
    """All that the page of health shows."""
    look = examine.thoroughly if deep else examine.at_a_glance
    verdict = verdict_of(look(engine, Surroundings(home, engine.user_home, os.environ)))
    measured = [entry for entry in measurements.stored_evaluations(engine.store) if entry.name == "survival"]
    return HealthFacts(
        verdict.summary,
        [finding.row for finding in verdict.problems],
        [finding.row for finding in verdict.passed],
        [finding.row for finding in verdict.absent],
        measure(engine, home),
        {"at": to_iso(measured[0].at), "report": dict(measured[0].report)} if measured else None,
        engine.store.scores(SCORES_LOOKED_AT),
    )


def _session(engine: Engine, key: str) -> Session:
    return session_named(engine.store, key)
