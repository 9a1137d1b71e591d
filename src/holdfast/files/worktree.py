"""One Markdown file inside a worktree, at a path that a stranger may have chosen.

The path stays below the top of the worktree and out of git's own directory, and no link is followed on the
way (`folders.py` says how). Read whole or replaced whole. What stands in the file is no matter here.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Callable, Generator
from pathlib import Path, PurePosixPath
from typing import Final

from holdfast import system
from holdfast.errors import PathRefused
from holdfast.files.folders import Folder, open_folder

SUFFIX: Final = ".md"
LARGEST: Final = 1 << 20
_ASIDE: Final = "put it aside and try again"
_LONGEST_PATH: Final = 400
# Opening a FIFO would otherwise wait for somebody to write to it.
_FILE: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)
_NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL


def fault(path: str) -> str:
    """Why a path may not be that of a file of ours, by its words alone; empty if it may."""
    name = PurePosixPath(path).name
    is_markdown = path.endswith(SUFFIX) and len(name) > len(SUFFIX)
    return outside(path) or ("" if is_markdown else f"it does not end in `{SUFFIX}`")


def outside(path: str) -> str:
    """Why a path is none of a file in the worktree, by its words alone; empty if it is one."""
    parts = PurePosixPath(path).parts
    if not path.strip() or len(path) > _LONGEST_PATH or not path.isprintable() or "\\" in path:
        return "it is not a plain path"
    if path.startswith(("/", "~")) or ".." in parts:
        return "it leads out of the worktree"
    # However a file system that ignores case, or points and spaces at the end, would take it.
    if any(part.casefold().rstrip(". ") == ".git" for part in parts):
        return "it is git's own directory"
    return ""


def read(root: Path, path: str) -> bytes | None:
    """The bytes of the file; None if nothing is there. PathRefused for anything but a regular file."""
    with _allowed_path(path, "read"):
        try:
            with _folder(root, path) as folder:
                return _content(path, folder)
        except FileNotFoundError:
            return None


def write(root: Path, path: str, content: bytes) -> None:
    """Put `content` in place of the file in one step; a new file is for its owner alone."""
    with _allowed_path(path, "write"):
        _make_folders(root, path)
        with _folder(root, path) as folder:
            draft = _draft(folder, content, _mode(path, folder))
            try:
                folder.replace(draft, _name(path))
            except OSError:
                folder.remove(draft)
                raise
            folder.sync()


def look_into(root: Path, path: str) -> bytes | None:
    """The bytes of any file of the worktree, which nobody is about to change; None if nothing is there."""
    with _allowed_path(path, "read", outside):
        try:
            with _folder(root, path) as folder:
                return _content(path, folder)
        except FileNotFoundError:
            return None


def listed(root: Path, folder: str) -> tuple[str, ...]:
    """The names of the Markdown files in a folder of the worktree; none where there is no such folder."""
    inside = f"{folder}/any{SUFFIX}"
    with _allowed_path(inside, "read"):
        try:
            with _folder(root, inside) as opened:
                names = opened.names()
        except FileNotFoundError:
            return ()
    return tuple(sorted(name for name in names if not fault(f"{folder}/{name}")))


def _content(path: str, folder: Folder) -> bytes:
    descriptor = folder.open(_name(path), _FILE)
    with os.fdopen(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise PathRefused(f"`{path}` is refused: it is not a regular file", _ASIDE)
        if status.st_size > LARGEST:
            raise PathRefused(f"`{path}` is refused: it is larger than 1 MiB", _ASIDE)
        return file.read(LARGEST)


def _draft(folder: Folder, content: bytes, mode: int) -> str:
    """A finished file, on the disk, beside the one that it will replace; its name."""
    name = f".holdfast-{secrets.token_hex(6)}"
    descriptor = folder.open(name, _NEW_FILE)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            system.set_mode(descriptor, mode)
            os.fsync(descriptor)
    except OSError:
        folder.remove(name)
        raise
    return name


def _mode(path: str, folder: Folder) -> int:
    """The mode that the file is to have: that of the one it replaces."""
    try:
        replaced = folder.status(_name(path))
    except FileNotFoundError:
        return 0o600
    if not stat.S_ISREG(replaced.st_mode):
        raise PathRefused(f"`{path}` is refused: a link or a directory is there", _ASIDE)
    return stat.S_IMODE(replaced.st_mode)


def _make_folders(root: Path, path: str) -> None:
    above = PurePosixPath(path).parts[:-1]
    for depth, part in enumerate(above):
        with (
            _folder(root, "/".join((*above[:depth], _name(path)))) as folder,
            contextlib.suppress(FileExistsError),
        ):
            folder.make(part)


@contextlib.contextmanager
def _folder(root: Path, path: str) -> Generator[Folder]:
    """The directory that the file stands in, reached step by step."""
    here = open_folder(root)
    try:
        for part in PurePosixPath(path).parts[:-1]:
            there = here.enter(part)
            here.close()
            here = there
        yield here
    finally:
        here.close()


def _name(path: str) -> str:
    return PurePosixPath(path).name


_LINKS: Final = frozenset({errno.ELOOP, errno.ENOTDIR, errno.EMLINK})
"""What systems say where a link, or a file in place of a directory, is not followed."""


@contextlib.contextmanager
def _allowed_path(path: str, verb: str, rule: Callable[[str], str] = fault) -> Generator[None]:
    """Let no path through that may not be used, and say what the system refused, for which file."""
    if reason := rule(path):
        raise PathRefused(f"`{path}` is refused: {reason}", "name a Markdown file below the worktree's top")
    try:
        yield
    except OSError as error:
        if error.errno in _LINKS:
            raise PathRefused(
                f"`{path}` is refused: there is a link on the way, or a file", _ASIDE
            ) from error
        hint = "look at what stands there, and at its permissions"
        raise PathRefused(f"cannot {verb} `{path}`: {error.strerror or error}", hint) from error
