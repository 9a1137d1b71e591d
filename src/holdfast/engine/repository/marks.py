"""Marks: what tells one directory or repository from another, read within microseconds.

Nothing is run and nothing is written. The marks of the directory itself come from the file system. Those of a
repository's contents, its first reflog entry and its remotes, are read only if the former do not decide.
"""

from __future__ import annotations

import os
import re
import stat
import struct
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from holdfast.core.events.identity import Marks, Sighting
from holdfast.core.redaction.redact import redact
from holdfast.core.sharing.identity import choose_remote, parse_address, shared_name
from holdfast.engine.repository import git
from holdfast.engine.repository.git import DirectoryPlace, Repository, short_hash


def sighting(place: DirectoryPlace) -> Sighting:
    """What stands at a place, with the marks of its directory alone."""
    repository = place.repository
    if repository is None:
        directory_marks, root = of_directory(place.root), stored(place.root)
        return Sighting(root, root, is_git=False, marks=directory_marks or _UNKNOWN)
    common = repository.common_dir
    marks = _of_git_dir(common) or _UNKNOWN
    return Sighting(stored(common), stored(_main_root(repository)), is_git=True, marks=marks)


def _main_root(repository: Repository) -> Path:
    """The top of the main worktree, as far as it is known from this one."""
    common = repository.common_dir
    if repository.git_dir == common:
        return repository.root
    return common.parent if common.name == ".git" else common


def with_contents(found_at: Sighting, repository: Repository | None) -> Sighting:
    """The sighting with the marks of the repository's contents added."""
    return replace(found_at, marks=_with_contents(found_at.marks, repository)) if repository else found_at


def occupant(location: str, *, is_git: bool) -> Marks | None:
    """All marks of what stands at the location of a known site; None if there is no directory."""
    path = Path(location)
    if not is_git:
        return of_directory(path)
    directory_marks = _of_git_dir(path)
    return _with_contents(directory_marks, Repository(path, path, path)) if directory_marks else None


def is_reachable(location: str, device: str) -> bool:
    """Whether the file system that held a directory is mounted where it was."""
    path = Path(location)
    for here in (path, *path.parents):
        directory_marks = of_directory(here)
        if directory_marks is not None:
            return directory_marks.device == device
    return False


def of_directory(path: Path) -> Marks | None:
    """The marks of a directory; None if there is none, or a link stands in its place."""
    try:
        status = path.lstat()
    except (OSError, ValueError):
        return None
    if not stat.S_ISDIR(status.st_mode):
        return None
    return Marks(f"{status.st_dev:x}", f"{status.st_ino:x}", _born(path, status))


def _of_git_dir(path: Path) -> Marks | None:
    """The marks of a git directory. If the system does not say when it was created, a file in it may.

    `git init` writes `description` once, and hardly anyone ever changes it.
    """
    directory_marks = of_directory(path)
    if directory_marks is None or directory_marks.born:
        return directory_marks
    try:
        written = (path / "description").lstat()
    except (OSError, ValueError):
        return directory_marks
    return (
        replace(directory_marks, born=written.st_mtime_ns)
        if stat.S_ISREG(written.st_mode)
        else directory_marks
    )


def _with_contents(marks: Marks, repository: Repository) -> Marks:
    entry = git.first_reflog_entry(repository)
    remotes = {short_hash(normalised(address)) for address in git.remote_addresses(repository).values()}
    return replace(
        marks,
        first_entry=short_hash(os.fsdecode(entry)) if entry else "",
        began_at=git.beginning(entry),
        remotes=tuple(sorted(remotes)),
    )


def normalised(address: str) -> str:
    """The address of a remote as host/owner/name: ssh and https meet, and no credential is left in it."""
    parsed = parse_address(address)
    # A local path has no host, and its case matters.
    return f"{parsed.host}/{parsed.path.lower()}" if parsed.host else f"/{parsed.path}"


def shared_name_of(repository: Repository) -> str:
    """The name that the repository's remote gives to its project on every machine; empty if it gives none."""
    addresses = git.remote_addresses(repository)
    name = shared_name(choose_remote(addresses, git.tracked_remote(repository)))
    # A secret may also stand in the path of an address.
    return name if redact(name) == name else ""


def stored(path: str | Path) -> str:
    """A path as a store can hold it: one that is not valid text is written as its bytes."""
    text = str(path)
    try:
        text.encode()
    except UnicodeEncodeError:
        return f"{_BYTES}{os.fsencode(text).hex()}"
    return text


def on_disk(text: str) -> str:
    """The path that `stored` wrote."""
    written = _WRITTEN.fullmatch(text)
    return os.fsdecode(bytes.fromhex(written["bytes"])) if written else text


def shown(text: str) -> str:
    """A stored path for people to read."""
    return git.shown(on_disk(text))


_BYTES: Final = "//bytes:"
"""No path begins so: the real path of a directory has no two slashes in a row."""
_WRITTEN: Final = re.compile(rf"{_BYTES}(?P<bytes>(?:[0-9a-f]{{2}})+)")

_UNKNOWN: Final = Marks("", "")


# ---------------------------------------------------------------- when a directory was created


def _born(path: Path, status: os.stat_result) -> int:
    """The time of creation in nanoseconds since 1970; 0 if unknown."""
    seconds = getattr(status, "st_birthtime", 0.0)
    if seconds:
        return int(getattr(status, "st_birthtime_ns", 0) or seconds * 1e9)
    return _asked_of_linux()(os.fsencode(path)) if sys.platform == "linux" else 0


@cache
def _asked_of_linux() -> Callable[[bytes], int]:
    """Linux knows the time of creation, but Python does not ask for it, so this calls `statx` itself."""
    import ctypes  # noqa: PLC0415 - most commands never ask

    statx = getattr(ctypes.CDLL(None), "statx", None)
    if statx is None:
        return lambda _: 0
    statx.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_uint, ctypes.c_char_p)
    size = _STATX_SIZE

    def born(path: bytes) -> int:
        answer = ctypes.create_string_buffer(size)
        if b"\0" in path or statx(_AT_FDCWD, path, _AT_SYMLINK_NOFOLLOW, _STATX_BTIME, answer):
            return 0
        (mask,) = struct.unpack_from("=I", answer.raw, 0)
        seconds, nanoseconds = struct.unpack_from("=qI", answer.raw, _BTIME_OFFSET)
        return seconds * 1_000_000_000 + nanoseconds if mask & _STATX_BTIME else 0

    return born


# From linux/stat.h and linux/fcntl.h, the same on every architecture.
_AT_FDCWD: Final = -100
_AT_SYMLINK_NOFOLLOW: Final = 0x100
_STATX_BTIME: Final = 0x800
_STATX_SIZE: Final = 256
_BTIME_OFFSET: Final = 80
