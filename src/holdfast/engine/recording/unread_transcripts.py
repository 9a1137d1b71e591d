"""Unread transcripts: finds sessions that no hook reported, by their transcripts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from holdfast.core.events.world import Project
from holdfast.engine.repository import projects
from holdfast.harnesses.base import Reader
from holdfast.lazy_dataclass import dataclass
from holdfast.stores.base import Store

HEAD_BYTES: Final = 1 << 18
"""How much of a transcript is read to find its session's directory."""


@dataclass(frozen=True, slots=True)
class UnreadTranscript:
    """A session that no hook reported, its transcript and its directory."""

    key: str
    path: Path
    cwd: str


def unheard(
    store: Store, reader: Reader, project: Project, since: int, home: Path, environment: Mapping[str, str]
) -> Iterator[UnreadTranscript]:
    """The sessions of this worktree whose transcripts were written since a time."""
    for root in reader.transcript_roots(home, environment):
        for path in reader.transcripts(root):
            if not _written_since(path, since):
                continue
            key = reader.session_of(path)
            cwd = reader.read_transcript(path, key, "", HEAD_BYTES).cwd if key else ""
            if cwd and projects.resolve(store, cwd).project.worktree_id == project.worktree_id:
                yield UnreadTranscript(key, path, cwd)


def _written_since(path: Path, since: int) -> bool:
    try:
        return path.stat().st_mtime_ns >= since * 1_000_000
    except OSError:
        return False
