"""OpenClaw, and pi on which it is built, as the rest of Holdfast sees them.

Both keep a session as a file of JSON lines, which `transcript` reads. Hooks, setup and the database in which
newer versions of OpenClaw keep their sessions are not here yet.
"""

from __future__ import annotations

from pathlib import Path

from holdfast.core.told import NOTHING_KEPT, Kept
from holdfast.harnesses.base import Batch, Reader
from holdfast.harnesses.openclaw import transcript


class OpenClaw:
    """The contract of a reader, kept for OpenClaw."""

    name: str = "openclaw"
    title: str = "OpenClaw"
    kept: Kept = NOTHING_KEPT

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a subagent is a session of its own here, with its own key, and is read as one."""
        return ()

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a fork begins with a copy of its parent's records."""
        return ()

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_transcript(path, session, cursor, limit)


HARNESS: Reader = OpenClaw()
