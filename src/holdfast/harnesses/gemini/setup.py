"""Setup: what to install for Gemini CLI, whether it is installed, and when its settings let it compact.

Nothing is written here: the wanted entries are returned, and `files` merges them into its own files.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

from holdfast.core.events.event import Skipped
from holdfast.core.events.install_request import (
    INSTRUCTIONS,
    InstallEntry,
    Json,
    Skill,
    WantedBlock,
    WantedCopy,
    WantedEntry,
    WantedMember,
    skill_copies,
)
from holdfast.core.session.pressure import AutoCompact
from holdfast.harnesses.base import SetupBlocker
from holdfast.harnesses.fields import mapping, read_object

# Milliseconds. The hook itself gives up sooner; these limits only matter if it cannot even start.
TIMEOUTS = (
    ("SessionStart", 5_000),
    ("BeforeAgent", 5_000),
    ("AfterTool", 5_000),
    ("AfterAgent", 5_000),
    ("SessionEnd", 5_000),
)


class Installation:
    """Where Gemini CLI's files are, and what setup adds to them.

    `home` is the folder that it uses as the user's home; empty for the user's own. With a `root` its settings
    are those of the project there.
    """

    def __init__(self, home: str = "", root: Path | None = None) -> None:
        self._home = home
        self._root = root

    def for_environment(self, environment: Mapping[str, str]) -> Self:
        return type(self)(environment.get("GEMINI_CLI_HOME", ""))

    def in_project(self, root: Path) -> Self:
        return type(self)(self._home, root)

    def present(self, home: Path, search_path: str) -> bool:
        return self._in(home).is_dir() or shutil.which("gemini", path=search_path) is not None

    def setup_blocker(self, home: Path, hook_command: str) -> SetupBlocker | None:  # noqa: ARG002 - it needs no approval
        return None

    def hook_entries(self, hook_command: str, home: Path) -> tuple[WantedEntry, ...]:
        settings = self._settings(home)
        return tuple(
            WantedEntry(settings, ("hooks", event), group, identity=hook_command)
            for event, group in hooks_by_event(hook_command).items()
        )

    def tool_entries(self, relay: Sequence[str], home: Path) -> tuple[InstallEntry, ...]:
        """The server of Holdfast's tools, and a paragraph about them in every session's instructions."""
        program, *words = relay
        value: dict[str, Json] = {"command": program, "args": [*words]}
        server = WantedMember(self._settings(home), ("mcpServers", "holdfast"), value, identity=relay[3])
        return (server,) if self._root else (server, WantedBlock(self._in(home) / "GEMINI.md", INSTRUCTIONS))

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        """The skills, which are also slash commands."""
        return () if self._root else skill_copies(skills, self._in(home) / "skills")

    def _settings(self, home: Path) -> Path:
        """The settings: the user's, or one project's."""
        return (folder_in(self._root) if self._root else self._in(home)) / "settings.json"

    def _in(self, home: Path) -> Path:
        return folder_in(Path(self._home) if self._home else home)


def hooks_by_event(hook_command: str) -> dict[str, Json]:
    """One hook for each event; without a matcher it is called for every source and every tool."""
    return {
        event: {
            "hooks": [{"type": "command", "name": "holdfast", "command": hook_command, "timeout": timeout}]
        }
        for event, timeout in TIMEOUTS
    }


def folder_in(home: Path) -> Path:
    """Its folder in a home or in a project."""
    return home / ".gemini"


SHARE: Final = 0.5
"""The share of the window, if the user set nothing else."""


def auto_compact(home: Path, environment: Mapping[str, str]) -> AutoCompact:
    """When it compacts by itself; settings that cannot be read count as empty."""
    folder = folder_in(Path(environment.get("GEMINI_CLI_HOME") or home))
    try:
        settings = read_object((folder / "settings.json").read_bytes())
    except OSError:
        return AutoCompact(share=SHARE)
    read = {} if isinstance(settings, Skipped) else settings
    share = mapping(read.get("model")).get("compressionThreshold")
    return AutoCompact(share=share if isinstance(share, float) and 0 < share < 1 else SHARE)
