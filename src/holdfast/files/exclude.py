"""What git is told to leave alone in one repository, without a word in any file that is tracked.

Every line of ours stands in the manifest before it stands in the file, so that `unsetup` can take it out
again and leave the bytes that were there.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from holdfast.files import atomic
from holdfast.files.manifest import ExcludedLine, Manifest, manifest_bytes, manifest_path, read_manifest
from holdfast.files.together import locked


def add(home: Path, exclude: Path, pattern: str) -> bool:
    """Have git leave this alone in all worktrees; whether that was not so before."""
    with locked(home / "run" / "manifest"):
        before = atomic.read(exclude)
        if before is not None and pattern.encode() in before.splitlines():
            return False
        cut = before is not None and before != b"" and not before.endswith(b"\n")
        line = ExcludedLine(exclude, pattern, before is None, cut, atomic.missing_folders(exclude))
        _note(home, line)
        atomic.write(exclude, (before or b"") + (b"\n" if cut else b"") + pattern.encode() + b"\n")
    return True


def without(content: bytes | None, line: ExcludedLine) -> bytes | None:
    """The file as it would be if the line had never been added; None for one that we made for it."""
    lines = (content or b"").splitlines(keepends=True)
    ours = [nth for nth, one in enumerate(lines) if one.rstrip(b"\r\n") == line.pattern.encode()]
    if not ours:
        return content
    last = ours[0] == len(lines) - 1
    del lines[ours[0]]
    left = b"".join(lines)
    if line.cut and last:
        left = left.removesuffix(b"\n")
    return None if line.made and not left else left


def _note(home: Path, line: ExcludedLine) -> None:
    manifest = read_manifest(home)
    others = tuple(one for one in manifest.excluded if (one.path, one.pattern) != (line.path, line.pattern))
    noted: Manifest = replace(manifest, excluded=(*others, line))
    atomic.write(manifest_path(home), manifest_bytes(noted) or b"")
