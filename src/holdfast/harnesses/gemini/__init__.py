"""Gemini CLI, as the rest of Holdfast sees it.

`hooks` (hook events and replies), `transcript` (records) and `setup` (what to install) fill the contract;
here are the facts that need no module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.core.brief.brief_input import NOTHING_KEPT, KeptByHarness
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Harness, Opening, Way
from holdfast.harnesses.gemini import hooks, plugin_folder, setup, transcript


class Gemini(setup.Installation):
    """The harness contract for Gemini CLI."""

    name: str = "gemini"
    title: str = "Gemini CLI"
    kept_by_harness: KeptByHarness = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ("GEMINI.md",)
    dated_sessions: str = ""
    own_arguments: tuple[str, ...] = ("wait_for_previous",)
    program: str = "gemini"
    recorded_with: str = "0.61.0"
    hook_variables: tuple[str, ...] = hooks.HOOK_VARIABLES
    rarely_answered: tuple[str, ...] = hooks.RARELY_ANSWERED
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = True
    takes_text: bool = False

    parse_hook = staticmethod(hooks.parse_hook)
    render_reply = staticmethod(hooks.render_reply)
    answer_size = staticmethod(hook_payload.characters)
    self_test_events = staticmethod(hooks.self_test_events)
    session_end_event = staticmethod(hook_payload.session_end_event)
    transcripts = staticmethod(transcript.transcripts)
    session_of = staticmethod(transcript.session_of)
    subagent_transcripts = staticmethod(transcript.subagent_transcripts)
    read_transcript = staticmethod(transcript.read_transcript)
    read_subagent = staticmethod(transcript.read_subagent)
    auto_compact = staticmethod(setup.auto_compact)
    plugin = staticmethod(plugin_folder.plugin)
    install_commands = staticmethod(plugin_folder.install_commands)

    def command_line(self, way: Way, words: Sequence[str], text: str) -> tuple[str, ...]:  # noqa: ARG002 - it has no place for one
        match way:
            case Way.RUN:
                return tuple(words)
            case Way.EXEC:
                return ("--prompt", *words)
            case Way.RESUME:
                return ("--resume", *(words or ("latest",)))

    def has_plugin(self, home: Path) -> bool:
        return plugin_folder.is_installed(self._in(home))

    def opening(self, prompt: str) -> Opening:
        return Opening((self.program, "--prompt-interactive", prompt), (self.program, "--prompt", prompt))

    def is_shared(self, command: Sequence[str]) -> bool:  # noqa: ARG002 - whatever it was started as
        return False

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        return (setup.folder_in(Path(environment.get("GEMINI_CLI_HOME") or home)) / "tmp",)

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a session continues in its own file."""
        return ()

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - calls do not name their session
        return environment.get("GEMINI_SESSION_ID", "")

    def call_id(self, meta: Mapping[str, object]) -> str:  # noqa: ARG002 - the same for every call
        return ""


HARNESS: Harness = Gemini()
