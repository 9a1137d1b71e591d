"""The spool: letters that hooks left while no daemon answered, oldest first.

Hooks write it, the daemon empties it. A letter leaves the spool only after what it says is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from holdfast.daemon import wire

ENDING = ".letter"


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
