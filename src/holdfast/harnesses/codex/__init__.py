"""Codex, as the rest of Holdfast sees it.

Its rollouts can be read: `transcript` does the work. Hooks and setup are not here yet.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.core.told import Kept
from holdfast.harnesses.base import Batch, Reader
from holdfast.harnesses.codex import threads, transcript


class Codex:
    """The contract of a reader, kept for Codex."""

    name: str = "codex"
    title: str = "Codex"
    kept: Kept = Kept(prompts=True)

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:
        return threads.subagent_transcripts(path)

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:
        return tuple(base.path for base in threads.bases(path))

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_transcript(path, session, cursor, limit)


HARNESS: Reader = Codex()
