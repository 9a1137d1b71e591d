"""The rows for each page, fetched in the executor's thread before they are redacted and shown."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final

from holdfast.core.brief.compose import Receipt
from holdfast.core.documents.continuity import LayerName
from holdfast.core.events.event import Compacted
from holdfast.core.memory.memory import Memory
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.score import SessionScore
from holdfast.core.session.session import Session
from holdfast.core.text.strings import shortened
from holdfast.daemon.api.dependencies import Paging
from holdfast.daemon.api.memories import NOWHERE
from holdfast.daemon.api.project_files import layer_rows, ledger_row
from holdfast.daemon.api.reviews import candidate_row
from holdfast.daemon.dashboard.continuity import TITLES, EditableText
from holdfast.engine.briefing import resume
from holdfast.engine.documents import continuity as continuity_files
from holdfast.engine.documents import dream, ledger
from holdfast.engine.engine import Engine
from holdfast.engine.health import examine
from holdfast.engine.health.doctor import verdict_of
from holdfast.engine.health.examine import Surroundings
from holdfast.engine.ids import brief_named, session_named
from holdfast.engine.memory import recall, remember
from holdfast.engine.recording.imported_work import with_work
from holdfast.engine.repository.projects import project_named
from holdfast.engine.views import measurements, timeline
from holdfast.engine.views.measurements import Metrics, measure
from holdfast.engine.views.serialisation import (
    Row,
    TitleLookup,
    memory_row,
    receipt_row,
    session_details_row,
    session_row,
    title_lookup,
)
from holdfast.engine.views.timeline import Point, TimelineView, timeline_view
from holdfast.files import ledger as ledger_files
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import EVERYWHERE, START, PageMark
from holdfast.stores.codec import to_iso

LIVE_MOST: Final = 24
CHECKPOINTS_SHOWN: Final = 50
ABOUT_CHARS: Final = 160
DOUBTS_SHOWN: Final = 50
PAST_SHOWN: Final = 5
SAME_WINDOW_MS: Final = 300_000
EVENTS_LOOKED_AT: Final = 400
SCORES_LOOKED_AT: Final = 500
FOUND_MOST: Final = 20
"""One page: a person who does not find it adds words instead of reading on."""


def sessions(engine: Engine, paging: Paging) -> tuple[list[Row], Row]:
    """The live sessions, and a page of all."""
    live = engine.store.live_sessions()[:LIVE_MOST] if paging.behind == START else []
    rows = engine.store.page_of_sessions("", paging.behind, paging.rows_to_fetch)
    latest = paging.page(
        rows,
        lambda session: PageMark(session.last_event_at, session.key),
        lambda session: session_row(engine, session),
    )
    return [_live(engine, session) for session in live], latest


def _live(engine: Engine, session: Session) -> Row:
    checkpoints = engine.store.checkpoints_of_session(session.key, 1)
    return {
        **session_row(engine, session),
        "last_checkpoint": to_iso(checkpoints[0].created_at) if checkpoints else None,
    }


def would_keep(engine: Engine, key: str) -> str:
    """What a session would be given back if it were compacted now."""
    return resume.preview_if_compacted(engine, _session(engine, key)).brief.text


@dataclass(frozen=True, slots=True)
class SessionDetails:
    """All that a session's page shows."""

    row: Row
    timeline_view: TimelineView
    checkpoints: list[Row]
    point: Row | None


def one_session(engine: Engine, key: str, point: str) -> SessionDetails:
    """A session, its timeline, its checkpoints, and the chosen point."""
    session = _session(engine, key)
    key = session.key
    shown = with_work(engine, session)
    checkpoints = engine.store.checkpoints_of_session(key, CHECKPOINTS_SHOWN)
    return SessionDetails(
        {**session_details_row(engine, shown.session), "note": shown.note},
        timeline_view(engine, key),
        [_checkpoint_row(checkpoint) for checkpoint in checkpoints],
        _point(engine, key, point) if point else None,
    )


def _checkpoint_row(checkpoint: Checkpoint) -> Row:
    """A checkpoint as one line; its full text is shown when it is chosen."""
    about = checkpoint.outline.summary or checkpoint.digest
    return {
        "id": checkpoint.id,
        "created_at": to_iso(checkpoint.created_at),
        "trigger": checkpoint.trigger,
        "prompt_count": checkpoint.prompt_count,
        "about": shortened(about, ABOUT_CHARS),
    }


