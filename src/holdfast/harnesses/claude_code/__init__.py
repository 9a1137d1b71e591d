"""Claude Code, as the rest of Holdfast sees it.

`hooks` (hook events and replies), `transcript` (records) and `setup` (what to install) fill the contract;
here are the facts that need no module.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from holdfast.core.brief.brief_input import NOTHING_KEPT, KeptByHarness
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Harness, Opening, Way
from holdfast.harnesses.claude_code import hooks, plugin_folder, setup, transcript
from holdfast.harnesses.fields import text


class ClaudeCode(setup.Installation):
    """The harness contract for Claude Code."""

    name: str = "claude-code"
    title: str = "Claude Code"
    # It gives its model the content of the last five changed files again, but does not say that they changed.
    kept_by_harness: KeptByHarness = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ("CLAUDE.md",)
    dated_sessions: str = ".claude/sessions"
    own_arguments: tuple[str, ...] = ()
    program: str = "claude"
    recorded_with: str = "2.1.325"
    hook_variables: tuple[str, ...] = hooks.HOOK_VARIABLES
    rarely_answered: tuple[str, ...] = hooks.RARELY_ANSWERED
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = True
    takes_text: bool = True

    parse_hook = staticmethod(hooks.parse_hook)
    parse_status = staticmethod(hooks.parse_status)
    render_reply = staticmethod(hooks.render_reply)
    answer_size = staticmethod(hooks.answer_size)
    self_test_events = staticmethod(hook_payload.self_test_events)
    session_end_event = staticmethod(hook_payload.session_end_event)
    transcripts = staticmethod(transcript.transcripts)
    session_of = staticmethod(transcript.session_of)
    subagent_transcripts = staticmethod(transcript.subagent_transcripts)
    read_transcript = staticmethod(transcript.read_transcript)
    read_subagent = staticmethod(transcript.read_subagent)
    auto_compact = staticmethod(setup.auto_compact)
    plugin = staticmethod(plugin_folder.plugin)
    install_commands = staticmethod(plugin_folder.install_commands)

    def has_plugin(self, home: Path) -> bool:
        return plugin_folder.is_turned_on(self.settings_file(home))

    def command_line(self, way: Way, words: Sequence[str], text: str) -> tuple[str, ...]:
        prompt_options = ("--append-system-prompt", text) if text else ()
        match way:
            case Way.RUN:
                return (*prompt_options, *words)
            case Way.EXEC:
                return ("--print", *prompt_options, *words)
            case Way.RESUME:
                return (*prompt_options, *(("--resume", *words) if words else ("--continue",)))

    def opening(self, prompt: str) -> Opening:
        return Opening((self.program, prompt), (self.program, "--print", prompt))

    def is_shared(self, command: Sequence[str]) -> bool:  # noqa: ARG002 - whatever it was started as
        return False

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        moved = environment.get("CLAUDE_CONFIG_DIR")
        folders = (home / ".claude", *((Path(moved),) if moved else ()))
        return tuple(folder / "projects" for folder in folders)

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a fork begins with a copy of its parent's records."""
        return ()

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - calls do not name their session
        return environment.get("CLAUDE_CODE_SESSION_ID", "")

    def call_id(self, meta: Mapping[str, object]) -> str:
        return text(meta, "claudecode/toolUseId")


HARNESS: Harness = ClaudeCode()
