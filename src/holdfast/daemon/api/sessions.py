"""Sessions over HTTP: what happened in each, how full their windows are, their checkpoints and briefs."""

from __future__ import annotations

from difflib import unified_diff
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from holdfast.core.brief.brief_input import Reason
from holdfast.core.brief.budget import budget_for
from holdfast.core.brief.compose import Brief
from holdfast.core.evidence.kinds import Section
from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Phase, Session, Trigger, title_of
from holdfast.daemon.api.dependencies import ExecutorDep, Page, Paged
from holdfast.engine.briefing.resume import preview_brief
from holdfast.engine.engine import Engine
from holdfast.engine.ids import brief_named, checkpoint_named, only_id, session_named
from holdfast.engine.recording.imported_work import with_work
from holdfast.engine.repository.projects import project_if_stored, project_named
from holdfast.engine.shared_sessions import pulled_unless_here
from holdfast.engine.views import timeline
from holdfast.engine.views.serialisation import (
    Row,
    checkpoint_row,
    item_row,
    receipt_row,
    session_details_row,
    session_row,
    title_lookup,
)
from holdfast.engine.views.session_lists import SessionChoice, listed_sessions
from holdfast.engine.views.timeline import Point
from holdfast.stores.base import PageMark, RowKind
from holdfast.stores.codec import to_iso

router = APIRouter(tags=["sessions"])


class SessionRow(BaseModel):
    """One conversation in a harness."""

    session_key: str
    short_id: str = Field(description="The beginning of its key that names it alone.")
    title: str = Field(description="What it is called or about, in at most 60 characters.")
    harness: str
    project: str
    project_normalized: str
    phase: Phase
    imported: bool = Field(description="Whether it was imported; it has no events, so no timeline.")
    model: str
    prompt_count: int
    windows: int
    started_at: str
    last_event_at: str
    parent: str | None = Field(description="The session that it continues.")
    lineage: str | None = Field(description="How it continues that one.")
    person: str | None = Field(description="Whose session it is; null for one of this machine.")
    machine: str | None = Field(description="The name of its machine; null for this one.")
    machine_id: str | None
    tokens: int = Field(description="What the window holds, as the harness counted it last.")
    capacity: int = Field(description="At how many tokens the harness compacts.")
    percent: int
    flush_asked: list[int]
    flush_asked_at: str | None
    flushActioned: bool  # noqa: N815 - the name that other programs know it by


class StatementRow(BaseModel):
    """One sentence of a work state that still holds."""

    text: str
    at: str | None
    source: str = Field(description="The record that it comes from.")
    kind: str | None = Field(description="What kind of sentence it is, where the section does not say.")
    by_user: bool = Field(description="Whether the user said it or agreed to it.")
    worth: float = Field(description="How likely the one who takes over needs it, from 0 to 1.")
    supersedes: list[str] = Field(description="The records of earlier statements that it replaces.")


class LeftOutRow(BaseModel):
    """A sentence of a model that was not used, and why."""

    text: str
    reason: str


class HandoverRow(BaseModel):
    """What became of asking a model for a handover."""

    written_by: str | None = Field(description="The model, if its answer is used.")
    no_answer: str | None = Field(description="Why there is no answer, or none that could be used.")
    left_out: list[LeftOutRow]


class SessionWithWork(SessionRow):
    """A session with its work state."""

    work: dict[Section, list[StatementRow]] = Field(
        description="What someone who takes over must know, by section, oldest first."
    )
    handover: HandoverRow | None = Field(description="Of its latest checkpoint for which a model was asked.")
    note: str | None = Field(description="A sentence if not all can be known, as when a transcript is gone.")


class SessionPage(Page[SessionRow]):
    """Some sessions, the one with the latest event first."""


class PointRow(BaseModel):
    """One thing that happened in a session."""

    at: str
    id: str
    kind: str = Field(description="`prompt`, `statement`, `tool`, `result`, `usage`, `compaction`, …")
    title: str
    text: str
    agent: str
    ok: bool | None
    tokens: int


class PointPage(Page[PointRow]):
    """Some of what happened, the newest first."""


class PressureRow(BaseModel):
    """How full a session's window was at one moment."""

    session_key: str
    at: str
    tokens: int
    capacity: int
    percent: int


class PressurePage(Page[PressureRow]):
    """Some counts, the newest first."""


@router.get("/sessions", name="listed", response_model=SessionPage)
async def list_sessions(
    executor: ExecutorDep,
    paging: Paged,
    project: Project = "",
    person: Annotated[str, Query(max_length=200, description="Only those of this person.")] = "",
    machine: Annotated[
        str, Query(max_length=200, description="Only those of this machine, by its name or id.")
    ] = "",
) -> object:
    """The sessions that were seen here, and those that other machines shared."""

    def fetch(engine: Engine) -> object:
        place = project_if_stored(engine, project) if project else None
        if project and place is None:
            return {"items": []}
        choice = SessionChoice(place, person=person, machine=machine)
        rows = listed_sessions(engine, choice, paging.behind, paging.rows_to_fetch)
        return paging.page(rows, lambda listed: listed.mark, lambda listed: listed.row(engine))

    return await executor.do(fetch)


