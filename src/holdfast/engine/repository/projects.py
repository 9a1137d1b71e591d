"""Projects: which one a directory, a name or an old transcript belongs to, and a list of all of them.

A project is its repository, or outside git its directory, and has an id that stays when it moves. The store
holds where each project is and was; `core.events.identity` decides which project a directory belongs to.
Resolving writes nothing; `keep_up` stores the result.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from holdfast.core.events.identity import (
    Adopted,
    Alias,
    Known,
    Marks,
    Moved,
    New,
    Sighting,
    Site,
    SiteCandidate,
    Verdict,
    identify_project,
    is_copy,
    is_same_in_place,
    shares_a_remote,
)
from holdfast.core.events.world import Project
from holdfast.core.sharing.identity import SharedName
from holdfast.engine.engine import Engine
from holdfast.engine.repository import git, marks
from holdfast.engine.repository.git import DirectoryPlace, short_hash
from holdfast.errors import HoldfastError, NotThere
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

REFRESH_MS: Final = 3_600_000
"""How often the last sighting of a project is stored, and with it marks that change over time."""
SHORTEST_ID: Final = 4
"""The shortest prefix of a project's id that is accepted."""
RESTORED_AT: Final = "restored_at"
"""The fact that says when this home came from another machine."""
BESIDE_MOST: Final = 1_000
"""The most directories that are looked at beside a former one."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The project of a directory, and how it was found."""

    project: Project
    anchor: str
    place: DirectoryPlace | None = None
    """None if the directory is gone; the project is then the one that was there last."""
    seen: Sighting | None = None
    verdict: Verdict | None = None

    @property
    def note(self) -> str:
        """What the user should know about how the project was found; mostly nothing."""
        match self.verdict:
            case Moved(site=site):
                return f"this project has moved here from `{site.root}`, and Holdfast has followed it"
            case New(displaced=Site() as before):
                return (
                    f"another project was here before (`{before.project_id}`), and this one starts clean; "
                    f"if it is the same, run `holdfast project bind {before.project_id}`"
                )
            case _:
                return ""


def resolve(store: Store, path: str) -> Resolution:
    """The project that a directory belongs to. Nothing is written."""
    place = git.find(path)
    if place is None:
        return _gone(store, path)
    sighting = marks.sighting(place)
    here = store.sites_at(sighting.location)
    current = here[0] if here and not here[0].left_at else None
    if current is None or not sighting.marks.born or not is_same_in_place(current.marks, sighting.marks):
        sighting = marks.with_contents(sighting, place.repository)
        verdict = _settled(store, sighting, here)
        if verdict == New(None) and (site := _brought_along(store, place.repository)):
            verdict = Moved(site)
    else:
        if sighting.is_git and not current.marks.first_entry:
            sighting = marks.with_contents(sighting, place.repository)
        verdict = Known(current)
    if isinstance(verdict, New):
        anchor, project_id = _fresh(store, sighting)
    else:
        anchor, project_id = verdict.site.anchor, verdict.site.project_id
    project = Project(path, str(place.directory), project_id, _worktree_id(anchor, place), str(place.root))
    return Resolution(project, anchor, place, sighting, verdict)


def follow(store: Store, path: str, at: int) -> Resolution:
    """The project that a directory belongs to; if it has moved there, the move is stored."""
    resolution = resolve(store, path)
    if isinstance(resolution.verdict, Moved):
        keep_up(store, resolution, at)
    return resolution


def keep_up(store: Store, resolution: Resolution, at: int) -> None:
    """Store a resolution, unless it is known already. Must not be called inside a transaction."""
    if not _is_due(resolution, at):
        return
    with store.writing():
        # Another process may have written since.
        again = resolve(store, resolution.project.path)
        if again.seen is not None and _is_due(again, at):
            _write(store, again, at)


def at(store: Store, path: str, now: int) -> Project:
    """The project of a directory, which is stored if it is new."""
    resolution = resolve(store, path)
    keep_up(store, resolution, now)
    return resolution.project


