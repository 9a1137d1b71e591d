"""Codex, as the rest of Holdfast sees it.

`hooks` (hook events and replies), `transcript` (records) and `setup` (what to install) do the work; this
class puts them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from holdfast.core.brief.brief_input import KeptByHarness
from holdfast.core.events.event import Skipped
from holdfast.core.events.install_request import Skill, Wanted, WantedCopy, WantedEntry
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Batch, Envelope, Harness, HookEvent, Opening, SetupBlocker, Way
from holdfast.harnesses.codex import auto_compact, hooks, setup, threads, transcript, trust
from holdfast.harnesses.fields import text
from holdfast.harnesses.lines import files_below


class Codex:
    """The harness contract for Codex.

    `folder` is the folder for its files; empty for the usual one. With a `root` its settings are those of the
    project there.
    """

    name: str = "codex"
    title: str = "Codex"
    kept: KeptByHarness = KeptByHarness(prompts=True)
    instruction_files: tuple[str, ...] = ("AGENTS.md",)
    dated_sessions: str = ""
    own_arguments: tuple[str, ...] = ()
    program: str = "codex"
    recorded_with: str = "0.166.0"
    carried: tuple[str, ...] = hooks.CARRIED
    quiet: tuple[str, ...] = hooks.QUIET
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = True
    takes_text: bool = True

    def __init__(self, folder: str = "", root: Path | None = None) -> None:
        self._folder = folder
        self._root = root

    def moved(self, environment: Mapping[str, str]) -> Harness:
        return Codex(environment.get("CODEX_HOME", ""))

    def in_project(self, root: Path) -> Harness:
        return Codex(self._folder, root)

    def _settings(self, home: Path) -> Path:
        """The folder of the settings: the user's, or one project's."""
        return self._root / ".codex" if self._root else self._in(home)

    def _in(self, home: Path) -> Path:
        return Path(self._folder) if self._folder else home / ".codex"

    def parse_hook(self, payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
        return hooks.parse_hook(payload, envelope)

    def render_reply(self, hook_event: HookEvent, brief: str) -> bytes:
        return hooks.render_reply(hook_event, brief)

    def rehearsal(self, first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
        return hook_payload.rehearsal("UserPromptSubmit", first, second, cwd, prompt)

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

    def farewell(self, session: str, transcript: str, cwd: str) -> bytes:
        return hook_payload.farewell(session, transcript, cwd)

    def answer_size(self, answer: str) -> int:
        return hooks.answer_size(answer)

    def is_shared(self, command: Sequence[str]) -> bool:
        # One background process serves its terminal and its editors, and keeps running when they close.
        return "app-server" in command

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        folder = Path(environment.get("CODEX_HOME") or home / ".codex")
        return folder / "sessions", folder / "archived_sessions"

    def transcripts(self, folder: Path) -> Iterator[Path]:
        return files_below(folder, *threads.ENDINGS)

    def session_of(self, path: Path) -> str:
        return threads.session_of(path)

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:
        return threads.subagent_transcripts(path)

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:
        return tuple(base.path for base in threads.bases(path))

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_transcript(path, session, cursor, limit)

    def read_subagent(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_subagent(path, session, cursor, limit)

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - it is told by the call alone
        # A subagent has its own thread; its session is that of the agent which started it.
        return text(meta, "sessionId", "threadId")

    def call_id(self, meta: Mapping[str, object]) -> str:
        return text(meta, "callId")

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:
        return auto_compact.auto_compact(home, environment)

    def present(self, home: Path, search_path: str) -> bool:
        return setup.present(self._in(home), search_path)

    def opening(self, prompt: str) -> Opening:
        return Opening((self.program, prompt), (self.program, "exec", prompt))

    def hurdle(self, home: Path, hook_command: str) -> SetupBlocker | None:
        config = self._in(home) / "config.toml"
        untrusted = trust.untrusted(config, self._root) if self._root else None
        return untrusted or trust.hurdle(self._settings(home) / "hooks.json", config, hook_command)

    def wanted(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        return setup.wanted(hook_command, self._settings(home))

    def wanted_tools(self, relay: Sequence[str], home: Path) -> tuple[Wanted, ...]:
        server = setup.wanted_server(relay, self._settings(home))
        return (server,) if self._root else (server, setup.wanted_word(self._in(home)))

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        return () if self._root else setup.guidance(self._in(home), skills)


HARNESS: Harness = Codex()
