"""What is looked up for the pages: rows, in the office's thread, before they are redacted and shown."""

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
from holdfast.daemon.api.memories import NOWHERE
from holdfast.daemon.api.paging import Paging
from holdfast.daemon.api.project_files import layer_rows, ledger_row
from holdfast.daemon.api.reviews import candidate_row
from holdfast.daemon.dashboard.continuity import TITLES, Written
from holdfast.engine.briefing import live_session
from holdfast.engine.documents import continuity as continuity_files
from holdfast.engine.documents import dream, ledger
from holdfast.engine.engine import Engine
from holdfast.engine.evaluation import results
from holdfast.engine.health import examine
from holdfast.engine.memory import audit, recall
from holdfast.engine.repository.projects import named
from holdfast.engine.views import timeline
from holdfast.engine.views.metrics import Metrics, measure
from holdfast.engine.views.serialisation import Row, memory_row, receipt_row, session_row
from holdfast.engine.views.timeline import Point
from holdfast.engine.views.timeline_view import TimelineView, story
from holdfast.errors import NotThere
from holdfast.files import ledger as ledger_files
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import EVERYWHERE, START, Mark
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
"""As many as a page of the list has: who looks for one writes more words rather than read on."""


def sessions(engine: Engine, paging: Paging) -> tuple[list[Row], Row]:
    """Those at work, and a page of all."""
    live = engine.store.live_sessions()[:LIVE_MOST] if paging.behind == START else []
    rows = engine.store.page_of_sessions("", paging.behind, paging.wanted)
    latest = paging.page(
        rows, lambda one: Mark(one.last_event_at, one.key), lambda one: session_row(engine, one)
    )
    return [_live(engine, one) for one in live], latest


def _live(engine: Engine, session: Session) -> Row:
    taken = engine.store.checkpoints_of_session(session.key, 1)
    return {**session_row(engine, session), "last_checkpoint": to_iso(taken[0].created_at) if taken else None}


def kept(engine: Engine, key: str) -> str:
    """What a session would be given back if it were compacted now."""
    return live_session.would_keep(engine, _session(engine, key)).text


@dataclass(frozen=True, slots=True)
class OneSession:
    """All that a session's page shows."""

    row: Row
    story: TimelineView
    checkpoints: list[Row]
    point: Row | None


def one_session(engine: Engine, key: str, point: str) -> OneSession:
    """A session, its story, its checkpoints, and the point that was chosen."""
    session = _session(engine, key)
    taken = engine.store.checkpoints_of_session(key, CHECKPOINTS_SHOWN)
    return OneSession(
        session_row(engine, session),
        story(engine, key),
        [_taken(one) for one in taken],
        _point(engine, key, point) if point else None,
    )


def _taken(checkpoint: Checkpoint) -> Row:
    """A checkpoint as one line: all that it says is shown when it is chosen."""
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
    found: Point | None = None
    if checkpoint and checkpoint.session == key:
        found = timeline.of_checkpoint(checkpoint)
    elif receipt and receipt.session == key:
        found = timeline.of_receipt(receipt)
    else:
        events = engine.store.events_from(key, id, 1)
        found = timeline.of_event(events[0]) if events and events[0].record == id else None
    return {**asdict(found), "at": to_iso(found.at)} if found else None


def redacted_story(told: TimelineView, redact: Callable[[list[str]], list[str]]) -> TimelineView:
    """The same story with the titles as they may be shown."""
    titles = redact([one.title for one in told.moments])
    moments = (replace(one, title=title) for one, title in zip(told.moments, titles, strict=True))
    return replace(told, moments=tuple(moments))


def briefs(engine: Engine, paging: Paging) -> Row:
    """A page of the briefs that were given."""
    rows = engine.store.page_of_receipts("", paging.behind, paging.wanted)
    return paging.page(rows, lambda one: Mark(one.created_at, one.id), _given)


def _given(receipt: Receipt) -> Row:
    """A brief as one line; its text and items are on its own page."""
    items = receipt.items
    told = {name: value for name, value in receipt_row(receipt).items() if name not in ("text", "items")}
    return {**told, "said": sum(item.rendered for item in items), "known": len(items)}


def one_brief(engine: Engine, id: str) -> tuple[Row, str]:
    """A brief, and the harness's own summary of the same window."""
    receipt = engine.store.receipt(id)
    if receipt is None:
        raise NotThere(f"there is no brief `{id}`", "It may have gone with its session.")
    return receipt_row(receipt), _summary(engine, receipt)


def _summary(engine: Engine, receipt: Receipt) -> str:
    behind = Mark(receipt.created_at + SAME_WINDOW_MS, "")
    events = engine.store.page_of_events(receipt.session, behind, EVENTS_LOOKED_AT)
    return next((one.summary for one in events if isinstance(one, Compacted) and one.summary), "")


