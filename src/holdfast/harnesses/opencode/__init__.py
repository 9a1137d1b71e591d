"""OpenCode, as the rest of Holdfast sees it.

`hooks` (hook events and replies), `transcript` (its database) and `setup` (what to install) fill the
contract; here are the facts that need no module. `plugin/` runs in OpenCode itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from holdfast.core.brief.brief_input import NOTHING_KEPT, KeptByHarness
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Harness, Opening
from holdfast.harnesses.opencode import hooks, plugin_folder, setup, transcript

_COMMANDS: Final = frozenset({"run", "serve", "web", "acp", "attach"})
_SERVERS: Final = frozenset({"serve", "web", "acp"})


class OpenCode(setup.Installation):
    """The harness contract for OpenCode."""

    name: str = "opencode"
    title: str = "OpenCode"
    kept_by_harness: KeptByHarness = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ("AGENTS.md",)
    dated_sessions: str = ""
    own_arguments: tuple[str, ...] = ()
    program: str = "opencode"
    recorded_with: str = "1.18.33"
    hook_variables: tuple[str, ...] = hooks.HOOK_VARIABLES
    rarely_answered: tuple[str, ...] = ()
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = False

    parse_hook = staticmethod(hooks.parse_hook)
    render_reply = staticmethod(hooks.render_reply)
    answer_size = staticmethod(hook_payload.characters)
    self_test_events = staticmethod(hook_payload.self_test_events)
    transcripts = staticmethod(transcript.transcripts)
    extent = staticmethod(transcript.extent)
    session_of = staticmethod(transcript.session_of)
    earlier_transcripts = staticmethod(transcript.earlier_transcripts)
    read_transcript = staticmethod(transcript.read_transcript)
    # A subagent is a session in the database, with itself as the main agent.
    read_subagent = staticmethod(transcript.read_transcript)
    auto_compact = staticmethod(setup.auto_compact)
    plugin = staticmethod(plugin_folder.plugin)
    install_commands = staticmethod(plugin_folder.install_commands)

    def has_plugin(self, home: Path) -> bool:
        return plugin_folder.is_named(setup.plugins_in(self._in(home)))

    def opening(self, prompt: str) -> Opening:
        return Opening((self.program, "--prompt", prompt), (self.program, "run", prompt))

    def is_shared(self, command: Sequence[str]) -> bool:
        """A server has many sessions; its terminal has one at a time."""
        return next((word for word in command[1:] if word in _COMMANDS), "") in _SERVERS

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        usual = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
        database = Path(environment.get("OPENCODE_DB", ""))
        return (usual, database.parent) if database.is_absolute() else (usual,)

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: subagents are in the same database and are read with their session."""
        return ()

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - nothing tells
        """Unknown here: the plugin sends a hook event with the session just before the call."""
        return ""

    def call_id(self, meta: Mapping[str, object]) -> str:  # noqa: ARG002 - the same for every call
        return ""


HARNESS: Harness = OpenCode()