def register_known(store: Store, now: int) -> int:
    """Store the marks of all projects that an older version knew by their path only; returns how many.

    Only after that can they be recognised when they move.
    """
    count = 0
    for project in store.projects():
        if store.sites_of(project.project_id):
            continue
        resolution = resolve(store, project.root)
        if resolution.place is not None and resolution.project.project_id == project.project_id:
            keep_up(store, resolution, now)
            count += 1
    return count


def root_now(store: Store, project: Project) -> str:
    """Where the worktree of an earlier session is now."""
    sites = store.sites_of(project.project_id)
    has_left = any(site.left_at and _shown(site.root) == project.root for site in sites)
    current = next((site for site in sites if not site.left_at), None)
    return _shown(current.root) if has_left and current is not None else project.root


# ---------------------------------------------------------------- by a name


def project_if_stored(engine: Engine, name: str) -> Project | None:
    """The project with this id or path, as a command names it; None if nothing of it is stored.

    A directory is resolved without writing, and counts only if its project is known.
    """
    store = engine.store
    every = {project.project_id: project for project in store.projects()}
    if name in every:
        return every[name]
    if sites := store.sites_of(name):
        return _at_site(sites[0])
    if Path(name).is_absolute():
        resolution = resolve(store, name)
        if resolution.project.project_id in every or store.sites_of(resolution.project.project_id):
            return resolution.project
        if resolution.place is not None:
            return None
    matches = (one for one in every.values() if name in (one.path, one.normalized, one.root))
    return next(matches, None) or every.get(store.project_at(name))


def known_projects(store: Store) -> list[Project]:
    """Every project of this machine, those with a session first; others only have a place."""
    every = {project.project_id: project for project in store.projects()}
    for site in store.sites():
        every.setdefault(site.project_id, _at_site(site))
    return list(every.values())


def project_named(engine: Engine, name: str) -> Project:
    """The project with this id or path; raises NotThere if there is none."""
    project = project_if_stored(engine, name)
    if project is None:
        raise NotThere(f"no project `{name}` is known", "`holdfast project list` names those that are")
    return project


def by_name(store: Store, name: str) -> Project | None:
    """The project with this id, this prefix of an id, or this path at which nothing is now."""
    every = {project.project_id: project for project in store.projects()}
    places = {site.project_id: _at_site(site) for site in reversed(store.sites())}
    matches = _beginning_with(name, {**every, **places}.values())
    if matches is not None:
        return matches
    path = str(Path(name).absolute())
    site = _last_at(store, path)
    # A missing path inside a project that still exists is a typing error.
    if site is not None and not Path(_on_disk(site.root)).is_dir():
        return _gone(store, path).project
    return next((one for one in every.values() if path in (one.path, one.normalized, one.root)), None)


def last_in_place(store: Store, path: str) -> str:
    """The project whose repository was last in a directory that exists without it now; or empty."""
    site = _last_at(store, path)
    is_gone = site is not None and site.is_git and not Path(_on_disk(site.location)).exists()
    here = resolve(store, path).project.project_id
    return site.project_id if site and is_gone and not store.sessions_of_project(here, 0, 1) else ""


def _beginning_with(id: str, projects: Iterable[Project]) -> Project | None:
    matches = [one for one in projects if len(id) >= SHORTEST_ID and one.project_id.startswith(id)]
    if len(matches) > 1:
        raise HoldfastError(f"several projects begin with `{id}`", "`holdfast project list` shows whole ids")
    return matches[0] if matches else None


# ---------------------------------------------------------------- by a person's word


