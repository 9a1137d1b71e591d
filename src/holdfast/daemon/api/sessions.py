"""Sessions over HTTP: those that were seen, what happened in each, and how full their windows are."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from holdfast.core.session.session import Phase, Session
from holdfast.daemon.api.checkpoints import Project
from holdfast.daemon.api.executor import ExecutorDep
from holdfast.daemon.api.paging import Page, Paged
from holdfast.engine.engine import Engine
from holdfast.engine.repository.projects import project_if_stored
from holdfast.engine.views import timeline
from holdfast.engine.views.serialisation import Row, session_row
from holdfast.engine.views.timeline import Point
from holdfast.errors import NotThere
from holdfast.stores.base import PageMark
from holdfast.stores.codec import to_iso

router = APIRouter(tags=["sessions"])


class SessionRow(BaseModel):
    """One conversation in a harness."""

    session_key: str
    harness: str
    project: str
    project_normalized: str
    phase: Phase
    imported: bool = Field(description="Of an imported session nothing is kept but what was said in it.")
    model: str
    prompt_count: int
    windows: int
    started_at: str
    last_event_at: str
    parent: str | None = Field(description="The session that it continues.")
    lineage: str | None = Field(description="How it continues that one.")
    tokens: int = Field(description="What the window holds, as the harness counted it last.")
    capacity: int = Field(description="At how many tokens the harness compacts.")
    percent: int
    flush_asked: list[int]
    flush_asked_at: str | None
    flushActioned: bool  # noqa: N815 - the name that other programs know it by


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


@router.get("/sessions", response_model=SessionPage)
async def listed(executor: ExecutorDep, paging: Paged, project: Project = "") -> object:
    """The sessions that were seen."""

    def fetch(engine: Engine) -> object:
        place = project_if_stored(engine, project) if project else None
        if project and place is None:
            return {"items": []}
        rows = engine.store.page_of_sessions(place.project_id if place else "", paging.behind, paging.wanted)
        return paging.page(rows, _last_event, lambda session: session_row(engine, session))

    return await executor.do(fetch)


@router.get("/sessions/{session_key:path}/timeline", response_model=PointPage)
async def happened(executor: ExecutorDep, paging: Paged, session_key: str) -> object:
    """What happened in a session: its events, checkpoints and briefs."""

    def fetch(engine: Engine) -> object:
        _session(engine, session_key)
        points = timeline.timeline_page(engine, session_key, paging.behind, paging.wanted)
        return paging.page(points, lambda point: PageMark(point.at, point.id), _point)

    return await executor.do(fetch)


@router.get("/sessions/{session_key:path}", response_model=SessionRow)
async def one(executor: ExecutorDep, session_key: str) -> object:
    """One session, by its key."""
    return await executor.do(lambda engine: session_row(engine, _session(engine, session_key)))


@router.get("/pressure", response_model=PressurePage)
async def pressure(
    executor: ExecutorDep,
    paging: Paged,
    session: Annotated[str, Query(max_length=1_000, description="Every count of this session.")] = "",
) -> object:
    """How full the windows of all live sessions are; with a session, how full its window was over time."""

    def fetch(engine: Engine) -> object:
        if session:
            return _counts(engine, _session(engine, session), paging)
        return paging.page_of(engine.store.live_sessions(), _last_event, lambda live: _now(engine, live))

    return await executor.do(fetch)


def _counts(engine: Engine, session: Session, paging: Paged) -> Row:
    capacity = session_row(engine, session)["capacity"]
    points = timeline.token_counts(engine, session.key, paging.behind, paging.wanted)

    def row(point: Point) -> Row:
        percent = point.tokens * 100 // int(str(capacity))
        count = {"tokens": point.tokens, "capacity": capacity, "percent": percent}
        return {"session_key": session.key, "at": to_iso(point.at), **count}

    return paging.page(points, lambda point: PageMark(point.at, point.id), row)


def _now(engine: Engine, session: Session) -> Row:
    row = session_row(engine, session)
    names = ("session_key", "tokens", "capacity", "percent")
    return {**{name: row[name] for name in names}, "at": row["last_event_at"]}


def _session(engine: Engine, key: str) -> Session:
    session = engine.store.session(key)
    if session is None:
        raise NotThere(f"there is no session `{key}`", "`/api/sessions` lists them")
    return session


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
