"""Setup: how OpenClaw gets our plugin and our tools, and whether it is there at all.

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
from holdfast.harnesses.openclaw.settings import PLUGIN, SETTINGS, workspaces

_SOURCE: Final = Path(__file__).parent / "plugin"


def wanted(hook_command: str, folder: Path) -> tuple[WantedMember | WantedEntry, ...]:
    """That the plugin may see prompts, and how it reaches us where the daemon is away; and where it is."""
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
    """The server of our tools, and a word about them in the instructions of each agent.

    Where an agent has no instructions yet they are OpenClaw's to write first: it fills an empty workspace.
    """
    program, *words = relay
    value: dict[str, Json] = {"command": program, "args": [*words]}
    instructions = (workspace / "AGENTS.md" for workspace in workspaces(folder))
    return (
        WantedMember(folder / SETTINGS, ("mcp", "servers", PLUGIN), value, identity=relay[3]),
        *(WantedBlock(file, INSTRUCTIONS) for file in instructions if file.is_file()),
    )


def guidance(folder: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
    """The skills, which are slash commands too."""
    return copies_of(skills, folder / "skills")


def present(folder: Path, search_path: str) -> bool:
    """Whether OpenClaw seems to be installed: it has its settings, or the program is on the search path."""
    return (folder / SETTINGS).is_file() or shutil.which("openclaw", path=search_path) is not None


def _plugin(folder: Path) -> Path:
    return folder / PLUGIN
