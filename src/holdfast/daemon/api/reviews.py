"""Reviews over HTTP: the continuity's audit log, doubtful memories, exposed secrets, dream candidates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from holdfast.core.documents.continuity import ContinuityPart
from holdfast.core.documents.promotion import Destination, PromotionCandidate, ReviewState, ReviewStep
from holdfast.daemon.api.dependencies import Executor, ExecutorDep, Page, Paged
from holdfast.daemon.api.memories import NOWHERE
from holdfast.daemon.api.project_files import ProjectId
from holdfast.daemon.api.sessions import Project
from holdfast.engine.documents import continuity, dream
from holdfast.engine.documents.continuity import ContinuityFiles
from holdfast.engine.engine import Engine
from holdfast.engine.memory import remember as audit_memories
from holdfast.engine.privacy import audit
from holdfast.engine.repository import projects
from holdfast.engine.views.serialisation import Row
from holdfast.stores.base import PageMark
from holdfast.stores.codec import to_iso

router = APIRouter(tags=["reviews"])


class AuditRow(BaseModel):
    """One time that the continuity was generated."""

    at: str
    entry: dict[str, Any] = Field(description="As `holdfast continuity status --json` tells it.")


class AuditPage(Page[AuditRow]):
    """Some of the account, the newest first."""


class DoubtRow(BaseModel):
    """A memory that is worth a look, and why."""

    id: str
    problem: str
    detail: str
    text: str


class DoubtPage(Page[DoubtRow]):
    """Some doubtful memories."""


class ExposedRow(BaseModel):
    """So many secrets of one kind in one place; never a value."""

    place: str
    kind: str
    count: int


class ExposedPage(Page[ExposedRow]):
    """Some places."""


class ProposalRow(BaseModel):
    """A change to an instruction file, shown and never made."""

    file: str
    line: str
    patch: str


class CandidateRow(BaseModel):
    """Something of the continuity that may be worth keeping for good."""

    id: str
    text: str
    lane: Destination
    part: ContinuityPart
    source: str
    standing: ReviewState
    built_at: str
    became: str
    proposal: ProposalRow | None = Field(description="For what reads like an instruction.")


class CandidatePage(Page[CandidateRow]):
    """Some candidates, the latest first."""


@router.get("/projects/{project}/audit", response_model=AuditPage)
async def account(executor: ExecutorDep, paging: Paged, project: ProjectId) -> object:
    """How the continuity of a project came about."""
    entries = await executor.do(lambda engine: _continuity_files(executor, engine, project).entries())
    return paging.page_of(
        entries,
        lambda entry: PageMark(entry.at, entry.id),
        lambda entry: {"at": to_iso(entry.at), "entry": entry.as_json()},
    )


@router.get("/audit/memories", response_model=DoubtPage)
async def doubtful(executor: ExecutorDep, paging: Paged, project: Project = "") -> object:
    """Memories that are worth a look: duplicates, echoes, those whose files are gone or that nobody finds."""

    def fetch(engine: Engine) -> Row:
        place = projects.project_named(engine, project) if project else NOWHERE
        audited = audit_memories.audit_memories(engine, place, all_projects=not project)
        rows: list[Row] = [{**asdict(doubt), "text": memory.text} for doubt, memory in audited.doubts]
        return paging.page_of(rows, lambda row: PageMark(0, f"{row['id']} {row['problem']}"), _itself)

    return await executor.read_through(lambda engine, _: fetch(engine))


@router.get("/audit/secrets", response_model=ExposedPage)
async def exposed(executor: ExecutorDep, paging: Paged) -> object:
    """How many secrets today's rules would still find in what is kept; everything is read for it.

    That may take longer than an answer may; `holdfast audit secrets` takes its time.
    """

    def fetch(engine: Engine, in_time: Callable[[], bool]) -> Row:
        counts = audit.secrets(engine.store, executor.dispatcher.home, executor.dispatcher.lists(), in_time)
        rows: list[Row] = [asdict(count) for count in counts]
        return paging.page_of(rows, lambda row: PageMark(0, f"{row['place']} {row['kind']}"), _itself)

    return await executor.read_through(fetch)


@router.get("/projects/{project}/dreams", response_model=CandidatePage)
async def candidates(
    executor: ExecutorDep,
    paging: Paged,
    project: ProjectId,
    standing: Annotated[ReviewState | None, Query(description="Only those that stand so.")] = None,
) -> object:
    """What of the continuity may become a memory or an instruction."""

    def fetch(engine: Engine) -> Row:
        files = _continuity_files(executor, engine, project)
        snapshot = dream.inspect(files).snapshot
        rows = (
            [candidate for candidate in snapshot.candidates if standing in (None, candidate.standing)]
            if snapshot
            else []
        )
        return paging.page_of(rows, _built, lambda candidate: candidate_row(files, candidate))

    return await executor.do(fetch)


@router.post("/projects/{project}/dreams", response_model=CandidatePage)
async def build(executor: ExecutorDep, paging: Paged, project: ProjectId) -> object:
    """Put up candidates from the continuity; what was decided before stands."""

    def built(engine: Engine) -> Row:
        files = _continuity_files(executor, engine, project)
        return paging.page_of(
            dream.build(engine, files).candidates, _built, lambda candidate: candidate_row(files, candidate)
        )

    return await executor.do(built)


@router.post("/projects/{project}/dreams/{candidate}/{step}", response_model=CandidateRow)
async def decide(executor: ExecutorDep, project: ProjectId, candidate: str, step: ReviewStep) -> object:
    """Take one step with a candidate: adopt, approve, reject, promote, verify-apply."""

    def decided(engine: Engine) -> Row:
        files = _continuity_files(executor, engine, project)
        return candidate_row(files, dream.take(engine, files, candidate, step))

    return await executor.do(decided)


def candidate_row(files: ContinuityFiles, candidate: PromotionCandidate) -> Row:
    """A candidate, with the patch that it would be."""
    proposal = dream.prepared(files, candidate) if candidate.lane is Destination.INSTRUCTION else None
    patch = {"file": proposal.file, "line": proposal.line, "patch": proposal.patch} if proposal else None
    return {**asdict(candidate), "built_at": to_iso(candidate.built_at), "proposal": patch}


def _continuity_files(executor: Executor, engine: Engine, project: str) -> ContinuityFiles:
    return continuity.continuity_files(
        engine, executor.dispatcher.home, projects.project_named(engine, project)
    )


def _built(candidate: PromotionCandidate) -> PageMark:
    return PageMark(candidate.built_at, candidate.id)


def _itself(row: Row) -> Row:
    return row
