"""Setup: the hooks and tools to install for Codex, and whether it is installed.

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

# Seconds. The hook itself gives up sooner; these limits only matter if it cannot even start. For the last
# two Codex allows three at most, and warns about more.
TIMEOUTS = (
    ("SessionStart", 5),
    ("UserPromptSubmit", 5),
    ("Stop", 5),
    ("PreCompact", 10),
    ("PostCompact", 5),
    ("SessionEnd", 3),
    ("Interrupt", 3),
)


def wanted(hook_command: str, folder: Path) -> tuple[WantedEntry, ...]:
    """One hook for each event; without a matcher it is called for every source."""
    return tuple(
        WantedEntry(
            file=folder / "hooks.json",
            path=("hooks", event),
            value={"hooks": [{"type": "command", "command": hook_command, "timeout": seconds}]},
            identity=hook_command,
        )
        for event, seconds in TIMEOUTS
    )


def wanted_server(relay: Sequence[str], folder: Path) -> WantedMember:
    """The server of Holdfast's tools."""
    program, *words = relay
    value: dict[str, Json] = {"command": program, "args": [*words]}
    return WantedMember(folder / "config.toml", ("mcp_servers", "holdfast"), value, identity=relay[3])


def wanted_word(folder: Path) -> WantedBlock:
    """A paragraph about the tools in the instructions for every session."""
    return WantedBlock(folder / "AGENTS.md", INSTRUCTIONS)


def guidance(folder: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
    """The skills; its user calls one with `$name`."""
    return skill_copies(skills, folder / "skills")


def present(folder: Path, search_path: str) -> bool:
    """Whether Codex seems to be installed: its folder exists, or the program is on the search path."""
    return folder.is_dir() or shutil.which("codex", path=search_path) is not None
