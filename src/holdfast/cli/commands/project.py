"""Project: the projects that are known, and a person's word on which one a directory belongs to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

import click

from holdfast.cli import access
from holdfast.cli.options import command, group, json_option
from holdfast.cli.printing import (
    WIDEST,
    folded,
    give,
    give_ends,
    give_json,
    give_table,
    home_path,
    line_width,
    say,
)
from holdfast.core.events.identity import New
from holdfast.core.events.world import Project
from holdfast.core.sharing.identity import SharedIdentity
from holdfast.core.text.strings import ago, quantity
from holdfast.engine.repository import projects
from holdfast.engine.repository.projects import ListedProject, Resolution
from holdfast.engine.repository.projects import every_project as projects_listed
from holdfast.engine.repository.shared_identity import shared_identity
from holdfast.engine.views.serialisation import shared_identity_row
from holdfast.errors import HoldfastError
from holdfast.stores.base import Store
from holdfast.stores.codec import to_iso


@group("holdfast project list", "holdfast project bind 1f2e3d4c", "holdfast project bind --new")
def project() -> None:
    """List the projects that are known, or bind a directory to one.

    A project is its repository with all its worktrees, or outside git a directory. It keeps its id and all
    that is remembered when it moves; another repository at the same path is another project.
    """


@command("holdfast project list", "holdfast project list --json")
@json_option()
def listed(*, as_json: bool) -> None:
    """List the projects that are known, the one last seen first."""
    with access.stored_engine() as engine:
        rows = projects_listed(engine.store, str(Path.cwd()))
        shared = {row.project_id: _shared(engine.store, row) for row in rows}
    if as_json:
        give_json(
            [
                {
                    **asdict(row),
                    "last_seen_at": to_iso(row.last_seen_at),
                    **shared_identity_row(row.project_id, shared[row.project_id]),
                }
                for row in rows
            ]
        )
    elif rows:
        print_projects(rows, {id: identity.name for id, identity in shared.items()})
    else:
        say("no project is known yet; `holdfast setup` connects a harness")


@command(
    "holdfast project bind 1f2e3d4c", "holdfast project bind 1f2e3d4c --share", "holdfast project bind --new"
)
@click.argument("name", metavar="[ID]", required=False)
@click.option("--new", "anew", is_flag=True, help="A new project, of which nothing is kept yet.")
@click.option("--share", is_flag=True, help="Also if the project still is at another path.")
@json_option()
def bind(*, name: str | None, anew: bool, share: bool, as_json: bool) -> None:
    """Make the directory that you are in a place of a project that is known.

    For what cannot be told from the files: a repository that was cloned again elsewhere, or a directory of
    which you do not want to be given what it was before. Its whole repository is bound, with all worktrees.
    What was kept of the directory until now stays with the project that it belonged to.
    """
    if anew == (name is not None) or (anew and share):
        raise click.UsageError("Say either the ID of a project or --new.")
    here = _here()
    with access.writable_engine() as engine:
        before = projects.resolve(engine.store, here)
        if name is None:
            after = projects.start_anew(engine.store, here, access.now())
        else:
            after = projects.bind(engine.store, here, _id_of(engine.store, name), access.now(), share=share)
    _tell(before, after, as_json=as_json)


def _here() -> str:
    where = access.project_at(None)
    if Path(where.root) in (Path.home().resolve(), Path(where.root).parent):
        raise HoldfastError(f"`{where.root}` is no project", "go to the project's directory and try again")
    return where.path


def _id_of(store: Store, name: str) -> str:
    known = projects.by_name(store, name)
    if known is None:
        raise HoldfastError(f"no project `{name}` is known", "`holdfast project list` names those that are")
    return known.project_id


def _tell(before: Resolution, after: Resolution, *, as_json: bool) -> None:
    root, was, now = after.project.root, before.project.project_id, after.project.project_id
    if as_json:
        give_json({"path": root, "project_id": now, "previous_project_id": was})
        return
    say(f"`{home_path(root)}` belongs to the project {now} now")
    if before.verdict is not None and not isinstance(before.verdict, New):
        say(f"what was kept here until now stays with {was}; `holdfast project bind {was}` goes back to it")


def _shared(store: Store, row: ListedProject) -> SharedIdentity:
    path = next(iter((*row.paths, *row.former_paths)), "")
    return shared_identity(store, Project(path, path, row.project_id, row.project_id, path))


def print_projects(rows: Sequence[ListedProject], shared_names: Mapping[str, str]) -> None:
    """A few lines for each project in a terminal, where one would be too long; a table anywhere else."""
    cells, width = [(*_cells(row), shared_names[row.project_id]) for row in rows], line_width()
    if width is None:
        columns = ("id", "name", "last seen", "sessions", "path", "for other machines")
        give_table(columns, cells, numbers=("sessions",))
        return
    for id, name, age, sessions, path, shared_name in cells:
        give_ends(name, age, min(width, WIDEST))
        facts = f"{id}  {quantity(int(sessions), 'session')}  {path}"
        give(f"  {folded(facts, width - 2, '  ')}")
        if shared_name:
            give(f"  {folded(f'for other machines: {shared_name}', width - 2, '  ')}")


def _cells(row: ListedProject) -> tuple[str, str, str, str, str]:
    path = ", ".join(map(home_path, row.paths or row.former_paths))
    state = "" if row.is_there else " (gone)"
    former = f" (was {', '.join(map(home_path, row.former_paths))})" if row.paths and row.former_paths else ""
    age = ago(access.now() - row.last_seen_at)
    return row.project_id, row.name, age, str(row.sessions), f"{path}{state}{former}"


project.add_command(listed, "list")
project.add_command(bind)
