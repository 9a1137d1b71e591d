"""OpenClaw, and pi on which it is built, as the rest of Holdfast sees them.

Both keep a session as a file of JSON lines, newer versions of OpenClaw in a database; `transcript` reads what
they tell, `logs` the records themselves. Hooks and setup are not here yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from holdfast.core.events import Event
from holdfast.core.pressure import AutoCompact
from holdfast.core.records import Log, Record
from holdfast.core.told import NOTHING_KEPT, Kept
from holdfast.harnesses.base import Batch, Extent, FoundLog, LogReader
from holdfast.harnesses.openclaw import logs, transcript


class OpenClaw:
    """The contract of a reader, kept for OpenClaw."""

    name: str = "openclaw"
    title: str = "OpenClaw"
    kept: Kept = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ("AGENTS.md",)
    dated_sessions: str = ""
    log_formats: tuple[str, ...] = logs.FORMATS

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        state = Path(environment.get("OPENCLAW_STATE_DIR") or home / ".openclaw")
        pi = Path(environment.get("PI_CODING_AGENT_DIR") or home / ".pi" / "agent")
        return state / "agents", pi / "sessions"

    def transcripts(self, folder: Path) -> Iterator[Path]:
        return transcript.transcripts(folder)

    def extent(self, path: Path) -> Extent | None:
        return transcript.extent(path)

    def session_of(self, path: Path) -> str:
        return transcript.session_of(path)

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a subagent is a session of its own here, with its own key, and is read as one."""
        return ()

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a fork begins with a copy of its parent's records."""
        return ()

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_transcript(path, session, cursor, limit)

    def log_sources(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        agents, pi = self.transcript_roots(home, environment)
        return agents / "main" / "agent" / transcript.DATABASE, agents / "main" / "sessions", pi

    def find_logs(self, source: Path, log_format: str) -> tuple[FoundLog, ...]:
        return logs.find_logs(source, log_format)

    def read_log(self, found: FoundLog) -> Log:
        return logs.read_log(found)

    def events_of(self, session: str, record: Record) -> tuple[Event, ...]:
        return transcript.events_of(session, record)

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - nothing tells
        """Nobody: neither the environment nor a call says which session it comes from."""
        return ""

    def call_id(self, meta: Mapping[str, object]) -> str:  # noqa: ARG002 - the same for every call
        return ""

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:  # noqa: ARG002 - no hook of theirs reaches us
        """As both do where nobody set anything else: so many tokens are left to the answer."""
        return AutoCompact(margin=16_384)


HARNESS: LogReader = OpenClaw()