def memories(engine: Engine, words: str, paging: Paging) -> Row:
    """The memories that fit the words, the best first; without words all, the newest first."""
    now = engine.clock()
    if not words:
        rows = engine.store.page_of_memories(EVERYWHERE, paging.behind, paging.wanted)
        return paging.page(rows, lambda one: Mark(one.created_at, one.id), lambda one: memory_row(one, now))
    asked = recall.Query(words, FOUND_MOST + 1, ("memory",), all_projects=True)
    found = [one.id for one in recall.look_up(engine, NOWHERE, asked)]
    by_id: dict[str, Memory] = {one.id: one for one in engine.store.memories_named(found[:FOUND_MOST])}
    shown = [memory_row(by_id[id], now) for id in found if id in by_id]
    return {"items": shown, "next": None, "left_out": len(found) > FOUND_MOST}


def doubts(engine: Engine) -> Row:
    """Memories that are worth a look: some of them, and how many there are."""
    audited = audit.audit(engine, NOWHERE, all_projects=True)
    shown = audited.found[:DOUBTS_SHOWN]
    rows = [{**asdict(doubt), "text": memory.text} for doubt, memory in shown]
    return {"items": rows, "all": len(audited.found)}


def continuity(engine: Engine, home: Path, wanted: str) -> tuple[list[Row], str, list[Written]]:
    """The projects there are, which of them is shown, and its texts."""
    listed, chosen = _projects(engine, wanted)
    if not chosen:
        return listed, "", []
    room = continuity_files.room(engine, home, named(engine, chosen))
    put = f"/api/projects/{chosen}/continuity"
    texts = [
        _layer(row, f"{put}/{row['layer']}", room.places.versions(LayerName(str(row["layer"]))))
        for row in layer_rows(engine, room)
    ]
    return listed, chosen, [*texts, _ledger(engine, home, chosen)]


def _layer(row: Row, put: str, versions: Sequence[Path]) -> Written:
    past: list[Row] = [
        {"at": to_iso(int(path.stem)), "text": path.read_text(encoding="utf-8", errors="replace")}
        for path in versions[:PAST_SHOWN]
    ]
    return Written(
        TITLES[str(row["layer"])], str(row["path"]), str(row["text"]), str(row["print"]), put, past
    )


def _ledger(engine: Engine, home: Path, chosen: str) -> Written:
    project = named(engine, chosen)
    rules = ledger.rules(
        engine.config(project).session, decided=True, root=Path(project.root), environment={}
    )
    place = ledger.place_of(home, project, rules.path)
    row = ledger_row(engine, place, project)
    versions = ledger_files.versions(place)[:PAST_SHOWN]
    past: list[Row] = [{"at": to_iso(one.at), "text": one.text()} for one in versions]
    notes: Any = row["notices"]
    told = (
        ["It came with the repository: a stranger may have written it."] if row["came_with_the_clone"] else []
    )
    return Written(
        "Ledger",
        place.path,
        str(row["text"]),
        str(row["print"]),
        f"/api/projects/{chosen}/ledger",
        past,
        [*told, *notes],
    )


def redacted_texts(texts: Sequence[Written], redact: Callable[[Any], Any]) -> list[Written]:
    """The same texts as they may be shown."""
    return [
        replace(one, text=redact(one.text), past=redact(list(one.past)), notes=redact(list(one.notes)))
        for one in texts
    ]


def candidates(engine: Engine, home: Path, wanted: str) -> tuple[list[Row], str, list[Row]]:
    """The projects there are, which of them is shown, and its candidates."""
    listed, chosen = _projects(engine, wanted)
    if not chosen:
        return listed, "", []
    room = continuity_files.room(engine, home, named(engine, chosen))
    snapshot = dream.inspect(room).snapshot
    return listed, chosen, [candidate_row(room, one) for one in snapshot.candidates] if snapshot else []


def _projects(engine: Engine, wanted: str) -> tuple[list[Row], str]:
    every = engine.store.projects()
    ids = [one.project_id for one in every]
    latest = engine.store.page_of_sessions("", START, 1)
    usual = latest[0].project.project_id if latest else ""
    rows: list[Row] = [{"project_id": one.project_id, "path": one.path} for one in every]
    return rows, wanted if wanted in ids else usual


@dataclass(frozen=True, slots=True)
class HealthFacts:
    """How things stand."""

    findings: list[Row]
    metrics: Metrics
    survival: Row | None
    scores: list[SessionScore]


def health(engine: Engine, home: Path, *, deep: bool) -> HealthFacts:
    """All that the page of health tells."""
    look = examine.thoroughly if deep else examine.at_a_glance
    measured = [one for one in results.kept(engine.store) if one.name == "survival"]
    return HealthFacts(
        [asdict(one) for one in look(engine, home, os.environ)],
        measure(engine, home),
        {"at": to_iso(measured[0].at), "report": dict(measured[0].report)} if measured else None,
        engine.store.scores(SCORES_LOOKED_AT),
    )


def _session(engine: Engine, key: str) -> Session:
    found = engine.store.session(key)
    if found is None:
        raise NotThere(f"there is no session `{key}`", "It may have served its time.")
    return found
