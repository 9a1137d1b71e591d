"""Setup in one project: which harnesses can be set up there, and refusing to connect one twice."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from holdfast.cli import access
from holdfast.engine.health import connections
from holdfast.errors import HoldfastError
from holdfast.harnesses.base import Harness, InProject


def root_here(user_home: Path) -> Path:
    """The root of the current project; a user's home is not a project."""
    root = Path(access.project_at(None).root)
    if root == user_home.resolve():
        raise HoldfastError("your home is no project", "go to the project's directory and try again")
    return root


def can_be_scoped(harness: Harness) -> bool:
    """Whether the harness has settings for one project that only its user sees."""
    return isinstance(harness, InProject)


def in_project(chosen: Iterable[Harness], root: Path) -> list[Harness]:
    """The same harnesses with the settings of that project; one that has none is refused."""
    return [_scoped(harness, root) for harness in chosen]


def refuse_to_tell_twice(home: Path, chosen: Iterable[Harness], root: Path | None) -> None:
    """Refuse to connect a harness both for all projects and in one of them: each event would come twice.

    Without a root it is to be set up for all projects.
    """
    for harness in chosen:
        projects = connections.projects(home, harness)
        if root is None and projects:
            raise HoldfastError(
                f"{harness.title} is set up in `{projects[0]}` alone, and would be told twice there",
                f"run `holdfast unsetup --project {harness.name}` there first",
            )
        if root is not None and connections.is_for_user(home, harness):
            raise HoldfastError(
                f"{harness.title} is set up for all projects already, and would be told twice here",
                f"run `holdfast unsetup {harness.name}` first, if you want it in this project alone",
            )


def _scoped(harness: Harness, root: Path) -> Harness:
    if isinstance(harness, InProject):
        return harness.in_project(root)
    raise HoldfastError(
        f"{harness.title} has no settings for a single project that are yours alone",
        f"set it up for all of them: `holdfast setup {harness.name}`",
    )
