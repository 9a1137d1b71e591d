"""Codex, as the rest of Holdfast sees it.

`hooks` (hook events and replies), `transcript` (records) and `setup` (what to install) fill the contract;
here are the facts that need no module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from holdfast.core.brief.brief_input import KeptByHarness
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Harness, Opening, SetupBlocker, Way
from holdfast.harnesses.codex import hooks, plugin_folder, setup, transcript
from holdfast.harnesses.fields import text


class Codex(setup.Installation):
    """The harness contract for Codex."""

    name: str = "codex"
    title: str = "Codex"
    kept_by_harness: KeptByHarness = KeptByHarness(prompts=True)
    instruction_files: tuple[str, ...] = ("AGENTS.md",)
    dated_sessions: str = ""
    own_arguments: tuple[str, ...] = ()
    program: str = "codex"
    recorded_with: str = "0.166.0"
    hook_variables: tuple[str, ...] = hooks.HOOK_VARIABLES
    rarely_answered: tuple[str, ...] = hooks.RARELY_ANSWERED
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = True
    takes_text: bool = True

    parse_hook = staticmethod(hooks.parse_hook)
    render_reply = staticmethod(hooks.render_reply)
    answer_size = staticmethod(hooks.answer_size)
    self_test_events = staticmethod(hook_payload.self_test_events)
    session_end_event = staticmethod(hook_payload.session_end_event)
    transcripts = staticmethod(transcript.transcripts)
    session_of = staticmethod(transcript.session_of)
    subagent_transcripts = staticmethod(transcript.subagent_transcripts)
    earlier_transcripts = staticmethod(transcript.earlier_transcripts)
    read_transcript = staticmethod(transcript.read_transcript)
    read_subagent = staticmethod(transcript.read_subagent)
    auto_compact = staticmethod(setup.auto_compact)
    plugin = staticmethod(plugin_folder.plugin)
    install_commands = staticmethod(plugin_folder.install_commands)

    def command_line(self, way: Way, words: Sequence[str], text: str) -> tuple[str, ...]:
        # A value that is valid TOML is read as TOML, and JSON strings are.
        prompt_options = (
            ("-c", f"developer_instructions={msgspec.json.encode(text).decode()}") if text else ()
        )
        match way:
            case Way.RUN:
                return (*prompt_options, *words)
            case Way.EXEC:
                return (*prompt_options, "exec", *words)
            case Way.RESUME:
                return (*prompt_options, "resume", *(words or ("--last",)))

    def setup_blocker(self, home: Path, hook_command: str) -> SetupBlocker | None:
        blocker = super().setup_blocker(home, hook_command)
        if blocker or setup.has_hooks(self._settings(home), hook_command):
            return blocker
        return plugin_folder.unreviewed(self._in(home) / "config.toml")

    def has_plugin(self, home: Path) -> bool:
        return plugin_folder.is_turned_on(self._in(home) / "config.toml")

    def opening(self, prompt: str) -> Opening:
        return Opening((self.program, prompt), (self.program, "exec", prompt))

    def is_shared(self, command: Sequence[str]) -> bool:
        # One background process serves its terminal and its editors, and keeps running when they close.
        return "app-server" in command

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        folder = Path(environment.get("CODEX_HOME") or home / ".codex")
        return folder / "sessions", folder / "archived_sessions"

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - the call alone names it
        # A subagent has its own thread; its session is that of the agent which started it.
        return text(meta, "sessionId", "threadId")

    def call_id(self, meta: Mapping[str, object]) -> str:
        return text(meta, "callId")


HARNESS: Harness = Codex()
