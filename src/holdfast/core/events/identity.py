"""Identity: which project a directory belongs to, decided from marks of the directory and its repository.

A site is a place where a project is or was. What is at a place now is compared with the known sites,
strongest evidence first: the very same directory, the same reflog, a common remote. `engine.repository.marks`
reads the disk, and the store holds the sites. docs/decisions/0012 explains each rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Marks:
    """What distinguishes a directory or repository from others. Empty or zero means unknown."""

    device: str
    """The file system of the directory. It may change when the machine restarts."""
    inode: str
    born: int = 0
    """When the directory was created, in nanoseconds since 1970."""
    first_entry: str = ""
    """A hash of the first entry in HEAD's reflog: the same in a copy, different in another clone."""
    began_at: int = 0
    """When that entry was written, in seconds since 1970, if it is the repository's first ever.

    Git drops old entries after some time; then the first entry left is not the beginning, and this is 0.
    """
    remotes: tuple[str, ...] = ()
    """Hashes of the normalised addresses of the remotes."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """What is at a place now: a repository's common git directory, or a directory outside git."""

    location: str
    """The real path of that directory."""
    root: str
    """The top of the worktree from which it was seen; outside git, the directory itself."""
    is_git: bool
    marks: Marks


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a project is, or was until it left."""

    project_id: str
    location: str
    anchor: str
    """The path from which worktree ids are derived; it stays the same when the project moves."""
    root: str
    is_git: bool
    marks: Marks
    first_seen_at: int
    last_seen_at: int
    left_at: int = 0
    """When the project was found to be gone from here; 0 while this is where it was last seen."""
    moved_from: str = ""
    """Where the project was before, as its user knows the place; empty if it began here."""


@dataclass(frozen=True, slots=True)
class SiteCandidate:
    """A known site, with what is there now."""

    site: Site
    occupant: Marks | None = None
    """None if there is no directory at the site's location."""
    is_reachable: bool = True
    """Whether the file system that held the site is still mounted there."""
    stands_elsewhere: bool = False
    """Whether the site's project has moved to another place."""


@dataclass(frozen=True, slots=True)
class Known:
    """The project of this site, which is still there or has come back."""

    site: Site


@dataclass(frozen=True, slots=True)
class Alias:
    """The same directory by another path: a bind mount, or another spelling of the name."""

    site: Site


@dataclass(frozen=True, slots=True)
class Moved:
    """The project of this site, which has moved here."""

    site: Site


@dataclass(frozen=True, slots=True)
class Adopted:
    """The project of this plain directory, in which a repository was created."""

    site: Site


@dataclass(frozen=True, slots=True)
class New:
    """A project of its own. `displaced` is the one that was here before, if any."""

    displaced: Site | None


Verdict: TypeAlias = Known | Alias | Moved | Adopted | New


def is_same_directory(known: Marks, seen: Marks) -> bool:
    """Whether these are marks of one directory, wherever it is now.

    A file system may give the inode of a removed directory to the next one, so that the inode counts only
    together with the time of creation.
    """
    return known.inode == seen.inode and known.born == seen.born != 0


def is_same_in_place(known: Marks, seen: Marks) -> bool:
    """The same for two sightings at one path, where both creation times may be unknown."""
    if known.born or seen.born:
        return is_same_directory(known, seen)
    is_another = seen.began_at and known.first_entry not in ("", seen.first_entry)
    return known.inode == seen.inode and not is_another


def is_copy(known: Marks, seen: Marks) -> bool:
    """Whether one repository is a copy of the other.

    A directory that is no younger than its history is an original. Two originals created in the same way may
    begin with the same entry.
    """
    is_original = seen.born and seen.began_at and seen.born // 1_000_000_000 <= seen.began_at
    return known.first_entry == seen.first_entry != "" and not is_original


def shares_a_remote(known: Marks, seen: Marks) -> bool:
    return not set(known.remotes).isdisjoint(seen.remotes)


def identify_project(
    seen: Sighting,
    here: Sequence[SiteCandidate],
    elsewhere: Sequence[SiteCandidate],
    plain: Site | None = None,
) -> Verdict:
    """Decide which project this place belongs to.

    `here` are the sites at this location and `elsewhere` those at other locations that share the inode or the
    reflog, current ones first; `plain` is the current site of the root as a directory outside git.
    """
    current = next((each.site for each in here if not each.site.left_at), None)
    if current is not None and is_same_in_place(current.marks, seen.marks):
        return Known(current)
    return (
        _renamed(seen, elsewhere)
        or _back(seen, here)
        or _copied_away(seen, elsewhere)
        or _cloned_again(seen, here)
        or _by_path(seen, current, plain)
        or New(current)
    )


def _renamed(seen: Sighting, elsewhere: Sequence[SiteCandidate]) -> Verdict | None:
    """The same directory under another name: it moved, unless the old name still leads to it."""
    for each in elsewhere:
        if not each.stands_elsewhere and is_same_directory(each.site.marks, seen.marks):
            still = each.occupant is not None and is_same_directory(each.occupant, seen.marks)
            return Alias(each.site) if still else Moved(each.site)
    return None


def _back(seen: Sighting, here: Sequence[SiteCandidate]) -> Verdict | None:
    """The project that was at this place before: restored from a copy, or the same directory again."""
    for each in here:
        same = is_copy(each.site.marks, seen.marks) or is_same_directory(each.site.marks, seen.marks)
        if same and each.site.is_git == seen.is_git and not each.stands_elsewhere:
            return Known(each.site)
    return None


def _copied_away(seen: Sighting, elsewhere: Sequence[SiteCandidate]) -> Verdict | None:
    """Moved between file systems: a copy whose original is gone.

    If the original may still exist, or there are several candidates, the copy is a project of its own.
    """
    same = [each for each in elsewhere if is_copy(each.site.marks, seen.marks)]
    lost = [each.site for each in same if not each.stands_elsewhere]
    if len({site.project_id for site in lost}) != 1 or not all(map(_is_gone, same)):
        return None
    return Moved(lost[0])


def _is_gone(candidate: SiteCandidate) -> bool:
    site, there = candidate.site, candidate.occupant
    if there is None:
        return candidate.is_reachable or bool(site.left_at)
    return not (is_copy(site.marks, there) or is_same_directory(site.marks, there))


def _cloned_again(seen: Sighting, here: Sequence[SiteCandidate]) -> Verdict | None:
    """A clone of the same remote at the same path is the same project."""
    for each in here:
        if shares_a_remote(each.site.marks, seen.marks) and not each.stands_elsewhere:
            return Known(each.site)
    return None


def _by_path(seen: Sighting, current: Site | None, plain: Site | None) -> Verdict | None:
    """Outside git a project is its path; a repository created in its directory is the same project."""
    if not seen.is_git:
        return Known(current) if current is not None and not current.is_git else None
    return Adopted(plain) if plain is not None else None