@router.get("/sessions/{session_key:path}/timeline", response_model=PointPage)
async def happened(executor: ExecutorDep, paging: Paged, session_key: str) -> object:
    """What happened in a session: its events, checkpoints and briefs."""

    def fetch(engine: Engine) -> object:
        key = session_named(engine.store, session_key).key
        points = timeline.timeline_page(engine, key, paging.behind, paging.rows_to_fetch)
        return paging.page(points, lambda point: PageMark(point.at, point.id), _point)

    return await executor.do(fetch)


@router.get("/sessions/{session_key:path}", name="one", response_model=SessionWithWork)
async def one_session(executor: ExecutorDep, session_key: str) -> object:
    """One session, by its key or how that begins, with its work state."""

    def fetch(engine: Engine) -> Row:
        if pulled := pulled_unless_here(engine, session_key):
            return {**session_details_row(engine, pulled.session, pulled), "note": None}
        shown = with_work(engine, session_named(engine.store, session_key))
        return {**session_details_row(engine, shown.session), "note": shown.note or None}

    return await executor.do(fetch)


@router.get("/pressure", response_model=PressurePage)
async def pressure(
    executor: ExecutorDep,
    paging: Paged,
    session: Annotated[str, Query(max_length=1_000, description="Every count of this session.")] = "",
) -> object:
    """How full the windows of all live sessions are; with a session, how full its window was over time."""

    def fetch(engine: Engine) -> object:
        if session:
            return _counts(engine, session_named(engine.store, session), paging)
        return paging.page_of(engine.store.live_sessions(), _last_event, lambda live: _now(engine, live))

    return await executor.do(fetch)


def _counts(engine: Engine, session: Session, paging: Paged) -> Row:
    capacity = session_row(engine, session)["capacity"]
    points = timeline.token_counts(engine, session.key, paging.behind, paging.rows_to_fetch)

    def row(point: Point) -> Row:
        percent = point.tokens * 100 // int(str(capacity))
        count = {"tokens": point.tokens, "capacity": capacity, "percent": percent}
        return {"session_key": session.key, "at": to_iso(point.at), **count}

    return paging.page(points, lambda point: PageMark(point.at, point.id), row)


def _now(engine: Engine, session: Session) -> Row:
    row = session_row(engine, session)
    names = ("session_key", "tokens", "capacity", "percent")
    return {**{name: row[name] for name in names}, "at": row["last_event_at"]}


def _last_event(session: Session) -> PageMark:
    return PageMark(session.last_event_at, session.key)


def _point(point: Point) -> Row:
    return {
        "at": to_iso(point.at),
        "id": point.id,
        "kind": point.kind,
        "title": point.title,
        "text": point.text,
        "agent": point.agent,
        "ok": point.ok,
        "tokens": point.tokens,
    }


checkpoints_router = APIRouter(tags=["checkpoints"])
Project = Annotated[
    str, Query(max_length=4_096, description="Its id, or a path that a session of it was in; empty for all.")
]


class OutlineRow(BaseModel):
    """What a checkpoint says in fields."""

    summary: str
    tokensAtCheckpoint: int  # noqa: N815 - the names that other programs know them by
    messageCountAtCheckpoint: int  # noqa: N815
    topics: list[str]
    openQuestions: list[str]  # noqa: N815
    keyDecisions: list[str]  # noqa: N815


class CheckpointRow(BaseModel):
    """The durable picture of a session at one moment."""

    id: str
    session_key: str
    title: str = Field(description="The title of its session; empty if that is gone.")
    harness: str
    project: str | None
    project_normalized: str | None
    trigger: Trigger
    digest: str
    prompt_count: int
    memory_queries: list[str]
    recent_remembers: list[str]
    created_at: str = Field(description="ISO 8601 in UTC, with milliseconds.")
    window: int
    checkpoint: OutlineRow
    handover: HandoverRow | None = Field(description="If a model was asked to write it.")


class CheckpointPage(Page[CheckpointRow]):
    """Some checkpoints, the newest first."""


class DiffRow(BaseModel):
    """What changed from one checkpoint's digest to another's, as a unified diff."""

    older: str
    newer: str
    diff: str


@checkpoints_router.get("/checkpoints", response_model=CheckpointPage)
async def of_project(executor: ExecutorDep, paging: Paged, project: Project = "") -> object:
    """Recent checkpoints of a project, or of all."""

    def fetch(engine: Engine) -> object:
        behind, limit = paging.behind, paging.rows_to_fetch
        if not project:
            return _page(engine, paging, engine.store.page_of_checkpoints(behind, limit))
        place = project_if_stored(engine, project)
        rows = engine.store.page_of_project_checkpoints(place.project_id, behind, limit) if place else []
        return _page(engine, paging, rows)

    return await executor.do(fetch)


