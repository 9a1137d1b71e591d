"""Claude Code, as the rest of Holdfast sees it.

`hooks` (hook events and replies), `transcript` (records) and `setup` (what to install) do the work; this
class puts them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from holdfast.core.brief.brief_input import NOTHING_KEPT, KeptByHarness
from holdfast.core.events.event import Skipped
from holdfast.core.events.install_request import (
    Skill,
    Wanted,
    WantedCopy,
    WantedEntry,
    WantedMember,
    skill_copies,
)
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import (
    Batch,
    Envelope,
    Harness,
    HookEvent,
    Opening,
    SetupBlocker,
    StatusInput,
    Way,
)
from holdfast.harnesses.claude_code import auto_compact, hooks, plugin, setup, status, transcript
from holdfast.harnesses.fields import text


class ClaudeCode:
    """The harness contract for Claude Code.

    `config_dir` is the folder for its files; empty for the usual one. With a `root` its settings are those of
    the project there.
    """

    name: str = "claude-code"
    title: str = "Claude Code"
    # It gives its model the content of the last five changed files again, but does not say that they changed.
    kept: KeptByHarness = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ("CLAUDE.md",)
    dated_sessions: str = ".claude/sessions"
    own_arguments: tuple[str, ...] = ()
    program: str = "claude"
    recorded_with: str = "2.1.325"
    carried: tuple[str, ...] = hooks.CARRIED
    quiet: tuple[str, ...] = hooks.QUIET
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = True
    takes_text: bool = True

    def __init__(self, config_dir: str = "", root: Path | None = None) -> None:
        self._config_dir = config_dir
        self._root = root

    def moved(self, environment: Mapping[str, str]) -> Harness:
        return ClaudeCode(environment.get("CLAUDE_CONFIG_DIR", ""))

    def in_project(self, root: Path) -> Harness:
        return ClaudeCode(self._config_dir, root)

    def _settings(self, home: Path) -> Path:
        if self._root:
            return setup.settings_in_project(self._root)
        return setup.settings_of_user(home, self._config_dir)

    def _servers(self, home: Path) -> Path:
        if self._root:
            return setup.servers_in_project(self._root)
        return setup.servers_of_user(home, self._config_dir)

    def parse_hook(self, payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
        return hooks.parse_hook(payload, envelope)

    def render_reply(self, hook_event: HookEvent, brief: str) -> bytes:
        return hooks.render_reply(hook_event, brief)

    def rehearsal(self, first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
        return hook_payload.rehearsal("UserPromptSubmit", first, second, cwd, prompt)

    def command_line(self, way: Way, words: Sequence[str], text: str) -> tuple[str, ...]:
        prompt_options = ("--append-system-prompt", text) if text else ()
        match way:
            case Way.RUN:
                return (*prompt_options, *words)
            case Way.EXEC:
                return ("--print", *prompt_options, *words)
            case Way.RESUME:
                return (*prompt_options, *(("--resume", *words) if words else ("--continue",)))

    def farewell(self, session: str, transcript: str, cwd: str) -> bytes:
        return hook_payload.farewell(session, transcript, cwd)

    def answer_size(self, answer: str) -> int:
        return hooks.answer_size(answer)

    def is_shared(self, command: Sequence[str]) -> bool:  # noqa: ARG002 - whatever it was started as
        return False

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        moved = environment.get("CLAUDE_CONFIG_DIR")
        folders = (home / ".claude", *((Path(moved),) if moved else ()))
        return tuple(folder / "projects" for folder in folders)

    def transcripts(self, folder: Path) -> Iterator[Path]:
        return transcript.transcripts(folder)

    def session_of(self, path: Path) -> str:
        return transcript.session_of(path)

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:
        return transcript.subagent_transcripts(path)

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a fork begins with a copy of its parent's records."""
        return ()

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_transcript(path, session, cursor, limit)

    def read_subagent(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_subagent(path, session, cursor, limit)

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - calls do not name their session
        return environment.get("CLAUDE_CODE_SESSION_ID", "")

    def call_id(self, meta: Mapping[str, object]) -> str:
        return text(meta, "claudecode/toolUseId")

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:
        return auto_compact.auto_compact(home, environment)

    def parse_status(self, payload: bytes) -> StatusInput | Skipped:
        return status.parse_status(payload)

    def wanted_mid_turn(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        return setup.wanted_mid_turn(hook_command, self._settings(home))

    def wanted_status_line(self, command: str, home: Path) -> tuple[WantedMember, ...]:
        # A project's status line would hide the user's own.
        return () if self._root else setup.wanted_status_line(command, self._settings(home))

    def present(self, home: Path, search_path: str) -> bool:
        return setup.present(home, search_path, self._config_dir)

    def opening(self, prompt: str) -> Opening:
        return Opening((self.program, prompt), (self.program, "--print", prompt))

    def hurdle(self, home: Path, hook_command: str) -> SetupBlocker | None:  # noqa: ARG002 - it needs no approval
        return None

    def wanted(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        return setup.wanted(hook_command, self._settings(home))

    def wanted_tools(self, relay: Sequence[str], home: Path) -> tuple[Wanted, ...]:
        return setup.wanted_tools(relay, self._servers(home))

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        return () if self._root else setup.guidance(home, skills, self._config_dir)

    def plugin(
        self, hook_command: str, relay: Sequence[str], skills: Sequence[Skill], version: str
    ) -> tuple[WantedCopy, ...]:
        copies = skill_copies(skills, PurePath("skills"))
        return plugin.plugin(setup.wanted(hook_command, Path()), relay, copies, version)


HARNESS: Harness = ClaudeCode()
