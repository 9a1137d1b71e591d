"""Checkpoints over HTTP: those of a project, those of a session, and what changed between two of them."""

from __future__ import annotations

from difflib import unified_diff
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from holdfast.core.session.checkpoint import Checkpoint
from holdfast.core.session.session import Trigger
from holdfast.daemon.api.executor import ExecutorDep
from holdfast.daemon.api.paging import Page, Paged
from holdfast.engine.engine import Engine
from holdfast.engine.repository.projects import project_if_stored
from holdfast.engine.views.serialisation import Row, checkpoint_row
from holdfast.errors import NotThere
from holdfast.stores.base import PageMark

router = APIRouter(tags=["checkpoints"])
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


class CheckpointPage(Page[CheckpointRow]):
    """Some checkpoints, the newest first."""


class DiffRow(BaseModel):
    """What changed from one checkpoint's digest to another's, as a unified diff."""

    older: str
    newer: str
    diff: str


@router.get("/checkpoints", response_model=CheckpointPage)
async def of_project(executor: ExecutorDep, paging: Paged, project: Project = "") -> object:
    """Recent checkpoints of a project, or of all."""

    def fetch(engine: Engine) -> list[Checkpoint]:
        if not project:
            return engine.store.page_of_checkpoints(paging.behind, paging.wanted)
        place = project_if_stored(engine, project)
        return engine.store.page_of_project(place.project_id, paging.behind, paging.wanted) if place else []

    return _page(paging, await executor.do(fetch))


@router.get("/checkpoints/{session_key:path}", response_model=CheckpointPage)
async def of_session(executor: ExecutorDep, paging: Paged, session_key: str) -> object:
    """The checkpoints of one session; of one that nobody knows there are none."""
    rows = await executor.do(
        lambda engine: engine.store.page_of_session(session_key, paging.behind, paging.wanted)
    )
    return _page(paging, rows)


@router.get("/checkpoint-diff", response_model=DiffRow)
async def difference(
    executor: ExecutorDep,
    older: Annotated[str, Query(max_length=200, description="The id of a checkpoint.")],
    newer: Annotated[str, Query(max_length=200, description="The id of another.")],
) -> object:
    """What changed between the digests of two checkpoints."""
    return await executor.do(lambda engine: diff_row(_checkpoint(engine, older), _checkpoint(engine, newer)))


def diff_row(older: Checkpoint, newer: Checkpoint) -> Row:
    """The difference of two checkpoints."""
    lines = unified_diff(
        older.digest.splitlines(), newer.digest.splitlines(), older.id, newer.id, lineterm=""
    )
    return {"older": older.id, "newer": newer.id, "diff": "\n".join(lines)}


def _checkpoint(engine: Engine, id: str) -> Checkpoint:
    checkpoint = engine.store.checkpoint(id)
    if checkpoint is None:
        raise NotThere(f"there is no checkpoint `{id}`", "it may have served its time")
    return checkpoint


def _page(paging: Paged, rows: list[Checkpoint]) -> object:
    return paging.page(
        rows, lambda checkpoint: PageMark(checkpoint.created_at, checkpoint.id), checkpoint_row
    )
