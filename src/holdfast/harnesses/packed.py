"""Packed: unpack what a harness compressed with zstd, a record or a whole file of lines, while reading it.

A packed file never grows, so its cursor is a position in the unpacked text. Seeking is not possible: what
comes before is unpacked again and thrown away, so each read returns more than asked for.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import BinaryIO, Final

from holdfast.core.events.event import Skipped
from holdfast.harnesses import lines
from holdfast.harnesses.lines import LONGEST, Line, Stretch, opened, split_lines

ENDING: Final = ".zst"
STRETCH_LEAST: Final = 8 << 20
_STEP: Final = 1 << 20


def read_lines(path: Path, cursor: str, limit: int) -> Stretch:
    """About `limit` bytes of complete lines after the cursor, whether the file is packed or not."""
    if path.suffix != ENDING:
        return lines.read_lines(path, cursor, limit)
    try:
        with opened(path) as file:
            return _read(file, cursor, limit)
    except FileNotFoundError:
        return Stretch((), (), cursor, restarted=False, done=True)
    except OSError as error:
        reason = Skipped(f"cannot be opened: {error.strerror or error}", str(path))
        return Stretch((), (reason,), cursor, restarted=False, done=True)


def unpacked(packed: bytes, largest: int) -> bytes:
    """The unpacked bytes; empty if they cannot be unpacked or exceed `largest`."""
    # Imported here: few harnesses pack anything, and then not much.
    from zstandard import ZstdDecompressor, ZstdError  # noqa: PLC0415

    try:
        return ZstdDecompressor().decompress(packed, max_output_size=largest)
    except ZstdError:
        return b""


def _read(file: BinaryIO, cursor: str, limit: int) -> Stretch:
    state = os.fstat(file.fileno())
    whose = f"{state.st_ino}-{state.st_size}"
    reached, _, cursor_file = cursor.partition(":")
    start = int(reached) if cursor_file == whose and reached.isascii() and reached.isdecimal() else 0
    chunk, at_end, trouble = _chunk(file, start, max(limit, STRETCH_LEAST) if start else limit)
    lines, skipped = split_lines(chunk, start, LONGEST)
    whole = chunk.rfind(b"\n") + 1
    if at_end and not trouble and chunk[whole:].strip():
        lines.append(Line(start + whole, chunk[whole:]))
        whole = len(chunk)
    skipped += [Skipped(trouble, Line(start + whole, b"").where)] if trouble else []
    behind = f"{start + whole}:{whose}"
    return Stretch(tuple(lines), tuple(skipped), behind, restarted=start == 0, done=at_end)


def _chunk(file: BinaryIO, start: int, limit: int) -> tuple[bytes, bool, str]:
    """Unpacked bytes from a position on, whether that is all, and why no more could be unpacked."""
    from zstandard import ZstdDecompressor, ZstdError  # noqa: PLC0415

    chunk = bytearray()
    try:
        with ZstdDecompressor().stream_reader(file, read_across_frames=True, closefd=False) as stream:
            stream.seek(start)
            while len(chunk) < limit or b"\n" not in chunk:
                part = stream.read(_STEP)
                chunk += part
                if not part:
                    return bytes(chunk), True, ""
                if len(chunk) > LONGEST + limit and b"\n" not in chunk:
                    # No harness writes such a file, and a small one may unpack to a huge one.
                    return b"", True, "line too long"
    except (ZstdError, OSError) as error:
        return bytes(chunk), True, f"cannot be unpacked: {error}"
    return bytes(chunk), False, ""
