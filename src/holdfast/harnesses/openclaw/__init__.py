"""OpenClaw, and pi on which it is built, as the rest of Holdfast sees them.

Both store a session as a file of JSON lines, newer versions of OpenClaw in a database; `transcript` reads
them as events, `logs` as records. `hooks` parses the hook events of Holdfast's plugin (`plugin/`), which runs
in OpenClaw's gateway, and `setup` knows how to install it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from holdfast.core.agent_log.records import Log, Record
from holdfast.core.brief.brief_input import NOTHING_KEPT, KeptByHarness
from holdfast.core.events.event import Event, Skipped
from holdfast.core.events.install_request import Skill, Wanted, WantedCopy, WantedEntry, WantedMember
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import (
    Batch,
    Envelope,
    Extent,
    FoundLog,
    Harness,
    HookEvent,
    Opening,
    SetupBlocker,
)
from holdfast.harnesses.openclaw import hooks, logs, settings, setup, transcript


class OpenClaw:
    """The harness contract for OpenClaw; and that of a log reader, for pi too.

    `folder` is the folder for its files; empty for the usual one.
    """

    name: str = "openclaw"
    title: str = "OpenClaw"
    kept: KeptByHarness = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ("AGENTS.md",)
    dated_sessions: str = ""
    own_arguments: tuple[str, ...] = ()
    program: str = "openclaw"
    recorded_with: str = "2026.9.6"
    carried: tuple[str, ...] = hooks.CARRIED
    quiet: tuple[str, ...] = ()
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = False
    log_formats: tuple[str, ...] = logs.FORMATS

    def __init__(self, folder: str = "") -> None:
        self._folder = folder

    def moved(self, environment: Mapping[str, str]) -> Harness:
        return OpenClaw(environment.get("OPENCLAW_STATE_DIR", ""))

    def _in(self, home: Path) -> Path:
        return Path(self._folder) if self._folder else home / ".openclaw"

    def parse_hook(self, payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
        return hooks.parse_hook(payload, envelope)

    def render_reply(self, hook_event: HookEvent, brief: str) -> bytes:
        return hooks.render_reply(hook_event, brief)

    def rehearsal(self, first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
        return hook_payload.rehearsal("UserPromptSubmit", first, second, cwd, prompt)

    def answer_size(self, answer: str) -> int:
        return len(answer)

    def is_shared(self, command: Sequence[str]) -> bool:  # noqa: ARG002 - whatever it was started as
        """Always: the gateway serves all sessions of all agents."""
        return True

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        pi = Path(environment.get("PI_CODING_AGENT_DIR") or home / ".pi" / "agent")
        state = Path(environment.get("OPENCLAW_STATE_DIR") or self._in(home))
        return state / "agents", pi / "sessions"

    def transcripts(self, folder: Path) -> Iterator[Path]:
        return transcript.transcripts(folder)

    def extent(self, path: Path) -> Extent | None:
        return transcript.extent(path)

    def session_of(self, path: Path) -> str:
        return transcript.session_of(path)

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a subagent is a separate session here, with its own key, and is read as one."""
        return ()

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:
        origin = transcript.forked_from(path)
        return (origin,) if origin else ()

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_transcript(path, session, cursor, limit)

    def read_subagent(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        """Read like any other session: a subagent is one here, with itself as the main agent."""
        return transcript.read_transcript(path, session, cursor, limit)

    def log_sources(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        agents, pi = self.transcript_roots(home, environment)
        return agents / "main" / "agent" / transcript.DATABASE, agents / "main" / "sessions", pi

    def find_logs(self, source: Path, log_format: str) -> tuple[FoundLog, ...]:
        return logs.find_logs(source, log_format)

    def read_log(self, log: FoundLog) -> Log:
        return logs.read_log(log)

    def events_of(self, session: str, record: Record) -> tuple[Event, ...]:
        return transcript.events_of(session, record)

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - nothing tells
        """Unknown here: the plugin sends a hook event with the session just before the call."""
        return ""

    def call_id(self, meta: Mapping[str, object]) -> str:  # noqa: ARG002 - the same for every call
        return ""

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:  # noqa: ARG002 - nobody sets it
        """The default of both: a fixed number of tokens is reserved for the answer."""
        return AutoCompact(margin=16_384)

    def present(self, home: Path, search_path: str) -> bool:
        return setup.present(self._in(home), search_path)

    def opening(self, prompt: str) -> Opening:
        return Opening(
            (self.program, "tui", "--message", prompt), (self.program, "agent", "--message", prompt)
        )

    def hurdle(self, home: Path, hook_command: str) -> SetupBlocker | None:  # noqa: ARG002 - it has to do with the plugin alone
        return settings.hurdle(self._in(home))

    def searched(self, home: Path) -> tuple[Path, ...]:
        return settings.searched(self._in(home))

    def wanted(self, hook_command: str, home: Path) -> tuple[WantedEntry | WantedMember, ...]:
        return setup.wanted(hook_command, self._in(home))

    def wanted_plugin(self, holdfast: Path, home: Path) -> tuple[WantedCopy, ...]:
        return setup.wanted_plugin(holdfast, self._in(home))

    def wanted_tools(self, relay: Sequence[str], home: Path) -> tuple[Wanted, ...]:
        return setup.wanted_tools(relay, self._in(home))

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        return setup.guidance(self._in(home), skills)


HARNESS: OpenClaw = OpenClaw()
