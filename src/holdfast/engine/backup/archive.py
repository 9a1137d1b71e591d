"""The stream of files inside a backup: a description, files in blocks with their hashes, and an end.

Written and read in one pass, so that no file's size has to be known beforehand. It can hold regular files and
folders only: there is no way to write a link, a device or an owner. A name that leads out of the folder is
refused.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import PurePosixPath
from typing import Any, BinaryIO, Final, TypeAlias, cast

from holdfast.errors import BackupUnreadable
from holdfast.lazy_dataclass import dataclass

FORMAT: Final = 1
BLOCK: Final = 1 << 18
_LENGTH: Final = struct.Struct(">I")
_LONGEST_HEAD: Final = 64 * 1024
_HASH: Final = hashlib.sha256
_HASH_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class Description:
    """What a backup is of."""

    version: str
    """The Holdfast that wrote it."""
    schema: int
    """That of its store; 0 without a store."""
    at: int
    machine: str
    """The id of the machine; empty if it had none."""
    machine_name: str
    bytes: int
    """How much its files held when they were counted, for showing progress."""


@dataclass(frozen=True, slots=True)
class ArchivedFolder:
    """A folder of the home."""

    path: PurePosixPath


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of the home, whose content must be read before the next entry."""

    path: PurePosixPath
    content: Iterator[bytes]


Entry: TypeAlias = ArchivedFolder | ArchivedFile


class ArchiveWriter:
    """Writes entries one after the other."""

    def __init__(self, target: BinaryIO, description: Description) -> None:
        self._target = target
        self.files = 0
        self.bytes = 0
        self._head({"kind": "backup", "format": FORMAT, **asdict(description)})

    def add_folder(self, path: str) -> None:
        self._head({"kind": "folder", "path": path})

    def add_file(self, path: str, content: Iterator[bytes]) -> None:
        self._head({"kind": "file", "path": path})
        digest = _HASH()
        for block in content:
            digest.update(block)
            self._target.write(_LENGTH.pack(len(block)) + block)
            self.bytes += len(block)
        self._target.write(_LENGTH.pack(0) + digest.digest())
        self.files += 1

    def finish(self) -> None:
        self._head({"kind": "end", "files": self.files})

    def _head(self, fields: dict[str, Any]) -> None:
        encoded = json.dumps(fields).encode()
        self._target.write(_LENGTH.pack(len(encoded)) + encoded)


class ArchiveReader:
    """Reads what an ArchiveWriter wrote; `name` is the file in messages."""

    def __init__(self, source: BinaryIO, name: str) -> None:
        self._source, self._name = source, name
        self.description = self._description(self._head())

    def entries(self) -> Iterator[Entry]:
        """Every entry, in order; raises BackupUnreadable at what is no such archive."""
        files = 0
        while True:
            match self._head():
                case {"kind": "folder", "path": str(path)}:
                    yield ArchivedFolder(self._inside(path))
                case {"kind": "file", "path": str(path)}:
                    content = self._content()
                    yield ArchivedFile(self._inside(path), content)
                    for _ in content:  # What the caller left unread.
                        pass
                    files += 1
                case {"kind": "end", "files": int(count)} if count == files:
                    if self._source.read(1):
                        raise self._unreadable("more follows its end")
                    return
                case {"kind": kind}:
                    raise self._unreadable(f"it holds something else than files and folders ({kind!r})")
                case _:
                    raise self._unreadable("an entry has no kind")

    def _content(self) -> Iterator[bytes]:
        digest = _HASH()
        while length := self._length():
            block = self._exactly(length, BLOCK)
            digest.update(block)
            yield block
        if self._exactly(_HASH_BYTES, _HASH_BYTES) != digest.digest():
            raise self._unreadable("a file is not what was written")

    def _description(self, head: dict[str, Any]) -> Description:
        match head:
            case {"kind": "backup", "format": int(number)} if number > FORMAT:
                raise BackupUnreadable(
                    f"`{self._name}` was written by a later version of Holdfast "
                    f"(format {number}, this is {FORMAT})",
                    "upgrade with `uv tool upgrade holdfast`",
                )
            case {
                "kind": "backup",
                "version": str(version),
                "schema": int(schema),
                "at": int(at),
                "machine": str(machine),
                "machine_name": str(machine_name),
                "bytes": int(size),
            }:
                return Description(version, schema, at, machine, machine_name, size)
            case _:
                raise self._unreadable("it does not begin with a description")

    def _inside(self, path: str) -> PurePosixPath:
        """The path, if it stays in the folder on every system."""
        if not is_inside(path):
            raise self._unreadable("the name of a file leads out of the home")
        return PurePosixPath(path)

    def _head(self) -> dict[str, Any]:
        try:
            head = json.loads(self._exactly(self._length(), _LONGEST_HEAD))
        except ValueError:
            raise self._unreadable("an entry has no head") from None
        return cast("dict[str, Any]", head) if isinstance(head, dict) else {}

    def _length(self) -> int:
        return int(_LENGTH.unpack(self._exactly(_LENGTH.size, _LENGTH.size))[0])

    def _exactly(self, length: int, most: int) -> bytes:
        if length > most:
            raise self._unreadable("a part is too long")
        content = self._source.read(length)
        if len(content) != length:
            raise self._unreadable("it ends too early")
        return content

    def _unreadable(self, reason: str) -> BackupUnreadable:
        return BackupUnreadable(f"`{self._name}` cannot be read: {reason}", "nothing was changed")


def is_inside(path: str) -> bool:
    """Whether a name stays inside the folder that it is relative to, on every system."""
    parts = path.split("/")
    leads_out = any(part in ("", ".", "..") or not _UNFIT.isdisjoint(part) for part in parts)
    return not leads_out and len(path.encode("utf-8", "surrogatepass")) <= _LONGEST_PATH


_LONGEST_PATH: Final = 4096
_UNFIT: Final = frozenset("\0\\:")
"""Characters that mean something else on some system; Holdfast's own files have none of them."""
