"""The spool: letters that hooks left while no daemon answered, oldest first.

Hooks write it, the daemon empties it. A letter leaves the spool only after what it says is kept.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from holdfast.daemon import wire

ENDING = ".letter"
HALF_WRITTEN = ".part"


def letters(home: Path) -> Iterator[tuple[Path, wire.Request | None]]:
    """Each spooled letter with its file; None for one that cannot be read."""
    spool = home / "spool"
    if not spool.is_dir():
        return
    for path in sorted(spool.glob(f"*{ENDING}")):
        try:
            received = path.read_bytes()
        except OSError:
            continue
        yield path, wire.parse(received)


def sweep(home: Path, before: int) -> None:
    """Remove what hooks that were killed left half-written, if it is from before then: nobody reads it."""
    for half in (home / "spool").glob(f"*{HALF_WRITTEN}"):
        with contextlib.suppress(FileNotFoundError):  # its hook has just finished it
            if half.stat().st_mtime * 1000 < before:
                half.unlink()


def waiting(home: Path) -> int:
    """How many letters wait."""
    spool = home / "spool"
    return sum(1 for _ in spool.glob(f"*{ENDING}")) if spool.is_dir() else 0


def count(home: Path, name: str) -> int:
    """A number that hooks keep beside the letters: how many were `dropped`, how many `unreadable`."""
    try:
        return int((home / "spool" / name).read_text(encoding="ascii").strip() or 0)
    except (OSError, ValueError):
        return 0