def bind(store: Store, path: str, project_id: str, now: int, *, share: bool = False) -> Resolution:
    """Make a directory a place of that project: where it lives now, or with `share` one place more."""
    resolution = _to_be_bound(store, path)
    if resolution.project.project_id == project_id:
        raise HoldfastError(f"`{resolution.project.root}` belongs to the project `{project_id}` already")
    sites = [site for site in store.sites_of(project_id) if not site.left_at]
    standing = next((site for site in sites if is_occupied(site)), None)
    if standing is not None and not share:
        raise HoldfastError(
            f"the project `{project_id}` is still at `{_shown(standing.root)}`",
            "two directories of one project are given each other's briefs and memories; "
            "if you want that, say `--share`",
        )
    anchor = resolution.anchor if standing is not None else _anchor_of(store, project_id)
    with store.writing():
        for site in () if standing else sites:
            store.put_site(replace(site, left_at=now))
        _put_here(store, resolution, project_id, anchor, now, moved_from=sites[0].root if sites else "")
    return resolve(store, path)


def start_anew(store: Store, path: str, now: int) -> Resolution:
    """Make a directory a new project, with nothing stored yet."""
    resolution = _to_be_bound(store, path)
    anchor, project_id = _unused(store, f"{resolution.seen.location if resolution.seen else path}//{now}")
    with store.writing():
        _put_here(store, resolution, project_id, anchor, now, moved_from="")
    return resolve(store, path)


def _to_be_bound(store: Store, path: str) -> Resolution:
    resolution = resolve(store, path)
    if resolution.place is None or resolution.seen is None:
        raise HoldfastError(f"there is no directory `{path}`", "go to the project's directory and try again")
    return replace(resolution, seen=marks.with_contents(resolution.seen, resolution.place.repository))


def _anchor_of(store: Store, project_id: str) -> str:
    """The path that a project's ids are derived from; computed for a project from an older version."""
    sites = store.sites_of(project_id)
    if sites:
        return sites[0].anchor
    latest = next((one for one in store.projects() if one.project_id == project_id), None)
    if latest is None:
        raise NotThere(f"no project `{project_id}` is known", "`holdfast project list` names those that are")
    tried = (f"{latest.root}/.git", latest.root, latest.normalized)
    return next((_stored(path) for path in tried if short_hash(path) == project_id), f"//{project_id}")


# ---------------------------------------------------------------- looking


def _settled(store: Store, sighting: Sighting, here: list[Site]) -> Verdict:
    like = store.sites_like(sighting.marks.inode, sighting.marks.first_entry)
    return identify_project(
        sighting,
        [SiteCandidate(site, stands_elsewhere=_stands_elsewhere(store, site)) for site in here],
        [_candidate(store, site) for site in like if site.location != sighting.location],
        _plain_before(store, sighting),
    )


def _brought_along(store: Store, repository: git.Repository | None) -> Site | None:
    """The one project of this remote that came with a home from another machine and has no place here yet."""
    restored_at = store.fact(RESTORED_AT)
    name = marks.shared_name_of(repository) if restored_at and repository else ""
    latest = [store.sites_of(id)[:1] for id in (store.projects_named(name) if name else ())]
    waiting = [site for sites in latest for site in sites if site.left_at == int(restored_at)]
    return waiting[0] if len(waiting) == 1 else None


def leave_former_machine(store: Store, at: int) -> None:
    """Note that no repository is where it was: the home came to another machine. In a transaction."""
    for site in store.sites():
        if site.is_git and not site.left_at:
            store.put_site(replace(site, left_at=at))
    store.put_fact(RESTORED_AT, str(at))


def _candidate(store: Store, site: Site) -> SiteCandidate:
    location = _on_disk(site.location)
    there = marks.occupant(location, is_git=site.is_git)
    reachable = marks.is_reachable(location, site.marks.device)
    return SiteCandidate(site, there, reachable, _stands_elsewhere(store, site))


def _stands_elsewhere(store: Store, site: Site) -> bool:
    """Whether a project that left a site is at another one now."""
    if not site.left_at:
        return False
    others = (each for each in store.sites_of(site.project_id) if each.location != site.location)
    return any(not each.left_at and is_occupied(each) for each in others)


def is_occupied(site: Site) -> bool:
    """Whether a project is still at its site."""
    there = marks.occupant(_on_disk(site.location), is_git=site.is_git)
    return there is not None and (
        not site.is_git
        or is_same_in_place(site.marks, there)
        or is_copy(site.marks, there)
        or shares_a_remote(site.marks, there)
    )


