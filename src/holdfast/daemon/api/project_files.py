"""A project's files that a person may edit, over HTTP: continuity, ledger, handoffs.

A project is named by its id, never by a path: only files that Holdfast itself knows can be reached.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Final

from fastapi import APIRouter
from fastapi import Path as InPath
from pydantic import BaseModel, Field

from holdfast.core.documents.continuity import LayerName
from holdfast.core.events.world import Project
from holdfast.core.sharing.provenance import provenance_row
from holdfast.daemon.api.dependencies import Executor, ExecutorDep, Page, Paged
from holdfast.engine.documents import continuity, handoff, ledger, written_by_hand
from holdfast.engine.documents.continuity import ContinuityFiles
from holdfast.engine.engine import Engine
from holdfast.engine.repository import projects
from holdfast.engine.views.serialisation import Row
from holdfast.files import ledger as ledger_files
from holdfast.files.ledger import LedgerPlace
from holdfast.stores.base import PageMark
from holdfast.stores.codec import to_iso

router = APIRouter(tags=["files"])
ProjectId = Annotated[str, InPath(max_length=200, description="A project's id.")]
LONGEST: Final = 256 * 1024


class ProjectRow(BaseModel):
    """A project of which a session is kept."""

    project_id: str
    path: str
    root: str


class ProjectPage(Page[ProjectRow]):
    """Some projects, by id."""


class LayerRow(BaseModel):
    """One layer of the continuity as it is."""

    layer: LayerName
    path: str
    text: str
    print: str = Field(
        description="What the text is known by when it is put back; empty where there is none."
    )


class ContinuityRow(BaseModel):
    """Both layers."""

    layers: list[LayerRow]


class LedgerRow(BaseModel):
    """A worktree's ledger as it is."""

    path: str
    text: str
    print: str
    saved_at: str | None
    notices: list[str]
    came_with_the_clone: bool


class NewText(BaseModel):
    """A text in place of the one that is there."""

    text: str = Field(max_length=LONGEST)
    print: str = Field(max_length=64, description="The `print` of the text that it was made from.")


class VersionRow(BaseModel):
    """A past version."""

    at: str
    text: str


class VersionPage(Page[VersionRow]):
    """Some past versions, the newest first."""


class HandoffRow(BaseModel):
    """A document by which work was passed on."""

    name: str
    purpose: str
    created: str
    session_key: str
    harness: str
    branch: str
    is_open: bool
    to: str | None
    """The person whom it is for; null for whoever picks it up."""
    person: str | None
    """Who wrote it, and on which machine, if it came from elsewhere; null for one in a file here."""
    machine: str | None
    machine_id: str | None
    text: str


class HandoffPage(Page[HandoffRow]):
    """Some handoffs, the newest first."""


@router.get("/projects", response_model=ProjectPage)
async def known(executor: ExecutorDep, paging: Paged) -> object:
    """The projects of which a session is kept."""
    every = await executor.do(lambda engine: engine.store.projects())
    return paging.page_of(every, lambda project: PageMark(0, project.project_id), _project)


@router.get("/projects/{project}/continuity", response_model=ContinuityRow)
async def layers(executor: ExecutorDep, project: ProjectId) -> object:
    """The working state of a project, both layers of it."""
    return await executor.do(
        lambda engine: {"layers": layer_rows(engine, _continuity_files(executor, engine, project))}
    )


@router.put("/projects/{project}/continuity/{layer}", response_model=LayerRow)
async def put_layer(executor: ExecutorDep, project: ProjectId, layer: LayerName, new: NewText) -> object:
    """Put an edited text in place of a layer; what was there becomes a past version."""

    def put(engine: Engine) -> Row:
        files = _continuity_files(executor, engine, project)
        written_by_hand.put_layer(engine, files, layer, new.text, new.print)
        return next(row for row in layer_rows(engine, files) if row["layer"] == layer)

    return await executor.do(put)


@router.get("/projects/{project}/continuity/{layer}/history", response_model=VersionPage)
async def layer_history(executor: ExecutorDep, paging: Paged, project: ProjectId, layer: LayerName) -> object:
    """The past versions of a layer."""
    paths = await executor.do(
        lambda engine: _continuity_files(executor, engine, project).places.versions(layer)
    )
    return paging.page_of(paths, lambda path: PageMark(int(path.stem), ""), _version)


