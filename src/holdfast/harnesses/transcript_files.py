"""Transcript files: read the lines that a harness appends to a file, packed or not, from a cursor on.

A packed file never grows, so its cursor is a position in the unpacked text.

The cursor recognises the file by its inode and by the bytes at its start and just before the cursor: a file
that shrank or was replaced is read from its start. Each harness knows what its lines mean.
"""

from __future__ import annotations

import os
import stat
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final

import msgspec

from holdfast.core.events.event import Skipped
from holdfast.lazy_dataclass import dataclass

JSON_LINES = (".jsonl",)
LONGEST = 32 << 20
"""Longer lines are skipped and counted."""
_STEP = 1 << 20
_PRINT = 256
"""How many bytes at each end distinguish one file from another."""
PACKED_ENDING: Final = ".zst"
STRETCH_LEAST: Final = 8 << 20
_UNPACKING_STEP: Final = 1 << 20


class Line(msgspec.Struct, frozen=True):
    """One complete line without its line ending, and the byte at which it begins."""

    at: int
    content: bytes

    @property
    def where(self) -> str:
        """The position of this line, for messages."""
        return f"line at byte {self.at}"


@dataclass(frozen=True, slots=True)
class Stretch:
    """Complete lines after a cursor: from the file's start if `restarted`, up to its end if `done`."""

    lines: tuple[Line, ...]
    skipped: tuple[Skipped, ...]
    cursor: str
    restarted: bool
    done: bool


def read_lines(path: Path, cursor: str, limit: int, longest: int = LONGEST) -> Stretch:
    """About `limit` bytes of complete lines after the cursor (empty: from the start).

    A half-written last line is left for the next read. Only a regular file is read, and no link is followed.
    A missing file has no lines; one that cannot be opened is skipped. A packed file is unpacked on the way.
    """
    try:
        with open_regular_file(path) as file:
            if path.suffix == PACKED_ENDING:
                return _read_packed(file, cursor, limit)
            return _read(file, cursor, max(1, limit), longest)
    except FileNotFoundError:
        return Stretch((), (), cursor, restarted=False, done=True)
    except OSError as error:
        reason = Skipped(f"cannot be opened: {error.strerror or error}", str(path))
        return Stretch((), (reason,), cursor, restarted=False, done=True)


def files_below(folder: Path, *endings: str) -> Iterator[Path]:
    """Every regular file below a folder with one of these name endings, in order; no link is followed.

    Without any ending, every file of JSON lines.
    """
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(where, name)
            if name.endswith(endings or JSON_LINES) and path.is_file() and not path.is_symlink():
                yield path


def open_regular_file(path: Path) -> BinaryIO:
    """The file, if it is a regular one; OSError otherwise."""
    # Without O_NONBLOCK, opening a FIFO in place of the file would block until something writes to it.
    flag_names = ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY")
    flags = sum(getattr(os, name, 0) for name in flag_names)
    file = os.fdopen(os.open(path, os.O_RDONLY | flags), "rb", buffering=0)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise OSError(0, "not a regular file")
    return file


def unpack(packed: bytes, largest: int) -> bytes:
    """The unpacked bytes; empty if they cannot be unpacked or exceed `largest`."""
    # Imported here: few harnesses pack anything, and then not much.
    from holdfast.harnesses.zstd import ZstdDecompressor, ZstdError  # noqa: PLC0415

    decompressor = ZstdDecompressor()
    try:
        unpacked = decompressor.decompress(packed, largest + 1)
    except ZstdError:
        return b""
    return unpacked if decompressor.eof and len(unpacked) <= largest else b""


def _read(file: BinaryIO, cursor: str, limit: int, longest: int) -> Stretch:
    state = os.fstat(file.fileno())
    start = _resumed(file, cursor, state)
    chunk = _chunk(file, start, state.st_size, limit, longest)
    whole = chunk.rfind(b"\n") + 1
    if not whole and len(chunk) > longest:
        return _past_long_line(file, start, state)
    lines, skipped = split_lines(chunk, start, longest)
    at_end = start + len(chunk) >= state.st_size
    if at_end and _is_object(chunk[whole:]):
        lines.append(Line(start + whole, chunk[whole:]))
        whole = len(chunk)
    mark = _mark(file, start + whole, state.st_ino)
    return Stretch(tuple(lines), tuple(skipped), mark, restarted=start == 0, done=at_end)


def _chunk(file: BinaryIO, start: int, size: int, limit: int, longest: int) -> bytes:
    """About `limit` bytes, more if not even one line fits; never much more than the longest allowed line."""
    chunk = _bytes(file, start, min(limit, size - start))
    while b"\n" not in chunk and len(chunk) <= longest and start + len(chunk) < size:
        more = _bytes(file, start + len(chunk), min(_STEP, size - start - len(chunk)))
        if not more:
            break
        chunk += more
    return chunk


