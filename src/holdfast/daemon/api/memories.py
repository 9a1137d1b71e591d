"""Memories over HTTP: list, search, store, change, pin and forget."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Annotated, Final

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from holdfast.core.events.world import Project as Place
from holdfast.core.memory.memory import Label, Memory, MemoryKind, MemoryScope
from holdfast.daemon.api.dependencies import ExecutorDep, Page, Paged, cursor_of
from holdfast.daemon.api.sessions import Project
from holdfast.engine.engine import Engine
from holdfast.engine.ids import memory_named
from holdfast.engine.index import visible_from
from holdfast.engine.memory import remember
from holdfast.engine.memory.recall import LIMIT_MOST, look_up
from holdfast.engine.memory.recall import Query as Asked
from holdfast.engine.privacy import forget
from holdfast.engine.recording.memorize import LONGEST
from holdfast.engine.repository import projects
from holdfast.engine.views.serialisation import Row, finding_row, memory_row, title_lookup
from holdfast.stores.base import START, PageMark

router = APIRouter(tags=["memories"])
SOURCE: Final = "http"
NOWHERE: Final = Place("", "", "", "", os.devnull)
"""Stands for no project: only memories that hold everywhere."""


class MemoryRow(BaseModel):
    """Something to remember."""

    id: str
    text: str
    kind: MemoryKind
    scope: MemoryScope
    tags: list[str]
    importance: float
    pinned: bool
    strength: float = Field(description="Its importance as far as it has not faded.")
    labels: list[Label]
    source: str
    session_key: str
    created_at: str
    times_said: int
    times_recalled: int
    last_recalled_at: str | None
    superseded_by: str | None


class MemoryPage(Page[MemoryRow]):
    """Some memories, the newest first."""


class RecallRow(BaseModel):
    """A text that was found."""

    id: str
    kind: str
    score: float
    text: str
    at: str | None
    age: str | None
    source: str
    person: str | None = Field(description="Who shared it; null for what is stored here alone.")
    machine: str | None
    machine_id: str | None
    session_key: str | None
    worded: bool = Field(
        description="Whether it, or what stands beside it, says any of the words; else it is merely near "
        "in meaning."
    )


class FindingPage(Page[RecallRow]):
    """Some of what was found, the best first."""


class NewMemory(BaseModel):
    """What is to be remembered."""

    model_config = ConfigDict(strict=True)

    text: str = Field(min_length=1, max_length=LONGEST)
    project: str = Field(default="", max_length=4_096, description="Without one it holds everywhere.")
    tags: list[str] = Field(default=[], max_length=50)
    importance: float | None = Field(default=None, ge=0, le=1)
    pinned: bool = False


class KeptMemory(MemoryRow):
    """What became of it."""

    again: bool = Field(description="It was known already.")
    supersedes: list[str] = Field(description="Older ones that say otherwise.")


class Changes(BaseModel):
    """What is to change of a memory; what is left out stays."""

    model_config = ConfigDict(strict=True)

    text: str | None = Field(default=None, min_length=1, max_length=LONGEST)
    tags: list[str] | None = Field(default=None, max_length=50)
    importance: float | None = Field(default=None, ge=0, le=1)
    pinned: bool | None = None


class ForgottenMemory(BaseModel):
    """How many memories went: one."""

    memories: int


@router.get("/memories", response_model=MemoryPage)
async def listed(
    executor: ExecutorDep,
    paging: Paged,
    project: Project = "",
    *,
    superseded: Annotated[bool, Query(description="Also those that a newer one supersedes.")] = False,
) -> object:
    """Memories of a project and the user's own; without a project, all there are."""

    def fetch(engine: Engine) -> Row:
        place = projects.project_named(engine, project) if project else NOWHERE
        where, rows, behind = visible_from(place, all_projects=not project), list[Memory](), paging.behind
        while len(rows) < paging.rows_to_fetch and (
            page := engine.store.page_of_memories(where, behind, paging.rows_to_fetch)
        ):
            rows += [memory for memory in page if superseded or not memory.superseded_by]
            behind = _mark(page[-1])
        now = engine.clock()
        return paging.page(rows[: paging.rows_to_fetch], _mark, lambda memory: memory_row(memory, now))

    return await executor.do(fetch)


@router.get("/memories/search", response_model=FindingPage)
async def search(
    executor: ExecutorDep,
    paging: Paged,
    q: Annotated[str, Query(min_length=1, max_length=2_000, description="Words to look for.")],
    project: Project = "",
    kind: Annotated[list[str], Query(description="`memory`, `file`, `checkpoint`, `digest`, `record`.")] = [],  # noqa: B006 - FastAPI copies it
) -> object:
    """What was remembered, written down or said, by words and by meaning; nothing is counted as recalled."""

    def fetch(engine: Engine) -> Row:
        place = projects.project_named(engine, project) if project else NOWHERE
        passed = 0 if paging.behind == START else paging.behind.at
        limit = min(passed + paging.rows_to_fetch, LIMIT_MOST)
        query = Asked(q, limit, tuple(kind), all_projects=not project)
        rows = look_up(engine, place, query)[passed:] if q.strip() else []
        matches, now, titles = rows[: paging.limit], engine.clock(), title_lookup(engine)
        more = cursor_of(PageMark(passed + len(matches), "")) if len(rows) > paging.limit else None
        return {"items": [finding_row(match, now, titles) for match in matches], "next": more}

    return await executor.do(fetch)


@router.post("/memories", response_model=KeptMemory, status_code=201)
async def keep(executor: ExecutorDep, new: NewMemory) -> object:
    """Keep something until it is forgotten."""

    def store(engine: Engine) -> Row:
        place = projects.project_named(engine, new.project) if new.project else NOWHERE
        scope = MemoryScope.PROJECT if new.project else MemoryScope.USER
        request = remember.MemoryRequest(new.text, tuple(new.tags), new.importance, new.pinned, scope)
        remembered = remember.remember(engine, place, request, source=SOURCE)
        outcome = {"again": remembered.again, "supersedes": list(remembered.supersedes)}
        return {**memory_row(remembered.memory, engine.clock()), **outcome}

    return await executor.do(store)


@router.get("/memories/{id}", response_model=MemoryRow)
async def one(executor: ExecutorDep, id: str) -> object:
    """One memory, by its id."""
    return await executor.do(lambda engine: memory_row(memory_named(engine.store, id), engine.clock()))


@router.patch("/memories/{id}", response_model=MemoryRow)
async def change(executor: ExecutorDep, id: str, changes: Changes) -> object:
    """Change a memory's text, tags or importance, pin it, or let it fade again."""

    def changed(engine: Engine) -> Row:
        before = memory_named(engine.store, id)
        memory = remember.edit(
            engine,
            replace(NOWHERE, project_id=before.project_id, worktree_id=before.worktree_id),
            before.id,
            text=changes.text,
            tags=changes.tags,
            importance=changes.importance,
            pinned=changes.pinned,
        )
        return memory_row(memory, engine.clock())

    return await executor.do(changed)


@router.delete("/memories/{id}", response_model=ForgottenMemory)
async def drop(executor: ExecutorDep, id: str) -> object:
    """Remove a memory for good, from every file of the home; what it had superseded holds again."""

    def dropped(engine: Engine) -> Row:
        memory = forget.OneMemory(memory_named(engine.store, id).id)
        forgotten = forget.forget(engine.store, executor.dispatcher.home, memory, engine.clock())
        return {"memories": forgotten.memories}

    return await executor.do_between_hook_events(dropped)


def _mark(memory: Memory) -> PageMark:
    return PageMark(memory.created_at, memory.id)