@checkpoints_router.get("/checkpoints/{session_key:path}", response_model=CheckpointPage)
async def of_session(executor: ExecutorDep, paging: Paged, session_key: str) -> object:
    """The checkpoints of one session; of one that nobody knows there are none."""

    def fetch(engine: Engine) -> object:
        # Checkpoints may outlive their session.
        key = only_id(engine.store, RowKind.SESSION, session_key)
        rows = engine.store.page_of_session_checkpoints(key, paging.behind, paging.rows_to_fetch)
        return _page(engine, paging, rows)

    return await executor.do(fetch)


@checkpoints_router.get("/checkpoint-diff", response_model=DiffRow)
async def difference(
    executor: ExecutorDep,
    older: Annotated[str, Query(max_length=200, description="The id of a checkpoint.")],
    newer: Annotated[str, Query(max_length=200, description="The id of another.")],
) -> object:
    """What changed between the digests of two checkpoints."""
    return await executor.do(
        lambda engine: diff_row(checkpoint_named(engine.store, older), checkpoint_named(engine.store, newer))
    )


def diff_row(older: Checkpoint, newer: Checkpoint) -> Row:
    """The difference of two checkpoints."""
    lines = unified_diff(
        older.digest.splitlines(), newer.digest.splitlines(), older.id, newer.id, lineterm=""
    )
    return {"older": older.id, "newer": newer.id, "diff": "\n".join(lines)}


def _page(engine: Engine, paging: Paged, rows: list[Checkpoint]) -> object:
    titles = title_lookup(engine)
    return paging.page(
        rows,
        lambda checkpoint: PageMark(checkpoint.created_at, checkpoint.id),
        lambda checkpoint: checkpoint_row(checkpoint, titles),
    )


briefs_router = APIRouter(tags=["briefs"])


class ItemRow(BaseModel):
    """One thing that a brief could say."""

    section: str
    text: str
    at: str | None
    source: str = Field(description="The session, record or file that it comes from.")
    score: float = Field(description="What it is worth; the greater, the sooner it is said.")
    rendered: bool = Field(description="Whether the brief says it.")
    omitted: str = Field(description="Why it does not, where it does not.")


class ReceiptRow(BaseModel):
    """A brief, and the account of it."""

    id: str
    session_key: str
    window: int
    reason: Reason
    predecessor: str | None
    title: str = Field(description="The title of the session that was given it.")
    predecessor_title: str = Field(description="The title of the session whose work it tells.")
    created_at: str
    budget: int
    size: int
    text: str
    items: list[ItemRow]


class ReceiptPage(Page[ReceiptRow]):
    """Some briefs, the newest first."""


class NextBrief(BaseModel):
    """What a session that started now would be given; empty texts where that is nothing."""

    text: str
    reason: Reason | None
    predecessor: str | None
    predecessor_title: str
    created_at: str
    budget: int
    size: int
    items: list[ItemRow]


@briefs_router.get("/briefs", name="listed", response_model=ReceiptPage)
async def list_briefs(
    executor: ExecutorDep,
    paging: Paged,
    session: Annotated[str, Query(max_length=1_000, description="Of this session only.")] = "",
) -> object:
    """The briefs that were given, each with its receipt."""

    def fetch(engine: Engine) -> object:
        key = session_named(engine.store, session).key if session else ""
        rows = engine.store.page_of_receipts(key, paging.behind, paging.rows_to_fetch)
        titles = title_lookup(engine)
        return paging.page(
            rows,
            lambda receipt: PageMark(receipt.created_at, receipt.id),
            lambda receipt: receipt_row(receipt, titles),
        )

    return await executor.do(fetch)


@briefs_router.get("/briefs/{id}", name="one", response_model=ReceiptRow)
async def one_brief(executor: ExecutorDep, id: str) -> object:
    """One brief, by the id of its receipt or how that begins."""
    return await executor.do(lambda engine: receipt_row(brief_named(engine.store, id), title_lookup(engine)))


_START = "At the start of another session, or after `/clear` or a compaction of the newest one."


@briefs_router.get("/next-brief", name="to_come", response_model=NextBrief)
async def show_next_brief(
    executor: ExecutorDep,
    project: Annotated[str, Query(max_length=4_096, description="Its id, or a path of it.")],
    reason: Annotated[Literal["startup", "clear", "compact"], Query(description=_START)] = "startup",
) -> object:
    """What the next session of a project would be given back, as things are now."""
    return await executor.do(lambda engine: next_row(engine, project, Reason(reason)))


def next_row(engine: Engine, project: str, reason: Reason) -> Row:
    """The brief that a start in a project would be given."""
    place = project_named(engine, project)
    composed = preview_brief(engine, place, reason, None)
    budget = composed.budget if composed else budget_for(reason, engine.budget_settings(place), None)
    brief = composed.brief if composed else Brief("", ())
    return {
        "text": brief.text,
        "reason": composed.brief_input.reason if composed else None,
        "predecessor": composed.brief_input.session.key if composed else None,
        "predecessor_title": title_of(composed.brief_input.session) if composed else "",
        "created_at": to_iso(engine.clock()),
        "budget": budget.brief_most,
        "size": len(brief.text),
        "items": [item_row(item) for item in brief.items],
    }