def split_lines(chunk: bytes, start: int, longest: int) -> tuple[list[Line], list[Skipped]]:
    """The complete lines of a chunk; what follows the last line ending is left."""
    lines: list[Line] = []
    skipped: list[Skipped] = []
    begin = 0
    # `find` is several times faster than `split` on long lines.
    while (end := chunk.find(b"\n", begin)) >= 0:
        content = chunk[begin:end]
        if len(content) > longest:
            skipped.append(_too_long(start + begin))
        elif content and not content.isspace():
            lines.append(Line(start + begin, content))
        begin = end + 1
    return lines, skipped


def _past_long_line(file: BinaryIO, start: int, state: os.stat_result) -> Stretch:
    at = start
    while part := _bytes(file, at, min(_STEP, state.st_size - at)):
        end = part.find(b"\n")
        if end >= 0:
            at += end + 1
            mark = _mark(file, at, state.st_ino)
            return Stretch((), (_too_long(start),), mark, restarted=start == 0, done=at >= state.st_size)
        at += len(part)
    return Stretch((), (), _mark(file, start, state.st_ino), restarted=start == 0, done=True)


def _too_long(at: int) -> Skipped:
    return Skipped("line too long", Line(at, b"").where)


def _is_object(line: bytes) -> bool:
    """Whether a line without an ending is a complete JSON object, which nothing that follows could change."""
    if not line.rstrip().endswith(b"}"):
        return False
    try:
        msgspec.json.decode(line, type=msgspec.Raw)
    except (ValueError, RecursionError):
        return False
    return line.lstrip().startswith(b"{")


def _resumed(file: BinaryIO, cursor: str, state: os.stat_result) -> int:
    """The byte to continue from: the cursor's if this is still the same file, otherwise the first."""
    reached, _, _ = cursor.partition(":")
    # A stored cursor may hold anything: a number with more digits than this is not a file position.
    offset = int(reached) if reached.isascii() and reached.isdecimal() and len(reached) < 19 else 0
    same = 0 < offset <= state.st_size and cursor == _mark(file, offset, state.st_ino)
    return offset if same else 0


def _mark(file: BinaryIO, offset: int, inode: int) -> str:
    head = zlib.crc32(_bytes(file, 0, min(_PRINT, offset)))
    tail = zlib.crc32(_bytes(file, max(0, offset - _PRINT), min(_PRINT, offset)))
    return f"{offset}:{inode}:{head:08x}{tail:08x}"


def _bytes(file: BinaryIO, start: int, count: int) -> bytes:
    file.seek(start)
    return file.read(count)


def _read_packed(file: BinaryIO, cursor: str, limit: int) -> Stretch:
    state = os.fstat(file.fileno())
    whose = f"{state.st_ino}-{state.st_size}"
    reached, _, cursor_file = cursor.partition(":")
    start = int(reached) if cursor_file == whose and reached.isascii() and reached.isdecimal() else 0
    chunk, at_end, trouble = _unpacked_chunk(file, start, max(limit, STRETCH_LEAST) if start else limit)
    lines, skipped = split_lines(chunk, start, LONGEST)
    whole = chunk.rfind(b"\n") + 1
    if at_end and not trouble and chunk[whole:].strip():
        lines.append(Line(start + whole, chunk[whole:]))
        whole = len(chunk)
    skipped += [Skipped(trouble, Line(start + whole, b"").where)] if trouble else []
    behind = f"{start + whole}:{whose}"
    return Stretch(tuple(lines), tuple(skipped), behind, restarted=start == 0, done=at_end)


def _unpacked_chunk(file: BinaryIO, start: int, limit: int) -> tuple[bytes, bool, str]:
    """Unpacked bytes from a position on, whether that is all, and why no more could be unpacked."""
    from holdfast.harnesses.zstd import ZstdError, ZstdFile  # noqa: PLC0415

    chunk = bytearray()
    try:
        with ZstdFile(file) as stream:
            stream.seek(start)
            while len(chunk) < limit or b"\n" not in chunk:
                # `read` would lose what it has when the file breaks off.
                part = stream.read1(_UNPACKING_STEP)
                chunk += part
                if not part:
                    return bytes(chunk), True, ""
                if len(chunk) > LONGEST + limit and b"\n" not in chunk:
                    # No harness writes such a file, and a small one may unpack to a huge one.
                    return b"", True, "line too long"
    except EOFError:
        return bytes(chunk), True, ""  # It breaks off; what stands before counts.
    except (ZstdError, OSError) as error:
        return bytes(chunk), True, f"cannot be unpacked: {error}"
    return bytes(chunk), False, ""
