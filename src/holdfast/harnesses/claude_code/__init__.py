"""Claude Code, as the rest of Holdfast sees it.

The work is done by `hooks` (letters and replies), `transcript` (records) and `setup` (what to install);
here they are only put together.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from holdfast.core.events import Skipped
from holdfast.core.told import NOTHING_KEPT, Kept
from holdfast.core.wanted import WantedEntry
from holdfast.harnesses.base import Batch, Envelope, Harness, Heard
from holdfast.harnesses.claude_code import hooks, setup, transcript


class ClaudeCode:
    """The contract, kept for Claude Code."""

    name: str = "claude-code"
    title: str = "Claude Code"
    # It gives back the content of five files, those changed last: that they were changed, it does not say.
    kept: Kept = NOTHING_KEPT
    carried: tuple[str, ...] = hooks.CARRIED
    quiet: tuple[str, ...] = hooks.QUIET
    answer_limit: int = hooks.ANSWER_LIMIT
    stores_injected_text: bool = True

    def parse_hook(self, letter: bytes, envelope: Envelope) -> Heard | Skipped:
        return hooks.parse_hook(letter, envelope)

    def render_reply(self, heard: Heard, brief: str) -> bytes:
        return hooks.render_reply(heard, brief)

    def transcript_roots(self, home: Path, environment: Mapping[str, str]) -> tuple[Path, ...]:
        moved = environment.get("CLAUDE_CONFIG_DIR")
        folders = (home / ".claude", *((Path(moved),) if moved else ()))
        return tuple(folder / "projects" for folder in folders)

    def subagent_transcripts(self, path: Path) -> tuple[Path, ...]:
        return transcript.subagent_transcripts(path)

    def earlier_transcripts(self, path: Path) -> tuple[Path, ...]:  # noqa: ARG002 - the same for every path
        """None: a fork begins with a copy of its parent's records."""
        return ()

    def read_transcript(self, path: Path, session: str, cursor: str, limit: int) -> Batch:
        return transcript.read_transcript(path, session, cursor, limit)

    def present(self, home: Path, search_path: str) -> bool:
        return setup.present(home, search_path)

    def wanted(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        return setup.wanted(hook_command, home)


HARNESS: Harness = ClaudeCode()