@router.get("/projects/{project}/ledger", response_model=LedgerRow)
async def one_ledger(executor: ExecutorDep, project: ProjectId) -> object:
    """The ledger of the worktree that was last worked in."""
    return await executor.do(lambda engine: ledger_row(engine, *_ledger(executor, engine, project)))


@router.put("/projects/{project}/ledger", response_model=LedgerRow)
async def put_ledger(executor: ExecutorDep, project: ProjectId, new: NewText) -> object:
    """Put an edited text in place of the ledger; what was there becomes a past version."""

    def put(engine: Engine) -> Row:
        place, known = _ledger(executor, engine, project)
        written_by_hand.put_ledger(engine, place, known, new.text, new.print)
        return ledger_row(engine, place, known)

    return await executor.do(put)


@router.get("/projects/{project}/ledger/history", response_model=VersionPage)
async def ledger_history(executor: ExecutorDep, paging: Paged, project: ProjectId) -> object:
    """The past versions of the ledger."""
    versions = await executor.do(lambda engine: ledger_files.versions(_ledger(executor, engine, project)[0]))
    rows = [(version.at, version.writer, version.text()) for version in versions]
    return paging.page_of(
        rows,
        lambda version: PageMark(version[0], version[1]),
        lambda version: {"at": to_iso(version[0]), "text": version[2]},
    )


@router.get("/projects/{project}/handoffs", response_model=HandoffPage)
async def handoffs(executor: ExecutorDep, paging: Paged, project: ProjectId) -> object:
    """The handoffs of all worktrees of a project, and those that others sent to it."""
    files = await executor.do(
        lambda engine: handoff.handoffs_here(engine, projects.project_named(engine, project))
    )
    # Their times are text that a person may edit, so their order in the list serves as the mark.
    numbers = {id(file): number for number, file in enumerate(reversed(files))}
    return paging.page_of(files, lambda file: PageMark(numbers[id(file)], file.name), _handoff)


def layer_rows(engine: Engine, files: ContinuityFiles) -> list[Row]:
    """Both layers, also those that are not there yet."""
    return [
        {
            "layer": name,
            "path": str(files.places.target(name).whole),
            "text": written_by_hand.layer_text(files, name),
            "print": written_by_hand.print_to_give(
                engine, files.project, written_by_hand.layer_text(files, name)
            ),
        }
        for name in LayerName
    ]


def ledger_row(engine: Engine, place: LedgerPlace, project: Project) -> Row:
    """The ledger as it is; empty texts where there is none."""
    current = ledger.look(engine, place, project)
    text = current.text if current else ""
    return {
        "path": place.path,
        "text": text,
        "print": written_by_hand.print_to_give(engine, project, text),
        "saved_at": to_iso(current.saved_at) if current else None,
        "notices": list(current.notices) if current else [],
        "came_with_the_clone": current.came_with_the_clone if current else False,
    }


def _continuity_files(executor: Executor, engine: Engine, project: str) -> ContinuityFiles:
    return continuity.continuity_files(
        engine, executor.dispatcher.home, projects.project_named(engine, project)
    )


def _ledger(executor: Executor, engine: Engine, project: str) -> tuple[LedgerPlace, Project]:
    known = projects.project_named(engine, project)
    own = engine.config(known).session
    rules = ledger.rules(own, decided=True, root=Path(known.root), environment={})
    return ledger.place_of(executor.dispatcher.home, known, rules.path), known


def _project(project: Project) -> Row:
    return {"project_id": project.project_id, "path": project.path, "root": project.root}


def _version(path: Path) -> Row:
    return {"at": to_iso(int(path.stem)), "text": path.read_text(encoding="utf-8", errors="replace")}


def _handoff(file: handoff.HandoffFile) -> Row:
    head = file.head
    return {
        "name": file.name,
        "purpose": head.purpose,
        "created": head.created,
        "session_key": head.session,
        "harness": head.harness,
        "branch": head.branch,
        "is_open": head.is_open,
        "to": head.to or None,
        **provenance_row(file.provenance),
        "text": file.text,
    }
