"""Listing: every known project, with the places where it is and was.

A project that is not where it was last seen is looked for in the user's current directory and beside its
former one. Nothing is written; the move is recorded when something is next stored there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from holdfast.core.events.identity import Moved, Site
from holdfast.core.events.world import Project
from holdfast.engine.repository import marks
from holdfast.engine.repository.projects import is_occupied, resolve
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

BESIDE_MOST: Final = 1_000
"""The most directories that are looked at beside a former one."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A project with the places where it is, and was."""

    project_id: str
    name: str
    paths: tuple[str, ...]
    """Where it was last seen; for one known only from an older version, where its session was."""
    is_there: bool
    former_paths: tuple[str, ...]
    last_seen_at: int
    sessions: int


def listed(store: Store, here: str) -> list[Listed]:
    """Every known project, the one last seen first. `here` is the user's current directory."""
    sites = dict[str, list[Site]]()
    for site in store.sites():
        sites.setdefault(site.project_id, []).append(site)
    latest = {project.project_id: project for project in store.projects()}
    rows = [_listed(store, id, sites.get(id, []), latest.get(id), here) for id in {**sites, **latest}]
    return sorted(rows, key=lambda row: (-row.last_seen_at, row.project_id))


def _listed(store: Store, id: str, sites: list[Site], project: Project | None, here: str) -> Listed:
    sessions = store.sessions_of_project(id, 0, _MANY)
    current = [site for site in sites if not site.left_at]
    former = [marks.shown(site.root) for site in sites if site.left_at]
    paths = [marks.shown(site.root) for site in current]
    if not sites and project is not None:
        paths = [project.root]
    is_there = any(map(is_occupied, current)) or (not sites and bool(paths) and Path(paths[0]).is_dir())
    if current and not is_there and (moved := _moved_to(store, current, here)):
        paths, former, is_there = [moved], [*paths, *former], True
    times = [site.last_seen_at for site in sites] + [each.last_event_at for each in sessions[:1]]
    name = Path((paths or former)[0]).name or (paths or former)[0]
    former_paths = tuple(dict.fromkeys(path for path in former if path not in paths))
    return Listed(id, name, tuple(dict.fromkeys(paths)), is_there, former_paths, max(times), len(sessions))


def _moved_to(store: Store, sites: list[Site], here: str) -> str:
    """Where a project has moved to from these sites; empty if that is not known."""
    for site in sites:
        for path in (here, *_beside(site)):
            resolution = resolve(store, path)
            if (
                isinstance(resolution.verdict, Moved)
                and resolution.verdict.site.project_id == site.project_id
            ):
                return resolution.project.root
    return ""


def _beside(site: Site) -> Iterator[str]:
    """The directories beside a former one that have its inode, and so may be the same one, renamed."""
    root = Path(marks.on_disk(site.root))
    try:
        with os.scandir(root.parent) as entries:
            for entry in islice(entries, BESIDE_MOST):
                place = Path(entry.path, ".git") if site.is_git else Path(entry.path)
                directory_marks = marks.of_directory(place)
                if directory_marks is not None and directory_marks.inode == site.marks.inode:
                    yield entry.path
    except OSError:
        return


_MANY: Final = 100_000