def _point(engine: Engine, key: str, id: str) -> Row | None:
    checkpoint, receipt = engine.store.checkpoint(id), engine.store.receipt(id)
    point: Point | None = None
    if checkpoint and checkpoint.session == key:
        point = timeline.of_checkpoint(checkpoint)
    elif receipt and receipt.session == key:
        point = timeline.of_receipt(receipt)
    else:
        events = engine.store.events_from(key, id, 1)
        point = timeline.of_event(events[0]) if events and events[0].record == id else None
    return {**asdict(point), "at": to_iso(point.at)} if point else None


def redacted_timeline(view: TimelineView, redact: Callable[[list[str]], list[str]]) -> TimelineView:
    """The same timeline with redacted titles."""
    titles = redact([moment.title for moment in view.moments])
    moments = (replace(moment, title=title) for moment, title in zip(view.moments, titles, strict=True))
    return replace(view, moments=tuple(moments))


def briefs(engine: Engine, paging: Paging) -> Row:
    """A page of the briefs that were given."""
    rows, titles = (
        engine.store.page_of_receipts("", paging.behind, paging.rows_to_fetch),
        title_lookup(engine),
    )
    return paging.page(
        rows,
        lambda receipt: PageMark(receipt.created_at, receipt.id),
        lambda receipt: _brief_row(receipt, titles),
    )


def _brief_row(receipt: Receipt, titles: TitleLookup) -> Row:
    """A brief as one line; its text and items are on its own page."""
    items = receipt.items
    row = {
        name: value for name, value in receipt_row(receipt, titles).items() if name not in ("text", "items")
    }
    return {**row, "said": sum(item.rendered for item in items), "known": len(items)}


def one_brief(engine: Engine, id: str) -> tuple[Row, str]:
    """A brief, and the harness's own summary of the same window."""
    receipt = brief_named(engine.store, id)
    return receipt_row(receipt, title_lookup(engine)), _summary(engine, receipt)


def _summary(engine: Engine, receipt: Receipt) -> str:
    behind = PageMark(receipt.created_at + SAME_WINDOW_MS, "")
    events = engine.store.page_of_events(receipt.session, behind, EVENTS_LOOKED_AT)
    return next((event.summary for event in events if isinstance(event, Compacted) and event.summary), "")


def memories(engine: Engine, words: str, paging: Paging) -> Row:
    """The memories that match the words, the best first; without words all, the newest first."""
    now = engine.clock()
    if not words:
        rows = engine.store.page_of_memories(EVERYWHERE, paging.behind, paging.rows_to_fetch)
        return paging.page(
            rows,
            lambda memory: PageMark(memory.created_at, memory.id),
            lambda memory: memory_row(memory, now),
        )
    query = recall.Query(words, FOUND_MOST + 1, ("memory",), all_projects=True)
    ids = [memory.id for memory in recall.look_up(engine, NOWHERE, query)]
    by_id: dict[str, Memory] = {memory.id: memory for memory in engine.store.memories_named(ids[:FOUND_MOST])}
    items = [memory_row(by_id[id], now) for id in ids if id in by_id]
    return {"items": items, "next": None, "left_out": len(ids) > FOUND_MOST}


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
    return EditableText(
        TITLES[str(row["layer"])], str(row["path"]), str(row["text"]), str(row["print"]), put, past
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


def _projects(engine: Engine, wanted_id: str) -> tuple[list[Row], str]:
    every = engine.store.projects()
    ids = [project.project_id for project in every]
    latest = engine.store.page_of_sessions("", START, 1)
    usual = latest[0].project.project_id if latest else ""
    rows: list[Row] = [{"project_id": project.project_id, "path": project.path} for project in every]
    return rows, wanted_id if wanted_id in ids else usual


@dataclass(frozen=True, slots=True)
class HealthFacts:
    """What the page of health shows, before it is redacted."""

    verdict: str
    """What the findings mean together, in one line, as `holdfast doctor` ends."""
    findings: list[Row]
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
        [finding.row for finding in verdict.findings],
        measure(engine, home),
        {"at": to_iso(measured[0].at), "report": dict(measured[0].report)} if measured else None,
        engine.store.scores(SCORES_LOOKED_AT),
    )


def _session(engine: Engine, key: str) -> Session:
    return session_named(engine.store, key)
