"""Team memory: hints that a repository gives to everyone who works in it, labelled as the repository's.

Read in place and never written: `TEAM_MEMORY.md` and `team-memory/*.md` at the top of the worktree.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from holdfast.core.text.strings import one_line, query_terms, shortened
from holdfast.errors import PathRefused
from holdfast.files import worktree
from holdfast.lazy_dataclass import dataclass

FILE: Final = "TEAM_MEMORY.md"
FOLDER: Final = "team-memory"
ENTRY_CHARS: Final = 200


@dataclass(frozen=True, slots=True)
class TeamEntry:
    """One section of a team memory file."""

    path: str
    title: str
    text: str


def entries(root: Path) -> list[TeamEntry]:
    """Everything that the team wrote down; a file that cannot be read is left out."""
    try:
        paths = (FILE, *(f"{FOLDER}/{name}" for name in worktree.listed(root, FOLDER)))
    except PathRefused:
        paths = (FILE,)
    return [entry for path in paths for entry in _of_file(root, path)]


def suggested(root: Path, about: str, limit: int) -> list[TeamEntry]:
    """The entries that share most words with what the work is about."""
    query_words = set(query_terms(about.lower(), 40).split())
    scored = [(len(query_words & _words(entry)), entry) for entry in entries(root)]
    best = sorted((pair for pair in scored if pair[0]), key=lambda pair: -pair[0])
    return [entry for _, entry in best[:limit]]


def _words(entry: TeamEntry) -> set[str]:
    return set(query_terms(f"{entry.title} {entry.text}".lower(), 400).split())


def _of_file(root: Path, path: str) -> Iterator[TeamEntry]:
    try:
        raw = worktree.read(root, path)
    except PathRefused:
        return
    title, lines = path, list[str]()
    for line in (*(raw or b"").decode("utf-8", "replace").splitlines(), "# "):
        if not line.startswith("#"):
            lines.append(line)
            continue
        if text := one_line(" ".join(lines)):
            yield TeamEntry(path, title, shortened(text, ENTRY_CHARS))
        title, lines = one_line(line.lstrip("#")) or path, []
