"""World: git's state and the working files around a session, and how a brief's facts compare with them.

Files are compared by their stat data only.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from holdfast.core.brief.compose import BriefInput
from holdfast.core.events.event import Action
from holdfast.core.events.world import (
    BranchMoved,
    FileChanged,
    FileGone,
    FileState,
    GitState,
    HeadMoved,
    Project,
    World,
    differences,
)
from holdfast.core.sharing.bodies import AroundSession
from holdfast.core.text.strings import quantity
from holdfast.engine.repository import git
from holdfast.engine.repository.commits import CommitDistance, distance, line_of_commits
from holdfast.engine.repository.git import TrackedFile
from holdfast.engine.repository.prints import prints_of

MAX_DIRTY: Final = 200
GRACE_MS = 2_000
"""A harness writes its record of an edit a moment after the file itself."""


def look(project: Project, paths: Iterable[str]) -> World:
    """Where git stands now, and the state of the named files."""
    return World(git_position(project), file_states(project.root, paths))


def git_position(project: Project) -> GitState | None:
    """Branch, HEAD and last commits, at a cost that does not grow with the repository; None outside one."""
    place = git.find(project.root)
    if place is None or place.repository is None:
        return None
    branch, head = git.head(place.repository)
    return GitState(branch, head, (), git.last_commits(place.repository))


def git_state(project: Project) -> GitState | None:
    """Branch, HEAD, dirty files and last commits; None outside a repository.

    Dirty is what git would have to look at again: size or time differ from the index, or the file is missing.
    docs/decisions/0002 says where this differs from `git status`.
    """
    place = git.find(project.root)
    if place is None or place.repository is None:
        return None
    repository = place.repository
    root = str(repository.root)
    directories = {"": True}
    dirty = git.tracked(repository, lambda file: _looks_changed(file, root, directories), MAX_DIRTY)
    branch, head = git.head(repository)
    return GitState(branch, head, dirty, git.last_commits(repository))


def file_states(root: str, paths: Iterable[str]) -> tuple[FileState, ...]:
    """The state of each file, named absolutely or relative to the root; unknown ones are left out.

    So are files that a link inside the project, or a `..`, would lead to outside of it.
    """

    @cache  # most files share a directory with others
    def leads_inside(directory: Path) -> bool:
        """Whether a directory is below the root once links on the way to it are followed."""
        return Path(os.path.realpath(directory)).is_relative_to(os.path.realpath(root))

    top = Path(root)
    states = (_file_state(top, path, leads_inside) for path in dict.fromkeys(paths))
    return tuple(state for state in states if state is not None)


def _file_state(root: Path, path: str, leads_inside: Callable[[Path], bool]) -> FileState | None:
    try:
        file = root / path
        # The file itself may be a link; it is not followed.
        if file.parts[: len(root.parts)] == root.parts and not leads_inside(file.parent):
            return None
        status = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return FileState(path, exists=False, modified_at=0)
    except (OSError, ValueError):
        return None
    return FileState(path, exists=True, modified_at=status.st_mtime_ns // 1_000_000)


def _looks_changed(file: TrackedFile, root: str, directories: dict[str, bool]) -> bool:
    if file.is_unsettled:
        return True
    if not _is_directory_inside(file.name.rpartition("/")[0], root, directories):
        return True
    try:
        status = os.lstat(f"{root}/{file.name}")
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return stat.S_IFMT(status.st_mode) != file.kind or _stat_differs(file, status)


def _stat_differs(file: TrackedFile, status: os.stat_result) -> bool:
    if file.modified_ns == 0:
        return False
    seconds, nanoseconds = divmod(status.st_mtime_ns, 1_000_000_000)
    seconds_then, nanoseconds_then = divmod(file.modified_ns, 1_000_000_000)
    if file.size != status.st_size & 0xFFFFFFFF or seconds_then != seconds & 0xFFFFFFFF:
        return True
    # Some programs that write indexes, and some file systems, store whole seconds only.
    return 0 not in (nanoseconds, nanoseconds_then) and nanoseconds != nanoseconds_then


def _is_directory_inside(directory: str, root: str, checked_directories: dict[str, bool]) -> bool:
    """Whether every step to a directory is a real one: behind a link, a tracked file is gone from here."""
    if directory not in checked_directories:
        above = ""
        for part in directory.split("/"):
            step = f"{above}/{part}" if above else part
            if step not in checked_directories:
                checked_directories[step] = checked_directories[above] and _is_real_directory(
                    f"{root}/{step}"
                )
            above = step
    return checked_directories[directory]


def _is_real_directory(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(path).st_mode)
    except OSError:
        return False


def compare_brief(brief_input: BriefInput, redact: Callable[[str], str], root: str) -> BriefInput:
    """The brief's input with marks and notices for files, branch and HEAD that changed since the session.

    `root` is where the session's worktree is now. A branch whose name holds a secret is stored under another
    name, so it cannot be compared.
    """
    session = brief_input.session
    before = session.project.root
    there = (touch.path for touch in session.trail.files if touch.action is not Action.DELETE)
    # A path that held a secret is stored redacted, so its file cannot be checked.
    paths = tuple(path for path in there if "[REDACTED" not in path)
    now_at = {_moved(path, before, root): path for path in paths}
    world = look(replace(session.project, root=root), now_at)
    marks: dict[str, str] = {}
    notices = [f"the project was at `{before}`, now it is at `{root}`."] if root != before else []
    for difference in differences(session.git, world, session.changed_at + GRACE_MS):
        match difference:
            case FileGone(path=path):
                marks[now_at[path]] = "gone since"
            case FileChanged(path=path):
                marks[now_at[path]] = "changed since"
            case BranchMoved(before=before, after=after) if redact(after) == after:
                notices.append(f"the branch was `{before or 'detached'}`, now it is `{after or 'detached'}`.")
            case HeadMoved(before=before, after=after):
                notices.append(f"HEAD was {before[:10]} when last seen, now it is {after[:10]}.")
            case BranchMoved():
                pass
    return replace(brief_input, marks=marks, notices=tuple(notices))


def compare_with_other_machine(
    brief_input: BriefInput, around: AroundSession, redact: Callable[[str], str], root: str
) -> BriefInput:
    """The brief's input with marks and notices for what is not here as it was on the session's machine.

    Files are compared by their content: a checkout gives each of them a new time.
    """
    session, machine = brief_input.session, brief_input.machine
    here = {each.path: each.content for each in prints_of(Path(root), (each.path for each in around.prints))}
    compared = (
        (each.path, _difference(each.content, here.get(each.path), machine)) for each in around.prints
    )
    marks = {f"{session.project.root.rstrip('/')}/{path}": mark for path, mark in compared if mark}
    place = git.find(root)
    if session.git is None or place is None or place.repository is None:
        return replace(brief_input, marks=marks)
    branch, head = git.head(place.repository)
    before, notices = session.git, list[str]()
    if before.branch and branch != before.branch and redact(branch) == branch:
        notices.append(f"the branch was `{before.branch}` on {machine}, here it is `{branch or 'detached'}`.")
    if before.head and head and head != before.head:
        apart = distance(line_of_commits(place.repository, head), around.commits)
        notices.append(f"HEAD was {before.head[:10]} on {machine}, {_apart(apart, head)}.")
    return replace(brief_input, marks=marks, notices=tuple(notices))


def _difference(there: str, here: str | None, machine: str) -> str:
    """How a file here differs from the one that a session left on another machine; empty if it does not."""
    if here is None or here == there:
        return ""
    if not here:
        return "not here"
    return f"not as on {machine}" if there else f"deleted on {machine}, and still here"


def _apart(apart: CommitDistance | None, head: str) -> str:
    """Where this worktree's HEAD is beside the one of another machine."""
    match apart:
        case CommitDistance(behind=behind, ahead=0):
            return f"you are {quantity(behind, 'commit')} behind it"
        case CommitDistance(behind=0, ahead=ahead):
            return f"you are {quantity(ahead, 'commit')} ahead of it"
        case CommitDistance(behind=behind, ahead=ahead):
            return f"you are {quantity(behind, 'commit')} behind it and {ahead} ahead"
        case None:
            return f"here it is {head[:10]}"


def _moved(path: str, before: str, root: str) -> str:
    """Where a file is now, if its worktree has moved since its path was recorded."""
    return f"{root}{path.removeprefix(before)}" if path.startswith(f"{before}/") else path
