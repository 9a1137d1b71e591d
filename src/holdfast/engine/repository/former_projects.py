"""Former projects: which project an old transcript belongs to, if another repository may be at its path now.

A repository that began after a session ended cannot be the one that the session was about. Which project is
at a path now is decided by `engine.repository.projects`.
"""

from __future__ import annotations

from dataclasses import replace

from holdfast.core.events.identity import Marks, Sighting, Site
from holdfast.core.events.world import Project
from holdfast.engine.repository import marks
from holdfast.engine.repository.git import Place, short_hash
from holdfast.engine.repository.projects import Resolution
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store


@dataclass(frozen=True, slots=True)
class Owner:
    """The project of an old session. `left` is its former site, if nothing else is known of it."""

    project: Project
    left: Site | None = None


def owner(store: Store, here: Resolution, started_at: int, ended_at: int) -> Owner:
    """The project of a session that ran between these times; `here` is what its directory resolves to now."""
    if here.place is None or here.seen is None or not _began_after(here.place, ended_at):
        return Owner(here.project)
    sites = [site for site in store.sites_at(here.seen.location) if site.left_at >= started_at]
    then = min(sites, key=lambda site: site.left_at, default=None) or _unknown(
        here.seen, started_at, ended_at
    )
    worktree_id = short_hash(marks.on_disk(then.anchor))
    return Owner(replace(here.project, project_id=then.project_id, worktree_id=worktree_id), then)


def _unknown(here: Sighting, started_at: int, ended_at: int) -> Site:
    """The site of whatever was at a place before the repository that is there now."""
    anchor = f"{here.location}//formerly"
    id, nothing = short_hash(marks.on_disk(anchor)), Marks("", "")
    site = Site(id, here.location, anchor, here.root, here.is_git, nothing, started_at, ended_at)
    return replace(site, left_at=ended_at)


def _began_after(place: Place, ended_at: int) -> bool:
    """Whether the repository began after that, in a directory that was created after it too.

    One that was created around a repository's first files later on is still the same project.
    """
    if place.repository is None:
        return False
    git_dir = marks.occupant(str(place.repository.common_dir), is_git=True)
    if git_dir is None or git_dir.began_at * 1000 <= ended_at:
        return False
    root = marks.of_directory(place.root)
    return root is None or root.born == 0 or root.born // 1_000_000 > ended_at
