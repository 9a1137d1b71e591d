"""Projects: those that are known, by their id or by a path that a session of theirs was in.

A name that comes over the wire is only compared: nothing is looked for on the disk, so that nobody can have
us open a directory by naming it.
"""

from __future__ import annotations

from holdfast.core.world import Project
from holdfast.engine.desk import Desk
from holdfast.errors import NotThere


def known(desk: Desk, name: str) -> Project | None:
    """The project that goes by this id or path; None if no session of it is kept."""
    every = desk.store.projects()
    by_id = {project.project_id: project for project in every}
    if name in by_id:
        return by_id[name]
    named = (one for one in every if name in (one.path, one.normalized, one.root))
    return next(named, None) or by_id.get(desk.store.project_at(name))


def named(desk: Desk, name: str) -> Project:
    """The same; raises NotThere if there is none."""
    found = known(desk, name)
    if found is None:
        raise NotThere(f"no session of a project `{name}` is kept", "`holdfast sessions` names projects")
    return found
