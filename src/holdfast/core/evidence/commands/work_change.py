"""Work change: one thing that a finished command did to commits, branches, files or tasks.

`work_record` reads them from a command and its output. Not here: what they mean for earlier statements.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CommitMade:
    """A commit. Branch and id are empty if git was told to be quiet."""

    subject: str
    points: tuple[str, ...] = ()
    """The sentences and list items of the message's body, without trailers."""
    branch: str = ""
    commit: str = ""
    amends: bool = False
    """Whether it takes the place of the commit before it."""


class StashChange(StrEnum):
    """What happened to a stash."""

    SAVED = "saved"
    APPLIED = "applied"
    DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class Stashed:
    """Edits that were put on the stash (all, if no paths are named), brought back, or thrown away."""

    change: StashChange
    branch: str = ""
    message: str = ""
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class BranchChanged:
    """Another branch, or a commit without a branch, is checked out."""

    branch: str
    is_new: bool = False
    is_detached: bool = False


class UndoKind(StrEnum):
    """What was undone."""

    FILES = "files"
    """The edits to `paths` are gone; `.` is all files, and `commit` is where they were taken from."""
    RESET = "reset"
    """The branch is at `commit` again: later commits and all edits are gone."""
    UNCOMMIT = "uncommit"
    """The branch is at `commit` again, but the edits stay."""
    REVERT = "revert"
    """A new commit takes back the one with this subject, and this id where the command names it."""


@dataclass(frozen=True, slots=True)
class Undone:
    """Earlier work that git took back."""

    kind: UndoKind
    paths: tuple[str, ...] = ()
    commit: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class BranchMerged:
    """A branch that was merged into the one that is checked out."""

    branch: str


@dataclass(frozen=True, slots=True)
class RefPushed:
    """A branch or tag that was pushed, and where to."""

    ref: str
    remote: str = ""
    commit: str = ""
    is_forced: bool = False


@dataclass(frozen=True, slots=True)
class TagMade:
    """A tag."""

    tag: str


class TrackerChange(StrEnum):
    """What happened to a pull request, an issue or a task."""

    CREATED = "created"
    STARTED = "started"
    BLOCKED = "blocked"
    DEFERRED = "deferred"
    CLOSED = "closed"
    MERGED = "merged"
    REOPENED = "reopened"
    COMMENTED = "commented"
    EDITED = "edited"


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A change to a pull request; number, URL and title as far as the command or its output has them."""

    change: TrackerChange
    number: int
    url: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class TaskChanged:
    """A change to a task or issue: `#12` on GitHub, `shop-a1.3` in beads."""

    task: str
    change: TrackerChange
    title: str = ""
    reason: str = ""
    url: str = ""


class TaskStatus(StrEnum):
    """The state of a task, as a list of the tracker shows it."""

    OPEN = "open"
    STARTED = "in progress"
    BLOCKED = "blocked"
    CLOSED = "closed"
    DEFERRED = "deferred"


@dataclass(frozen=True, slots=True)
class TaskListed:
    """A task that the tracker showed, with its title; ready if nothing blocks it."""

    task: str
    title: str
    status: TaskStatus
    is_ready: bool = False


WorkChange: TypeAlias = (
    CommitMade
    | Stashed
    | BranchChanged
    | Undone
    | BranchMerged
    | RefPushed
    | TagMade
    | PullRequest
    | TaskChanged
    | TaskListed
)
