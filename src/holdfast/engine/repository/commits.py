"""Commits: which ones lead to the one that is checked out, read from git's files as far as these say it.

A commit that was made or fetched lately is a file of its own; older ones are packed, and git's log of what
was checked out says which commit one was made on. Where neither does, or two lines of work were merged, the
line ends: so a distance between two commits is exact, or unknown. As in `git`, nothing is run or written.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence
from typing import Final

from holdfast.engine.repository import git
from holdfast.engine.repository.git import Repository
from holdfast.lazy_dataclass import dataclass

LINE_MOST: Final = 50
"""The most commits of a line: who is further behind does not need the number."""
_HEAD_BYTES: Final = 4 * 1024
"""A commit names its parents first."""


@dataclass(frozen=True, slots=True)
class CommitDistance:
    """How many commits of one line the other one lacks, and how many it has instead."""

    behind: int
    ahead: int


def line_of_commits(repository: Repository, start: str, limit: int = LINE_MOST) -> tuple[str, ...]:
    """The commit and those before it, the newest first, as far as git's files tell."""
    if not _COMMIT_ID.match(start):
        return ()
    made_on = git.commits_made_on(repository)
    line = [start]
    while len(line) < limit:
        parents = _parents(repository, line[-1], made_on)
        if len(parents) != 1 or parents[0] in line:
            break
        line.append(parents[0])
    return tuple(line)


def distance(here: Sequence[str], there: Sequence[str]) -> CommitDistance | None:
    """How far a line of commits is behind another one and ahead of it; None if no commit is in both."""
    places = {commit: place for place, commit in enumerate(there)}
    for ahead, commit in enumerate(here):
        if commit in places:
            return CommitDistance(places[commit], ahead)
    return None


def _parents(repository: Repository, commit: str, made_on: Mapping[str, str]) -> tuple[str, ...]:
    """The commits that one was made on; empty if unknown, or if it is the first one."""
    packed = git.loose_object(repository, commit)
    if packed is not None:
        return _parents_in(packed)
    return (made_on[commit],) if commit in made_on else ()


def _parents_in(packed: bytes) -> tuple[str, ...]:
    try:
        content = zlib.decompressobj().decompress(packed, _HEAD_BYTES)
    except zlib.error:
        return ()
    head = _COMMIT_HEAD.match(content)
    return tuple(line[7:].decode("ascii") for line in head["parents"].splitlines()) if head else ()


_COMMIT_ID: Final = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_COMMIT_HEAD: Final = re.compile(
    rb"commit [0-9]+\0tree [0-9a-f]+\n"
    rb"(?P<parents>(?:parent (?:[0-9a-f]{64}|[0-9a-f]{40})\n){0,16})(?!parent )"
)
