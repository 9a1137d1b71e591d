"""Directories below a worktree's top, entered one step at a time and never through a link.

Where the system allows it, each step and each file is opened from the open directory before it, so that
nobody can swap a link in between. Elsewhere, as on Windows, each is looked at first: who may write in the
worktree at that very moment could still swap one in.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Final, Protocol

from holdfast import system


class Folder(Protocol):
    """A directory that is in use; `name` is always that of something directly inside it."""

    def enter(self, name: str) -> Folder:
        """The directory of this name; OSError if it is none, or a link."""
        ...

    def make(self, name: str) -> None:
        """Make a directory for its owner alone."""
        ...

    def open(self, name: str, flags: int) -> int:
        """Open a file; OSError if it is a link. A new one is for its owner alone."""
        ...

    def status(self, name: str) -> os.stat_result:
        """The status of what has this name, and not of what a link leads to."""
        ...

    def replace(self, draft: str, name: str) -> None:
        """Put one file in place of another in one step."""
        ...

    def remove(self, name: str) -> None:
        """Delete a file."""
        ...

    def names(self) -> list[str]:
        """What is in it."""
        ...

    def sync(self) -> None:
        """Make the names in it durable."""
        ...

    def close(self) -> None:
        """Let go of it."""
        ...


def open_folder(top: Path) -> Folder:
    """The directory at the top, in the best way that this system has."""
    if os.open in os.supports_dir_fd:
        return FolderByDescriptor(os.open(top, os.O_RDONLY | _FOLDER))
    if not stat.S_ISDIR(top.stat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
    return FolderByPath(top)


_FOLDER: Final = getattr(os, "O_DIRECTORY", 0)
_NO_LINK: Final = getattr(os, "O_NOFOLLOW", 0)


class FolderByDescriptor:
    """An open directory: what it is cannot change while it is in use."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def enter(self, name: str) -> Folder:
        flags = os.O_RDONLY | _FOLDER | _NO_LINK
        return FolderByDescriptor(os.open(name, flags, dir_fd=self._descriptor))

    def make(self, name: str) -> None:
        os.mkdir(name, mode=0o700, dir_fd=self._descriptor)

    def open(self, name: str, flags: int) -> int:
        return os.open(name, flags | _NO_LINK, mode=0o600, dir_fd=self._descriptor)

    def status(self, name: str) -> os.stat_result:
        return os.stat(name, dir_fd=self._descriptor, follow_symlinks=False)

    def replace(self, draft: str, name: str) -> None:
        os.rename(draft, name, src_dir_fd=self._descriptor, dst_dir_fd=self._descriptor)

    def remove(self, name: str) -> None:
        os.unlink(name, dir_fd=self._descriptor)

    def names(self) -> list[str]:
        return os.listdir(self._descriptor)  # noqa: PTH208 - an open directory has no path

    def sync(self) -> None:
        os.fsync(self._descriptor)

    def close(self) -> None:
        os.close(self._descriptor)


class FolderByPath:
    """A directory by its path, for systems whose calls take nothing else."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def enter(self, name: str) -> Folder:
        if not stat.S_ISDIR(_status_of_no_link(self._path / name).st_mode):
            raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))
        return FolderByPath(self._path / name)

    def make(self, name: str) -> None:
        (self._path / name).mkdir(0o700)

    def open(self, name: str, flags: int) -> int:
        if not flags & os.O_EXCL:
            _status_of_no_link(self._path / name)
        return os.open(self._path / name, flags | getattr(os, "O_BINARY", 0), 0o600)

    def status(self, name: str) -> os.stat_result:
        return (self._path / name).lstat()

    def replace(self, draft: str, name: str) -> None:
        system.replace(self._path / draft, self._path / name)

    def remove(self, name: str) -> None:
        (self._path / name).unlink()

    def names(self) -> list[str]:
        return [entry.name for entry in self._path.iterdir()]

    def sync(self) -> None:
        system.sync_folder(self._path)

    def close(self) -> None:
        """Nothing is open."""


def _status_of_no_link(path: Path) -> os.stat_result:
    """The status of a file or directory; OSError if it is a link, or a junction of Windows."""
    status = path.lstat()
    is_junction = getattr(status, "st_reparse_tag", 0) != 0
    if stat.S_ISLNK(status.st_mode) or is_junction:
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return status
