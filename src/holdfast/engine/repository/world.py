"""World: git's state and the working files around a session, by their stat data only.

Nothing here opens a working file, runs a program or follows a link out of the project.
`engine.repository.git` reads git's own files; `core.events.world` decides what the result means for a brief.
"""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from holdfast.core.events.world import FileState, GitState, Project, World
from holdfast.engine.repository import git
from holdfast.engine.repository.git_index import TrackedFile

MAX_DIRTY: Final = 200


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
    states = (_file_state(Path(root), path) for path in dict.fromkeys(paths))
    return tuple(state for state in states if state is not None)


def _file_state(root: Path, path: str) -> FileState | None:
    try:
        file = root / path
        if file.is_relative_to(root) and not _stays_inside(file, root):
            return None
        status = file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return FileState(path, exists=False, modified_at=0)
    except (OSError, ValueError):
        return None
    return FileState(path, exists=True, modified_at=status.st_mtime_ns // 1_000_000)


def _stays_inside(file: Path, root: Path) -> bool:
    """Whether a file is below the root. Links on the way to it are followed; the file itself is not."""
    return Path(os.path.realpath(file.parent)).is_relative_to(os.path.realpath(root))


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
