"""Git's index, read by hand: which files are tracked, and how they looked when git last saw them clean.

Only bytes are read here; finding the index is `engine.repository.git`'s work, comparing it with the files
`engine.repository.world`'s.
"""

from __future__ import annotations

import os
import re
import stat
import struct
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

MAX_TRACKED: Final = (
    20_000  # checking this many files takes about a quarter of a second, while the user waits
)


class TrackedFile(NamedTuple):
    """A file or link in the index, with its kind (`stat.S_IF…`), size and time when git last saw it clean."""

    name: str
    kind: int
    modified_ns: int
    """0 if git never looked at the file. The seconds, like the size, are kept modulo 2**32."""
    size: int
    is_unsettled: bool
    """In conflict, or added with intent only."""


Choice: TypeAlias = Callable[[TrackedFile], bool]


_STAT: Final = struct.Struct(">8x II 8x I 8x I")  # mtime in seconds and nanoseconds, mode, size
HASH_SIZES: Final = {"sha1": 20, "sha256": 32}
_ASSUME_VALID, _EXTENDED, _STAGE = 0x8000, 0x4000, 0x3000
_SKIP_WORKTREE, _INTENT_TO_ADD = 0x4000, 0x2000
_MAX_NAME: Final = 4096
_UNSAFE_NAME: Final = re.compile(rb"(?:\A|/)(?:\.{0,2}|\.git)(?:/|\Z)", re.IGNORECASE)
_COMPRESSED: Final = 4


def chosen_in(index: bytes, hash_size: int, chosen: Choice, limit: int) -> tuple[str, ...]:
    signature, version, count = struct.unpack_from(">4sII", index)
    if signature != b"DIRC" or version not in (2, 3, _COMPRESSED):
        raise ValueError("not an index of a known version")
    if count > MAX_TRACKED:
        raise ValueError("more files than there is time to look at")
    offset, name = 12, b""
    names: dict[str, None] = {}
    for _ in range(count):
        flags_at = offset + _STAT.size + hash_size
        flags, following = struct.unpack_from(">HH", index, flags_at)
        name_at, extended = (flags_at + 4, following) if flags & _EXTENDED else (flags_at + 2, 0)
        name, end = _name_at(index, name_at, name if version == _COMPRESSED else None)
        if len(names) < limit:
            file = _tracked_file(name, _STAT.unpack_from(index, offset), flags, extended)
            if file is not None and chosen(file):
                names[file.name] = None
        offset = end if version == _COMPRESSED else offset + ((end - offset + 7) & ~7)
    _refuse_needed_extensions(index, offset, len(index) - hash_size)
    return tuple(names)


def _tracked_file(name: bytes, stat_data: tuple[int, ...], flags: int, extended: int) -> TrackedFile | None:
    """What an entry says; None for a submodule, a sparse directory, and files that git was told to skip."""
    seconds, nanoseconds, mode, size = stat_data
    kind = stat.S_IFMT(mode)
    if kind not in (stat.S_IFREG, stat.S_IFLNK) or flags & _ASSUME_VALID or extended & _SKIP_WORKTREE:
        return None
    if _UNSAFE_NAME.search(name):
        raise ValueError("a name that leaves the worktree")
    is_unsettled = bool(flags & _STAGE or extended & _INTENT_TO_ADD)
    return TrackedFile(os.fsdecode(name), kind, seconds * 1_000_000_000 + nanoseconds, size, is_unsettled)


def _name_at(index: bytes, at: int, previous: bytes | None) -> tuple[bytes, int]:
    """The name at an offset and the offset behind its NUL; a compressed one begins like the previous name."""
    prefix = b""
    if previous is not None:
        dropped, at = _varint(index, at)
        prefix = previous[: max(0, len(previous) - dropped)]
    end = index.index(b"\0", at, at + _MAX_NAME)
    name = prefix + index[at:end]
    if len(name) > _MAX_NAME:
        raise ValueError("a longer name than any file has")
    return name, end + 1


def _varint(index: bytes, at: int) -> tuple[int, int]:
    number = index[at] & 0x7F
    while index[at] & 0x80:
        at += 1
        number = ((number + 1) << 7) | (index[at] & 0x7F)
        if number > _MAX_NAME:
            raise ValueError("more to drop than any name has")
    return number, at + 1


def _refuse_needed_extensions(index: bytes, offset: int, end: int) -> None:
    """Refuse lower-case extensions, which change what the entries mean: `link` moves most to another file."""
    while offset < end:
        signature, size = struct.unpack_from(">4sI", index, offset)
        if signature[:1].islower() and signature != b"sdir":
            raise ValueError("an index that cannot be read alone")
        offset += 8 + size
