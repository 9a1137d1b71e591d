"""Gemini CLI, as the rest of Holdfast sees it.

`hooks` (hook events and replies), `transcript` (records) and `setup` (what to install) do the work; this
class puts them together.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from holdfast.core.brief.brief_input import NOTHING_KEPT, KeptByHarness
from holdfast.core.events.event import Skipped
from holdfast.core.events.install_request import Skill, Wanted, WantedCopy, WantedEntry
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Batch, Envelope, Harness, HookEvent, Opening, SetupBlocker, Way
from holdfast.harnesses.gemini import auto_compact, hooks, setup, transcript


class Gemini:
    """The harness contract for Gemini CLI.

    `home` is the folder that it uses as the user's home; empty for the user's own. With a `root` its settings
    are those of the project there.
    """

    name: str = "gemini"
    title: str = "Gemini CLI"
    kept: KeptByHarness = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ("GEMINI.md",)
    dated_sessions: str = ""
    own_arguments: tuple[str, ...] = ("wait_for_previous",)
    program: str = "gemini"
    recorded_with: str = "0.61.0"
    carried: tuple[str, ...] = hooks.CARRIED
    quiet: tuple[str, ...] = hooks.QUIET
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = True
    takes_text: bool = False

    def __init__(self, home: str = "", root: Path | None = None) -> None:
        self._home = home
        self._root = root

    def moved(self, environment: Mapping[str, str]) -> Harness:
        return Gemini(environment.get("GEMINI_CLI_HOME", ""))

    def in_project(self, root: Path) -> Harness:
        return Gemini(self._home, root)

    def _settings(self, home: Path) -> Path:
        """The folder of the settings: the user's, or one project's."""
        return _folder(self._root) if self._root else self._in(home)

    def _in(self, home: Path) -> Path:
        return _folder(Path(self._home) if self._home else home)

    def parse_hook(self, payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
        return hooks.parse_hook(payload, envelope)

    def render_reply(self, hook_event: HookEvent, brief: str) -> bytes:
        return hooks.render_reply(hook_event, brief)

    def rehearsal(self, first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
        return hooks.rehearsal(first, second, cwd, prompt)

    def command_line(self, way: Way, words: Sequence[str], text: str) -> tuple[str, ...]:  # noqa: ARG002 - it has no place for one
        match way:
            case Way.RUN:
                return tuple(words)
            case Way.EXEC:
                return ("--prompt", *words)
            case Way.RESUME:
                return ("--resume", *(words or ("latest",)))

    def farewell(self, session: str, transcript: str, cwd: str) -> bytes:
        return hook_payload.farewell(session, transcript, cwd)

    def answer_size(self, answer: str) -> int:
        return len(answer)

    def is_shared(self, command: Sequence[str]) -> bool:  # noqa: ARG002 - whatever it was started as
        return False

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        return (_folder(Path(environment.get("GEMINI_CLI_HOME") or home)) / "tmp",)

    def transcripts(self, folder: Path) -> Iterator[Path]:
        return transcript.transcripts(folder)

    def session_of(self, path: Path) -> str:
        return transcript.session_of(path)

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:
        return transcript.subagent_transcripts(path)

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a session continues in its own file."""
        return ()

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_transcript(path, session, cursor, limit)

    def read_subagent(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_subagent(path, session, cursor, limit)

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - calls do not name their session
        return environment.get("GEMINI_SESSION_ID", "")

    def call_id(self, meta: Mapping[str, object]) -> str:  # noqa: ARG002 - the same for every call
        return ""

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:
        return auto_compact.auto_compact(_folder(Path(environment.get("GEMINI_CLI_HOME") or home)))

    def present(self, home: Path, search_path: str) -> bool:
        return setup.present(self._in(home), search_path)

    def opening(self, prompt: str) -> Opening:
        return Opening((self.program, "--prompt-interactive", prompt), (self.program, "--prompt", prompt))

    def hurdle(self, home: Path, hook_command: str) -> SetupBlocker | None:  # noqa: ARG002 - it needs no approval
        return None

    def wanted(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        return setup.wanted(hook_command, self._settings(home))

    def wanted_tools(self, relay: Sequence[str], home: Path) -> tuple[Wanted, ...]:
        server = setup.wanted_server(relay, self._settings(home))
        return (server,) if self._root else (server, setup.wanted_word(self._in(home)))

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        return () if self._root else setup.guidance(self._in(home), skills)


def _folder(home: Path) -> Path:
    return home / ".gemini"


HARNESS: Harness = Gemini()
