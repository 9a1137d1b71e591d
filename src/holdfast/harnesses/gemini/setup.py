"""Setup: the hooks and tools to install for Gemini CLI, and whether it is installed.

Nothing is written here: the wanted entries are returned, and `files` merges them into its own files.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from holdfast.core.events.install_request import (
    INSTRUCTIONS,
    Json,
    Skill,
    WantedBlock,
    WantedCopy,
    WantedEntry,
    WantedMember,
    skill_copies,
)

# Milliseconds. The hook itself gives up sooner; these limits only matter if it cannot even start.
TIMEOUTS = (
    ("SessionStart", 5_000),
    ("BeforeAgent", 5_000),
    ("AfterTool", 5_000),
    ("AfterAgent", 5_000),
    ("SessionEnd", 5_000),
)


def wanted(hook_command: str, folder: Path) -> tuple[WantedEntry, ...]:
    """One hook for each event; without a matcher it is called for every source and every tool."""
    return tuple(
        WantedEntry(
            file=folder / "settings.json",
            path=("hooks", event),
            value={
                "hooks": [
                    {"type": "command", "name": "holdfast", "command": hook_command, "timeout": timeout}
                ]
            },
            identity=hook_command,
        )
        for event, timeout in TIMEOUTS
    )


def wanted_server(relay: Sequence[str], folder: Path) -> WantedMember:
    """The server of Holdfast's tools."""
    program, *words = relay
    value: dict[str, Json] = {"command": program, "args": [*words]}
    return WantedMember(folder / "settings.json", ("mcpServers", "holdfast"), value, identity=relay[3])


def wanted_word(folder: Path) -> WantedBlock:
    """A paragraph about the tools in the instructions for every session."""
    return WantedBlock(folder / "GEMINI.md", INSTRUCTIONS)


def guidance(folder: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
    """The skills, which are also slash commands."""
    return skill_copies(skills, folder / "skills")


def present(folder: Path, search_path: str) -> bool:
    """Whether Gemini CLI seems to be installed: its folder exists, or the program is on the search path."""
    return folder.is_dir() or shutil.which("gemini", path=search_path) is not None
