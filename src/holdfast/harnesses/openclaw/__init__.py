"""OpenClaw, and pi on which it is built, as the rest of Holdfast sees them.

Both store a session as a file of JSON lines, newer versions of OpenClaw in a database; `transcript` reads
them as events, `logs` as records. `hooks` parses the hook events of Holdfast's plugin (`plugin/`), which runs
in OpenClaw's gateway, and `setup` knows how to install it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.core.brief.brief_input import NOTHING_KEPT, KeptByHarness
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Opening
from holdfast.harnesses.openclaw import hooks, logs, setup, transcript


class OpenClaw(setup.Installation):
    """The harness contract for OpenClaw; and that of a log reader, for pi too."""

    name: str = "openclaw"
    title: str = "OpenClaw"
    kept_by_harness: KeptByHarness = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ("AGENTS.md",)
    dated_sessions: str = ""
    own_arguments: tuple[str, ...] = ()
    program: str = "openclaw"
    recorded_with: str = "2026.9.6"
    hook_variables: tuple[str, ...] = hooks.HOOK_VARIABLES
    rarely_answered: tuple[str, ...] = ()
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = False
    log_formats: tuple[str, ...] = logs.FORMATS

    parse_hook = staticmethod(hooks.parse_hook)
    render_reply = staticmethod(hooks.render_reply)
    answer_size = staticmethod(hook_payload.characters)
    self_test_events = staticmethod(hook_payload.self_test_events)
    transcripts = staticmethod(transcript.transcripts)
    extent = staticmethod(transcript.extent)
    session_of = staticmethod(transcript.session_of)
    earlier_transcripts = staticmethod(transcript.earlier_transcripts)
    read_transcript = staticmethod(transcript.read_transcript)
    # A subagent is a session here, with itself as the main agent.
    read_subagent = staticmethod(transcript.read_transcript)
    find_logs = staticmethod(logs.find_logs)
    read_log = staticmethod(logs.read_log)
    events_of = staticmethod(transcript.events_of)

    def opening(self, prompt: str) -> Opening:
        return Opening(
            (self.program, "tui", "--message", prompt), (self.program, "agent", "--message", prompt)
        )

    def is_shared(self, command: Sequence[str]) -> bool:  # noqa: ARG002 - whatever it was started as
        """Always: the gateway serves all sessions of all agents."""
        return True

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        pi = Path(environment.get("PI_CODING_AGENT_DIR") or home / ".pi" / "agent")
        state = Path(environment.get("OPENCLAW_STATE_DIR") or self.folder_in(home))
        return state / "agents", pi / "sessions"

    def log_sources(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        agents, pi = self.transcript_roots(home, environment)
        return agents / "main" / "agent" / transcript.DATABASE, agents / "main" / "sessions", pi

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a subagent is a separate session here, with its own key, and is read as one."""
        return ()

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - nothing tells
        """Unknown here: the plugin sends a hook event with the session just before the call."""
        return ""

    def call_id(self, meta: Mapping[str, object]) -> str:  # noqa: ARG002 - the same for every call
        return ""

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:  # noqa: ARG002 - nobody sets it
        """The default of both: a fixed number of tokens is reserved for the answer."""
        return AutoCompact(margin=16_384)


HARNESS: OpenClaw = OpenClaw()
