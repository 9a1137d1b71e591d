"""OpenCode, as the rest of Holdfast sees it.

`hooks` (hook events and replies), `transcript` (its database) and `setup` (what to install) do the work; this
class puts them together. `plugin/` runs in OpenCode itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from holdfast.core.brief.brief_input import NOTHING_KEPT, KeptByHarness
from holdfast.core.events.event import Skipped
from holdfast.core.events.install_request import Skill, Wanted, WantedCopy, WantedEntry
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses import hook_payload
from holdfast.harnesses.base import Batch, Envelope, Extent, Harness, HookEvent, Opening, SetupBlocker
from holdfast.harnesses.opencode import auto_compact, hooks, setup, transcript

_COMMANDS: Final = frozenset({"run", "serve", "web", "acp", "attach"})
_SERVERS: Final = frozenset({"serve", "web", "acp"})


class OpenCode:
    """The harness contract for OpenCode.

    `config` is the folder in which programs keep their settings; empty for the usual one.
    """

    name: str = "opencode"
    title: str = "OpenCode"
    kept: KeptByHarness = NOTHING_KEPT
    instruction_files: tuple[str, ...] = ("AGENTS.md",)
    dated_sessions: str = ""
    own_arguments: tuple[str, ...] = ()
    program: str = "opencode"
    recorded_with: str = "1.18.33"
    carried: tuple[str, ...] = hooks.CARRIED
    quiet: tuple[str, ...] = ()
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = False

    def __init__(self, config: str = "") -> None:
        self._config = config

    def moved(self, environment: Mapping[str, str]) -> Harness:
        return OpenCode(environment.get("XDG_CONFIG_HOME", ""))

    def _in(self, home: Path) -> Path:
        return Path(self._config or home / ".config") / "opencode"

    def parse_hook(self, payload: bytes, envelope: Envelope) -> HookEvent | Skipped:
        return hooks.parse_hook(payload, envelope)

    def render_reply(self, hook_event: HookEvent, brief: str) -> bytes:
        return hooks.render_reply(hook_event, brief)

    def rehearsal(self, first: str, second: str, cwd: str, prompt: str) -> tuple[bytes, ...]:
        return hook_payload.rehearsal("UserPromptSubmit", first, second, cwd, prompt)

    def answer_size(self, answer: str) -> int:
        return len(answer)

    def is_shared(self, command: Sequence[str]) -> bool:
        """A server has many sessions; its terminal has one at a time."""
        return next((word for word in command[1:] if word in _COMMANDS), "") in _SERVERS

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        usual = Path(environment.get("XDG_DATA_HOME") or home / ".local" / "share") / "opencode"
        named = Path(environment.get("OPENCODE_DB", ""))
        return (usual, named.parent) if named.is_absolute() else (usual,)

    def transcripts(self, folder: Path) -> Iterator[Path]:
        return transcript.transcripts(folder)

    def extent(self, path: Path) -> Extent | None:
        return transcript.extent(path)

    def session_of(self, path: Path) -> str:
        return transcript.session_of(path)

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: subagents are in the same database and are read with their session."""
        return ()

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:
        origin = transcript.forked_from(path)
        return (origin,) if origin else ()

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_transcript(path, session, cursor, limit)

    def read_subagent(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        """Read like any other session: a subagent is one in the database, with itself as the main agent."""
        return transcript.read_transcript(path, session, cursor, limit)

    def caller(self, environment: Mapping[str, str], meta: Mapping[str, object]) -> str:  # noqa: ARG002 - nothing tells
        """Unknown here: the plugin sends a hook event with the session just before the call."""
        return ""

    def call_id(self, meta: Mapping[str, object]) -> str:  # noqa: ARG002 - the same for every call
        return ""

    def auto_compact(self, home: Path, environment: Mapping[str, str]) -> AutoCompact:
        config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
        return auto_compact.auto_compact(setup.settings(config / "opencode"))

    def present(self, home: Path, search_path: str) -> bool:
        return setup.present(self._in(home), search_path)

    def opening(self, prompt: str) -> Opening:
        return Opening((self.program, "--prompt", prompt), (self.program, "run", prompt))

    def hurdle(self, home: Path, hook_command: str) -> SetupBlocker | None:  # noqa: ARG002 - it needs no approval
        return None

    def wanted(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        return setup.wanted(hook_command, self._in(home))

    def wanted_plugin(self, holdfast: Path, home: Path) -> tuple[WantedCopy, ...]:
        return setup.wanted_plugin(holdfast, self._in(home))

    def wanted_tools(self, relay: Sequence[str], home: Path) -> tuple[Wanted, ...]:
        return setup.wanted_tools(relay, self._in(home))

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        return setup.guidance(self._in(home), skills)


HARNESS: Harness = OpenCode()
