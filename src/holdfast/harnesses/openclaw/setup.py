"""Setup: the plugin and tools to install for OpenClaw, and whether it is installed.

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
from holdfast.harnesses.openclaw.settings import PLUGIN, SETTINGS, workspaces

_SOURCE: Final = Path(__file__).parent / "plugin"


def wanted(hook_command: str, folder: Path) -> tuple[WantedMember | WantedEntry, ...]:
    """The plugin's path, its permission to see prompts, and its command if the daemon does not answer."""
    place = str(_plugin(folder))
    value: dict[str, Json] = {
        "enabled": True,
        "hooks": {"allowConversationAccess": True},
        "config": {"command": hook_command},
    }
    return (
        WantedMember(folder / SETTINGS, ("plugins", "entries", PLUGIN), value, identity=hook_command),
        WantedEntry(folder / SETTINGS, ("plugins", "load", "paths"), place, identity=place),
    )


def wanted_plugin(holdfast: Path, folder: Path) -> tuple[WantedCopy, ...]:
    """The plugin itself."""
    return plugins.copies(_SOURCE, _plugin(folder), holdfast)


def wanted_tools(relay: Sequence[str], folder: Path) -> tuple[Wanted, ...]:
    """The server of Holdfast's tools, and a paragraph about them in the instructions of each agent.

    If an agent has no instructions yet, OpenClaw must write them first: it fills an empty workspace.
    """
    program, *words = relay
    value: dict[str, Json] = {"command": program, "args": [*words]}
    instructions = (workspace / "AGENTS.md" for workspace in workspaces(folder))
    return (
        WantedMember(folder / SETTINGS, ("mcp", "servers", PLUGIN), value, identity=relay[3]),
        *(WantedBlock(file, INSTRUCTIONS) for file in instructions if file.is_file()),
    )


def guidance(folder: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
    """The skills, which are also slash commands."""
    return skill_copies(skills, folder / "skills")


def present(folder: Path, search_path: str) -> bool:
    """Whether OpenClaw seems to be installed: its settings exist, or the program is on the search path."""
    return (folder / SETTINGS).is_file() or shutil.which("openclaw", path=search_path) is not None


def _plugin(folder: Path) -> Path:
    return folder / PLUGIN
