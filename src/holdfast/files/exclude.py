"""What git ignores in one repository, without a change to any tracked file.

Every line that Holdfast adds is in the manifest before it is in the file, so that `unsetup` can remove it and
restore the original bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from holdfast.files import atomic
from holdfast.files.manifest import ExcludedLine, Manifest, manifest_bytes, manifest_path, read_manifest
from holdfast.files.together import locked
from holdfast.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A pattern for git to ignore, and the file of exclusions that holds it."""

    file: Path
    pattern: str


@dataclass(frozen=True, slots=True)
class Exclude:
    """A file of exclusions before and after the change, and a record of each new line."""

    file: Path
    before: bytes | None
    after: bytes | None
    lines: tuple[ExcludedLine, ...]


def add(home: Path, exclude: Path, pattern: str) -> bool:
    """Make git ignore this in all worktrees; returns whether it did not before."""
    with locked(home / "run" / "manifest"):
        after, lines = with_patterns(exclude, atomic.read(exclude), [pattern])
        for line in lines:
            _note(home, line)
            atomic.write(exclude, after or b"")
    return bool(lines)


def with_patterns(
    exclude: Path, content: bytes | None, patterns: Iterable[str]
) -> tuple[bytes | None, tuple[ExcludedLine, ...]]:
    """The file with these patterns in it, and a record of each new line."""
    lines: list[ExcludedLine] = []
    for pattern in patterns:
        if content is not None and pattern.encode() in content.splitlines():
            continue
        cut = bool(content) and not (content or b"").endswith(b"\n")
        folders = atomic.missing_folders(exclude) if content is None else ()
        lines.append(ExcludedLine(exclude, pattern, content is None, cut, folders))
        content = (content or b"") + (b"\n" if cut else b"") + pattern.encode() + b"\n"
    return content, tuple(lines)


def planned(exclusions: Iterable[Exclusion]) -> Iterator[Exclude]:
    """Each file of exclusions, as it is and as it would be."""
    patterns: dict[Path, list[str]] = {}
    for one in exclusions:
        patterns.setdefault(one.file, []).append(one.pattern)
    for file, wanted in patterns.items():
        before = atomic.read(file)
        yield Exclude(file, before, *with_patterns(file, before, wanted))


def without(content: bytes | None, line: ExcludedLine) -> bytes | None:
    """The file as if the line had never been added; None if Holdfast created it for the line."""
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
