"""Setup: what to install for OpenClaw, whether it is installed, and what its own JSON5 settings say.

Nothing is written here: the wanted entries are returned, and `files` merges them into its own files.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Self

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
from holdfast.core.text import json_spans
from holdfast.harnesses.base import SetupBlocker
from holdfast.harnesses.fields import items, mapping, text
from holdfast.harnesses.setup_entries import plugin_copies

SETTINGS: Final = "openclaw.json"
PLUGIN: Final = "holdfast"
_LEAD: Final = "MEMORY.md"
_NOTES: Final = "memory"
_SOURCE: Final = Path(__file__).parent / "plugin"


class Installation:
    """Where OpenClaw's files are, what setup adds to them, and what its own settings say.

    `folder` is the folder for its files; empty for the usual one.
    """

    def __init__(self, folder: str = "") -> None:
        self._folder = folder

    def for_environment(self, environment: Mapping[str, str]) -> Self:
        return type(self)(environment.get("OPENCLAW_STATE_DIR", ""))

    def present(self, home: Path, search_path: str) -> bool:
        """Whether its settings exist, or the program is on the search path."""
        settings = self.folder_in(home) / SETTINGS
        return settings.is_file() or shutil.which("openclaw", path=search_path) is not None

    def setup_blocker(self, home: Path, hook_command: str) -> SetupBlocker | None:  # noqa: ARG002 - it has to do with the plugin alone
        """Why it does not load Holdfast's plugin although it is in its settings; None if it does."""
        folder = self.folder_in(home)
        plugins = mapping(_read(folder).get("plugins"))
        remedy = f"change that in {folder / SETTINGS}"
        if plugins.get("enabled") is False:
            return SetupBlocker("its plugins are switched off", f"take out `plugins.enabled`: {remedy}")
        if PLUGIN in items(plugins.get("deny")):
            return SetupBlocker(f"`plugins.deny` names `{PLUGIN}`", remedy)
        allowed = items(plugins.get("allow"))
        if allowed and PLUGIN not in allowed:
            return SetupBlocker(f"`plugins.allow` names others, but not `{PLUGIN}`", f"add it: {remedy}")
        return None

    def memory_search_paths(self, home: Path) -> tuple[Path, ...]:
        """The files and directories that its own memory search covers; none if it is off."""
        state = self.folder_in(home)
        settings = _read(state)
        agents = mapping(settings.get("agents"))
        # Newer versions moved this setting and no longer read the old place; its content is the same.
        search = {
            **mapping(settings.get("memorySearch")),
            **mapping(mapping(agents.get("defaults")).get("memorySearch")),
            **mapping(mapping(settings.get("memory")).get("search")),
        }
        if (
            search.get("enabled") is False
            or mapping(mapping(settings.get("plugins")).get("slots")).get("memory") == "none"
        ):
            return ()
        more = (
            entry if isinstance(entry, str) else text(mapping(entry), "path")
            for entry in items(search.get("extraPaths"))
        )
        memory_paths = (where / name for where in _workspaces(state) for name in (_LEAD, _NOTES))
        return (*memory_paths, *(_path(state, where) for where in more if where))

    def hook_entries(self, hook_command: str, home: Path) -> tuple[WantedEntry | WantedMember, ...]:
        """The plugin's path, its permission to see prompts, and its command if the daemon does not answer."""
        folder = self.folder_in(home)
        plugin = str(folder / PLUGIN)
        value: dict[str, Json] = {
            "enabled": True,
            "hooks": {"allowConversationAccess": True},
            "config": {"command": hook_command},
        }
        return (
            WantedMember(folder / SETTINGS, ("plugins", "entries", PLUGIN), value, identity=hook_command),
            WantedEntry(folder / SETTINGS, ("plugins", "load", "paths"), plugin, identity=plugin),
        )

    def plugin_files(self, holdfast: Path, home: Path) -> tuple[WantedCopy, ...]:
        return plugin_copies(_SOURCE, self.folder_in(home) / PLUGIN, holdfast)

    def tool_entries(self, relay: Sequence[str], home: Path) -> tuple[InstallEntry, ...]:
        """The server of Holdfast's tools, and a paragraph about them in the instructions of each agent.

        If an agent has no instructions yet, OpenClaw must write them first: it fills an empty workspace.
        """
        folder = self.folder_in(home)
        program, *words = relay
        value: dict[str, Json] = {"command": program, "args": [*words]}
        instructions = (workspace / "AGENTS.md" for workspace in _workspaces(folder))
        return (
            WantedMember(folder / SETTINGS, ("mcp", "servers", PLUGIN), value, identity=relay[3]),
            *(WantedBlock(file, INSTRUCTIONS) for file in instructions if file.is_file()),
        )

    def guidance(self, home: Path, skills: Sequence[Skill]) -> tuple[WantedCopy, ...]:
        """The skills, which are also slash commands."""
        return skill_copies(skills, self.folder_in(home) / "skills")

    def folder_in(self, home: Path) -> Path:
        """The folder for its files, of the user whose home this is."""
        return Path(self._folder) if self._folder else home / ".openclaw"


def _workspaces(state: Path) -> tuple[Path, ...]:
    """The directories in which its agents work."""
    agents = mapping(_read(state).get("agents"))
    every = (mapping(agents.get("defaults")), *_agents(agents))
    directories = [_path(state, where) for agent in every if (where := text(agent, "workspace"))]
    return tuple(dict.fromkeys(directories)) or (state / "workspace",)


def _agents(agents: Mapping[str, object]) -> Iterator[Mapping[str, object]]:
    """The settings of single agents; older versions have them in a list."""
    yield from map(mapping, mapping(agents.get("entries")).values())
    yield from map(mapping, items(agents.get("list")))


def _path(state: Path, where: str) -> Path:
    return state.parent / where[2:] if where.startswith("~/") else state / where


def _read(state: Path) -> Mapping[str, object]:
    try:
        return mapping(json_spans.read((state / SETTINGS).read_text(encoding="utf-8")))
    except (OSError, UnicodeDecodeError):
        return {}
