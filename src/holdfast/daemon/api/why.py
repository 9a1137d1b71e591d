"""The history of files over HTTP: which sessions changed one, what was asked of each, and why."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from holdfast.core.events.event import Action
from holdfast.daemon.api.dependencies import LIMIT_MOST, ExecutorDep
from holdfast.engine.engine import Engine
from holdfast.engine.repository.projects import project_named
from holdfast.engine.views.file_history import edited_files, file_answer

router = APIRouter(tags=["why"])
_Project = Annotated[str, Query(max_length=4_096, description="Its id, or a path of it.")]


class TurnRow(BaseModel):
    """What became of a file after one request."""

    asked: str = Field(description="The request before the change; empty if none is known.")
    at: str
    edits: int
    action: Action | Literal["move"]
    path: str = Field(description="The file's path then, relative to the worktree.")
    renamed_to: str | None
    by_subagent: bool
    reason: str | None = Field(description="The sentence nearest to the change.")
    reason_kind: Literal["why", "decision", "said"] | None = Field(
        description="Whether it says why, is a decision of the same turn, or is only what was said then."
    )
    wrote_line: bool | None = Field(description="Whether it wrote the line; null if that cannot be told.")
    record: str


class FileSessionRow(BaseModel):
    """A session that changed the file."""

    session_key: str
    short_id: str = Field(description="The beginning of its key that names it alone.")
    title: str
    harness: str = Field(description="Empty if nothing but its edits is stored any more.")
    imported: bool
    at: str
    edits: int
    wrote_line: bool | None = Field(description="Whether it wrote the line; null if that cannot be told.")
    turns: list[TurnRow]


class FileHistory(BaseModel):
    """The sessions that changed a file, the newest first; those that wrote the line come before others."""

    path: str
    line: int
    text: str = Field(description="The line as it stands now.")
    note: str = Field(description="A sentence about what cannot be told; empty if nothing.")
    sessions: list[FileSessionRow]


class EditedFileRow(BaseModel):
    """A file that sessions changed."""

    path: str
    at: str
    sessions: int


class EditedFiles(BaseModel):
    """The files of a project, the last changed first."""

    items: list[EditedFileRow]


@router.get("/why", response_model=FileHistory)
async def explain(
    executor: ExecutorDep,
    project: _Project,
    path: Annotated[str, Query(min_length=1, max_length=4_096, description="From the top of the project.")],
    line: Annotated[int, Query(ge=0, le=9_999_999, description="A line of the file; 0 for all.")] = 0,
) -> object:
    """Which sessions changed a file, what was asked of each, and why."""

    def fetch(engine: Engine) -> object:
        return file_answer(engine, project_named(engine, project), path, line)

    return await executor.do(fetch)


@router.get("/edited-files", name="edited", response_model=EditedFiles)
async def list_edited_files(
    executor: ExecutorDep,
    project: _Project,
    limit: Annotated[int, Query(ge=1, le=LIMIT_MOST, description="At most so many.")] = 50,
) -> object:
    """The files of a project that sessions changed, the last changed first."""

    def fetch(engine: Engine) -> object:
        return {"items": edited_files(engine, project_named(engine, project), limit)}

    return await executor.do(fetch)
