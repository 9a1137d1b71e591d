"""The world around a session: its project, and the state of branch, HEAD and files.

Values and one comparison; `engine.repository.world` reads the files. An empty text means "unknown", and an
unknown value never counts as a difference: a brief may doubt only what was seen.
"""

from typing import TypeAlias

from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Project:
    """The project that a directory belongs to.

    Directories of one repository share a `project_id`; those of one worktree also a `worktree_id`.
    """

    path: str
    """The directory as given, for display."""
    normalized: str
    """Its real path; the given path if it does not exist."""
    project_id: str
    worktree_id: str
    root: str
    """The top of the worktree; outside git the directory itself."""

    def relative(self, path: str) -> str:
        """The path relative to the project, in whichever spelling; any other path unchanged."""
        for top in (self.root, self.normalized, self.path):
            if top not in ("", "/") and path.startswith(f"{top}/"):
                return path[len(top) + 1 :]
        return path


@dataclass(frozen=True, slots=True)
class GitState:
    """What a repository's own files say at one moment."""

    branch: str
    """Without `refs/heads/`; empty when detached or unknown."""
    head: str
    """The full hash; empty when unborn or unknown."""
    dirty: tuple[str, ...]
    """Tracked files that look changed, relative to the root; limited in number."""
    last_commits: tuple[str, ...]
    """Subjects, newest first."""


@dataclass(frozen=True, slots=True)
class FileState:
    """One file as it is on disk."""

    path: str
    exists: bool
    modified_at: int
    """Milliseconds since 1970; 0 for a file that is gone."""


@dataclass(frozen=True, slots=True)
class World:
    """The state at one moment; `git` is None outside a repository, unreadable files are left out."""

    git: GitState | None
    files: tuple[FileState, ...]


@dataclass(frozen=True, slots=True)
class BranchMoved:
    """Another branch is checked out; an empty `after` is a detached HEAD."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class HeadMoved:
    """Another commit is checked out."""

    before: str
    after: str


@dataclass(frozen=True, slots=True)
class FileGone:
    """A file no longer exists."""

    path: str


@dataclass(frozen=True, slots=True)
class FileChanged:
    """A file was written after the given moment."""

    path: str
    modified_at: int


Difference: TypeAlias = BranchMoved | HeadMoved | FileGone | FileChanged


def differences(then: GitState | None, now: World, since: int) -> tuple[Difference, ...]:
    """What has changed: git compared with `then`, files with the time `since` (milliseconds).

    Pass only files that existed then: one that never did is reported as gone.
    """
    return (*_moves(then, now.git), *_file_differences(now.files, since))


def _moves(then: GitState | None, now: GitState | None) -> tuple[Difference, ...]:
    if then is None or now is None or not _is_known(then) or not _is_known(now):
        return ()
    moves: list[Difference] = []
    if then.branch != now.branch:
        moves.append(BranchMoved(then.branch, now.branch))
    # An empty head is an unborn branch or an unreadable ref; these cannot be distinguished.
    if then.head and now.head and then.head != now.head:
        moves.append(HeadMoved(then.head, now.head))
    return tuple(moves)


def _is_known(state: GitState) -> bool:
    """Whether the state could be read: a detached HEAD has no branch, an unborn branch has no head."""
    return bool(state.branch or state.head)


def _file_differences(files: tuple[FileState, ...], since: int) -> tuple[Difference, ...]:
    changes: list[Difference] = []
    for file in files:
        if not file.exists:
            changes.append(FileGone(file.path))
        elif file.modified_at > since:
            changes.append(FileChanged(file.path, file.modified_at))
    return tuple(changes)