def _plain_before(store: Store, sighting: Sighting) -> Site | None:
    """The site that the root had as a directory outside git; None if that was another directory."""
    if not sighting.is_git or sighting.root == sighting.location:
        return None
    root = marks.of_directory(Path(_on_disk(sighting.root)))
    site = next(
        (each for each in store.sites_at(sighting.root) if not each.is_git and not each.left_at), None
    )
    return site if site is not None and root is not None and is_same_in_place(site.marks, root) else None


def _gone(store: Store, path: str) -> Resolution:
    """The project that was last at a path where nothing is now; if none is known, one made from the path."""
    site = _last_at(store, path)
    if site is None:
        return Resolution(Project(path, path, short_hash(path), short_hash(path), path), path)
    return Resolution(replace(_at_site(site), path=path, normalized=path), site.anchor)


def _last_at(store: Store, path: str) -> Site | None:
    """The site that a path was in: the nearest one above it, the current one if there are several."""
    there = Path(os.path.normpath(path)) if path else Path()
    if not there.is_absolute():
        return None
    around = store.sites_around([_stored(each) for each in (there, *there.parents)])
    sites = [site for site in around if _covers(site, str(there))]
    nearest = max((len(site.root) for site in sites), default=0)
    return next((site for site in sites if len(site.root) == nearest), None)


def _covers(site: Site, path: str) -> bool:
    """Whether a path is a site, or lies in its repository; a directory outside git has no inside."""
    return site.is_git or path in (_shown(site.root), _shown(site.location))


def _at_site(site: Site) -> Project:
    root = _shown(site.root)
    return Project(root, root, site.project_id, short_hash(_on_disk(site.anchor)), root)


def _worktree_id(anchor: str, place: DirectoryPlace) -> str:
    """The id of a worktree, computed as if its repository were still at its anchor."""
    repository = place.repository
    if repository is None or repository.git_dir == repository.common_dir:
        return short_hash(_on_disk(anchor))
    return short_hash(f"{_on_disk(anchor)}/{repository.git_dir.relative_to(repository.common_dir)}")


def _fresh(store: Store, sighting: Sighting) -> tuple[str, str]:
    """Anchor and id of a new project: those of its path, unless another project has them."""
    plain = short_hash(_on_disk(sighting.location))
    if not store.sites_of(plain):
        return sighting.location, plain
    return _unused(
        store,
        f"{sighting.location}//{sighting.marks.inode}.{sighting.marks.born}.{sighting.marks.first_entry}",
    )


def _unused(store: Store, anchor: str) -> tuple[str, str]:
    """An anchor whose id is unused, made by appending to this one, which is no real path."""
    while store.sites_of(short_hash(_on_disk(anchor))):
        anchor += "'"
    return anchor, short_hash(_on_disk(anchor))


# ---------------------------------------------------------------- writing


def _is_due(resolution: Resolution, at: int) -> bool:
    match resolution.verdict:
        case None:
            return False
        case Known(site=site):
            sighting = resolution.seen
            changed = sighting is not None and (
                (site.marks.inode, site.marks.born, site.is_git)
                != (sighting.marks.inode, sighting.marks.born, sighting.is_git)
                or (sighting.marks.first_entry != "" and not site.marks.first_entry)
            )
            return bool(site.left_at) or changed or at - site.last_seen_at >= REFRESH_MS
        case _:
            return True


def _write(store: Store, resolution: Resolution, at: int) -> None:
    if resolution.seen is None or resolution.place is None:
        return
    resolution = replace(resolution, seen=marks.with_contents(resolution.seen, resolution.place.repository))
    moved_from = ""
    match resolution.verdict:
        case Moved(site=site):
            store.put_site(replace(site, left_at=at))
            moved_from = site.root
        case Adopted(site=site):
            store.put_site(replace(site, left_at=at))
        case Known() | Alias() | New() | None:
            pass
    _put_here(store, resolution, resolution.project.project_id, resolution.anchor, at, moved_from=moved_from)


