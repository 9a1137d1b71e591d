"""Setup: how OpenCode gets our plugin and our tools, and whether it is there at all.

Nothing is written here: the wanted entries are returned, and `files` merges them into its own files.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from holdfast.core.events.guidance import INSTRUCTIONS, Skill, copies_of
from holdfast.core.events.install_request import (
    Json,
    Wanted,
    WantedBlock,
    WantedCopy,
    WantedEntry,
    WantedMember,
)
from holdfast.harnesses import plugins

_SOURCE: Final = Path(__file__).parent / "plugin"


def wanted(hook_command: str, folder: Path) -> tuple[WantedEntry, ...]:
    """The plugin, with the command by which it reaches us where the daemon is away."""
    value: list[Json] = [_plugin(folder).as_uri(), {"command": hook_command}]
    return (WantedEntry(settings(folder), ("plugin",), value, identity=hook_command),)


def wanted_plugin(holdfast: Path, folder: Path) -> tuple[WantedCopy, ...]:
    """The plugin itself, in a folder of its own: of the usual one OpenCode takes every file for a plugin."""
    return plugins.copies(_SOURCE, _plugin(folder).parent, holdfast)


def wanted_tools(relay: Sequence[str], folder: Path) -> tuple[Wanted, ...]:
    """The server of our tools, and a word about them in the instructions that every session gets."""
    value: dict[str, Json] = {"type": "local", "command": [*relay], "enabled": True}
    return (
        WantedMember(settings(folder), ("mcp", "holdfast"), value, identity=relay[3]),
        WantedBlock(folder / "AGENTS.md", INSTRUCTIONS),
    )


def guidance(folder: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
    """The skills."""
    return copies_of(skills, folder / "skills")


def present(folder: Path, search_path: str) -> bool:
    """Whether OpenCode seems to be installed: it has its folder, or the program is on the search path."""
    return folder.is_dir() or shutil.which("opencode", path=search_path) is not None


def settings(folder: Path) -> Path:
    """The settings that the user keeps: with comments in the one file, or without in the other."""
    plain, commented = folder / "opencode.json", folder / "opencode.jsonc"
    return commented if commented.is_file() and not plain.exists() else plain


def _plugin(folder: Path) -> Path:
    return folder / "holdfast" / "plugin.js"
