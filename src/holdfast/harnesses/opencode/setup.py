"""Setup: the plugin and tools to install for OpenCode, and whether it is installed.

Nothing is written here: the wanted entries are returned, and `files` merges them into its own files.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from holdfast.core.events.install_request import (
    INSTRUCTIONS,
    Json,
    Skill,
    Wanted,
    WantedBlock,
    WantedCopy,
    WantedEntry,
    WantedMember,
    skill_copies,
)
from holdfast.harnesses import plugins

_SOURCE: Final = Path(__file__).parent / "plugin"


def wanted(hook_command: str, folder: Path) -> tuple[WantedEntry, ...]:
    """The plugin, with the command that it runs if the daemon does not answer."""
    value: list[Json] = [_plugin(folder).as_uri(), {"command": hook_command}]
    return (WantedEntry(settings(folder), ("plugin",), value, identity=hook_command),)


def wanted_plugin(holdfast: Path, folder: Path) -> tuple[WantedCopy, ...]:
    """The plugin itself, in its own folder: OpenCode takes every file of the usual one for a plugin."""
    return plugins.copies(_SOURCE, _plugin(folder).parent, holdfast)


def wanted_tools(relay: Sequence[str], folder: Path) -> tuple[Wanted, ...]:
    """The server of Holdfast's tools, and a paragraph about them in the instructions for every session."""
    value: dict[str, Json] = {"type": "local", "command": [*relay], "enabled": True}
    return (
        WantedMember(settings(folder), ("mcp", "holdfast"), value, identity=relay[3]),
        WantedBlock(folder / "AGENTS.md", INSTRUCTIONS),
    )


def guidance(folder: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
    """The skills."""
    return skill_copies(skills, folder / "skills")


def present(folder: Path, search_path: str) -> bool:
    """Whether OpenCode seems to be installed: its folder exists, or the program is on the search path."""
    return folder.is_dir() or shutil.which("opencode", path=search_path) is not None


def settings(folder: Path) -> Path:
    """The user's settings file: the one that allows comments, or the one without."""
    plain, commented = folder / "opencode.json", folder / "opencode.jsonc"
    return commented if commented.is_file() and not plain.exists() else plain


def _plugin(folder: Path) -> Path:
    return folder / "holdfast" / "plugin.js"
