"""What git is told to leave alone in one repository, without a word in any file that is tracked."""

from __future__ import annotations

from pathlib import Path

from holdfast.files import atomic


def add(exclude: Path, pattern: str) -> bool:
    """Have git leave this alone in all worktrees; whether that was not so before."""
    before = atomic.read(exclude) or b""
    if pattern.encode() in before.splitlines():
        return False
    gap = b"" if not before or before.endswith(b"\n") else b"\n"
    atomic.write(exclude, before + gap + pattern.encode() + b"\n")
    return True


def take_back(exclude: Path, pattern: str) -> bool:
    """Undo `add`; whether there was anything to undo. Every other line stays as it is."""
    before = atomic.read(exclude) or b""
    lines = before.splitlines(keepends=True)
    kept = [line for line in lines if line.rstrip(b"\r\n") != pattern.encode()]
    if len(kept) == len(lines):
        return False
    atomic.write(exclude, b"".join(kept))
    return True