def _put_here(
    store: Store, resolution: Resolution, project_id: str, anchor: str, at: int, *, moved_from: str
) -> None:
    """Store the place as a current site of this project only."""
    sighting = resolution.seen
    if sighting is None:
        return
    before = None
    for site in store.sites_at(sighting.location):
        if site.project_id == project_id:
            before = site
        elif not site.left_at:
            store.put_site(replace(site, left_at=at))
    new = Site(
        project_id,
        sighting.location,
        anchor,
        sighting.root,
        sighting.is_git,
        sighting.marks,
        at,
        at,
        0,
        moved_from,
    )
    if before is not None:
        first = before.first_seen_at
        new = replace(new, first_seen_at=first, moved_from=moved_from or before.moved_from)
    store.put_site(new)
    repository = resolution.place.repository if resolution.place else None
    if repository is not None and (name := marks.shared_name_of(repository)):
        _note_shared_name(store, project_id, name, at)


def _note_shared_name(store: Store, project_id: str, name: str, at: int) -> None:
    """Store the name that the remote gives now; those of before stay, and so does that a person chose it."""
    is_bound = any(each.is_bound and each.name == name for each in store.shared_names(project_id))
    store.put_shared_name(SharedName(project_id, name, at, at, is_bound=is_bound))


# ---------------------------------------------------------------- paths as they are kept

_stored, _on_disk, _shown = marks.stored, marks.on_disk, marks.shown


@dataclass(frozen=True, slots=True)
class FormerProject:
    """The project of an old session. `left` is its former site, if nothing else is known of it."""

    project: Project
    left: Site | None = None


def former_project_of(store: Store, here: Resolution, started_at: int, ended_at: int) -> FormerProject:
    """The project of a session that ran between these times; `here` is what its directory resolves to now."""
    if here.place is None or here.seen is None or not _began_after(here.place, ended_at):
        return FormerProject(here.project)
    sites = [site for site in store.sites_at(here.seen.location) if site.left_at >= started_at]
    then = min(sites, key=lambda site: site.left_at, default=None) or _unknown_project(
        here.seen, started_at, ended_at
    )
    worktree_id = short_hash(marks.on_disk(then.anchor))
    return FormerProject(replace(here.project, project_id=then.project_id, worktree_id=worktree_id), then)


def _unknown_project(here: Sighting, started_at: int, ended_at: int) -> Site:
    """The site of whatever was at a place before the repository that is there now."""
    anchor = f"{here.location}//formerly"
    id, nothing = short_hash(marks.on_disk(anchor)), Marks("", "")
    site = Site(id, here.location, anchor, here.root, here.is_git, nothing, started_at, ended_at)
    return replace(site, left_at=ended_at)


def _began_after(place: DirectoryPlace, ended_at: int) -> bool:
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


@dataclass(frozen=True, slots=True)
class ListedProject:
    """A project with the places where it is, and was."""

    project_id: str
    name: str
    paths: tuple[str, ...]
    """Where it was last seen; for one known only from an older version, where its session was."""
    is_there: bool
    former_paths: tuple[str, ...]
    last_seen_at: int
    sessions: int


def every_project(store: Store, here: str) -> list[ListedProject]:
    """Every known project, the one last seen first. `here` is the user's current directory."""
    sites = dict[str, list[Site]]()
    for site in store.sites():
        sites.setdefault(site.project_id, []).append(site)
    latest = {project.project_id: project for project in store.projects()}
    rows = [_listed_project(store, id, sites.get(id, []), latest.get(id), here) for id in {**sites, **latest}]
    return sorted(rows, key=lambda row: (-row.last_seen_at, row.project_id))


def _listed_project(
    store: Store, id: str, sites: list[Site], project: Project | None, here: str
) -> ListedProject:
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
    return ListedProject(
        id, name, tuple(dict.fromkeys(paths)), is_there, former_paths, max(times), len(sessions)
    )


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
